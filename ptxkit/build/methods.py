"""The builder's instruction methods as type checkers and editors see them: `methods.pyi`, which `scripts/stubs` writes.

At run time there is nothing here: `Instructions` finds a method by its name, in the instruction table.
"""

from __future__ import annotations


class Methods:
    """One method for each instruction; see `Instructions`."""
