"""Why an obligation is open, and what proves that it is satisfied, in words."""

from __future__ import annotations

from ptxkit.diagnostics.message import TextTemplate

NOT_COVERED = TextTemplate("the executions do not cover every path, thread and value, and no proof covers the rest")
COVERED_BY_EXECUTIONS = TextTemplate("the executions cover all paths and threads of every launch, and satisfy it")
COMMITTED = TextTemplate("on each path to an exit, it is committed or tracked at {lines}")
NO_PATH_TO_EXIT = TextTemplate("no path leads from it to an exit")
SOURCE_READ = TextTemplate("on each path to an exit, the commits and waits at {lines} complete its reads")
REGISTERS_FREE = TextTemplate("the commits and waits at {lines} complete all operations on its registers")
REGISTERS_UNUSED = TextTemplate(
    "no path leads to it from an operation on its registers, other than one of the same shape"
)
REGISTERS_FENCED = TextTemplate(
    "on each path to it, a fence at {lines} follows all accesses to its registers, other than those of multiplications"
    " of the same shape"
)
UNREACHABLE = TextTemplate("no path leads to it")
GUARD_ASSIGNED = TextTemplate("the instruction at {lines} assigns its guard")
OWN_ADDRESSES = TextTemplate("base: on each path, {bases}")
BASE_NONE = TextTemplate("it is an integer")
BASE_VARIABLE = TextTemplate("it is `{name}` in .{space}, or a part of it")
BASE_GENERIC = TextTemplate("it is the generic address of `{name}` in .{space}, or of a part of it")
BASE_ARGUMENT = TextTemplate("it is derived from the argument `{name}`")
BASE_ARGUMENT_IN_SPACE = TextTemplate("it is derived from the argument `{name}`, converted to .{space}")
BASE_CONVERTED = TextTemplate("it is derived from the result of a conversion to .{space}")
BASE_CONVERTED_GENERIC = TextTemplate("it is derived from the generic address of a conversion from .{space}")
ALIGNED = TextTemplate("aligned: a multiple of {required} on each path ({bases})")
NO_ALIGNMENT = TextTemplate("the instruction demands no alignment of it")
INSIDE = TextTemplate("range: {ranges}")
INSIDE_VARIABLE = TextTemplate("{size} bytes at offsets {low}..{high} are inside `{name}` of {extent} bytes")
NO_VARIABLE = TextTemplate("it is derived from the argument `{name}` and from no variable")
NUMBER_INSIDE = TextTemplate("range: {low}..{high} by {step}, which satisfies all limits of {role}")
NO_OTHER_CTA = TextTemplate("base: on each path, {bases}; it names no other CTA")
NO_LIMITS = TextTemplate("the instruction has no limits for it that depend on its value")
NEEDS = TextTemplate("it depends on the launch, which needs: {needs}")
NEED_MULTIPLE = TextTemplate("parameter {subject} multiple of {amount}")
NEED_SPACE = TextTemplate("parameter {subject} an address in .{space}")
NEED_BYTES = TextTemplate("`{subject}` of at least {amount} bytes")
NEED_BLOCK_MULTIPLE = TextTemplate("blocks with {subject} a multiple of {amount}")
NEED_LEAST = TextTemplate("blocks with {subject} of at least {amount}")
NEED_EXTENT = TextTemplate("blocks with {subject} of {amount}")
UNIFORM = TextTemplate("uniform: nothing that differs between the threads of a CTA decides whether it is executed")
UNIFORM_IN_ROLE = TextTemplate(
    "uniform: nothing that differs between the threads of a role decides whether it is executed"
)
ALL_LANES = TextTemplate("range: the mask has all lanes")
ONE_CTA_GROUP = TextTemplate("all instructions of the kernel have the same group of CTAs, {count}")
APART = TextTemplate("apart: no instruction that could conflict with it accesses the same bytes")
ORDERED = TextTemplate("ordered: between the barriers at {lines}, no other thread uses the same bytes")
ORDERED_BY_PHASES = TextTemplate(
    "ordered: by the waits and barriers at {lines}, in all schedules of the threads and for all numbers of iterations"
)
FOLLOWED_PHASES = TextTemplate(
    "phases: the waits and barriers at {lines} were followed in all schedules of the threads and for all numbers of"
    " iterations"
)
SEPARATE_THREADS = TextTemplate("apart: no two threads use the same bytes")
OWN_CTA = TextTemplate("base: on each path, it is in the shared memory of the executing CTA")
SEPARATE_CTAS = TextTemplate("no instruction of the kernel accesses the shared memory of another CTA")
ALLOCATIONS_BALANCED = TextTemplate(
    "on each path, the warps that allocate at {lines} deallocate as many columns before they exit"
)
NO_COMMIT_PROVEN = TextTemplate(
    "no wait for a commit is proven to order it and the operations at {lines}, in all schedules of the threads"
)
NO_WAIT_PROVEN = TextTemplate(
    "no `tcgen05.wait` and synchronization are proven to order it and the accesses at {lines}, in all schedules of the"
    " threads"
)
NO_TENSOR_FENCE_PROVEN = TextTemplate(
    "no `tcgen05.fence::after_thread_sync` is proven to follow the synchronization with the operations at {lines}"
)
NO_ORDER_BEFORE_DEALLOCATION_PROVEN = TextTemplate(
    "the accesses at {lines} are not proven to be complete before it, in all schedules of the threads"
)
MAP_OF_HOST = TextTemplate("base: on each path, it is a parameter or a constant, which no kernel writes")
NO_FLAG = TextTemplate(
    "no loop of the kernel ends because of what it loads, and no store may be of a buffer from which it loads"
)
NO_SELECTION = TextTemplate("the kernel uses no result of an atomic on global memory, and reads it only weakly")
NO_CONTRADICTION = TextTemplate("no instruction of the kernel needs another value of an argument")
INITIALIZED = TextTemplate("one thread initializes it at {lines}, and a barrier of all threads, or nothing, is between")
INITIALIZED_ONCE = TextTemplate("only one thread executes it, and no initialization of a valid mbarrier follows")
PAIRED = TextTemplate("on each path, a thread arrives at the barrier of its cluster and waits there in turn")
SAME_COUNTS = TextTemplate("all barriers with its number count as many threads")
