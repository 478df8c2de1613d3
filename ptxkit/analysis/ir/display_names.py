"""Shortens names that a compiler has lengthened to the form in which their author wrote them."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program
from ptxkit.semantics.object_names import short_display_name


def parameter_display_name(name: str, function: str) -> str:
    """Returns a parameter's name without that of its function, with which compilers prefix it: `param_0`."""
    return short_display_name(name.removeprefix(f"{function}_") or name)


def variable_name_at(program: Program, address: int) -> str | None:
    """Returns the display name of the variable of shared memory at an offset; None if there is no variable."""
    held = program.variable_at(address)
    return None if held is None else short_display_name(held.name)
