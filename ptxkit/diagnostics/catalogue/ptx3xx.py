"""PTX3xx: asynchronous groups: cp.async, bulk copies, wgmma."""

from __future__ import annotations

from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.diagnostics.message import MessageTemplate

NOT_REACHED = DiagnosticCode("PTX300", "not-reached")
NO_PATH_REACHES = MessageTemplate(NOT_REACHED, "instruction not reached by symbolic execution")
LOOP_NOT_REPEATED = MessageTemplate(NOT_REACHED, "no execution repeated the loop that contains this instruction")
DECLARES_TOO_MUCH_SHARED = MessageTemplate(NOT_REACHED, "the kernel declares more shared memory than a CTA can have")
USES_TOO_MUCH_SHARED = MessageTemplate(NOT_REACHED, "the kernel uses more shared memory than a CTA can have")
KERNEL_TOO_LARGE = MessageTemplate(NOT_REACHED, "the kernel is too large to be analyzed completely")
UNKNOWN_EFFECT = MessageTemplate(NOT_REACHED, "the effect is unknown: {cause}")
DEPENDS_ON_UNKNOWN_CODE = MessageTemplate(NOT_REACHED, "depends on code that is unknown: {cause}")
CLUSTER_SIZE_NOT_KNOWN = MessageTemplate(NOT_REACHED, "cluster size unknown")
WRONG_FOR_CLUSTER_SIZES = MessageTemplate(NOT_REACHED, "cluster size unknown; wrong if it is {sizes}")
CORRECT_FOR_CLUSTER_SIZES = MessageTemplate(NOT_REACHED, "cluster size unknown; correct if it is {sizes}")
BLOCK_SIZE_NOT_KNOWN = MessageTemplate(NOT_REACHED, "block size unknown; the kernel is correct for some sizes")
NO_SCHEDULE = MessageTemplate(NOT_REACHED, "the synchronization of the threads cannot be simulated: {cause}")
CLUSTER_TOO_LARGE = MessageTemplate(NOT_REACHED, "the cluster has too many CTAs")
CLUSTER_TOO_SMALL = MessageTemplate(NOT_REACHED, "the cluster does not have all CTAs that the kernel signals")
THREADS_NOT_EXECUTED = MessageTemplate(NOT_REACHED, "some threads are not executed to their ends")
TOO_MANY_THREAD_CLASSES = MessageTemplate(NOT_REACHED, "too many threads synchronize differently")
TOO_MANY_SYNC_EVENTS = MessageTemplate(NOT_REACHED, "the threads synchronize too often")
SYNC_OPERAND_NOT_KNOWN = MessageTemplate(NOT_REACHED, "an address, a parity or a count is unknown")
TOO_MANY_ACCESSES = MessageTemplate(NOT_REACHED, "too many accesses to shared memory to compare all of them")
IN_CTA_OF_CLUSTER = MessageTemplate(NOT_REACHED, " in CTA {rank} of the cluster")
DEPENDS_ON_LAUNCH_OR_DATA = MessageTemplate(NOT_REACHED, "holds or fails depending on launch parameters or data")
LOOP_CUT_SHORT = MessageTemplate(
    NOT_REACHED, "the exploration of a long loop was cut short: whether its threads order this instruction is unknown"
)

GROUP_NEVER_COMMITTED = DiagnosticCode(
    "PTX301", "group-never-committed", sections=("cp.async.commit_group", "cp.async.bulk.commit_group")
)
COPY = MessageTemplate(GROUP_NEVER_COMMITTED, "copy")
LOAD = MessageTemplate(GROUP_NEVER_COMMITTED, "load")
STORE = MessageTemplate(GROUP_NEVER_COMMITTED, "store")
REDUCTION = MessageTemplate(GROUP_NEVER_COMMITTED, "reduction")
MULTIPLICATION = MessageTemplate(GROUP_NEVER_COMMITTED, "multiplication")
OPERATION = MessageTemplate(GROUP_NEVER_COMMITTED, "operation")
COPY_NOT_COMMITTED = MessageTemplate(
    GROUP_NEVER_COMMITTED, "`{operation}` belongs to no group: its thread exits without a commit"
)
WAITS_FOR_COMMITTED_ONLY = MessageTemplate(GROUP_NEVER_COMMITTED, "waits for committed groups only")
LAST_COMMIT = MessageTemplate(GROUP_NEVER_COMMITTED, "the last commit is before the {operation}")
WAIT_DOES_NOT_COVER_COPY = MessageTemplate(GROUP_NEVER_COMMITTED, "the wait at line {1} does not cover it")
NOTHING_CAN_WAIT = MessageTemplate(GROUP_NEVER_COMMITTED, "nothing can wait for it")
COPY_WITHOUT_COMMIT = MessageTemplate(
    GROUP_NEVER_COMMITTED, "this {operation} is never committed to a group: {consequence}"
)
ADD_COMMIT = MessageTemplate(
    GROUP_NEVER_COMMITTED, "add `{commit};` after the last {operation} of a stage, in the threads that issue it"
)

