"""PTX7xx: tcgen05 and Tensor Memory."""

from __future__ import annotations

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate

TENSOR_ALLOCATION = DiagnosticCode(
    "PTX701", "tensor-allocation", sections=("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",)
)
LARGER_LATER_ALLOCATION = MessageTemplate(
    TENSOR_ALLOCATION, "{count} columns after {before}: a later allocation must not be larger"
)
ALLOCATION_AFTER_RELINQUISH = MessageTemplate(
    TENSOR_ALLOCATION, "the CTA has relinquished its permit to allocate Tensor Memory"
)
INVALID_COLUMN_COUNT = MessageTemplate(
    TENSOR_ALLOCATION, "{count} columns of Tensor Memory: an allocation has 32 to {limit}"
)
COLUMNS_NEVER_FREE = MessageTemplate(
    TENSOR_ALLOCATION, "{count} columns of Tensor Memory are never free: the CTA itself holds {held}"
)
DEALLOCATION_DIFFERS = MessageTemplate(
    TENSOR_ALLOCATION, "{count} columns from 0x{address:x} are deallocated, where {allocated} was allocated"
)
NO_SUCH_COLUMN = MessageTemplate(TENSOR_ALLOCATION, "column {column} of Tensor Memory: there are {columns}")
COLUMN_NOT_ALLOCATED = MessageTemplate(
    TENSOR_ALLOCATION, "column {column} of Tensor Memory is used, which is not allocated"
)
ROWS_BEYOND_LANES = MessageTemplate(
    TENSOR_ALLOCATION, "{rows} rows begin at lane {lane} of Tensor Memory, which has {lanes}"
)
SCALE_FACTORS_NOT_AT_LANE_0 = MessageTemplate(
    TENSOR_ALLOCATION, "scale factors begin at lane {lane} of Tensor Memory instead of lane 0"
)
COLUMNS_NEVER_DEALLOCATED = MessageTemplate(
    TENSOR_ALLOCATION,
    "CTA {cta} exits, and {count} columns of Tensor Memory are never deallocated",
    missing="`tcgen05.dealloc` with the same address and number of columns, by one warp, before the CTA exits",
)
BRANCH_ON_WARP_NUMBER = MessageTemplate(
    TENSOR_ALLOCATION, "let one full warp execute it: branch on the warp number, not on the lane number"
)
ALLOCATION_AFTER_RELINQUISHING = MessageTemplate(
    TENSOR_ALLOCATION, "allocates Tensor Memory after the CTA relinquished its permit at line {1}"
)
NO_ALLOCATION_MAY_FOLLOW = MessageTemplate(TENSOR_ALLOCATION, "no allocation may follow")
MOVE_RELINQUISH = MessageTemplate(TENSOR_ALLOCATION, "move `tcgen05.relinquish_alloc_permit` after the last allocation")
LATER_ALLOCATION_LARGER = MessageTemplate(
    TENSOR_ALLOCATION, "allocates {columns} columns after {before}: later allocations must not be larger"
)
ALLOCATION_BEFORE = MessageTemplate(TENSOR_ALLOCATION, "the previous allocation")
ALLOCATE_LARGEST_FIRST = MessageTemplate(TENSOR_ALLOCATION, "allocate the largest number of columns first")
NEVER_DEALLOCATED = MessageTemplate(
    TENSOR_ALLOCATION, "this Tensor Memory is never deallocated: later CTAs wait for it indefinitely"
)
DEALLOCATE_BEFORE_EXIT = MessageTemplate(
    TENSOR_ALLOCATION,
    "execute `tcgen05.dealloc` with the address and the number of columns, by one warp, before the CTA ends",
)
COLUMNS_BEYOND_ALLOCATION = MessageTemplate(
    TENSOR_ALLOCATION, "uses column {column} of an allocation that has {columns} columns"
)
DEALLOCATION_SHOWS_COLUMNS = MessageTemplate(TENSOR_ALLOCATION, "deallocates {columns} columns at this address")
ALLOCATE_MORE_COLUMNS = MessageTemplate(
    TENSOR_ALLOCATION, "allocate and deallocate more columns, or use columns below {columns}"
)
DEALLOCATES_NOTHING_ALLOCATED = MessageTemplate(
    TENSOR_ALLOCATION, "deallocates Tensor Memory, but no instruction of this kernel allocates any"
)
ALLOCATE_FIRST = MessageTemplate(
    TENSOR_ALLOCATION, "allocate it first (`tcgen05.alloc`, by one warp), and deallocate the address that it writes"
)
DEALLOCATION_OF_OTHER_SIZE = MessageTemplate(
    TENSOR_ALLOCATION, "deallocates {columns} columns; the allocation at line {1} has {allocated}"
)
TOOK_COLUMNS = MessageTemplate(TENSOR_ALLOCATION, "allocates {columns} columns")
DEALLOCATE_SAME_SIZE = MessageTemplate(TENSOR_ALLOCATION, "deallocate each allocation with its own number of columns")

