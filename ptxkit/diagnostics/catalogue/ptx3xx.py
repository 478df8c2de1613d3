"""PTX3xx: asynchronous groups: cp.async, bulk copies, wgmma."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate

NOT_REACHED = DiagnosticCode("PTX300", "not-reached")
_text = partial(MessageTemplate, NOT_REACHED)
NO_PATH_REACHES = _text("instruction not reached by symbolic execution")
LOOP_NOT_REPEATED = _text("no execution repeated the loop that contains this instruction")
DECLARES_TOO_MUCH_SHARED = _text("the kernel declares more shared memory than a CTA can have")
USES_TOO_MUCH_SHARED = _text("the kernel uses more shared memory than a CTA can have")
KERNEL_TOO_LARGE = _text("the kernel is too large to be analyzed completely: {exceeded}; try --effort {effort}")
UNKNOWN_EFFECT = _text("the effect is unknown: {cause}")
DEPENDS_ON_UNKNOWN_CODE = _text("depends on code that is unknown: {cause}")
CLUSTER_SIZE_NOT_KNOWN = _text("cluster size unknown")
WRONG_FOR_CLUSTER_SIZES = _text("cluster size unknown; wrong if it is {sizes}")
CORRECT_FOR_CLUSTER_SIZES = _text("cluster size unknown; correct if it is {sizes}")
BLOCK_SIZE_NOT_KNOWN = _text("block size unknown; the kernel is correct for some sizes")
NO_SCHEDULE = _text("the synchronization of the threads cannot be simulated: {cause}")
CLUSTER_TOO_LARGE = _text("the cluster has too many CTAs")
CLUSTER_TOO_SMALL = _text("the cluster does not have all CTAs that the kernel signals")
THREADS_NOT_EXECUTED = _text("some threads are not executed to their ends")
TOO_MANY_THREAD_CLASSES = _text("too many threads synchronize differently")
TOO_MANY_SYNC_EVENTS = _text("the threads synchronize too often")
SYNC_OPERAND_NOT_KNOWN = _text("an address, a parity or a count is unknown")
TOO_MANY_ACCESSES = _text("too many accesses to shared memory to compare all of them; try a larger --effort")
IN_CTA_OF_CLUSTER = _text(" in CTA {rank} of the cluster")
DEPENDS_ON_LAUNCH_OR_DATA = _text("holds or fails depending on launch parameters or data")
LOOP_CUT_SHORT = _text(
    "the exploration of a long loop was cut short: whether its threads order this instruction is unknown; a larger "
    "--effort follows it longer"
)

GROUP_NEVER_COMMITTED = DiagnosticCode(
    "PTX301", "group-never-committed", sections=("cp.async.commit_group", "cp.async.bulk.commit_group")
)
_text = partial(MessageTemplate, GROUP_NEVER_COMMITTED)
COPY = _text("copy")
LOAD = _text("load")
STORE = _text("store")
REDUCTION = _text("reduction")
MULTIPLICATION = _text("multiplication")
OPERATION = _text("operation")
COPY_NOT_COMMITTED = _text("`{operation}` belongs to no group: its thread exits without a commit")
WAITS_FOR_COMMITTED_ONLY = _text("waits for committed groups only")
LAST_COMMIT = _text("the last commit is before the {operation}")
WAIT_DOES_NOT_COVER_COPY = _text("the wait at line {1} does not cover it")
NOTHING_CAN_WAIT = _text("nothing can wait for it")
COPY_WITHOUT_COMMIT = _text("this {operation} is never committed to a group: {consequence}")
ADD_COMMIT = _text("add `{commit};` after the last {operation} of a stage, in the threads that issue it")

READ_BEFORE_WAIT = DiagnosticCode(
    "PTX302",
    "read-before-wait",
    sections=("cp.async.wait_group / cp.async.wait_all", "Completion Mechanisms for Asynchronous Copy Operations"),
)
_text = partial(MessageTemplate, READ_BEFORE_WAIT)
ACCESS_OF_BYTES_BEING_WRITTEN = _text(
    "`{action}` {access} bytes of {variable} that `{operation}` at line {1} may still write",
    missing="a wait by which the thread observes the completion of that operation",
)
COPY_READS_TARGET = _text(
    "`{action}` reads bytes of {variable} that `{operation}` at line {1} may still write",
    missing="a wait for the earlier operation, between the two",
)
COMPLETION_NOT_KNOWN = _text(
    "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: this thread "
    "has not observed its completion",
    missing="a wait by the thread that issued it, and a barrier after that",
)
BLOCK_SIZE_MAY_BE_ONE_WARP = _text("block size unknown; the block may be one warp")
COPY_INTO_THESE_BYTES = _text("asynchronous {operation} into these bytes")
WAIT_MAY_GIVE_UP = _text(
    "the loop may end before the phase is complete, and nothing tests the result of the wait after it"
)
READ_MAY_OVERLAP_COPY = _text("address unknown; the read may be of bytes of a copy that is still in flight")
NO_WAIT_ON_MBARRIER = _text("no thread waits on the mbarrier that the {operation} completes on")
WAITS_FOR_EARLIER_PHASE = _text("the {operation} completes phase {phase} of its mbarrier, and no thread waits for it")
OBSERVES_EARLIER_PHASE = _text("this wait passes when phase {phase} is complete")
WAIT_OBSERVES_NO_PHASE = _text(
    "the wait on the mbarrier that the {operation} completes on passes before its first phase ends"
)
PASSES_FOR_OTHER_PARITY = _text("on a fresh mbarrier the wait for parity 1 passes immediately")
WAIT_FOR_OTHER_PARITY = _text("wait for parity 0 first at line {line}")
WAIT_FOR_MBARRIER_PHASE = _text(
    "wait for the phase of that mbarrier (`mbarrier.try_wait.parity`, in a loop) before the read"
)
GROUP_NOT_COMMITTED = _text("the copy was not committed to a group")
COMMIT_BEFORE_WAIT = _text("commit the group before the wait")
COMMIT_AND_WAIT = _text("commit the group, and wait for it before the read")
WAIT_LEAVES_GROUP_PENDING = _text("the wait leaves its group pending")
LOWER_WAIT_COUNT = _text("lower the count of the wait at line {2}")
MAY_LEAVE_GROUP_UNFINISHED = _text("may leave this copy's group unfinished")
WAIT_IS_FOR_SOURCES = _text("the wait is only for the reads of its source")
WAIT_FOR_WRITES = _text("remove `.read` from the wait at line {2}")
ENDS_READS_OF_SOURCES = _text("waits until the sources have been read")
NOTHING_WAITS = _text("nothing waits for it")
ADD_WAIT_AND_BARRIER = _text("add `{group}.wait_group 0;` and a barrier before the read")
WAIT_TOO_LATE = _text("the wait comes too late")
WAIT_EARLIER = _text("wait for the copy's group before the read, not only at line {2}")
FIRST_COVERING_WAIT = _text("the first wait that covers the copy")
BY_ANOTHER_THREAD = _text(" by another thread")
READ_DURING_COPY = _text("reads {variable}, which the {operation} at line {1}{issuer} may still be writing: {reason}")
ONLY_ISSUER_WAITED = _text("only the issuing thread has waited for it")
WAIT_OF_ISSUER = _text("the issuing thread's wait for it")
HANDOVER_BEFORE_WAIT = _text("releases before the wait")
WAIT_AFTER_HANDOVER = _text("its wait comes after the release")
MOVE_WAIT_BEFORE_HANDOVER = _text("move the wait before line {3}")
BETWEEN_WAIT_AND_READ = _text("between the wait and the read")
WAIT_IN_ISSUING_THREADS = _text("wait for the copy in the threads that issue it, then add a barrier")
NOT_ORDERED = _text("nothing orders the two")
READ_DURING_COPY_OF_OTHER_THREAD = _text(
    "reads {variable}, which the {operation} at line {1} by another thread may still be writing: {reason}"
)
READ_DURING_COPY_OF_OTHER_CTA = _text(
    "reads {variable}, which CTA {rank} of the cluster may still be writing at line {1}: no thread has "
    "waited for the phase of the mbarrier that it completes on"
)
COPY_INTO_BYTES_OF_OTHER_CTA = _text("asynchronous {operation} into these bytes of another CTA")
ONLY_ISSUER_WAITED_AND_RELAXED = _text(
    "only the issuing thread has waited for it, and the arrival at line {3} is relaxed"
)

SOURCE_REUSED_IN_FLIGHT = DiagnosticCode(
    "PTX303",
    "source-reused-in-flight",
    sections=("Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group"),
)
_text = partial(MessageTemplate, SOURCE_REUSED_IN_FLIGHT)
WRITE_MAY_OVERLAP_SOURCE = _text("address unknown; the write may be into the source of a copy that is still in flight")
WRITE_MAY_OVERLAP_TARGET = _text(
    "address unknown; the write may be into the destination of a copy that is still in flight"
)
COPY_READS_EXITED_CTA = _text("`{operation}` may still read the shared memory of its CTA, which exits")
COPY_IN_FLIGHT_AT_EXIT = _text("`{operation}` is still in flight, and no thread waits for it, while its CTA exits")
ACCESS_OF_BYTES_BEING_READ = _text(
    "`{action}` {access} bytes of {variable} that `{operation}` at line {1} may still read",
    missing="a wait by which the thread observes the completion of that operation",
)
COPY_OVERWRITES_SOURCE = _text(
    "`{action}` writes bytes of {variable} that `{operation}` at line {1} may still read",
    missing="a wait for the earlier operation, between the two",
)
COPY_OUT_OF_THESE_BYTES = _text("bulk {operation} from these bytes")
WAIT_OF_ITS_THREAD = _text("its thread's wait for it")
WRITE_DURING_COPY = _text("writes {variable}, which the bulk {operation} at line {1} may still be reading")
BETWEEN_WAIT_AND_WRITE = _text("between the wait in the issuing thread and the write")
NO_WAIT_COVERS_COPY = _text("no wait of its thread covers it")
THREAD_NEVER_WAITS = _text("its thread never waits for it")
EXIT_DURING_COPY = _text(
    "the CTA may exit while this bulk {operation} still reads its shared memory, which another CTA may then use: "
    "{reason}"
)
WAIT_BEFORE_EXIT = _text("wait with `cp.async.bulk.wait_group.read 0;` in the thread that issued it, before it exits")
THEN_BARRIER_BEFORE_WRITE = _text("{wait}, and then a barrier, before the write")
WRITE_INTO_TARGET_OF_COPY = _text(
    "writes shared memory that the asynchronous {operation} at line {1} may still be writing"
)
WAIT_BEFORE_STORE = _text("wait for the {operation} before the store, or store before the {operation} starts")
THE_WAIT_FOR_IT = _text("the wait for it")
WAIT_IN_ISSUING_THREAD = _text("wait with `cp.async.bulk.wait_group.read` in the issuing thread")
DOES_NOT_COVER_IT = _text("does not cover it")
LOWER_COUNT_OR_WAIT_AGAIN = _text("lower the count of the wait at line {2}, or wait again in the issuing thread")
COMES_BEFORE_COMMIT = _text("comes before its group is committed")
COMMIT_BEFORE_THIS_WAIT = _text("commit its group before the wait at line {2}")

OVERLAPPING_COPIES = DiagnosticCode(
    "PTX304", "overlapping-copies", sections=("cp.async.commit_group", "cp.async", "cp.async.bulk")
)
_text = partial(MessageTemplate, OVERLAPPING_COPIES)
COPIES_MAY_OVERLAP = _text("address unknown; the copy may be into the bytes of another copy of its group")
COPIES_OVERLAP = _text(
    "`{action}` writes bytes of {variable} that `{operation}` at line {1} may still write",
    missing="a wait for the earlier operation, between the two",
)
IN_EARLIER_ROUND = _text("in an earlier iteration")
OF_OTHER_THREAD = _text("of another thread")
AT_LABELED_LINE = _text("at line {1}")
COPIES_OF_GROUP_OVERLAP = _text(
    "copies into bytes of {variable} that the copy {place} of the same group writes, too: nothing orders the two"
)
BULK_COPIES_OVERLAP = _text("copies into bytes of {variable} that the copy {place} may still be writing")
WRITES_SAME_BYTES = _text("writes these bytes, too")
GIVE_COPIES_OWN_BYTES = _text("use separate bytes for each copy, or wait for the first copy before the second")

REGISTERS_IN_FLIGHT = DiagnosticCode("PTX311", "registers-in-flight", sections=("wgmma.wait_group", "wgmma.mma_async"))
_text = partial(MessageTemplate, REGISTERS_IN_FLIGHT)
PATH_WITHOUT_WAIT = _text("some paths from the multiplication to this access of its registers do not wait for it")
REGISTERS_TOUCHED_IN_FLIGHT = _text(
    "`{action}` accesses {registers} of the asynchronous operation at line {1}, which may be in flight",
    missing="a wait for the group of that operation, before this",
)
MAY_USE_REGISTER = _text("may use the register until its group is waited for")
COMMIT_AND_WAIT_FOR_GROUP = _text(
    "commit the group with `wgmma.commit_group.sync.aligned;` and wait for it before line {0}"
)
LEAVES_GROUP_PENDING = _text("leaves its group pending")
LOWER_COUNT_OF_WAIT = _text("lower the count of the wait at line {2}, so that it covers the multiplication")
ADD_WGMMA_WAIT = _text("add `wgmma.wait_group.sync.aligned 0;` before line {0}")
ACCUMULATOR = _text("an accumulator")
FRAGMENT_OF_A = _text("the fragment of A")
REGISTER_TOUCHED_IN_FLIGHT = _text(
    "accesses {registers} of the asynchronous multiplication at line {1}, which may be in flight"
)

MISSING_REGISTER_FENCE = DiagnosticCode("PTX312", "missing-register-fence", sections=("wgmma.fence",))
_text = partial(MessageTemplate, MISSING_REGISTER_FENCE)
NO_REGISTER_FENCE = _text(
    "`{action}` uses registers without a preceding `wgmma.fence`",
    missing="`wgmma.fence` after the last access to the registers",
)
NO_REGISTER_FENCE_SINCE_ACCESS = _text(
    "`{action}` uses a register that was accessed before, with no `wgmma.fence` between",
    missing="`wgmma.fence` after the last access to the registers",
)
REGISTER_FENCE_NOT_KNOWN = _text("whether a `wgmma.fence` precedes is unknown: a call precedes, or a long path")
PATH_WITHOUT_REGISTER_FENCE = _text(
    "a path may lead from an access to its registers to this multiplication without a `wgmma.fence` between"
)
NO_FENCE_BEFORE_MULTIPLICATION = _text("no `wgmma.fence` comes before this multiplication")
ADD_FENCE_AFTER_LAST_ACCESS = _text(
    "add `wgmma.fence.sync.aligned;` before line {0}, after the last access to its registers"
)
NO_FENCE_AFTER_ACCESS = _text("uses a register that line {1} accesses, with no `wgmma.fence` between")
ACCESS_TO_REGISTER = _text("access to the register")
ADD_FENCE_AFTER_THIS_ACCESS = _text("add `wgmma.fence.sync.aligned;` before line {0}, after that access")

OPERANDS_REUSED = DiagnosticCode(
    "PTX314", "operands-reused", sections=("wgmma.wait_group", "Async Proxy", "tcgen05.commit")
)
_text = partial(MessageTemplate, OPERANDS_REUSED)
OPERAND_READ_NOT_KNOWN = _text(
    "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: this thread "
    "has not observed that the multiplication has read it",
    missing="`wgmma.wait_group`, and a release and acquire after it",
)
READS_UNTIL_COMPLETE = _text("reads these bytes until it is complete")
NEXT_WAIT = _text("the next wait")
WAIT_BEFORE_RELEASE = _text(
    "wait for its group (`wgmma.wait_group.sync.aligned`) before releasing the bytes to the copying thread"
)
WAIT_OF_MULTIPLYING_THREADS = _text("its threads' wait for it")
BETWEEN_WAIT_AND_FILL = _text("between the wait of the multiplying threads and the write")
COMMIT_TO_MBARRIER = _text("let `tcgen05.commit` arrive on the mbarrier that the copying thread waits on")
FILL_DURING_MULTIPLICATION = _text("fills {variable}, which the multiplication at line {1} may still be reading")
OTHER_CTA_MAY_RELEASE = _text(
    "a thread of the CTA releases these bytes before its multiplication is complete; another CTA may order the copy"
)

PARTIAL_WARPGROUP = DiagnosticCode(
    "PTX315", "partial-warpgroup", sections=("Warpgroup", "wgmma.mma_async", "wgmma.fence")
)
_text = partial(MessageTemplate, PARTIAL_WARPGROUP)
ONE_OF_THE_THREADS = _text(" (thread {thread} among them)")
WARPGROUP_DID_NOT_COMMIT = _text("{threads} threads of its warpgroup{first} to commit their multiplications")
DOES_NOT = _text("does not")
DOES_SO_TIMES = _text("does so {count} times")
TIMES = _text(" {count} times")
WARPGROUP_DIVERGES = _text(
    "all threads of a warpgroup must execute this together: thread {thread} does{times}, thread {other} {often}"
)
BRANCH_UNIFORMLY_IN_WARPGROUP = _text(
    "branch on a condition that is the same for all 128 threads of the warpgroup, and do not predicate the instruction"
)
INCOMPLETE_WARPGROUP = _text("requires a full warpgroup of 128 threads, but the last one of the block has {threads}")
WARPGROUP_MAY_BE_WHOLE = _text("block size unknown; whether all threads of a warpgroup execute this depends on it")
LAUNCH_WHOLE_WARPGROUPS = _text("launch a multiple of 128 threads, or exclude the incomplete warpgroup by a branch")

LOADED_REGISTER_IN_FLIGHT = DiagnosticCode(
    "PTX316", "loaded-register-in-flight", Severity.WARNING, sections=("tcgen05.ld", "tcgen05.wait")
)
_text = partial(MessageTemplate, LOADED_REGISTER_IN_FLIGHT)
USES_LOADED_REGISTER = _text(
    "uses a register of the `tcgen05.ld` at line {1} with no `tcgen05.wait::ld` between: ptxas makes this use wait, "
    "but the manual does not require it"
)
WRITES_REGISTER = _text("writes the register asynchronously")
ADD_WAIT_FOR_LOADS = _text("add `tcgen05.wait::ld.sync.aligned;` before line {0}, for all lanes of the warp")
PATH_WITHOUT_WAIT_FOR_LOAD = _text("some paths from the `tcgen05.ld` to this use of its register do not wait for it")