READ_BEFORE_WAIT = DiagnosticCode(
    "PTX302",
    "read-before-wait",
    sections=("cp.async.wait_group / cp.async.wait_all", "Completion Mechanisms for Asynchronous Copy Operations"),
)
ACCESS_OF_BYTES_BEING_WRITTEN = MessageTemplate(
    READ_BEFORE_WAIT,
    "`{action}` {access} bytes of {variable} that `{operation}` at line {1} may still write",
    missing="a wait by which the thread observes the completion of that operation",
)
COPY_READS_TARGET = MessageTemplate(
    READ_BEFORE_WAIT,
    "`{action}` reads bytes of {variable} that `{operation}` at line {1} may still write",
    missing="a wait for the earlier operation, between the two",
)
COMPLETION_NOT_KNOWN = MessageTemplate(
    READ_BEFORE_WAIT,
    (
        "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: this thread "
        "has not observed its completion"
    ),
    missing="a wait by the thread that issued it, and a barrier after that",
)
BLOCK_SIZE_MAY_BE_ONE_WARP = MessageTemplate(READ_BEFORE_WAIT, "block size unknown; the block may be one warp")
COPY_INTO_THESE_BYTES = MessageTemplate(READ_BEFORE_WAIT, "asynchronous {operation} into these bytes")
WAIT_MAY_GIVE_UP = MessageTemplate(
    READ_BEFORE_WAIT, "the loop may end before the phase is complete, and nothing tests the result of the wait after it"
)
READ_MAY_OVERLAP_COPY = MessageTemplate(
    READ_BEFORE_WAIT, "address unknown; the read may be of bytes of a copy that is still in flight"
)
NO_WAIT_ON_MBARRIER = MessageTemplate(
    READ_BEFORE_WAIT, "no thread waits on the mbarrier that the {operation} completes on"
)
WAITS_FOR_EARLIER_PHASE = MessageTemplate(
    READ_BEFORE_WAIT, "the {operation} completes phase {phase} of its mbarrier, and no thread waits for it"
)
OBSERVES_EARLIER_PHASE = MessageTemplate(READ_BEFORE_WAIT, "this wait passes when phase {phase} is complete")
WAIT_OBSERVES_NO_PHASE = MessageTemplate(
    READ_BEFORE_WAIT, "the wait on the mbarrier that the {operation} completes on passes before its first phase ends"
)
PASSES_FOR_OTHER_PARITY = MessageTemplate(
    READ_BEFORE_WAIT, "on a fresh mbarrier the wait for parity 1 passes immediately"
)
WAIT_FOR_OTHER_PARITY = MessageTemplate(READ_BEFORE_WAIT, "wait for parity 0 first at line {line}")
WAIT_FOR_MBARRIER_PHASE = MessageTemplate(
    READ_BEFORE_WAIT, "wait for the phase of that mbarrier (`mbarrier.try_wait.parity`, in a loop) before the read"
)
GROUP_NOT_COMMITTED = MessageTemplate(READ_BEFORE_WAIT, "the copy was not committed to a group")
COMMIT_BEFORE_WAIT = MessageTemplate(READ_BEFORE_WAIT, "commit the group before the wait")
COMMIT_AND_WAIT = MessageTemplate(READ_BEFORE_WAIT, "commit the group, and wait for it before the read")
WAIT_LEAVES_GROUP_PENDING = MessageTemplate(READ_BEFORE_WAIT, "the wait leaves its group pending")
LOWER_WAIT_COUNT = MessageTemplate(READ_BEFORE_WAIT, "lower the count of the wait at line {2}")
MAY_LEAVE_GROUP_UNFINISHED = MessageTemplate(READ_BEFORE_WAIT, "may leave this copy's group unfinished")
WAIT_IS_FOR_SOURCES = MessageTemplate(READ_BEFORE_WAIT, "the wait is only for the reads of its source")
WAIT_FOR_WRITES = MessageTemplate(READ_BEFORE_WAIT, "remove `.read` from the wait at line {2}")
ENDS_READS_OF_SOURCES = MessageTemplate(READ_BEFORE_WAIT, "waits until the sources have been read")
NOTHING_WAITS = MessageTemplate(READ_BEFORE_WAIT, "nothing waits for it")
ADD_WAIT_AND_BARRIER = MessageTemplate(READ_BEFORE_WAIT, "add `{group}.wait_group 0;` and a barrier before the read")
WAIT_TOO_LATE = MessageTemplate(READ_BEFORE_WAIT, "the wait comes too late")
WAIT_EARLIER = MessageTemplate(READ_BEFORE_WAIT, "wait for the copy's group before the read, not only at line {2}")
FIRST_COVERING_WAIT = MessageTemplate(READ_BEFORE_WAIT, "the first wait that covers the copy")
BY_ANOTHER_THREAD = MessageTemplate(READ_BEFORE_WAIT, " by another thread")
READ_DURING_COPY = MessageTemplate(
    READ_BEFORE_WAIT, "reads {variable}, which the {operation} at line {1}{issuer} may still be writing: {reason}"
)
ONLY_ISSUER_WAITED = MessageTemplate(READ_BEFORE_WAIT, "only the issuing thread has waited for it")
WAIT_OF_ISSUER = MessageTemplate(READ_BEFORE_WAIT, "the issuing thread's wait for it")
HANDOVER_BEFORE_WAIT = MessageTemplate(READ_BEFORE_WAIT, "releases before the wait")
WAIT_AFTER_HANDOVER = MessageTemplate(READ_BEFORE_WAIT, "its wait comes after the release")
MOVE_WAIT_BEFORE_HANDOVER = MessageTemplate(READ_BEFORE_WAIT, "move the wait before line {3}")
BETWEEN_WAIT_AND_READ = MessageTemplate(READ_BEFORE_WAIT, "between the wait and the read")
WAIT_IN_ISSUING_THREADS = MessageTemplate(
    READ_BEFORE_WAIT, "wait for the copy in the threads that issue it, then add a barrier"
)
NOT_ORDERED = MessageTemplate(READ_BEFORE_WAIT, "nothing orders the two")
READ_DURING_COPY_OF_OTHER_THREAD = MessageTemplate(
    READ_BEFORE_WAIT,
    "reads {variable}, which the {operation} at line {1} by another thread may still be writing: {reason}",
)
READ_DURING_COPY_OF_OTHER_CTA = MessageTemplate(
    READ_BEFORE_WAIT,
    (
        "reads {variable}, which CTA {rank} of the cluster may still be writing at line {1}: no thread has "
        "waited for the phase of the mbarrier that it completes on"
    ),
)
COPY_INTO_BYTES_OF_OTHER_CTA = MessageTemplate(
    READ_BEFORE_WAIT, "asynchronous {operation} into these bytes of another CTA"
)
ONLY_ISSUER_WAITED_AND_RELAXED = MessageTemplate(
    READ_BEFORE_WAIT, "only the issuing thread has waited for it, and the arrival at line {3} is relaxed"
)

