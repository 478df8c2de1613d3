"""Limits of the builder: limits of the hardware, and bounds on the size of kernels and tables.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar", "Performance-Tuning Directives:
.maxnreg".
"""

from __future__ import annotations

NAMED_BARRIERS = 16
"""The number of named barriers of a CTA. Number 0 is the barrier of all threads."""

MAX_THREAD_REGISTERS = 255
"""The largest number of registers that `.maxnreg` may allow for a thread, because instructions cannot encode more."""

MAX_MULTIPROCESSOR_CTAS = 32
"""The largest number of CTAs that are on a multiprocessor at once, on every device."""

MAX_UNROLLED_ITERATIONS = 16
"""The largest number of iterations that a copy of known length is unrolled to. A longer copy is a loop, so that the
size of the kernel does not depend on that of the copy.
"""

MAX_KNOWN_MULTIPLE = 1 << 30
"""The largest power of two that the builder tracks as a divisor of a value. 0 is divisible by all; no alignment needs
more.
"""

MAX_CACHED_SELECTIONS = 8192
"""The number of selected forms that a process caches by method and operands. The cache is cleared when it is full."""

MAX_VECTOR_BYTES = 32
"""The bytes of the largest vector that one instruction loads or stores, from sm_100 on; before, 16."""

MAX_LISTED_NEEDS = 3
"""The number of requirements that the documentation of an instruction lists; it counts the others."""

MAX_CACHED_NAMES = 1 << 14
"""The number of names of methods whose readings are cached: more than the signatures for editors have."""
