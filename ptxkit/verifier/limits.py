"""The limits of the inputs that are chosen for runs, and of what a trace shows."""

from __future__ import annotations

MAX_IMAGES = 16
"""The maximum size in bytes of the opaque handles that one access reads, which is also their number."""

MAX_SIZE_HINTS = 3
"""The maximum number of block sizes that are suggested by numbers in a kernel: each costs runs."""

MIN_AGREEING_NUMBERS = 3
"""The minimum number of chosen numbers with which runs must show a finding, so that it depends on none of them."""

LARGE_GRID_PERIOD = 7
"""The number of runs with chosen boxes of which the first has a second CTA, or cluster.

The others have one, which costs half as much.

It has no common divisor with the numbers of policies, contents and integers, so that large grids occur with all of
these.
"""

MAX_TRACE_COLUMNS = 12
"""The maximum number of columns of a trace: more do not fit a page."""

MAX_TRACE_BARS = 6
"""The maximum number of bars of asynchronous operations in a trace."""

MAX_THREAD_RANGES = 2
"""The maximum number of thread ranges in the label of a column."""

MAX_TRACE_STEPS = 24
"""The maximum number of steps that a trace shows before a finding."""

MAX_SHOWN_ELEMENTS = 4
"""Elements of a value in a trace."""

MAX_SHOWN_BYTES = 16
"""The maximum number of bytes of a value that are shown."""

MAX_ARGUMENT_BYTES = 4 * 1024 * 1024 * 1024
"""The maximum size in bytes of one argument that `run` and `verify` create. Tables and maps count as their contents."""

MAX_BOX_EXTENT = 256
"""The maximum number of elements of a box in each dimension. Source: CUDA Driver API, "cuTensorMapEncodeTiled"."""

USUAL_SHARED_ALIGNMENT = 128
"""The alignment in bytes of variables in shared memory in runs of kernels that rely on more than they declare: that
of the bytes of tensor copies, the largest that an instruction requires."""

TABLE_ENTRIES, TABLE_BUFFERS = 512, 2
"""The number of addresses in memory from which a kernel loads addresses, and the number of arrays to which they lead:
two, so that accesses through different entries may meet and may not."""

MAX_COVERAGE_STEPS = 50_000
"""The maximum number of steps of the runs without checks of races that show which inputs lead to open questions."""

MAX_PROBED_STEPS = 5_000
"""The maximum number of steps of one of them: a run with few steps is preferred anyway."""

MAX_REACHING_RUNS = 4
"""The maximum number of inputs that lead to open questions with which the kernel runs with every schedule."""

MAX_SOLVED_QUESTIONS = 16
"""The maximum number of instructions for which the conditions of their paths are solved for arguments."""

MAX_VARIED_RUNS = 16
"""The maximum number of runs, before and after other directed ones, that vary the numbers with which runs have shown
what may depend on these.
"""

MAX_KERNEL_STEPS = 250_000
"""The maximum number of instructions that groups of threads execute in all runs of a kernel: about a minute's work."""

MAX_PROBE_STEPS = 20_000
"""The maximum number of steps of a run that only shows whether a launch is suitable."""

PROBE_SHARE = 0.5
"""The share of a kernel's steps that all probes of launches may use."""

MAX_RUN_SHARE = 0.2
"""The largest share of a kernel's steps for one run with chosen numbers: several numbers show more than a large one."""

DIRECTED_SHARE = 0.4
"""The share of a kernel's steps that is kept for directed runs, where numbers are chosen."""

MAX_FURTHER_RUN_SHARE = 0.25
"""The largest share of the steps that are left for one directed run."""

USUAL_SIZE = 64
"""The number in the words of memory from which a kernel may load sizes and strides: a multiple of those of most tiles,
and of the bytes of the widest access."""