SOURCE_REUSED_IN_FLIGHT = DiagnosticCode(
    "PTX303",
    "source-reused-in-flight",
    sections=("Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group"),
)
WRITE_MAY_OVERLAP_SOURCE = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "address unknown; the write may be into the source of a copy that is still in flight"
)
WRITE_MAY_OVERLAP_TARGET = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "address unknown; the write may be into the destination of a copy that is still in flight"
)
COPY_READS_EXITED_CTA = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "`{operation}` may still read the shared memory of its CTA, which exits"
)
COPY_IN_FLIGHT_AT_EXIT = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "`{operation}` is still in flight, and no thread waits for it, while its CTA exits"
)
ACCESS_OF_BYTES_BEING_READ = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT,
    "`{action}` {access} bytes of {variable} that `{operation}` at line {1} may still read",
    missing="a wait by which the thread observes the completion of that operation",
)
COPY_OVERWRITES_SOURCE = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT,
    "`{action}` writes bytes of {variable} that `{operation}` at line {1} may still read",
    missing="a wait for the earlier operation, between the two",
)
COPY_OUT_OF_THESE_BYTES = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "bulk {operation} from these bytes")
WAIT_OF_ITS_THREAD = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "its thread's wait for it")
WRITE_DURING_COPY = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "writes {variable}, which the bulk {operation} at line {1} may still be reading"
)
BETWEEN_WAIT_AND_WRITE = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "between the wait in the issuing thread and the write"
)
NO_WAIT_COVERS_COPY = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "no wait of its thread covers it")
THREAD_NEVER_WAITS = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "its thread never waits for it")
EXIT_DURING_COPY = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT,
    (
        "the CTA may exit while this bulk {operation} still reads its shared memory, which another CTA may then use: "
        "{reason}"
    ),
)
WAIT_BEFORE_EXIT = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT,
    "wait with `cp.async.bulk.wait_group.read 0;` in the thread that issued it, before it exits",
)
THEN_BARRIER_BEFORE_WRITE = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "{wait}, and then a barrier, before the write")
WRITE_INTO_TARGET_OF_COPY = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "writes shared memory that the asynchronous {operation} at line {1} may still be writing"
)
WAIT_BEFORE_STORE = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "wait for the {operation} before the store, or store before the {operation} starts"
)
THE_WAIT_FOR_IT = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "the wait for it")
WAIT_IN_ISSUING_THREAD = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "wait with `cp.async.bulk.wait_group.read` in the issuing thread"
)
DOES_NOT_COVER_IT = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "does not cover it")
LOWER_COUNT_OR_WAIT_AGAIN = MessageTemplate(
    SOURCE_REUSED_IN_FLIGHT, "lower the count of the wait at line {2}, or wait again in the issuing thread"
)
COMES_BEFORE_COMMIT = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "comes before its group is committed")
COMMIT_BEFORE_THIS_WAIT = MessageTemplate(SOURCE_REUSED_IN_FLIGHT, "commit its group before the wait at line {2}")

