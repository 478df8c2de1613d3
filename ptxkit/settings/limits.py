"""Limits of settings and of the messages about them."""

from __future__ import annotations

MAX_MESSAGE_CHARS = 1000
"""The number of characters of an error message, because it may contain the text of a settings file."""

MAX_CTAS = 16
"""The largest number of CTAs of a cluster, if the kernel requests more than the portable eight. Source: CUDA C++
Programming Guide, "Thread Block Clusters".
"""

MAX_PARSED_CHARS = 1 << 21
"""The total number of characters that are parsed to find the line of an error in a settings file."""

MAX_SETTINGS_DEPTH = 64
"""The number of parts of a key of a settings file."""

MIN_EFFORT, MAX_EFFORT = 0.01, 1e6
"""The smallest and the largest factor of the limits of the analysis and of runs."""
