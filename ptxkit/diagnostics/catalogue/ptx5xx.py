"""PTX5xx: mbarriers."""

from __future__ import annotations

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate
from ptxkit.fast_dataclasses import dataclass

MBARRIER_USE_BEFORE_INIT = DiagnosticCode(
    "PTX501", "mbarrier-use-before-init", sections=("mbarrier.init", "Lifecycle of the mbarrier object")
)
NO_MBARRIER_AT_ADDRESS = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "no mbarrier object is initialized at shared 0x{offset:x}"
)
INIT_NOT_ORDERED = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT,
    "uses {barrier}, which thread {thread}{cta} initializes: nothing orders the two",
    missing="a barrier between the initialization and the first use by another thread",
)
CTA_OF_CLUSTER = MessageTemplate(MBARRIER_USE_BEFORE_INIT, "CTA {rank} of the cluster")
THIS_KERNEL = MessageTemplate(MBARRIER_USE_BEFORE_INIT, "this kernel")
UNKNOWN_MBARRIER = MessageTemplate(MBARRIER_USE_BEFORE_INIT, "it is unknown which mbarrier this operation uses")
INITIALIZATION_NOT_SEEN = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "no examined path initializes the mbarrier, but a path that depends on data might"
)
INITIALIZED_ADDRESS_UNKNOWN = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "it is unknown which mbarriers the kernel initializes"
)
MBARRIER_NEVER_INITIALIZED = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "uses an mbarrier that no thread of {where} initializes"
)
INITIALIZE_IN_ONE_THREAD = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT,
    "initialize it in one thread (`mbarrier.init.shared::cta.b64 [bar], count;`), then `bar.sync 0;` before this",
)
MBARRIER_USED_BEFORE_INIT = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "{use} an mbarrier before the initialization at line {1}"
)
MOVE_INIT_BEFORE_USE = MessageTemplate(MBARRIER_USE_BEFORE_INIT, "move the initialization before line {0}")
MBARRIER_INIT_UNORDERED = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "{use} an mbarrier that another thread initializes at line {1}: nothing orders the two"
)
ADD_BARRIER_AFTER_INIT = MessageTemplate(
    MBARRIER_USE_BEFORE_INIT, "add `bar.sync 0;` after the initialization, before any other thread's use"
)
INITIALIZED_HERE = MessageTemplate(MBARRIER_USE_BEFORE_INIT, "initialized here")

MBARRIER_DOUBLE_INIT = DiagnosticCode(
    "PTX502", "mbarrier-double-init", sections=("mbarrier.init", "Lifecycle of the mbarrier object")
)
LIVE_MBARRIER_INITIALIZED = MessageTemplate(MBARRIER_DOUBLE_INIT, "{barrier} is initialized again while it is valid")
LIVE_MBARRIER_OVERWRITTEN = MessageTemplate(
    MBARRIER_DOUBLE_INIT, "`{action}` overwrites {barrier}, which is valid: only mbarrier operations may access it"
)
INITIALIZING_BLOCK_MAY_BE_ONE_WARP = MessageTemplate(
    MBARRIER_DOUBLE_INIT, "block size unknown; the block may be one warp"
)
SEVERAL_THREADS_INITIALIZE = MessageTemplate(MBARRIER_DOUBLE_INIT, "several threads initialize this mbarrier")
INITIALIZE_IN_ONE_THREAD_ONLY = MessageTemplate(
    MBARRIER_DOUBLE_INIT, "initialize it in one thread only, and let a barrier follow"
)
LIVE_MBARRIER_REINITIALIZED = MessageTemplate(MBARRIER_DOUBLE_INIT, "initializes an mbarrier that is already valid")
INITIALIZE_ONCE = MessageTemplate(
    MBARRIER_DOUBLE_INIT, "initialize it once, or invalidate it with `mbarrier.inval` when no thread uses it any more"
)

