"""How many fixes are tried: each costs a check of the whole text."""

from __future__ import annotations

MAX_GROUP_INSERTION_POINTS = 3
"""Locations at which a statement of a commit group is tried: each costs a check of the whole text."""

MAX_INSERTION_POINTS = 4
"""Locations at which one other statement is tried: each costs a check of the whole text."""

MAX_WAIT_DISTANCE = 8
"""Instructions from a wait to the branch that repeats it, and from a register to the constant it starts with."""

MAX_SHIFT_DISTANCE = 3
"""Instructions from an address to the earlier shift that its lane comes from."""

MAX_FIXES = 200
"""Fixes that are applied to one text; each is tried by a check of the whole text."""

MAX_FIX_ATTEMPTS = 32
"""Fixes that are tried for one finding."""

MAX_FIX_WORK = 6_000_000
"""Characters that are checked and steps that are executed in all to find the fixes of one text: one or two minutes'
work."""

MIN_FIX_ATTEMPTS = 8
"""Fixes that are tried of a text however long it is."""

MAX_CHANGED_WAITS = 3
"""Waits whose operands are changed: each try costs a check of the whole text."""

MAX_WAIT_INSERTION_POINTS = 4
"""Locations at which a wait is inserted: each try costs a check of the whole text."""
