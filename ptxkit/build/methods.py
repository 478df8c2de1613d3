"""The base class of the builder's instruction methods. Type checkers and editors see `methods.pyi`, made by
`scripts/stubs`.

At run time the class is empty: `InstructionBuilder` finds a method by its name in the instruction table.
"""

from __future__ import annotations


class Methods:
    """One method for each instruction; see `InstructionBuilder`."""