MBARRIER_TX_COUNT_MISMATCH = DiagnosticCode(
    "PTX503",
    "mbarrier-tx-count-mismatch",
    sections=("Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx"),
)
TX_COUNT_OVERFLOW = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    (
        "phase {phase} of {barrier} expects {expected} bytes and has received {completed}: the difference "
        "exceeds the limit of {limit}"
    ),
)
PHASE_BYTES = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "; {expected} bytes expected, {completed} received")
BYTES_NOT_KNOWN = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "the number of bytes of a copy is unknown: a tensor map decides it"
)
ARGUMENT_DECIDES_BYTES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "whether the expected bytes match the copied ones depends on an argument of the kernel"
)
FLAG_MAY_DECIDE_PHASE = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "a flag in memory may decide for which phase the thread expects the bytes"
)
MORE_BYTES_THAN_COME = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "more bytes are expected than copied, and it is unknown whether a thread waits for that phase",
)
COMPLETES_THERE = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "completes there")
WAITS_FOR_PHASE = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "waits for the phase")
WAIT_WITHOUT_ARRIVALS = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "waits for a phase of an mbarrier{where} at which no thread arrives: the wait never ends",
)
ARRIVE_AT_MBARRIER = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "arrive at it: `mbarrier.arrive`, or `mbarrier.arrive.expect_tx` with the bytes of the copy",
)
READERS_ARRIVE = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "let the readers of the slot arrive at it after line {line}: a phase needs {count:1 arrival}",
)
ALL_READERS_ARRIVE = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "let each of the {threads} threads that read the slot arrive at it after line {line}"
)
LANE_OF_READING_WARPS_ARRIVES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "let one lane of each of the {count} warps that read the slot arrive at it after line {line} and "
    "`bar.warp.sync -1;`",
)
LAST_READ_OF_SLOT = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "last read of what is written after the wait")
EXPECT_WITHOUT_ARRIVALS = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expects bytes on an mbarrier{where} at which no thread arrives"
)
MAKE_EXPECT_AN_ARRIVAL = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "make it an arrival too: `mbarrier.arrive.expect_tx`; expect_tx does not arrive"
)
COPIES_NOT_EXPECTED = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "the copies complete {copied} bytes on an mbarrier{where} that expects none"
)
EXPECT_BYTES_OF_COPIES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expect the {copied} bytes with `mbarrier.arrive.expect_tx` instead of a plain arrival"
)
IN_ALL = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, " in all")
EXPECTED_BYTES_DIFFER = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "expects {expected} bytes{total} on an mbarrier{where}, but the copies complete {copied} there",
)
EXPECT_OR_COPY = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "expect {copied} bytes, or copy {expected}")
EXPECTS_TOO = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "expects bytes, too")
ARRIVALS_IN_UNREACHED_CODE = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "some arrivals are in code that symbolic execution does not reach"
)
UNKNOWN_MBARRIER_OF_BYTES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "the address of an mbarrier is unknown, and bytes that are expected or copied there may belong to this one",
)
EXPECTED_BYTES_DIFFER_BETWEEN_COPIES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "expects {expected} bytes, but copies by the same tensor maps are expected with {usual} elsewhere",
)
COMPLETES_HERE = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "completes here")
EXPECT_ALL_BOXES = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "expect the bytes of all boxes that are copied")
EXPECT_USUAL_BYTES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expect {usual} bytes, in all expect_tx operations for these copies together"
)
ARRIVAL_EXPECTS_NOTHING = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "the arrival expects no bytes")
COPY_NOT_EXPECTED = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "the copy completes{amount} bytes on an mbarrier that expects none"
)
EXPECT_BYTES_OF_COPY = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expect the{amount} bytes with `mbarrier.arrive.expect_tx` instead of the plain arrival"
)
EXPECTED_WITHOUT_COPY = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "expects {expected} bytes on an mbarrier that no copy completes on: its phase never ends",
)
EXPECT_NOTHING = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "expect no bytes, or start the copy that completes them")
PHASE_NEVER_ENDS = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "the phase never ends")
PHASE_ENDS_TOO_EARLY = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "the phase ends before all the data has arrived")
STARTED_BYTES_DIFFER = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expects {expected} bytes, but the copies complete {started}: {effect}"
)
EXPECT_STARTED_BYTES = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "expect {started} bytes")
TX_COUNT_BEYOND_LIMIT = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "may leave {due} bytes pending on an mbarrier in one phase; its limit is {limit}"
)
EXPECT_FEWER_BYTES = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expect fewer bytes in a phase; usually, one thread expects the bytes of all copies"
)
BRINGS_LAST_BYTES = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "completes the last of the expected bytes")
EXPECT_BEFORE_COPY = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "expect the bytes before the copy is started: `mbarrier.arrive.expect_tx` with the bytes of all copies",
)
ONLY_ARRIVAL_OF_PHASE = MessageTemplate(MBARRIER_TX_COUNT_MISMATCH, "the only arrival that the phase needs")
EXPECT_BEFORE_ARRIVAL = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expect the bytes before the arrival, or with it: `mbarrier.arrive.expect_tx`"
)
EXPECT_AFTER_END_OF_PHASE = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "expects bytes after the {what} at line {1}, which may have ended their phase already"
)
EXPECT_ONLY_AND_WAIT = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH,
    "expects bytes on an mbarrier at which no thread arrives: the wait at line {1} never ends",
)
WAIT_WITHOUT_ANY_ARRIVAL = MessageTemplate(
    MBARRIER_TX_COUNT_MISMATCH, "waits for a phase of an mbarrier at which no thread arrives: the wait never ends"
)

