"""The number of threads or CTAs that a kernel's directives state."""

from __future__ import annotations

from ptxkit.syntax.constants import directive_constants
from ptxkit.syntax.tree import Function

BLOCK_DIRECTIVES = ("reqntid", "maxntid")
"""The directives that state the number of threads of a block: exactly, or at most."""


def launch_extents(function: Function, *names: str) -> tuple[int, int, int] | None:
    """Returns the x, y and z of the first directive of these names that a kernel has; missing extents are 1.

    Returns None if it has none of them, or no number is given.
    """
    directive = next((found for name in names if (found := function.directive(name)) is not None), None)
    numbers = directive_constants(directive)
    if not numbers:
        return None
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
