"""Limits of the reference machine: the size of launches, the length of runs, and the amount of recorded data.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications"; PTX ISA, "Performance-Tuning
Directives: .maxnreg", "setmaxnreg", "Parallel Synchronization and Communication Instructions: bar".
"""

from __future__ import annotations

# ------------------------------------------------------------------------------------------------- the launch

MAX_BLOCK_EXTENTS = (1024, 1024, 64)
"""The number of threads of a CTA along each dimension."""

MAX_CLUSTER_CTAS = 16
"""The number of CTAs of a cluster: more than eight need a launch attribute of the device, which the machine does not
require.
"""

MAX_LOCAL_BYTES = 512 << 10
"""The bytes of local memory of a thread, as on devices, so that endless recursion raises a fault."""

MAX_BARRIERS = 16
"""The number of named barriers of a CTA."""

MAX_REGISTERS = 256
"""The registers of a thread, to which the counts of directives are rounded."""

MAX_CTA_REGISTERS = 1 << 16
"""The registers of a multiprocessor, which its CTAs share."""

MAX_IMAGE_DIMENSIONS = 3
"""The number of dimensions of a texture or surface, besides layers and channels."""

# --------------------------------------------------------------------------------------------------- the run

MAX_STEPS = 20_000_000
"""The default number of instructions that groups of threads execute in a run: some minutes' work."""

MAX_STEPS_BETWEEN_CLOCK_READS = 256
"""The number of steps between two reads of the processor time, each of which is a system call. A run exceeds its limit
by at most these.
"""

MAX_STEPS_PER_TURN = 1 << 7
"""The number of steps of a group between two checks of the budget."""

MAX_RANDOM_STEPS = 48
"""The number of steps of a group in one turn under a random schedule. Short turns interleave threads in many orders."""

MAX_SLICE_STEPS = 4096
"""The number of steps after which a CTA yields to others if its threads only loop, because they may wait for other
CTAs.
"""

MAX_ORDERED_GROUPS = 8
"""The number of groups whose order of priority is stratified over seeds. A larger number has more orders than there are
runs.
"""

MAX_WRITTEN_PLACES = 1 << 16
"""The number of places in global memory that the scheduler remembers as written. Reads of others count as reads of
constant data, whose order does not matter.
"""

MAX_RESIDENT_CTAS = 16
"""The number of CTAs that start together under a random schedule; others start when these exit. A larger number only
takes more time.
"""

MAX_BACKWARD_JUMPS = 256
"""The number of backward jumps after which a group yields to others, so that a loop that waits for them does not starve
them.
"""

MAX_CHECKED_JUMPS = 2
"""The number of backward jumps since the last yield at which a CTA checks whether the loop has changed any register. A
loop that waits has not by then; a comparison at every jump would slow all other loops down.
"""

MAX_IDLE_ITERATIONS = 4
"""The number of iterations without effect, while no other thread makes progress, after which a thread counts as
deadlocked.
"""

MAX_FUTILE_POLLS = 64
"""The number of times that all waiting threads poll their mbarriers again from a state that was observed before, after
which the wait is a deadlock.
"""

MAX_POLL_STATES = 4096
"""The same number for states that were not observed before, of threads that count or read a clock; whether their wait
ends is then unknown.
"""

MAX_FAILED_POLLS = {"late": 4, "torn": 2}
"""The number of failed polls of an mbarrier after which threads block, by the policy; one under others. A thread whose
poll fails may execute other code, which some runs must cover.
"""

MAX_RANDOM_FAILED_POLLS = 6
"""The same number under the random policy: a random number below this."""

MAX_POLLS_PER_PHASE = 1 << 16
"""The number of failed polls that are counted for a thread in one phase of an mbarrier: the counts of phases share one
integer.
"""

MAX_STRING_BYTES = 1 << 16
"""The bytes of a string that a kernel prints: memory need not contain a zero byte."""

# ------------------------------------------------------------------------------------------------ recorded data

MAX_ENGINES = 32
"""The number of agents of a CTA in addition to its threads: mbarriers and warpgroups that make operations known.
Additional ones share an agent, which may hide races but reports no false ones.
"""

MAX_LOGGED_READS = 1 << 16
"""The number of reads between the first and the last of a unit that are kept before those that a write has ended are
dropped.
"""

MAX_EVENTS_BEFORE = 2000
"""The number of events that a recorder keeps before a finding, by kind: accesses of its lines, other accesses, and
others.
"""

MAX_EVENTS_AFTER = 400
"""The number of events that a recorder keeps after a finding."""

MAX_CACHED_OPCODES = 4096
"""The number of opcodes for which a process caches a property of their effects. No module has as many."""

MAX_CACHED_FUNCTIONS = 64
"""The number of functions for which a process caches the registers that may be read before they are written."""

MAX_CACHED_OBSERVER_LISTS = 32
"""The number of lists of observer classes for which a process caches the events that each handles."""