OVERLAPPING_COPIES = DiagnosticCode(
    "PTX304", "overlapping-copies", sections=("cp.async.commit_group", "cp.async", "cp.async.bulk")
)
COPIES_MAY_OVERLAP = MessageTemplate(
    OVERLAPPING_COPIES, "address unknown; the copy may be into the bytes of another copy of its group"
)
COPIES_OVERLAP = MessageTemplate(
    OVERLAPPING_COPIES,
    "`{action}` writes bytes of {variable} that `{operation}` at line {1} may still write",
    missing="a wait for the earlier operation, between the two",
)
IN_EARLIER_ROUND = MessageTemplate(OVERLAPPING_COPIES, "in an earlier iteration")
OF_OTHER_THREAD = MessageTemplate(OVERLAPPING_COPIES, "of another thread")
AT_LABELED_LINE = MessageTemplate(OVERLAPPING_COPIES, "at line {1}")
COPIES_OF_GROUP_OVERLAP = MessageTemplate(
    OVERLAPPING_COPIES,
    "copies into bytes of {variable} that the copy {place} of the same group writes, too: nothing orders the two",
)
BULK_COPIES_OVERLAP = MessageTemplate(
    OVERLAPPING_COPIES, "copies into bytes of {variable} that the copy {place} may still be writing"
)
WRITES_SAME_BYTES = MessageTemplate(OVERLAPPING_COPIES, "writes these bytes, too")
GIVE_COPIES_OWN_BYTES = MessageTemplate(
    OVERLAPPING_COPIES, "use separate bytes for each copy, or wait for the first copy before the second"
)

