"""The limits of trials of fixes: each costs a check of the whole text."""

from __future__ import annotations

MAX_GROUP_INSERTION_POINTS = 3
"""The maximum number of places at which a statement of a commit group is tried."""

MAX_INSERTION_POINTS = 4
"""The maximum number of places at which any other statement is tried."""

MAX_WAIT_DISTANCE = 8
"""The maximum distance in instructions from a wait to its retry branch, and from a register to its constant."""

MAX_SHIFT_DISTANCE = 3
"""The maximum number of instructions from an address to the earlier shift that computes its lane."""

MAX_FIXES = 200
"""The maximum number of fixes that are applied to one text."""

MAX_FIX_ATTEMPTS = 32
"""The maximum number of fixes that are tried for one finding."""

MAX_FIX_WORK = 6_000_000
"""The maximum number of characters checked and steps executed to find the fixes of one text.

It corresponds to one or two minutes.
"""

MIN_FIX_ATTEMPTS = 8
"""The minimum number of fixes that are tried for a text, however long it is."""

MAX_CHANGED_WAITS = 3
"""The maximum number of waits whose operands are changed."""

MAX_WAIT_INSERTION_POINTS = 4
"""The maximum number of places at which a wait is inserted."""
