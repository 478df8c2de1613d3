"""PTX7xx: tcgen05 and Tensor Memory."""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.diagnostics.message import MessageTemplate

TENSOR_ALLOCATION = DiagnosticCode(
    "PTX701", "tensor-allocation", sections=("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",)
)
_text = partial(MessageTemplate, TENSOR_ALLOCATION)
LARGER_LATER_ALLOCATION = _text("{count} columns after {before}: a later allocation must not be larger")
ALLOCATION_AFTER_RELINQUISH = _text("the CTA has relinquished its permit to allocate Tensor Memory")
INVALID_COLUMN_COUNT = _text("{count} columns of Tensor Memory: an allocation has 32 to {limit}")
COLUMNS_NEVER_FREE = _text("{count} columns of Tensor Memory are never free: the CTA itself holds {held}")
DEALLOCATION_DIFFERS = _text("{count} columns from 0x{address:x} are deallocated, where {allocated} was allocated")
NO_SUCH_COLUMN = _text("column {column} of Tensor Memory: there are {columns}")
COLUMN_NOT_ALLOCATED = _text("column {column} of Tensor Memory is used, which is not allocated")
ROWS_BEYOND_LANES = _text("{rows} rows begin at lane {lane} of Tensor Memory, which has {lanes}")
SCALE_FACTORS_NOT_AT_LANE_0 = _text("scale factors begin at lane {lane} of Tensor Memory instead of lane 0")
COLUMNS_NEVER_DEALLOCATED = _text(
    "CTA {cta} exits, and {count} columns of Tensor Memory are never deallocated",
    missing="`tcgen05.dealloc` with the same address and number of columns, by one warp, before the CTA exits",
)
BRANCH_ON_WARP_NUMBER = _text("let one full warp execute it: branch on the warp number, not on the lane number")
ALLOCATION_AFTER_RELINQUISHING = _text("allocates Tensor Memory after the CTA relinquished its permit at line {1}")
NO_ALLOCATION_MAY_FOLLOW = _text("no allocation may follow")
MOVE_RELINQUISH = _text("move `tcgen05.relinquish_alloc_permit` after the last allocation")
LATER_ALLOCATION_LARGER = _text("allocates {columns} columns after {before}: later allocations must not be larger")
ALLOCATION_BEFORE = _text("the previous allocation")
ALLOCATE_LARGEST_FIRST = _text("allocate the largest number of columns first")
NEVER_DEALLOCATED = _text("this Tensor Memory is never deallocated: later CTAs wait for it indefinitely")
DEALLOCATE_BEFORE_EXIT = _text(
    "execute `tcgen05.dealloc` with the address and the number of columns, by one warp, before the CTA ends"
)
COLUMNS_BEYOND_ALLOCATION = _text("uses column {column} of an allocation that has {columns} columns")
DEALLOCATION_SHOWS_COLUMNS = _text("deallocates {columns} columns at this address")
ALLOCATE_MORE_COLUMNS = _text("allocate and deallocate more columns, or use columns below {columns}")
DEALLOCATES_NOTHING_ALLOCATED = _text("deallocates Tensor Memory, but no instruction of this kernel allocates any")
ALLOCATE_FIRST = _text("allocate it first (`tcgen05.alloc`, by one warp), and deallocate the address that it writes")
DEALLOCATION_OF_OTHER_SIZE = _text("deallocates {columns} columns; the allocation at line {1} has {allocated}")
TOOK_COLUMNS = _text("allocates {columns} columns")
DEALLOCATE_SAME_SIZE = _text("deallocate each allocation with its own number of columns")