REGISTERS_IN_FLIGHT = DiagnosticCode("PTX311", "registers-in-flight", sections=("wgmma.wait_group", "wgmma.mma_async"))
PATH_WITHOUT_WAIT = MessageTemplate(
    REGISTERS_IN_FLIGHT, "some paths from the multiplication to this access of its registers do not wait for it"
)
REGISTERS_TOUCHED_IN_FLIGHT = MessageTemplate(
    REGISTERS_IN_FLIGHT,
    ("`{action}` accesses {registers} of the asynchronous operation at line {1}, which may be in flight"),
    missing="a wait for the group of that operation, before this",
)
MAY_USE_REGISTER = MessageTemplate(REGISTERS_IN_FLIGHT, "may use the register until its group is waited for")
COMMIT_AND_WAIT_FOR_GROUP = MessageTemplate(
    REGISTERS_IN_FLIGHT, "commit the group with `wgmma.commit_group.sync.aligned;` and wait for it before line {0}"
)
LEAVES_GROUP_PENDING = MessageTemplate(REGISTERS_IN_FLIGHT, "leaves its group pending")
LOWER_COUNT_OF_WAIT = MessageTemplate(
    REGISTERS_IN_FLIGHT, "lower the count of the wait at line {2}, so that it covers the multiplication"
)
ADD_WGMMA_WAIT = MessageTemplate(REGISTERS_IN_FLIGHT, "add `wgmma.wait_group.sync.aligned 0;` before line {0}")
ACCUMULATOR = MessageTemplate(REGISTERS_IN_FLIGHT, "an accumulator")
FRAGMENT_OF_A = MessageTemplate(REGISTERS_IN_FLIGHT, "the fragment of A")
REGISTER_TOUCHED_IN_FLIGHT = MessageTemplate(
    REGISTERS_IN_FLIGHT, "accesses {registers} of the asynchronous multiplication at line {1}, which may be in flight"
)

MISSING_REGISTER_FENCE = DiagnosticCode("PTX312", "missing-register-fence", sections=("wgmma.fence",))
NO_REGISTER_FENCE = MessageTemplate(
    MISSING_REGISTER_FENCE,
    "`{action}` uses registers without a preceding `wgmma.fence`",
    missing="`wgmma.fence` after the last access to the registers",
)
NO_REGISTER_FENCE_SINCE_ACCESS = MessageTemplate(
    MISSING_REGISTER_FENCE,
    "`{action}` uses a register that was accessed before, with no `wgmma.fence` between",
    missing="`wgmma.fence` after the last access to the registers",
)
REGISTER_FENCE_NOT_KNOWN = MessageTemplate(
    MISSING_REGISTER_FENCE, "whether a `wgmma.fence` precedes is unknown: a call precedes, or a long path"
)
PATH_WITHOUT_REGISTER_FENCE = MessageTemplate(
    MISSING_REGISTER_FENCE, "a path that no execution came along has no `wgmma.fence` before this multiplication"
)
NO_FENCE_BEFORE_MULTIPLICATION = MessageTemplate(
    MISSING_REGISTER_FENCE, "no `wgmma.fence` comes before this multiplication"
)
ADD_FENCE_AFTER_LAST_ACCESS = MessageTemplate(
    MISSING_REGISTER_FENCE, "add `wgmma.fence.sync.aligned;` before line {0}, after the last access to its registers"
)
NO_FENCE_AFTER_ACCESS = MessageTemplate(
    MISSING_REGISTER_FENCE, "uses a register that line {1} accesses, with no `wgmma.fence` between"
)
ACCESS_TO_REGISTER = MessageTemplate(MISSING_REGISTER_FENCE, "access to the register")
ADD_FENCE_AFTER_THIS_ACCESS = MessageTemplate(
    MISSING_REGISTER_FENCE, "add `wgmma.fence.sync.aligned;` before line {0}, after that access"
)