MBARRIER_MISSING_ARRIVALS = DiagnosticCode(
    "PTX504",
    "mbarrier-missing-arrivals",
    sections=("Phases of the mbarrier object", "mbarrier.init", "mbarrier.arrive"),
)
PHASE_INCOMPLETE = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "phase {phase} of {barrier}: {expected:1 arrival} expected, {seen} seen{bytes}"
)
NEEDS_ARRIVALS = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "each phase needs {count:1 arrival}")
NO_ARRIVAL_IS = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "no arrival is")
SOME_ARRIVALS_ARE = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "{arrived} of its {count} arrivals are")
WAIT_FOR_INCOMPLETE_PHASE = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "waits{where} for a phase that never ends: {arrivals} made in phase {phase}"
)
TOKEN_OF_NO_ARRIVAL = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "waits for the phase of a token that no arrival returned: nothing assigns its register"
)
KEEP_TOKEN = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "wait with the result of an arrival at the same mbarrier")
CORRECT_INIT_COUNT = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS,
    "make the count of `mbarrier.init` {arrived}, or let as many threads arrive in each phase as the count requires",
)
LET_OTHER_THREAD_ARRIVE = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "let a thread arrive that does not itself wait for what follows this wait"
)
ARRIVE_BEFORE_BLOCKED_WAIT = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS,
    "arrive before line {line}: there the arriving thread waits for what follows this wait",
)
ARRIVES_TOO_LATE = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "would arrive, but only after line {line}")
WAIT_FOR_PARITY_OF_NO_PHASE = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "waits{where} for parity {parity}, but phase {last} is the last to end"
)
WAIT_FOR_PHASE_THAT_ENDS = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS,
    "wait for a phase that ends, or let the arriving threads iterate as often as the waiting ones",
)
WAIT_PASSES_BEFORE_FIRST_PHASE = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS,
    "waits for parity 0 of a fresh mbarrier, whose first phase does not end before this wait passes",
)
WAITS_SINCE = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "never returns")
BEGIN_WITH_PARITY_1 = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS,
    "begin with parity 1: a fresh mbarrier behaves as if the phase before its first had ended",
)
WAITS_FOR_PARITY_FIRST = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "waits for parity {parity} first")
BEGIN_WITH_PARITY = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "begin with parity {parity} at line {line}")
WAIT_FOR_PARITY_0 = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "wait for parity 0 first")
ARRIVES = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "arrives")

