"""PTX6xx: barriers, clusters and races; the texts of those above PTX623 are in `memory_words`."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate

BARRIER_DEADLOCK = DiagnosticCode("PTX601", "barrier-deadlock", sections=("bar, barrier", "barrier.cluster"))
_text = partial(MessageTemplate, BARRIER_DEADLOCK)
CLUSTER_BARRIER_INCOMPLETE = _text("the barrier of the cluster, at which {missing} have not arrived")
BARRIER_LACKS_ARRIVALS = _text("barrier {number}, at which {arrived} of {expected} threads have arrived")
BARRIER_LACKS_THREADS = _text("barrier {number}, which {missing} threads have not reached (threads {threads})")
LANES_NOT_ARRIVED = _text("lanes 0x{lanes:08x} of warp {warp}, which the member mask 0x{mask:08x} names")
DEADLOCK = _text("deadlock: {threads} of CTA {cta} wait for {awaited}")
ONE_THREAD = _text("thread {thread}")
SEVERAL_THREADS = _text("{count:1 thread} from {first}")
OF_ALL_CTAS = _text(" of all CTAs")
THREADS_COME = _text("{arrived} of {expected} threads{where} arrive")
DEADLOCK_AT_BARRIER = _text("deadlock at a barrier: {threads}")
OTHERS_WAIT_HERE = _text("other threads wait here")
EXECUTE_BARRIER_EQUALLY = _text("let all threads that the barrier counts execute it equally often")

BARRIER_COUNT_MISMATCH = DiagnosticCode("PTX602", "barrier-count-mismatch", sections=("bar, barrier",))
_text = partial(MessageTemplate, BARRIER_COUNT_MISMATCH)
BARRIER_COUNTS_DIFFER = _text("barrier {number} is used with {threads}, and earlier with {before}")
BARRIER_ARRIVED_TWICE = _text("threads arrive at barrier {number} again before it completes")
BARRIER_TOO_MANY_ARRIVALS = _text("{arrived} threads arrive at barrier {number}, which completes with {expected}")
BARRIER_COUNT_DIFFERS = _text("names {count:1 thread} at a barrier where others name {other} in the same phase")
MEETING_BY_CHANCE = _text(
    "more threads use the barrier than it counts; which of them it orders depends on when they arrive"
)
COUNTS_THREADS = _text("names {count}")
NAME_SAME_COUNT = _text("name the same number of threads at each use of the barrier")

PARTIAL_WARP_BARRIER = DiagnosticCode(
    "PTX603", "partial-warp-barrier", sections=("bar, barrier", "barrier.cluster", "tensormap.cp_fenceproxy")
)
_text = partial(MessageTemplate, PARTIAL_WARP_BARRIER)
WARP_NAMES_SEVERAL_BARRIERS = _text("threads of one warp name different barriers")
WARP_AT_DIFFERENT_BARRIERS = _text("warp {warp} reaches aligned barrier {number} from different instructions")
WARP_LANE_EXITED = _text(
    "only some lanes of warp {warp} execute this barrier, which requires all lanes of a warp: thread "
    "{thread} has exited"
)
BARRIER_LACKS_LANES = _text(
    "barrier {number}, which only some lanes of warp {warp} have reached: it requires all lanes of a warp"
)
LANES_DIVERGE = _text(
    "all lanes of a warp must execute this together: thread {thread} does, and thread {other} does not, or less often"
)
EXECUTE_WITH_WHOLE_WARP = _text("let all lanes of the warp execute it, with the same addresses")
BARRIER_OF_PART_OF_WARP = _text(
    "an aligned barrier that {lanes} lanes of a warp execute, and the others do not, or less often"
)
COLLECTIVE_OF_PART_OF_WARP = _text(
    "an instruction of the whole warp that {lanes} lanes of a warp execute, and the others do not"
)
BRANCH_UNIFORMLY_IN_WARP = _text("let all lanes of the warp execute it: branch on conditions that they share")
EXECUTE_WITH_WHOLE_WARP_OR_UNALIGNED = _text(
    "let all lanes of the warp execute it, or use `barrier.sync`, which is not aligned"
)

READ_BEFORE_GRID_WAIT = DiagnosticCode(
    "PTX604", "read-before-grid-wait", Severity.WARNING, sections=("griddepcontrol",)
)
_text = partial(MessageTemplate, READ_BEFORE_GRID_WAIT)
READ_BEFORE_GRID_WAIT_SEEN = _text(
    "`{action}` reads before `griddepcontrol.wait` what is read again after it at line {1}: an "
    "earlier grid may not have written it yet",
    missing="the wait before the read, or no other read where no earlier grid writes it",
)
READ_AGAIN_AFTER_GRID_WAIT = _text(
    "reads before `griddepcontrol.wait` what line {1} reads again after it; an earlier grid may not have written it yet"
)
OTHER_KERNELS_WAIT = _text(
    "most kernels of the module wait for the grids that they depend on; this one reads without `griddepcontrol.wait`"
)
OTHER_THREADS_WAIT = _text(
    "other threads read this location after `griddepcontrol.wait`; the threads that read it here do not wait"
)
READS_SAME_LOCATION = _text("reads the same location, after a wait")
WAITS_FOR_GRIDS = _text("waits for the grids that this one depends on")
READ_ON_ONE_SIDE_OF_WAIT = _text("read it only after the wait, or only before it where no earlier grid writes it")

REGISTER_COUNTS = DiagnosticCode("PTX605", "register-counts", sections=("setmaxnreg", "Performance-Tuning Directives"))
_text = partial(MessageTemplate, REGISTER_COUNTS)
REGISTER_CHANGE_BACKWARDS = _text("{change} to {wanted} registers, but the thread has {current}")
REGISTERS_SET_AGAIN = _text("sets the number of registers again without a synchronization of the warpgroup between")
TOO_MANY_REGISTERS = _text(
    "threads request {total} registers together, and start with {limit} each at most: deadlock at an increase"
)
TEAM_NOT_WHOLE = _text("{team} has 128 threads, but that of thread {thread} is incomplete")
TEAM_DIVERGES = _text(
    "all threads of {team} execute this together: thread {thread} does, and thread {other} does not, or less often"
)
AT_MOST = _text("at most ")
SETMAXNREG_BACKWARDS = _text("`setmaxnreg{direction}` to {count} registers, but the thread has {registers}{has}")
USE_OTHER_DIRECTION = _text("use {other}, or another number")
SETS_REGISTERS = _text("sets {count} registers")
SETMAXNREG_WITHOUT_SYNC = _text(
    "`setmaxnreg` after that of line {1} without a synchronization of the warpgroup between"
)
ADD_WARPGROUP_BARRIER = _text("add a `bar.sync` of the warpgroup's 128 threads, with an unused number, before line {0}")
REGISTER_POOL_TOO_SMALL = _text(
    "deadlock: threads start with {initial} registers at most, and what other warpgroups release is not "
    "enough for all requests; {count} are requested here"
)
ASK_FOR_FEWER_REGISTERS = _text("request {fitting} registers at most, or let other warpgroups have fewer")
BRANCH_UNIFORMLY = _text("branch on a condition that is the same for all 128 threads of the warpgroup")
WARPS_OF_WARPGROUP_DIVERGE = _text(
    "all warps of a warpgroup must execute `setmaxnreg`: thread {thread} does, {other} does not"
)
WARPS_SET_DIFFERENT_COUNTS = _text(
    "the warps of a warpgroup set different numbers of registers, and should execute the same `setmaxnreg`"
)
SET_SAME_COUNT = _text("let all four warps of the warpgroup set the same number")
INITIAL_REGISTERS_NOT_KNOWN = _text(
    "no directive specifies how many registers a thread starts with, so this may have no effect"
)
DECLARE_REGISTERS = _text("declare the kernel `.maxnreg`, or `.minnctapersm 1` with `.maxntid` or `.reqntid`")

LANE_NOT_IN_MEMBERMASK = DiagnosticCode(
    "PTX607",
    "lane-not-in-membermask",
    sections=("bar.warp.sync", "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync"),
)
_text = partial(MessageTemplate, LANE_NOT_IN_MEMBERMASK)
LANE_OUTSIDE_ITS_MASK = _text("a lane executes this with a member mask that does not name it")
LANE_NOT_IN_MASK = _text("lane {lane} executes this, and is not in its member mask {mask:#010x}")
LANE_MAY_NOT_EXIST = _text("block size unknown; which lanes execute this, with which mask, depends on it")
ADD_LANE_TO_MASK = _text("add {bit:#x} to the mask, or exclude the lane by a branch")

REMOTE_ACCESS_TOO_EARLY = DiagnosticCode(
    "PTX611",
    "remote-access-too-early",
    sections=("Cluster of Cooperative Thread Arrays", "barrier.cluster", "membar / fence"),
)
_text = partial(MessageTemplate, REMOTE_ACCESS_TOO_EARLY)
ACCESS_BEFORE_CTA_START = _text("a {access} of the shared memory of CTA {cta}, which may not have started")
REMOTE_CTA_MAY_NOT_HAVE_STARTED = _text(
    "accesses the shared memory of CTA {rank} of the cluster, which may not have started"
)
FLAG_MAY_SHOW_START = _text("whether a value in memory shows that the other CTA has started")
ACCESSED_CTA_NOT_KNOWN = _text("whether the accessed shared memory is that of another CTA, which may not have started")
MEET_BEFORE_ACCESS = _text(
    "synchronize all threads of the cluster before: `barrier.cluster.arrive.release.aligned;` and then "
    "`barrier.cluster.wait.acquire.aligned;`"
)
NO_BARRIER_BEFORE = _text("no barrier before")
RELAXED_ARRIVAL = _text("a relaxed arrival publishes nothing")
ADD_INIT_FENCE = _text("add `fence.mbarrier_init.release.cluster;` after line {1}")
REMOTE_MBARRIER_NOT_PUBLISHED = _text(
    "signals an mbarrier of another CTA, whose initialization at line {1} is not published to the cluster"
)
MBARRIER_MADE_HERE = _text("initialized here")
ADD_INIT_FENCE_AND_BARRIER = _text(
    "add `fence.mbarrier_init.release.cluster;` after line {1}, and then synchronize the cluster with `barrier.cluster`"
)

EXIT_TOO_EARLY = DiagnosticCode(
    "PTX612", "exit-too-early", sections=("Cluster of Cooperative Thread Arrays", "barrier.cluster")
)
_text = partial(MessageTemplate, EXIT_TOO_EARLY)
ACCESS_OF_EXITED_CTA = _text("a {access} of the shared memory of CTA {cta}, which has exited")
CTA_EXITS_DURING_ACCESS = _text("{access} the shared memory of CTA {cta}, which exits without observing its completion")
SHARED_OF_EXITED_CTA = _text("shared memory of CTA {cta} of the cluster, which has exited")
CTA_EXITS_DURING_COPY = _text("`{operation}` may still {access} shared memory of CTA {cta}, which exits")
COPY_FROM_CTA_THAT_MAY_EXIT = _text(
    "copies out of shared memory of a CTA that may exit before: it does not observe the completion of the copy"
)
ACCESS_OF_CTA_THAT_MAY_EXIT = _text(
    "accesses the shared memory of CTA {rank} of the cluster, which may have exited by then"
)
FLAG_MAY_DELAY_EXIT = _text(
    "whether the CTA waits before its exit for a value in memory that shows that the access is over"
)
SIGNAL_MAY_DELAY_EXIT = _text(
    "whether the CTA waits before its exit for a signal that follows the access: an mbarrier is unknown"
)
CONVERGENCE_MAY_DELAY_EXIT = _text(
    "whether the access is over when another lane of the warp signals the CTA: the lanes only converge before it, "
    "which orders no memory"
)
MEET_BEFORE_EXIT = _text(
    "synchronize the cluster before it exits: `barrier.cluster.arrive.release.aligned;` and then "
    "`barrier.cluster.wait.acquire.aligned;`"
)

UNPAIRED_CLUSTER_BARRIER = DiagnosticCode("PTX613", "unpaired-cluster-barrier", sections=("barrier.cluster",))
_text = partial(MessageTemplate, UNPAIRED_CLUSTER_BARRIER)
ARRIVAL_WITHOUT_WAIT = _text("threads arrive at the cluster's barrier twice without a wait between")
WAIT_WITHOUT_ARRIVAL = _text("threads wait for the cluster's barrier without having arrived")
ARRIVES_AGAIN_WITHOUT_WAIT = _text("arrives at the cluster's barrier again, without having waited since line {1}")
ARRIVES_AGAIN_ITSELF = _text(
    "arrives at the cluster's barrier again, without having waited since its own last execution"
)
ARRIVES_AGAIN_ON_ALL_PATHS = _text(
    "arrives at the cluster's barrier again: each path to it has an arrival without a wait after"
)
HAS_ARRIVED_HERE = _text("has arrived here")
ADD_CLUSTER_WAIT = _text("add `barrier.cluster.wait.acquire.aligned;` before line {0}")
WAITS_WITHOUT_ARRIVAL = _text("waits at the cluster's barrier without having arrived: it waits for itself")
ADD_CLUSTER_ARRIVE = _text("add `barrier.cluster.arrive.release.aligned;` before line {0}")

CANCEL_AFTER_FAILURE = DiagnosticCode(
    "PTX614",
    "cancel-after-failure",
    sections=("clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel"),
)
_text = partial(MessageTemplate, CANCEL_AFTER_FAILURE)
REQUEST_AFTER_REFUSAL = _text("issues `try_cancel` after this thread observed that an earlier request failed")
QUERY_OF_REFUSAL = _text("the response indicates failure, and this thread has not tested it: it contains no CTA id")
REQUEST_MAY_FOLLOW_REFUSAL = _text("issues `try_cancel` after an earlier request may have failed (line {1})")
TESTS_WHETHER_GRANTED_BEFORE = _text("tests whether the earlier request succeeded")
LEAVE_LOOP_AFTER_REFUSAL = _text(
    "leave the loop, in every thread that issues requests, where the predicate of line {1} is false"
)
TESTS_WHETHER_GRANTED = _text("tests whether the request succeeded")
PREDICATE_OF_LINE = _text("the predicate of line {1}")
PREDICATE_OF_QUERY = _text("the predicate of `clusterlaunchcontrol.query_cancel.is_canceled`")
RESPONSE_MAY_BE_REFUSAL = _text("reads the CTA id of a response that may indicate failure")
EXECUTE_IF_GRANTED = _text("execute it only where {predicate} is true")

SHARED_MEMORY_RACE = DiagnosticCode(
    "PTX621", "shared-memory-race", sections=("Conflict and Data-races", "Causality Order", "bar, barrier")
)
_text = partial(MessageTemplate, SHARED_MEMORY_RACE)
NO_ORDER_PROVEN = _text(
    "no barrier or wait is proven to order it and the access at line {1}, which may be of the same bytes"
)
ORDER_NOT_COVERED = _text(
    "the executions show no conflict, but no proof covers the order of this access and those of other threads"
)
ORDER_NOT_EXAMINED = _text(
    "the executions show no conflict, but the order of this access and those of other threads is not proven: {cause}"
)
ORDER_NEEDS_BLOCK_SIZE = _text(
    "block size unknown; the order of this access and those of other threads is proven for one size only"
)
ONLY_VOLATILE_MAY_ORDER = _text(
    "only volatile accesses, which order nothing according to the manual, may order this access and one of another"
    " thread to the same bytes"
)
ONLY_CONVERGENCE_MAY_ORDER = _text(
    "only an instruction that the lanes of the warp execute together may order this access and one of another lane to"
    " the same bytes"
)
UNORDERED_ACCESS_MAY_OVERLAP = _text(
    "address unknown; nothing orders this access and one of another thread that may be to the same bytes"
)
WORD_DECIDES_ADDRESS = _text("where {number} is loaded here, for example, both addresses are equal")
DATA_LEAD_TO_ACCESS = _text("where loaded data lead a thread from here to its access")
AT_OTHER_LINE = _text(" at line {1}")
OF_CTA = _text(" of CTA {cta}")
MEMORY_OF_SPACE = _text("{space} memory")
ACCESSES_UNORDERED = _text(
    "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: nothing orders the two",
    missing="a barrier, or a release by one thread and an acquire by the other, between the two",
)
BLOCK_MAY_BE_ONE_WARP = _text("block size unknown; the block may be one warp")
OTHER_CTA_MAY_CONFLICT = _text(
    "whether anything orders this access and one of another CTA of the cluster to the same bytes"
)
BOX_SIZE_NOT_KNOWN = _text("whether a tensor copy's box is so large that it touches these bytes")
STORES_MAY_DIFFER = _text("whether threads store the same value to these bytes, since nothing orders their stores")
LANE_OF_THE_WARP = _text("lane of the warp")
STORE_INTO_COPY_TARGET = _text(
    "stores to {variable}, which copies of other threads write at line {1}: nothing orders the two"
)
COPY_BY_ANOTHER = _text("copy into the same bytes, by another {who}")
WAIT_FOR_COPIES_FIRST = _text(
    "wait for the copies in the threads that issued them, then add a barrier, before the store"
)
ADD_BARRIER_BEFORE_COPIES = _text("add a barrier between the store and the copies")
COPIES_INTO = _text("copies into")
WRITE_DURING_READ = _text(
    "{access} {variable}, which other threads may still be reading at line {1}: nothing orders the two"
)
READ_BY_ANOTHER = _text("read of the old contents, by another {who}")
BETWEEN_READ_AND_WRITE = _text("between the read and the next write of these bytes")
READ_DURING_WRITE = _text("reads {variable}, which other threads write at line {1}: nothing orders the two")
WRITE_BY_ANOTHER = _text("write by another {who}")
BETWEEN_WRITE_AND_READ = _text("between the write and the read")
EQUAL_VALUES_STORED = _text(
    "formally a race: threads store equal values to {variable} at line {1}, and read them here "
    "without any order between the threads"
)
ALL_STORE_SAME_VALUE = _text("every thread stores the same value here")
RELAXED_RELEASE = _text("relaxed: it orders nothing before it")
RELEASE_BY_ONE_LANE = _text("one lane releases here for its warp")
MAKE_ARRIVAL_RELEASE = _text("make the arrival at line {release} a release, and the wait for it an acquire")
ADD_BARRIER_BEFORE_RELEASE = _text(
    "add `{barrier}` between line {earlier} and line {release}: one lane releases there for its warp, "
    "whose other lanes may still be at line {earlier}"
)
ARRIVE_AND_WAIT_AT_MBARRIER = _text(
    "let the {threads} arrive at an mbarrier after line {earlier}, and wait for its phase before line "
    "{0}: no location between the two is common to both"
)
ADD_SPLIT_BARRIER = _text(
    "add `{barrier}` after line {earlier} and before line {0}: {threads} threads execute both, and no "
    "location between them is common to all"
)
ADD_BARRIER_OF_SOME_THREADS = _text("add `{barrier}` {place}: {threads} threads execute it, not the whole CTA")
ADD_ORDERING_BARRIER = _text("add `{barrier}` {place}")

ATOMIC_SCOPE_TOO_NARROW = DiagnosticCode(
    "PTX622", "atomic-scope-too-narrow", sections=("Conflict and Data-races", "Morally strong operations", "Scope")
)
_text = partial(MessageTemplate, ATOMIC_SCOPE_TOO_NARROW)
SCOPE_TOO_NARROW = _text(
    "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: the scope of "
    "one of them does not include both threads",
    missing="a scope that includes all threads that use it: `.cluster`, or `.gpu`",
)
NAME_WIDER_SCOPE = _text(
    "name a scope that includes the other CTAs: `.gpu`, or `.cluster` where the grid is one cluster"
)
UPDATE_AT_CTA_SCOPE = _text("updates a word that all CTAs of the grid update, but is atomic only within its own CTA")
CTAS_MAY_SHARE_WORD = _text("whether other CTAs access the word, too, depends on data, on branches or on a caller")
POLL_AT_CTA_SCOPE = _text(
    "waits for a word that all CTAs of the grid update at line {1}, but its scope is only its own CTA"
)
UPDATE_BY_EACH_CTA = _text("update of the word, by each CTA")

LAST_BLOCK_UNORDERED = DiagnosticCode(
    "PTX623",
    "last-block-unordered",
    sections=("Causality Order", "Release and Acquire Patterns", "Conflict and Data-races"),
)
_text = partial(MessageTemplate, LAST_BLOCK_UNORDERED)
NO_FENCE_BEFORE_LAST_BLOCK_ATOMIC = _text(
    "unordered read of other CTAs' stores (line {2}): the atomic at line {1} does not synchronize with "
    "them, since no fence is between the store and the atomic"
)
ATOMIC_LEADS_HERE = _text("its result leads here")
STORE_IN_EACH_CTA = _text("store, in each CTA")
ADD_FENCES_AROUND_ATOMIC = _text("add `{fence}` between line {2} and line {1}, and another one after the atomic")
FENCE_AFTER_ATOMIC_MAY_BE_NEEDED = _text("whether the read needs a fence after the atomic: `--policy strict` warns")
LAST_BLOCK_IN_FUNCTION = _text(
    "the kernel calls functions; whether the atomic selects a CTA that reads what others stored is unknown"
)
LAST_BLOCK_MAY_READ = _text(
    "whether the CTA that an atomic's result selects reads here what other CTAs stored depends on unknown values, "
    "and a fence is missing on a path from a store through the atomic"
)
NO_FENCE_AFTER_LAST_BLOCK_ATOMIC = _text(
    "unordered read of other CTAs' stores (line {2}): the atomic at line {1} does not synchronize with "
    "them, since no fence is between the atomic and the read"
)
ADD_FENCE_AFTER_ATOMIC = _text("add `{fence}` after line {1}")

FLAG_UNORDERED = DiagnosticCode(
    "PTX624",
    "flag-unordered",
    sections=("Release and Acquire Patterns", "Causality Order", "Morally strong operations"),
)

KERNEL_ABORTED = DiagnosticCode("PTX650", "kernel-aborted")

UNINITIALIZED_DATA = DiagnosticCode("PTX651", "uninitialized-data", Severity.WARNING)

UNASSIGNED_GUARD = DiagnosticCode(
    "PTX652", "unassigned-guard", sections=("Predicated Execution", "Register State Space")
)
_text = partial(MessageTemplate, UNASSIGNED_GUARD)
GUARD_NEVER_ASSIGNED = _text("no instruction has assigned the predicate `{predicate}` on any path to its use here")
ASSIGN_GUARD = _text("assign `{predicate}` before, with `setp` or with the instruction whose result it is")