OPERANDS_REUSED = DiagnosticCode(
    "PTX314", "operands-reused", sections=("wgmma.wait_group", "Async Proxy", "tcgen05.commit")
)
OPERAND_READ_NOT_KNOWN = MessageTemplate(
    OPERANDS_REUSED,
    (
        "{access} {size} bytes of {variable} that thread {thread}{cta} {earlier}{at}{too}: this thread "
        "has not observed that the multiplication has read it"
    ),
    missing="`wgmma.wait_group`, and a release and acquire after it",
)
READS_UNTIL_COMPLETE = MessageTemplate(OPERANDS_REUSED, "reads these bytes until it is complete")
NEXT_WAIT = MessageTemplate(OPERANDS_REUSED, "the next wait")
WAIT_BEFORE_RELEASE = MessageTemplate(
    OPERANDS_REUSED,
    "wait for its group (`wgmma.wait_group.sync.aligned`) before releasing the bytes to the copying thread",
)
WAIT_OF_MULTIPLYING_THREADS = MessageTemplate(OPERANDS_REUSED, "its threads' wait for it")
BETWEEN_WAIT_AND_FILL = MessageTemplate(OPERANDS_REUSED, "between the wait of the multiplying threads and the write")
COMMIT_TO_MBARRIER = MessageTemplate(
    OPERANDS_REUSED, "let `tcgen05.commit` arrive on the mbarrier that the copying thread waits on"
)
FILL_DURING_MULTIPLICATION = MessageTemplate(
    OPERANDS_REUSED, "fills {variable}, which the multiplication at line {1} may still be reading"
)
OTHER_CTA_MAY_RELEASE = MessageTemplate(
    OPERANDS_REUSED,
    "a thread of the CTA releases these bytes before its multiplication is complete; another CTA may order the copy",
)

PARTIAL_WARPGROUP = DiagnosticCode(
    "PTX315", "partial-warpgroup", sections=("Warpgroup", "wgmma.mma_async", "wgmma.fence")
)
ONE_OF_THE_THREADS = MessageTemplate(PARTIAL_WARPGROUP, " (thread {thread} among them)")
WARPGROUP_DID_NOT_COMMIT = MessageTemplate(
    PARTIAL_WARPGROUP, "{threads} threads of its warpgroup{first} to commit their multiplications"
)
DOES_NOT = MessageTemplate(PARTIAL_WARPGROUP, "does not")
DOES_SO_TIMES = MessageTemplate(PARTIAL_WARPGROUP, "does so {count} times")
TIMES = MessageTemplate(PARTIAL_WARPGROUP, " {count} times")
WARPGROUP_DIVERGES = MessageTemplate(
    PARTIAL_WARPGROUP,
    "all threads of a warpgroup must execute this together: thread {thread} does{times}, thread {other} {often}",
)
BRANCH_UNIFORMLY_IN_WARPGROUP = MessageTemplate(
    PARTIAL_WARPGROUP,
    (
        "branch on a condition that is the same for all 128 threads of the warpgroup, and do not "
        "predicate the instruction"
    ),
)
INCOMPLETE_WARPGROUP = MessageTemplate(
    PARTIAL_WARPGROUP, "requires a full warpgroup of 128 threads, but the last one of the block has {threads}"
)
WARPGROUP_MAY_BE_WHOLE = MessageTemplate(
    PARTIAL_WARPGROUP, "block size unknown; whether all threads of a warpgroup execute this depends on it"
)
LAUNCH_WHOLE_WARPGROUPS = MessageTemplate(
    PARTIAL_WARPGROUP, "launch a multiple of 128 threads, or exclude the incomplete warpgroup by a branch"
)

LOADED_REGISTER_IN_FLIGHT = DiagnosticCode(
    "PTX316", "loaded-register-in-flight", Severity.WARNING, sections=("tcgen05.ld", "tcgen05.wait")
)
USES_LOADED_REGISTER = MessageTemplate(
    LOADED_REGISTER_IN_FLIGHT,
    "uses a register of the `tcgen05.ld` at line {1} with no `tcgen05.wait::ld` between: ptxas makes this use wait, "
    "but the manual does not require it",
)
WRITES_REGISTER = MessageTemplate(LOADED_REGISTER_IN_FLIGHT, "writes the register asynchronously")
ADD_WAIT_FOR_LOADS = MessageTemplate(
    LOADED_REGISTER_IN_FLIGHT, "add `tcgen05.wait::ld.sync.aligned;` before line {0}, for all lanes of the warp"
)
PATH_WITHOUT_WAIT_FOR_LOAD = MessageTemplate(
    LOADED_REGISTER_IN_FLIGHT, "some paths from the `tcgen05.ld` to this use of its register do not wait for it"
)
