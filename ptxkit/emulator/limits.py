"""Limits of the reference machine: what a launch may have, how long a run lasts, and what it keeps.

Source: CUDA C++ Programming Guide, "Compute Capabilities: Technical Specifications"; PTX ISA, "Performance-Tuning
Directives: .maxnreg", "setmaxnreg", "Parallel Synchronization and Communication Instructions: bar".
"""

from __future__ import annotations

# ------------------------------------------------------------------------------------------------- the launch

MAX_BLOCK_EXTENTS = (1024, 1024, 64)
"""Threads of a CTA along each dimension."""

MAX_CLUSTER_CTAS = 16
"""CTAs of a cluster: more than eight need a launch attribute of the device, which the machine does not ask for."""

MAX_LOCAL_BYTES = 512 << 10
"""Bytes of local memory of a thread, so that a kernel that recurses without end gets a fault. Devices have as many."""

MAX_BARRIERS = 16
"""Named barriers of a CTA."""

MAX_REGISTERS = 256
"""Registers of a thread, to which the counts of directives are rounded."""

MAX_CTA_REGISTERS = 1 << 16
"""Registers of a multiprocessor, which bound those of its CTAs together."""

MAX_IMAGE_DIMENSIONS = 3
"""Dimensions of a texture or surface, besides layers and channels."""

# --------------------------------------------------------------------------------------------------- the run

MAX_STEPS = 20_000_000
"""Instructions of groups of threads that a run executes, unless its budget says otherwise: some minutes' work."""

MAX_SECONDS = 60.0
"""Seconds of processor time of a run, unless its budget says otherwise."""

MAX_STEPS_BETWEEN_CLOCK_READS = 256
"""Steps between two reads of the processor time, each of which is a system call. A run exceeds its seconds by these."""

MAX_STEPS_PER_TURN = 1 << 7
"""Steps of a group between two checks of the budget."""

MAX_RANDOM_STEPS = 48
"""Steps of a group in one turn under a random schedule. Short turns let threads meet in many orders."""

MAX_SLICE_STEPS = 4096
"""Steps after which a CTA yields to others if its threads only run in loops: what they wait for may be elsewhere."""

MAX_GLOBAL_ACCESSES = (1, 1, 1, 8)
"""Accesses to global memory in one turn under a random schedule: one of these, chosen for each CTA. Most races between
CTAs show when others run between any two of them."""

MAX_RESIDENT_CTAS = 16
"""CTAs that start together under a random schedule; others follow while these run. More of them only cost time."""

MAX_BACKWARD_JUMPS = 256
"""Backward jumps after which a group yields to others, so that a loop that waits for them does not starve them."""

MAX_CHECKED_JUMPS = 2
"""Backward jumps, counted from the last yield, at which a CTA looks whether the loop has changed any register. A loop
that waits shows by then that it does; a comparison at every jump would slow all other loops down."""

MAX_IDLE_ITERATIONS = 4
"""Iterations without effect, while no other thread makes progress, after which a thread counts as deadlocked."""

MAX_FUTILE_POLLS = 64
"""Times that all waiting threads poll their mbarriers again from a state that was seen before, after which the wait is
a deadlock."""

MAX_POLL_STATES = 4096
"""The same for states that were not seen before, of threads that count or read a clock; whether their wait ends is
then unknown."""

MAX_FAILED_POLLS = {"late": 4, "torn": 2}
"""Failed polls of an mbarrier after which threads block, by the policy; one under others. A thread whose poll
fails may do something else, which some runs must show."""

MAX_RANDOM_FAILED_POLLS = 6
"""The same under the random policy: a random number below this."""

MAX_POLLS_PER_PHASE = 1 << 16
"""Failed polls that are counted of a thread in one phase of an mbarrier: the counts of phases share one integer."""

MAX_STRING_BYTES = 1 << 16
"""Bytes of a string that a kernel prints: memory need not hold a zero byte."""

# ------------------------------------------------------------------------------------------------ what is kept

MAX_ENGINES = 32
"""Agents of a CTA in addition to its threads: mbarriers and warpgroups that make operations known. Those beyond share
an agent, which hides races and reports none that is not there."""

MAX_LOGGED_READS = 1 << 16
"""Reads between the first and the last of a unit that are kept before those that a write has ended are dropped."""

MAX_EVENTS_BEFORE = 2000
"""Events that a recorder keeps before a finding, by kind: accesses of its lines, other accesses, and others."""

MAX_EVENTS_AFTER = 400
"""Events that a recorder keeps after a finding."""

MAX_CACHED_OPCODES = 4096
"""Opcodes of which a process remembers a property of their effects. No module has as many."""

MAX_CACHED_FUNCTIONS = 64
"""Functions of which a process remembers the registers that may be read before they are written."""

MAX_CACHED_OBSERVER_LISTS = 32
"""Lists of classes of observers of which a process remembers the events that each handles."""
