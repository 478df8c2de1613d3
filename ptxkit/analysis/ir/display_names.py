"""Names as their author wrote them, where a compiler lengthened them."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.limits import MAX_DISPLAY_NAME
from ptxkit.mangled_names import short_name


def short_display_name(name: str) -> str:
    """A variable's name, taken out of a mangled one; cut where it is too long for a table."""
    name = short_name(name)
    return name if len(name) <= MAX_DISPLAY_NAME else f"{name[: MAX_DISPLAY_NAME - 3]}..."


def parameter_display_name(name: str, function: str) -> str:
    """A parameter's name without that of its function, which compilers put in front: `param_0`."""
    return short_display_name(name.removeprefix(f"{function}_") or name)


def variable_name_at(program: Program, address: int) -> str | None:
    """The variable of shared memory that an offset lies in, in short; None for no variable."""
    held = program.variable_at(address)
    return None if held is None else short_display_name(held.name)


def describe_objects_at(program: Program, addresses: set[int]) -> str | None:
    """The objects at some offsets of shared memory, in words: `bar`, `smem+64`, `full (4 objects)`."""
    by_variable: dict[str, list[int]] = {}
    for address in sorted(addresses):
        held = program.variable_at(address)
        if held is None:
            return None
        by_variable.setdefault(short_display_name(held.name), []).append(address - held.address)
    words = []
    for name, offsets in by_variable.items():
        if len(offsets) > 1:
            words.append(f"{name} ({len(offsets)} objects)")
        else:
            words.append(f"{name}+{offsets[0]}" if offsets[0] else name)
    return ", ".join(words) or None