MIXED_CTA_GROUPS = DiagnosticCode(
    "PTX702", "mixed-cta-groups", sections=("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",)
)
_text = partial(MessageTemplate, MIXED_CTA_GROUPS)
CTA_GROUPS_DIFFER = _text(
    "`{action}` has another CTA group than `{other}` at line {1}",
    missing="one `.cta_group` in all tcgen05 instructions of the kernel",
)
CTA_GROUP_DIFFERS = _text("operates on {ctas}, but line {1} of this kernel operates on {other}")
USE_ONE_CTA_GROUP = _text(
    "write `.cta_group::{ctas}` here too, or `.cta_group::{other}` in all tcgen05 instructions of the kernel"
)
ONE_CTA = _text("one CTA")
PAIR_OF_CTAS = _text("a pair of CTAs")
CTA_GROUP_LABEL = _text("`.cta_group::{ctas}`")

TENSOR_COMPLETION = DiagnosticCode(
    "PTX704",
    "tensor-completion",
    sections=("Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.commit"),
)
_text = partial(MessageTemplate, TENSOR_COMPLETION)
COMMIT_NOT_KNOWN = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: this thread has "
    "not observed its commit",
    missing="`tcgen05.commit` by the thread that issued it, and a wait on its mbarrier before the columns are used",
)
OPERATION_NOT_COMMITTED = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: no commit of its thread covers it",
    missing="`tcgen05.commit` by the thread that issued it, and a wait on its mbarrier before the columns are used",
)
USES_TENSOR_MEMORY = _text("uses Tensor Memory")
WORKS_UNTIL_COMPLETE = _text("accesses these columns until it is complete")
NO_COMMIT_COVERS = _text("no commit of its thread covers it")
ADD_TCGEN05_COMMIT = _text(
    "add `tcgen05.commit` to an mbarrier in the thread that issues it, and wait on that before line {0}"
)
COMMIT_WAIT_GUESSED = _text("whether a thread has waited for the commit depends on a condition that is unknown")
WAIT_COMES_LATER = _text("the wait for it comes later")
NO_WAIT_FOR_COMMIT = _text("nothing waits for its commit")
ARRIVES_WHEN_COMPLETE = _text("arrives when it is complete")
WAIT_ON_COMMIT_MBARRIER = _text(
    "wait on the mbarrier of line {2} (`mbarrier.try_wait.parity`, in a loop) before line {0}"
)
USE_DURING_OPERATION = _text("{access} that the operation at line {1} may still be writing: {reason}")

TENSOR_FENCE = DiagnosticCode(
    "PTX705",
    "tensor-fence",
    sections=("tcgen05.fence", "Specialized Inter-thread Synchronization for tcgen05 instructions"),
)
_text = partial(MessageTemplate, TENSOR_FENCE)
NO_FENCE_AFTER_SYNC = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} has {effect}: no "
    "`tcgen05.fence::after_thread_sync` follows the synchronization between them",
    missing="`tcgen05.fence::after_thread_sync` after the wait or the barrier",
)
NO_FENCE_AFTER_SYNCHRONIZATION = _text(
    "no `tcgen05.fence::after_thread_sync` is between this and the synchronization at line {2}, which "
    "orders line {1} before this thread"
)
NO_FENCE_BEFORE_SYNCHRONIZATION = _text(
    "no `tcgen05.fence::before_thread_sync` is between line {1}, which this depends on, and the synchronization at "
    "line {2}, which orders it before this thread"
)
WHAT_IT_DEPENDS_ON = _text("the operation that it depends on")
ORDERS_THREADS_NOT_OPERATIONS = _text("orders the threads, not their asynchronous operations")
ADD_FENCE_BEFORE_SYNC = _text("add `tcgen05.fence::before_thread_sync;` before line {2}")
ADD_FENCE_AFTER_SYNC = _text("add `tcgen05.fence::after_thread_sync;` after line {2}")

