"""How many threads or CTAs a kernel says that there are."""

from __future__ import annotations

from ptxkit.syntax.constants import directive_constants
from ptxkit.syntax.tree import Function

BLOCK_DIRECTIVES = ("reqntid", "maxntid")
"""The directives that say how many threads a block has: exactly, or at most."""


def launch_extents(function: Function, *names: str) -> tuple[int, int, int] | None:
    """The x, y and z after the first directive of these names that a kernel has, ones where it says fewer.

    None where it has none of them, or no number is given.
    """
    directive = next((found for name in names if (found := function.directive(name)) is not None), None)
    numbers = directive_constants(directive)
    if not numbers:
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
