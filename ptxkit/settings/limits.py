"""What settings accept, and how much of them a message repeats."""

from __future__ import annotations

MAX_MESSAGE_CHARS = 1000
"""Characters of an error message: it may repeat the text of a settings file."""

MAX_CTAS = 16
"""CTAs of a cluster, where the kernel requests more than the portable eight. Source: there."""

MAX_PARSED_CHARS = 1 << 21
"""Characters that are parsed in all to find the line of an error in a settings file."""

MAX_SETTINGS_DEPTH = 64
"""Parts that a key of a settings file may have."""
