"""The base class of the builder's instruction methods.

At run time the class is empty: `InstructionBuilder` finds a method by its name in the instruction table. Type checkers
and editors read `methods.pyi`, which `scripts/stubs` makes from the table. A wheel contains it, and an editable
installation makes it; without it, they know no signatures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Methods:
    """One method for each instruction; see `InstructionBuilder`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