TENSOR_WAIT = DiagnosticCode(
    "PTX706",
    "tensor-wait",
    sections=("tcgen05.wait", "Memory Consistency Model for 5th generation of TensorCore operations"),
)
_text = partial(MessageTemplate, TENSOR_WAIT)
NO_WAIT_FOR_ACCESS = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: there is no `{wait}` between",
    missing="`tcgen05.wait` after the load or store, before the release",
)
ACCESS_UNORDERED = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} accesses: nothing orders the two",
    missing="`tcgen05.wait` after the load or store, before the release",
)
ONLY_REGISTERS_SHOW_COMPLETION = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} has accessed: only the use of its "
    "registers shows its completion, and there is no {wait} between",
    missing="`tcgen05.wait` after the load or store, before the release",
)
BEFORE_THIS_LINE = _text("before line {0}")
BEFORE_THREAD_SIGNALS = _text("before its thread releases")
NO_WAIT_BETWEEN = _text("there is no `{wait}` between")
ADD_TCGEN05_WAIT = _text("add `{wait}.sync.aligned;` after line {1}, {place}")
WARPS_UNORDERED = _text("nothing orders the two warps")
ADD_BARRIER_AFTER_WAIT = _text("add a barrier between `{wait}.sync.aligned;` in the warp of line {1} and line {0}")
USE_DURING_ACCESS = _text("uses Tensor Memory that the {access} at line {1} may still access: {reason}")
ACCESS_OF_COLUMNS = _text("{access} of these columns")

TENSOR_LANES = DiagnosticCode(
    "PTX707", "tensor-lanes", sections=("Tensor Memory and Register Load/Store Instructions", "tcgen05.ld")
)
_text = partial(MessageTemplate, TENSOR_LANES)
LANES_OF_OTHER_WARP = _text("warp {warp} may access lanes {first} to {last} of Tensor Memory, not lane {lane}")
BRANCH_ON_WARP_NUMBER_ONLY = _text("branch on the warp number, not on the lane number")
LANE_OF_OTHER_WARP = _text("warp {warp} may access lanes {first} to {last} of Tensor Memory, not lane {lane}")
ADD_WARP_OFFSET = _text("add 32 times the warp's number in its warpgroup, shifted left by 16, to the address")

TENSOR_DEALLOCATED_IN_USE = DiagnosticCode(
    "PTX708",
    "tensor-deallocated-in-use",
    sections=("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "Issue Granularity"),
)
_text = partial(MessageTemplate, TENSOR_DEALLOCATED_IN_USE)
COLUMN_USED_AFTER_DEALLOCATION = _text("column {column} of Tensor Memory is used after it was deallocated")
DEALLOCATED_DURING_USE = _text(
    "`{action}` {access} Tensor Memory that `{other}` at line {1} may still access: nothing orders the two",
    missing="a barrier, or a wait for the commit, between the last use and the deallocation",
)
ONLY_PEER_DEALLOCATES = _text(
    "only its peer deallocates the {count} columns that CTA {cta} of the pair allocated",
    missing="a barrier, or a wait for the commit, between the last use and the deallocation",
)
DEALLOCATION_WAIT_GUESSED = _text("whether a thread has waited for the commit depends on a condition that is unknown")
DEALLOCATING_BLOCK_MAY_BE_ONE_WARP = _text("block size unknown; the block may be one warp")
DEALLOCATES = _text("deallocates Tensor Memory")
ONLY_ONE_CTA_OF_PAIR_DEALLOCATES = _text(
    "only the CTA of rank {rank} in its pair deallocates this Tensor Memory: its peer never does"
)
DEALLOCATE_IN_BOTH_CTAS = _text("execute the deallocation by one warp in each CTA of the pair")
NOT_WAITED_BEFORE_SIGNAL = _text("its thread has not waited for it before it releases")
NOT_ORDERED = _text("nothing orders the two")
DEALLOCATION_DURING_USE = _text("deallocates Tensor Memory that another warp uses at line {1}: {reason}")
ACCESS_BY_OTHER_WARP = _text("access by another warp")
MEET_BEFORE_DEALLOCATION = _text(
    "synchronize the warps (`bar.sync 0;`) after they have waited for their last access, and before the deallocation"
)
