"""How many inputs are chosen for runs, and how much of them a picture shows."""

from __future__ import annotations

MAX_IMAGES = 16
"""Bytes of opaque handles that one access may read: so many are made."""

MAX_SIZE_HINTS = 3
"""Numbers in a kernel that are taken for hints at the size of its blocks: each costs runs."""

LARGE_GRID_PERIOD = 7
"""The first of so many runs with chosen boxes has a second CTA, or cluster; the others have one, at half the cost.

It has no common divisor with the numbers of policies, contents and integers, so that large grids meet all of these.
"""

MAX_TRACE_COLUMNS = 12
"""Columns of a picture: more do not fit a page."""

MAX_TRACE_BARS = 6
"""Bars of asynchronous operations in a picture."""

MAX_THREAD_RANGES = 2
"""Ranges of threads that a column's name lists."""

MAX_TRACE_STEPS = 24
"""Steps before a finding that a picture shows."""

MAX_SHOWN_BYTES = 16
"""Bytes of a value that are shown."""

MAX_ARGUMENT_BYTES = 4 * 1024 * 1024 * 1024
"""Bytes of one argument that `run` and `verify` make as specified. Tables and maps count as what they hold."""

MAX_BOX_EXTENT = 256
"""Elements of a box in each dimension. Source: CUDA Driver API, "cuTensorMapEncodeTiled"."""
