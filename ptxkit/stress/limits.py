"""Limits of stress runs."""

from __future__ import annotations

MAX_SITES = 2000
"""The number of delay sites of a module; each takes 16 bytes of the 64 KiB of constant memory, and adds some twenty
instructions.
"""

MAX_MOVED_SHARED_BYTES = 40 << 10
"""The bytes of shared variables to which another one is added; a module can declare 48 KiB."""

MIN_DELAY_BITS, MAX_DELAY_BITS = 11, 15
"""The longest delay of a plan is below 2 to 32 microseconds: some are as long as an access to memory, and some much
longer than a copy. `nanosleep` allows a millisecond.
"""

BATCH_TRIALS = 16
"""The trials that are sent to the process with the GPU at once, after which the time is checked."""

PLAIN_SHARE = 8
"""One trial of this number runs the kernel without delays."""

HANG_SECONDS = 10.0
"""The seconds of the process with the GPU after which a launch hangs. The delays of a launch take milliseconds."""

REFERENCE_SECONDS = 60.0
"""The seconds in which the reference machine computes the expected results."""

MINIMIZE_SECONDS = 60.0
"""The seconds in which the delayed sites are reduced to the fewest."""

REPEATED_TRIALS = 24
"""The trials with the same sites, and other seeds, after which a set of sites is taken to show nothing."""

CONFIRMING_TRIALS = 48
"""The trials with the fewest sites, of which the share that shows the difference is reported."""

FILL_BLOCK, CONTENTION_BLOCK = 256, 128
"""The threads of the CTAs that fill shared memory, and of those that contend for memory."""

CONTENTION_BYTES = 64 << 20
"""The bytes that contending CTAs read and write: more than the L2 cache of most devices holds."""

CONTENTION_ROUNDS = 64
"""The 16-byte accesses of each contending thread, which take some hundred microseconds."""

PREFETCHES, PREFETCHED_BYTES = 16, (16 << 10, 65520)
"""The prefetches before a copy, and the bytes of each. They keep the copy engine of a multiprocessor busy for some
microseconds, which is longer than an atomic operation on global memory takes.
"""

MAX_COUNTED_CTAS = 1 << 16
"""The most CTAs of a launch whose exits are counted, so that the last thread writes over shared memory."""

POISON_STORES = 256
"""The words that the last thread of a CTA writes, spread over all of its shared memory."""
