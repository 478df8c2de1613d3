"""The limits of the kernel checks."""

from __future__ import annotations

MAX_RANDOM_ELEMENTS = 1 << 24
"""The largest random number of elements, for which the expected result is computed in about a second."""
