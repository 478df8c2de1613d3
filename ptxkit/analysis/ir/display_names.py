"""Shortens names that a compiler has lengthened to the form in which their author wrote them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.limits import MAX_DISPLAY_NAME
from ptxkit.mangled_names import short_name
from ptxkit.semantics.layout import DeclaredVariable

MBARRIER_BYTES = 8
#: Source: PTX ISA, "Size and alignment of mbarrier object".


def short_display_name(name: str) -> str:
    """Returns the variable's name within a mangled one, truncated where it is too long for a table."""
    name = short_name(name)
    return name if len(name) <= MAX_DISPLAY_NAME else f"{name[: MAX_DISPLAY_NAME - 3]}..."


def parameter_display_name(name: str, function: str) -> str:
    """Returns a parameter's name without that of its function, with which compilers prefix it: `param_0`."""
    return short_display_name(name.removeprefix(f"{function}_") or name)


def variable_name_at(program: Program, address: int) -> str | None:
    """Returns the display name of the variable of shared memory at an offset; None if there is no variable."""
    held = program.variable_at(address)
    return None if held is None else short_display_name(held.name)


def describe_objects_at(program: Program, addresses: set[int], initialized: Collection[int] = ()) -> str | None:
    """Returns the mbarriers at some offsets of shared memory: `bar`, `full[1]`, `full[0..2]`, `smem+64`.

    initialized: the offsets of known mbarriers; a variable that consists of them has an index even where a compiler
    declares it in bytes.
    """
    by_variable: dict[DeclaredVariable, list[int]] = {}
    for address in sorted(addresses):
        held = program.variable_at(address)
        if held is None:
            return None
        by_variable.setdefault(held, []).append(address - held.address)
    words = []
    for variable, offsets in by_variable.items():
        name = short_display_name(variable.name)
        places = range(variable.address, variable.address + variable.size, MBARRIER_BYTES)
        is_array = variable.element_size == MBARRIER_BYTES or all(place in initialized for place in places)
        if is_array and variable.size > MBARRIER_BYTES:
            words.append(f"{name}[{format_ranges([offset // MBARRIER_BYTES for offset in offsets])}]")
        elif len(offsets) > 1:
            words.append(f"{name} ({len(offsets)} objects)")
        else:
            words.append(f"{name}+{offsets[0]}" if offsets[0] else name)
    return ", ".join(words) or None


def format_ranges(numbers: Sequence[int]) -> str:
    """Returns ascending numbers as `0..2, 5`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in parts)
