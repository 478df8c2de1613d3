"""Limits of the search for matches, of caches, and of quotes in messages."""

from __future__ import annotations

MAX_TRIES = 200
"""The number of random choices of modifiers before a value counts as excluded by the form's rules."""

MAX_FAILURES = 8
"""The number of consecutive failures after which the generator gives up a form."""

MAX_MATCH_FILES = 4
"""The number of files of matches on disk: the others belong to other states of the installation, which another checkout
may use.
"""

MAX_MATCH_ENTRIES = 4096
"""The number of entries of each kind in a file of matches; a file with more is emptied."""

MAX_GATE_CHECKS = 60
"""The number of instructions whose requirements are examined for one completion, which must be fast."""

MAX_SEARCH_STEPS = 5_000
"""The number of choices of modifiers that are tried for a completion; it counts as possible if there are more."""

MAX_COMPARED_TYPES = 4
"""The number of types of a form whose widths assemblers compare: those of a product's matrices."""

MAX_QUOTED_CHARS = 120
"""The number of characters of the text that a message quotes."""