OTHER_MBARRIER_WAIT = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "wait for {mbarrier} at line {line}: all threads would continue then"
)
WAITS_FOR_WRONG_MBARRIER = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "waits for another mbarrier than it should")
MBARRIER_OF_VARIABLE = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "the mbarrier of `{variable}`")
MBARRIER_AT_DISTANCE = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "the mbarrier {distance} bytes from its own")
OTHER_MBARRIER_ARRIVAL = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "arrive at {mbarrier} at line {line}: all threads would continue then"
)
ARRIVES_AT_WRONG_MBARRIER = MessageTemplate(MBARRIER_MISSING_ARRIVALS, "arrives at another mbarrier than it should")
MBARRIER_AT_DISTANCE_OF_WAIT = MessageTemplate(
    MBARRIER_MISSING_ARRIVALS, "the mbarrier {distance} bytes from that of the wait before it,"
)


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
ARRIVAL_BEFORE_PHASE_OBSERVED = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS,
    "an arrival at {barrier} for phase {phase}, while no thread has observed that phase {previous} is complete",
)
MORE_ARRIVALS_THAN_PENDING = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS, "{arrivals:1 arrival} at {barrier}, whose phase {phase} has {pending} left of {count}"
)
NO_COMPLETE_COMPLETES = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS, "an arrival with .noComplete would complete phase {phase} of {barrier}"
)
PENDING_ARRIVALS = MessageTemplate(MBARRIER_EXCESS_ARRIVALS, "{pending:1 arrival}")
ARRIVALS_OVERFLOW = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS, "{barrier} would expect {arrivals:1 arrival}, more than its limit"
)
CORRECT_ARRIVAL_COUNT = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS,
    "make the count of `mbarrier.init` {count}, or let {threads:1 thread} arrive in each phase",
)
ARRIVES_IN_PHASE_BEFORE = MessageTemplate(MBARRIER_EXCESS_ARRIVALS, "arrives in the phase before")
ARRIVES_TOO = MessageTemplate(MBARRIER_EXCESS_ARRIVALS, "arrives too")
HAS_ROOM_FOR = MessageTemplate(MBARRIER_EXCESS_ARRIVALS, "each phase expects {count}")
PHASE_NUMBER = MessageTemplate(MBARRIER_EXCESS_ARRIVALS, "phase {phase}{mbarrier}")
OF_AN_MBARRIER = MessageTemplate(MBARRIER_EXCESS_ARRIVALS, " of an mbarrier{where}")
ARRIVAL_BEFORE_PHASE_END_OBSERVED = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS, "arrives in {phase} before any thread has observed the end of phase {previous}"
)
WAIT_BEFORE_NEXT_ARRIVAL = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS,
    "wait for the phase before arriving in the next one; or count all arrivals of a phase in `mbarrier.init`",
)
ARRIVAL_IN_FULL_PHASE = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS, "arrives in {phase}, which already has all of its {count:1 arrival}"
)
WAIT_BEFORE_ARRIVING_AGAIN = MessageTemplate(
    MBARRIER_EXCESS_ARRIVALS,
    "wait for the phase before arriving again; or count all arrivals of a phase in `mbarrier.init`",
)

