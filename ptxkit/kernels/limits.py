"""The sizes at which kernels are checked."""

from __future__ import annotations

MAX_RANDOM_ELEMENTS = 1 << 24
"""Elements of the largest random size at which a kernel is checked: its result is still computed in a second."""