MIXED_CTA_GROUPS = DiagnosticCode(
    "PTX702", "mixed-cta-groups", sections=("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",)
)
CTA_GROUPS_DIFFER = MessageTemplate(
    MIXED_CTA_GROUPS,
    "`{action}` has another CTA group than `{other}` at line {1}",
    missing="one `.cta_group` in all tcgen05 instructions of the kernel",
)
CTA_GROUP_DIFFERS = MessageTemplate(
    MIXED_CTA_GROUPS, "operates on {ctas}, but line {1} of this kernel operates on {other}"
)
USE_ONE_CTA_GROUP = MessageTemplate(
    MIXED_CTA_GROUPS,
    "write `.cta_group::{ctas}` here too, or `.cta_group::{other}` in all tcgen05 instructions of the kernel",
)
ONE_CTA = MessageTemplate(MIXED_CTA_GROUPS, "one CTA")
PAIR_OF_CTAS = MessageTemplate(MIXED_CTA_GROUPS, "a pair of CTAs")
CTA_GROUP_LABEL = MessageTemplate(MIXED_CTA_GROUPS, "`.cta_group::{ctas}`")

TENSOR_COMPLETION = DiagnosticCode(
    "PTX704",
    "tensor-completion",
    sections=("Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.commit"),
)
COMMIT_NOT_KNOWN = MessageTemplate(
    TENSOR_COMPLETION,
    (
        "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: this thread has "
        "not observed its commit"
    ),
    missing="`tcgen05.commit` by the thread that issued it, and a wait on its mbarrier before the columns are used",
)
OPERATION_NOT_COMMITTED = MessageTemplate(
    TENSOR_COMPLETION,
    (
        "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: no commit of its "
        "thread covers it"
    ),
    missing="`tcgen05.commit` by the thread that issued it, and a wait on its mbarrier before the columns are used",
)
USES_TENSOR_MEMORY = MessageTemplate(TENSOR_COMPLETION, "uses Tensor Memory")
WORKS_UNTIL_COMPLETE = MessageTemplate(TENSOR_COMPLETION, "accesses these columns until it is complete")
NO_COMMIT_COVERS = MessageTemplate(TENSOR_COMPLETION, "no commit of its thread covers it")
ADD_TCGEN05_COMMIT = MessageTemplate(
    TENSOR_COMPLETION,
    "add `tcgen05.commit` to an mbarrier in the thread that issues it, and wait on that before line {0}",
)
COMMIT_WAIT_GUESSED = MessageTemplate(
    TENSOR_COMPLETION, "whether a thread has waited for the commit depends on a condition that is unknown"
)
WAIT_COMES_LATER = MessageTemplate(TENSOR_COMPLETION, "the wait for it comes later")
NO_WAIT_FOR_COMMIT = MessageTemplate(TENSOR_COMPLETION, "nothing waits for its commit")
ARRIVES_WHEN_COMPLETE = MessageTemplate(TENSOR_COMPLETION, "arrives when it is complete")
WAIT_ON_COMMIT_MBARRIER = MessageTemplate(
    TENSOR_COMPLETION, "wait on the mbarrier of line {2} (`mbarrier.try_wait.parity`, in a loop) before line {0}"
)
USE_DURING_OPERATION = MessageTemplate(
    TENSOR_COMPLETION, "{access} that the operation at line {1} may still be writing: {reason}"
)

TENSOR_FENCE = DiagnosticCode(
    "PTX705",
    "tensor-fence",
    sections=("tcgen05.fence", "Specialized Inter-thread Synchronization for tcgen05 instructions"),
)
NO_FENCE_AFTER_SYNC = MessageTemplate(
    TENSOR_FENCE,
    (
        "`{action}` {access} Tensor Memory that `{other}` at line {1} has {effect}: no "
        "`tcgen05.fence::after_thread_sync` follows the synchronization between them"
    ),
    missing="`tcgen05.fence::after_thread_sync` after the wait or the barrier",
)
NO_FENCE_AFTER_SYNCHRONIZATION = MessageTemplate(
    TENSOR_FENCE,
    (
        "no `tcgen05.fence::after_thread_sync` is between this and the synchronization at line {2}, which "
        "orders line {1} before this thread"
    ),
)
NO_FENCE_BEFORE_SYNCHRONIZATION = MessageTemplate(
    TENSOR_FENCE,
    (
        "no `tcgen05.fence::before_thread_sync` is between line {1}, which this depends on, and the synchronization at "
        "line {2}, which orders it before this thread"
    ),
)
WHAT_IT_DEPENDS_ON = MessageTemplate(TENSOR_FENCE, "the operation that it depends on")
ORDERS_THREADS_NOT_OPERATIONS = MessageTemplate(TENSOR_FENCE, "orders the threads, not their asynchronous operations")
ADD_FENCE_BEFORE_SYNC = MessageTemplate(TENSOR_FENCE, "add `tcgen05.fence::before_thread_sync;` before line {2}")
ADD_FENCE_AFTER_SYNC = MessageTemplate(TENSOR_FENCE, "add `tcgen05.fence::after_thread_sync;` after line {2}")

