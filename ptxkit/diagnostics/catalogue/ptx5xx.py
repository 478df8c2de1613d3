"""PTX5xx: mbarriers."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate
from ptxkit.fast_dataclasses import dataclass

MBARRIER_USE_BEFORE_INIT = DiagnosticCode(
    "PTX501", "mbarrier-use-before-init", sections=("mbarrier.init", "Lifecycle of the mbarrier object")
)
_text = partial(MessageTemplate, MBARRIER_USE_BEFORE_INIT)
NO_MBARRIER_AT_ADDRESS = _text("no mbarrier object is initialized at shared 0x{offset:x}")
INIT_NOT_ORDERED = _text(
    "uses {barrier}, which thread {thread}{cta} initializes: nothing orders the two",
    missing="a barrier between the initialization and the first use by another thread",
)
CTA_OF_CLUSTER = _text("CTA {rank} of the cluster")
THIS_KERNEL = _text("this kernel")
UNKNOWN_MBARRIER = _text("it is unknown which mbarrier this operation uses")
INITIALIZATION_NOT_SEEN = _text("no examined path initializes the mbarrier, but a path that depends on data might")
INITIALIZED_ADDRESS_UNKNOWN = _text("it is unknown which mbarriers the kernel initializes")
MBARRIER_NEVER_INITIALIZED = _text("uses an mbarrier that no thread of {where} initializes")
INITIALIZE_IN_ONE_THREAD = _text(
    "initialize it in one thread (`mbarrier.init.shared::cta.b64 [bar], count;`), then `bar.sync 0;` before this"
)
MBARRIER_USED_BEFORE_INIT = _text("{use} an mbarrier before the initialization at line {1}")
MOVE_INIT_BEFORE_USE = _text("move the initialization before line {0}")
MBARRIER_INIT_UNORDERED = _text("{use} an mbarrier that another thread initializes at line {1}: nothing orders the two")
ADD_BARRIER_AFTER_INIT = _text("add `bar.sync 0;` after the initialization, before any other thread's use")
INITIALIZED_HERE = _text("initialized here")

MBARRIER_DOUBLE_INIT = DiagnosticCode(
    "PTX502", "mbarrier-double-init", sections=("mbarrier.init", "Lifecycle of the mbarrier object")
)
_text = partial(MessageTemplate, MBARRIER_DOUBLE_INIT)
LIVE_MBARRIER_INITIALIZED = _text("{barrier} is initialized again while it is valid")
LIVE_MBARRIER_OVERWRITTEN = _text(
    "`{action}` overwrites {barrier}, which is valid: only mbarrier operations may access it"
)
INITIALIZING_BLOCK_MAY_BE_ONE_WARP = _text("block size unknown; the block may be one warp")
SEVERAL_THREADS_INITIALIZE = _text("several threads initialize this mbarrier")
INITIALIZE_IN_ONE_THREAD_ONLY = _text("initialize it in one thread only, and let a barrier follow")
LIVE_MBARRIER_REINITIALIZED = _text("initializes an mbarrier that is already valid")
INITIALIZE_ONCE = _text("initialize it once, or invalidate it with `mbarrier.inval` when no thread uses it any more")

MBARRIER_TX_COUNT_MISMATCH = DiagnosticCode(
    "PTX503",
    "mbarrier-tx-count-mismatch",
    sections=("Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx"),
)
_text = partial(MessageTemplate, MBARRIER_TX_COUNT_MISMATCH)
TX_COUNT_OVERFLOW = _text(
    "phase {phase} of {barrier} expects {expected} bytes and has received {completed}: the difference "
    "exceeds the limit of {limit}"
)
PHASE_BYTES = _text("; {expected} bytes expected, {completed} received")
BYTES_NOT_KNOWN = _text("the number of bytes of a copy is unknown: a tensor map decides it")
ARGUMENT_DECIDES_BYTES = _text("whether the expected bytes match the copied ones depends on an argument of the kernel")
FLAG_MAY_DECIDE_PHASE = _text("a flag in memory may decide for which phase the thread expects the bytes")
MORE_BYTES_THAN_COME = _text(
    "more bytes are expected than copied, and it is unknown whether a thread waits for that phase"
)
COMPLETES_THERE = _text("completes there")
WAITS_FOR_PHASE = _text("waits for the phase")
WAIT_WITHOUT_ARRIVALS = _text("waits for a phase of an mbarrier{where} at which no thread arrives: the wait never ends")
ARRIVE_AT_MBARRIER = _text("arrive at it: `mbarrier.arrive`, or `mbarrier.arrive.expect_tx` with the bytes of the copy")
READERS_ARRIVE = _text("let the readers of the slot arrive at it after line {line}: a phase needs {count:1 arrival}")
ALL_READERS_ARRIVE = _text("let each of the {threads} threads that read the slot arrive at it after line {line}")
LANE_OF_READING_WARPS_ARRIVES = _text(
    "let one lane of each of the {count} warps that read the slot arrive at it after line {line} and "
    "`bar.warp.sync -1;`"
)
LAST_READ_OF_SLOT = _text("last read of what is written after the wait")
EXPECT_WITHOUT_ARRIVALS = _text("expects bytes on an mbarrier{where} at which no thread arrives")
MAKE_EXPECT_AN_ARRIVAL = _text("make it an arrival too: `mbarrier.arrive.expect_tx`; expect_tx does not arrive")
COPIES_NOT_EXPECTED = _text("the copies complete {copied} bytes on an mbarrier{where} that expects none")
EXPECT_BYTES_OF_COPIES = _text("expect the {copied} bytes with `mbarrier.arrive.expect_tx` instead of a plain arrival")
IN_ALL = _text(" in all")
EXPECTED_BYTES_DIFFER = _text(
    "expects {expected} bytes{total} on an mbarrier{where}, but the copies complete {copied} there"
)
EXPECT_OR_COPY = _text("expect {copied} bytes, or copy {expected}")
EXPECTS_TOO = _text("expects bytes, too")
ARRIVALS_IN_UNREACHED_CODE = _text("some arrivals are in code that symbolic execution does not reach")
UNKNOWN_MBARRIER_OF_BYTES = _text(
    "the address of an mbarrier is unknown, and bytes that are expected or copied there may belong to this one"
)
EXPECTED_BYTES_DIFFER_BETWEEN_COPIES = _text(
    "expects {expected} bytes, but copies by the same tensor maps are expected with {usual} elsewhere"
)
COMPLETES_HERE = _text("completes here")
EXPECT_ALL_BOXES = _text("expect the bytes of all boxes that are copied")
EXPECT_USUAL_BYTES = _text("expect {usual} bytes, in all expect_tx operations for these copies together")
ARRIVAL_EXPECTS_NOTHING = _text("the arrival expects no bytes")
COPY_NOT_EXPECTED = _text("the copy completes{amount} bytes on an mbarrier that expects none")
EXPECT_BYTES_OF_COPY = _text("expect the{amount} bytes with `mbarrier.arrive.expect_tx` instead of the plain arrival")
EXPECTED_WITHOUT_COPY = _text("expects {expected} bytes on an mbarrier that no copy completes on: its phase never ends")
EXPECT_NOTHING = _text("expect no bytes, or start the copy that completes them")
PHASE_NEVER_ENDS = _text("the phase never ends")
PHASE_ENDS_TOO_EARLY = _text("the phase ends before all the data has arrived")
STARTED_BYTES_DIFFER = _text("expects {expected} bytes, but the copies complete {started}: {effect}")
EXPECT_STARTED_BYTES = _text("expect {started} bytes")
TX_COUNT_BEYOND_LIMIT = _text("may leave {due} bytes pending on an mbarrier in one phase; its limit is {limit}")
EXPECT_FEWER_BYTES = _text("expect fewer bytes in a phase; usually, one thread expects the bytes of all copies")
BRINGS_LAST_BYTES = _text("completes the last of the expected bytes")
EXPECT_BEFORE_COPY = _text(
    "expect the bytes before the copy is started: `mbarrier.arrive.expect_tx` with the bytes of all copies"
)
ONLY_ARRIVAL_OF_PHASE = _text("the only arrival that the phase needs")
EXPECT_BEFORE_ARRIVAL = _text("expect the bytes before the arrival, or with it: `mbarrier.arrive.expect_tx`")
EXPECT_AFTER_END_OF_PHASE = _text(
    "expects bytes after the {what} at line {1}, which may have ended their phase already"
)
EXPECT_ONLY_AND_WAIT = _text("expects bytes on an mbarrier at which no thread arrives: the wait at line {1} never ends")
WAIT_WITHOUT_ANY_ARRIVAL = _text("waits for a phase of an mbarrier at which no thread arrives: the wait never ends")

MBARRIER_MISSING_ARRIVALS = DiagnosticCode(
    "PTX504",
    "mbarrier-missing-arrivals",
    sections=("Phases of the mbarrier object", "mbarrier.init", "mbarrier.arrive"),
)
_text = partial(MessageTemplate, MBARRIER_MISSING_ARRIVALS)
PHASE_INCOMPLETE = _text("phase {phase} of {barrier}: {expected:1 arrival} expected, {seen} seen{bytes}")
NEEDS_ARRIVALS = _text("each phase needs {count:1 arrival}")
NO_ARRIVAL_IS = _text("no arrival is")
SOME_ARRIVALS_ARE = _text("{arrived} of its {count} arrivals are")
WAIT_FOR_INCOMPLETE_PHASE = _text("waits{where} for a phase that never ends: {arrivals} made in phase {phase}")
TOKEN_OF_NO_ARRIVAL = _text("waits for the phase of a token that no arrival returned: nothing assigns its register")
KEEP_TOKEN = _text("wait with the result of an arrival at the same mbarrier")
CORRECT_INIT_COUNT = _text(
    "make the count of `mbarrier.init` {arrived}, or let as many threads arrive in each phase as the count requires"
)
LET_OTHER_THREAD_ARRIVE = _text("let a thread arrive that does not itself wait for what follows this wait")
ARRIVE_BEFORE_BLOCKED_WAIT = _text(
    "arrive before line {line}: there the arriving thread waits for what follows this wait"
)
ARRIVES_TOO_LATE = _text("would arrive, but only after line {line}")
WAIT_FOR_PARITY_OF_NO_PHASE = _text("waits{where} for parity {parity}, but phase {last} is the last to end")
WAIT_FOR_PHASE_THAT_ENDS = _text(
    "wait for a phase that ends, or let the arriving threads iterate as often as the waiting ones"
)
WAIT_PASSES_BEFORE_FIRST_PHASE = _text(
    "waits for parity 0 of a fresh mbarrier, whose first phase does not end before this wait passes"
)
WAITS_SINCE = _text("never returns")
BEGIN_WITH_PARITY_1 = _text("begin with parity 1: a fresh mbarrier behaves as if the phase before its first had ended")
WAITS_FOR_PARITY_FIRST = _text("waits for parity {parity} first")
BEGIN_WITH_PARITY = _text("begin with parity {parity} at line {line}")
WAIT_FOR_PARITY_0 = _text("wait for parity 0 first")
ARRIVES = _text("arrives")

OTHER_MBARRIER_WAIT = _text("wait for {mbarrier} at line {line}: all threads would continue then")
WAITS_FOR_WRONG_MBARRIER = _text("waits for another mbarrier than it should")
MBARRIER_OF_VARIABLE = _text("the mbarrier of `{variable}`")
MBARRIER_AT_DISTANCE = _text("the mbarrier {distance} bytes from its own")
OTHER_MBARRIER_ARRIVAL = _text("arrive at {mbarrier} at line {line}: all threads would continue then")
ARRIVES_AT_WRONG_MBARRIER = _text("arrives at another mbarrier than it should")
MBARRIER_AT_DISTANCE_OF_WAIT = _text("the mbarrier {distance} bytes from that of the wait before it,")


@dataclass(frozen=True, slots=True)
class MbarrierPair:
    """Two mbarriers that one operand leads to: its own, and another one, the same for each value of its registers.

    statement: the offset in the text of the statement with the operand. own, other: the variables that the two are in;
    None where they are in none. distance: bytes from the offset of this one in its variable to that of the other one.
    """

    statement: int
    own: str | None
    other: str | None
    distance: int


@dataclass(frozen=True, slots=True)
class MisplacedArrival:
    """An arrival at the wrong mbarrier. statement: its offset in the text. mbarriers: from those of the wait before it
    to those at which it should arrive.
    """

    statement: int
    mbarriers: MbarrierPair


@dataclass(frozen=True, slots=True)
class MissingArrival:
    """An arrival that belongs after a statement, or before it. place: its offset in the text. mbarriers: from those of
    the readers' wait to those at which they should arrive. by_warp: one lane for each warp.
    """

    place: int
    is_after: bool
    mbarriers: MbarrierPair
    by_warp: bool


MBARRIER_EXCESS_ARRIVALS = DiagnosticCode(
    "PTX505", "mbarrier-excess-arrivals", sections=("Phases of the mbarrier object", "mbarrier.init", "mbarrier.arrive")
)
_text = partial(MessageTemplate, MBARRIER_EXCESS_ARRIVALS)
ARRIVAL_BEFORE_PHASE_OBSERVED = _text(
    "an arrival at {barrier} for phase {phase}, while no thread has observed that phase {previous} is complete"
)
MORE_ARRIVALS_THAN_PENDING = _text(
    "{arrivals:1 arrival} at {barrier}, whose phase {phase} has {pending} left of {count}"
)
NO_COMPLETE_COMPLETES = _text("an arrival with .noComplete would complete phase {phase} of {barrier}")
PENDING_ARRIVALS = _text("{pending:1 arrival}")
ARRIVALS_OVERFLOW = _text("{barrier} would expect {arrivals:1 arrival}, more than its limit")
CORRECT_ARRIVAL_COUNT = _text(
    "make the count of `mbarrier.init` {count}, or let {threads:1 thread} arrive in each phase"
)
ARRIVES_IN_PHASE_BEFORE = _text("arrives in the phase before")
ARRIVES_TOO = _text("arrives too")
HAS_ROOM_FOR = _text("each phase expects {count}")
PHASE_NUMBER = _text("phase {phase}{mbarrier}")
OF_AN_MBARRIER = _text(" of an mbarrier{where}")
ARRIVAL_BEFORE_PHASE_END_OBSERVED = _text(
    "arrives in {phase} before any thread has observed the end of phase {previous}"
)
WAIT_BEFORE_NEXT_ARRIVAL = _text(
    "wait for the phase before arriving in the next one; or count all arrivals of a phase in `mbarrier.init`"
)
ARRIVAL_IN_FULL_PHASE = _text("arrives in {phase}, which already has all of its {count:1 arrival}")
WAIT_BEFORE_ARRIVING_AGAIN = _text(
    "wait for the phase before arriving again; or count all arrivals of a phase in `mbarrier.init`"
)

MBARRIER_WITHOUT_ORDERING = DiagnosticCode(
    "PTX506",
    "mbarrier-without-ordering",
    sections=("mbarrier.arrive", "mbarrier.test_wait / mbarrier.try_wait", "Causality Order"),
)
_text = partial(MessageTemplate, MBARRIER_WITHOUT_ORDERING)
HANDOVER_DOES_NOT_ORDER = _text(
    "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: the mbarrier "
    "between them does not order the two",
    missing="`.release.cluster` on the arrival and `.acquire.cluster` on the wait",
)
AT_SCOPE_CTA = _text(", at scope .cta")
WHICH_IS_RELAXED = _text(", which is relaxed")
RELEASE_AT_CLUSTER = _text("`.release.cluster` on the arrival at line {2}")
ACQUIRE_AT_CLUSTER = _text("`.acquire.cluster` on the wait at line {3}")
HANDOVER_WITHOUT_CLUSTER_SCOPE = _text(
    "{access} shared memory that another CTA {earlier} at line {1}: the mbarrier between them does not order the two"
)
ACCESS_OF_OTHER_CTA = _text("{access} by a thread of another CTA")
ARRIVAL_AT_THIS_CTA = _text("its arrival at this CTA's mbarrier{scope}")
WAIT_FOR_ARRIVAL = _text("the wait for it{scope}")
WRITE_ONE = _text("write {order}")
WRITE_BOTH = _text("write {first} and {second}")

MBARRIER_INVAL_IN_USE = DiagnosticCode(
    "PTX507", "mbarrier-inval-in-use", sections=("mbarrier.inval", "Lifecycle of the mbarrier object")
)
_text = partial(MessageTemplate, MBARRIER_INVAL_IN_USE)
MBARRIER_USED_AFTER_INVAL = _text("{barrier} is used after `mbarrier.inval`")
INVAL_BEFORE_USE = _text("invalidates an mbarrier that line {1} uses afterwards")
USED_AFTERWARDS = _text("used here, without another initialization")
INVALIDATE_AFTER_LAST_USE = _text("move the invalidation after the last use, or initialize the mbarrier again")
INVAL_NOT_ORDERED = _text("invalidates {barrier}, and the last use by thread {thread} is not ordered before this")
BYTES_AFTER_INVAL = _text("{count} bytes complete on {barrier}, which has been invalidated")
ARRIVAL_AFTER_INVAL = _text("an asynchronous arrival reaches {barrier}, which has been invalidated")
INVAL_OF_NO_MBARRIER = _text("invalidates an mbarrier that is not valid")
INVALIDATES_TOO = _text("invalidates it, too")
INVALIDATE_ONCE = _text("invalidate each mbarrier once, in one thread")
INVAL_DURING_WAIT = _text("invalidates an mbarrier on which another thread may still wait at line {1}")
OTHER_THREAD_WAITS = _text("another thread waits on it")
BETWEEN_WAIT_AND_INVAL = _text("between the wait and line {0}")
OTHER_THREADS_WAIT = _text("other threads wait on it")
ANSWER_LEADS_HERE = _text("its result leads here")
INVAL_AFTER_UNRELEASED_WAIT = _text(
    "invalidates an mbarrier on which another thread may still wait at line {1}: no release is between "
    "the wait and the atomic at line {2}"
)
ADD_FENCE_BEFORE_ATOMIC = _text("add `{fence}` before line {2}")
INVAL_AFTER_UNORDERED_LANES = _text(
    "invalidates an mbarrier on which another thread may still wait at line {1}: one lane executes the "
    "atomic at line {2} for its warp, and nothing orders the other lanes before it"
)
ADD_WARP_BARRIER_BEFORE_ATOMIC = _text(
    "add `{statements}` between line {1} and line {2}, where all lanes of the warp execute it"
)
