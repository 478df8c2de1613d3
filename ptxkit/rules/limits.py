"""The limits of searches in rules."""

from __future__ import annotations

MAX_CONSTANT_CANDIDATES = 8
"""The maximum number of constants that are tried instead of a wrong one: each costs a check of the whole text."""

MAX_FENCE_LOOKBACK = 64
"""The maximum number of fences and multiplications before an issue that PTX312 examines, starting with the last one."""

MAX_CHECKED_NUMBERS = 64
"""The maximum number of combinations of operands for which a proof checks a rule between operands one by one."""

MAX_HOLDING_SIZES = 3
"""The maximum number of block sizes with which barriers count their threads, and at which a violation is looked for."""

MAX_NEAR_ASSIGNMENTS = 8
"""The number of assignments before a guard that are compared with it, before all paths to it are searched."""