MBARRIER_WITHOUT_ORDERING = DiagnosticCode(
    "PTX506",
    "mbarrier-without-ordering",
    sections=("mbarrier.arrive", "mbarrier.test_wait / mbarrier.try_wait", "Causality Order"),
)
HANDOVER_DOES_NOT_ORDER = MessageTemplate(
    MBARRIER_WITHOUT_ORDERING,
    (
        "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: the mbarrier "
        "between them does not order the two"
    ),
    missing="`.release.cluster` on the arrival and `.acquire.cluster` on the wait",
)
AT_SCOPE_CTA = MessageTemplate(MBARRIER_WITHOUT_ORDERING, ", at scope .cta")
WHICH_IS_RELAXED = MessageTemplate(MBARRIER_WITHOUT_ORDERING, ", which is relaxed")
RELEASE_AT_CLUSTER = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "`.release.cluster` on the arrival at line {2}")
ACQUIRE_AT_CLUSTER = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "`.acquire.cluster` on the wait at line {3}")
HANDOVER_WITHOUT_CLUSTER_SCOPE = MessageTemplate(
    MBARRIER_WITHOUT_ORDERING,
    "{access} shared memory that another CTA {earlier} at line {1}: the mbarrier between them does not order the two",
)
ACCESS_OF_OTHER_CTA = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "{access} by a thread of another CTA")
ARRIVAL_AT_THIS_CTA = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "its arrival at this CTA's mbarrier{scope}")
WAIT_FOR_ARRIVAL = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "the wait for it{scope}")
WRITE_ONE = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "write {order}")
WRITE_BOTH = MessageTemplate(MBARRIER_WITHOUT_ORDERING, "write {first} and {second}")

MBARRIER_INVAL_IN_USE = DiagnosticCode(
    "PTX507", "mbarrier-inval-in-use", sections=("mbarrier.inval", "Lifecycle of the mbarrier object")
)
MBARRIER_USED_AFTER_INVAL = MessageTemplate(MBARRIER_INVAL_IN_USE, "{barrier} is used after `mbarrier.inval`")
INVAL_NOT_ORDERED = MessageTemplate(
    MBARRIER_INVAL_IN_USE, "invalidates {barrier}, and the last use by thread {thread} is not ordered before this"
)
BYTES_AFTER_INVAL = MessageTemplate(
    MBARRIER_INVAL_IN_USE, "{count} bytes complete on {barrier}, which has been invalidated"
)
ARRIVAL_AFTER_INVAL = MessageTemplate(
    MBARRIER_INVAL_IN_USE, "an asynchronous arrival reaches {barrier}, which has been invalidated"
)
INVAL_OF_NO_MBARRIER = MessageTemplate(MBARRIER_INVAL_IN_USE, "invalidates an mbarrier that is not valid")
INVALIDATES_TOO = MessageTemplate(MBARRIER_INVAL_IN_USE, "invalidates it, too")
INVALIDATE_ONCE = MessageTemplate(MBARRIER_INVAL_IN_USE, "invalidate each mbarrier once, in one thread")
INVAL_DURING_WAIT = MessageTemplate(
    MBARRIER_INVAL_IN_USE, "invalidates an mbarrier on which another thread may still wait at line {1}"
)
OTHER_THREAD_WAITS = MessageTemplate(MBARRIER_INVAL_IN_USE, "another thread waits on it")
BETWEEN_WAIT_AND_INVAL = MessageTemplate(MBARRIER_INVAL_IN_USE, "between the wait and line {0}")
OTHER_THREADS_WAIT = MessageTemplate(MBARRIER_INVAL_IN_USE, "other threads wait on it")
ANSWER_LEADS_HERE = MessageTemplate(MBARRIER_INVAL_IN_USE, "its result leads here")
INVAL_AFTER_UNRELEASED_WAIT = MessageTemplate(
    MBARRIER_INVAL_IN_USE,
    (
        "invalidates an mbarrier on which another thread may still wait at line {1}: no release is between "
        "the wait and the atomic at line {2}"
    ),
)
ADD_FENCE_BEFORE_ATOMIC = MessageTemplate(MBARRIER_INVAL_IN_USE, "add `{fence}` before line {2}")
INVAL_AFTER_UNORDERED_LANES = MessageTemplate(
    MBARRIER_INVAL_IN_USE,
    (
        "invalidates an mbarrier on which another thread may still wait at line {1}: one lane executes the "
        "atomic at line {2} for its warp, and nothing orders the other lanes before it"
    ),
)
ADD_WARP_BARRIER_BEFORE_ATOMIC = MessageTemplate(
    MBARRIER_INVAL_IN_USE, "add `{statements}` between line {1} and line {2}, where all lanes of the warp execute it"
)
