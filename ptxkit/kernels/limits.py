"""The limits of the kernels and of their checks."""

from __future__ import annotations

MAX_RANDOM_ELEMENTS = 1 << 24
"""The largest random number of elements, for which the expected result is computed in about a second."""

MAX_BLOCK_KEYS = 256
"""The largest number of keys in a block of attention: the columns of a multiplication."""

MAX_RING_BYTES = 226 * 1024
"""The launch-sized shared memory of attention: that of a CTA on sm_90, without 1 KB for the mbarriers."""

MAX_OUTPUT_ELEMENTS = 1 << 32
"""The number of elements of an output that attention can index."""
MAX_SCHEDULE_COUNT = (1 << 16) - 1
"""The largest sequence, head and number of blocks in a row of attention's schedule, which has 16 bits for each."""

MAX_ROW_ELEMENTS = 1 << 17
"""The largest number of elements of a row of `rms_norm`: sixteen vectors for each of 1,024 threads."""

WARP_SIZE = 32
"""The lanes of a warp."""
