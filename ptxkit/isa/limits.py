"""How long matches are searched and kept, and how much a message quotes."""

from __future__ import annotations

MAX_TRIES = 200
"""Random choices of modifiers before a value counts as one that the form's rules exclude."""

MAX_FAILURES = 8
"""Instances in sequence that fail before the generator gives up a form."""

MAX_MATCH_FILES = 4
"""Files of matches on disk: those of other states of the installation, which another checkout may still use."""

MAX_MATCH_ENTRIES = 4096
"""Entries of each kind in a file of matches; a file with more starts empty again."""

MAX_GATE_CHECKS = 60
"""Instructions whose requirements are looked at for one completion, which has to be quick."""

MAX_SEARCH_STEPS = 5_000
"""Choices of modifiers that are tried for one that is offered; it counts as possible where there are more."""

MAX_COMPARED_TYPES = 4
"""Types of a form whose widths assemblers compare: those of a product's matrices."""

MAX_QUOTED_CHARS = 120
"""Characters of the text that a message quotes."""