TENSOR_WAIT = DiagnosticCode(
    "PTX706",
    "tensor-wait",
    sections=("tcgen05.wait", "Memory Consistency Model for 5th generation of TensorCore operations"),
)
NO_WAIT_FOR_ACCESS = MessageTemplate(
    TENSOR_WAIT,
    "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: there is no `{wait}` between",
    missing="`tcgen05.wait` after the load or store, before the release",
)
ACCESS_UNORDERED = MessageTemplate(
    TENSOR_WAIT,
    "`{action}` {access} Tensor Memory that `{other}` at line {1} accesses: nothing orders the two",
    missing="`tcgen05.wait` after the load or store, before the release",
)
ONLY_REGISTERS_SHOW_COMPLETION = MessageTemplate(
    TENSOR_WAIT,
    (
        "`{action}` {access} Tensor Memory that `{other}` at line {1} has accessed: only the use of its "
        "registers shows its completion, and there is no {wait} between"
    ),
    missing="`tcgen05.wait` after the load or store, before the release",
)
BEFORE_THIS_LINE = MessageTemplate(TENSOR_WAIT, "before line {0}")
BEFORE_THREAD_SIGNALS = MessageTemplate(TENSOR_WAIT, "before its thread releases")
NO_WAIT_BETWEEN = MessageTemplate(TENSOR_WAIT, "there is no `{wait}` between")
ADD_TCGEN05_WAIT = MessageTemplate(TENSOR_WAIT, "add `{wait}.sync.aligned;` after line {1}, {place}")
WARPS_UNORDERED = MessageTemplate(TENSOR_WAIT, "nothing orders the two warps")
ADD_BARRIER_AFTER_WAIT = MessageTemplate(
    TENSOR_WAIT, "add a barrier between `{wait}.sync.aligned;` in the warp of line {1} and line {0}"
)
USE_DURING_ACCESS = MessageTemplate(
    TENSOR_WAIT, "uses Tensor Memory that the {access} at line {1} may still access: {reason}"
)
ACCESS_OF_COLUMNS = MessageTemplate(TENSOR_WAIT, "{access} of these columns")

TENSOR_LANES = DiagnosticCode(
    "PTX707", "tensor-lanes", sections=("Tensor Memory and Register Load/Store Instructions", "tcgen05.ld")
)
LANES_OF_OTHER_WARP = MessageTemplate(
    TENSOR_LANES, "warp {warp} may access lanes {first} to {last} of Tensor Memory, not lane {lane}"
)
BRANCH_ON_WARP_NUMBER_ONLY = MessageTemplate(TENSOR_LANES, "branch on the warp number, not on the lane number")
LANE_OF_OTHER_WARP = MessageTemplate(
    TENSOR_LANES, "warp {warp} may access lanes {first} to {last} of Tensor Memory, not lane {lane}"
)
ADD_WARP_OFFSET = MessageTemplate(
    TENSOR_LANES, "add 32 times the warp's number in its warpgroup, shifted left by 16, to the address"
)

TENSOR_DEALLOCATED_IN_USE = DiagnosticCode(
    "PTX708",
    "tensor-deallocated-in-use",
    sections=("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "Issue Granularity"),
)
COLUMN_USED_AFTER_DEALLOCATION = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE, "column {column} of Tensor Memory is used after it was deallocated"
)
DEALLOCATED_DURING_USE = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE,
    ("`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: nothing orders the two"),
    missing="a barrier, or a wait for the commit, between the last use and the deallocation",
)
ONLY_PEER_DEALLOCATES = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE,
    "only its peer deallocates the {count} columns that CTA {cta} of the pair allocated",
    missing="a barrier, or a wait for the commit, between the last use and the deallocation",
)
DEALLOCATION_WAIT_GUESSED = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE, "whether a thread has waited for the commit depends on a condition that is unknown"
)
DEALLOCATING_BLOCK_MAY_BE_ONE_WARP = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE, "block size unknown; the block may be one warp"
)
DEALLOCATES = MessageTemplate(TENSOR_DEALLOCATED_IN_USE, "deallocates Tensor Memory")
ONLY_ONE_CTA_OF_PAIR_DEALLOCATES = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE,
    "only the CTA of rank {rank} in its pair deallocates this Tensor Memory: its peer never does",
)
DEALLOCATE_IN_BOTH_CTAS = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE, "execute the deallocation by one warp in each CTA of the pair"
)
NOT_WAITED_BEFORE_SIGNAL = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE, "its thread has not waited for it before it releases"
)
NOT_ORDERED = MessageTemplate(TENSOR_DEALLOCATED_IN_USE, "nothing orders the two")
DEALLOCATION_DURING_USE = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE, "deallocates Tensor Memory that another warp uses at line {1}: {reason}"
)
ACCESS_BY_OTHER_WARP = MessageTemplate(TENSOR_DEALLOCATED_IN_USE, "access by another warp")
MEET_BEFORE_DEALLOCATION = MessageTemplate(
    TENSOR_DEALLOCATED_IN_USE,
    "synchronize the warps (`bar.sync 0;`) after they have waited for their last access, and before the deallocation",
)
