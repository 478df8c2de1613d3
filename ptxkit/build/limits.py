"""Limits of the builder: what the hardware has no more of, and what would make kernels or tables too large.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar", "Performance-Tuning Directives:
.maxnreg".
"""

from __future__ import annotations

NAMED_BARRIERS = 16
"""Named barriers of a CTA; all its threads meet at number 0."""

MAX_THREAD_REGISTERS = 255
"""Registers that `.maxnreg` may allow a thread: an instruction has no number for more."""

MAX_UNROLLED_ITERATIONS = 16
"""Iterations of a copy loop of known length that are written out: a longer one stays a loop, so that the size of the
kernel does not follow the size of the copy."""

MAX_KNOWN_MULTIPLE = 1 << 30
"""The largest power of two that is known to divide a value. Every power of two divides 0; no alignment needs more."""

MAX_CACHED_SELECTIONS = 8192
"""Forms that a process remembers by the method and the operands that selected them; the table is then emptied."""
