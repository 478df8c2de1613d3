"""Names of variables, and of the mbarriers in them, as their author wrote them: for the analysis and the machine."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ptxkit.isa.functions import is_type
from ptxkit.mangled_names import short_name
from ptxkit.number_runs import format_runs
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.limits import MAX_DISPLAY_NAME, MAX_NAME_LENGTH

MBARRIER_BYTES = 8
#: Source: PTX ISA, "Size and alignment of mbarrier object".


def type_of(opcode: str) -> str | None:
    """Returns the type of the values that an instruction moves, by its last modifier that is one; None without."""
    return next((each for each in reversed(opcode.split(".")) if is_type(each)), None)


def short_display_name(name: str) -> str:
    """Returns the variable's name within a mangled one, truncated where it is too long for a table."""
    name = short_name(name)
    return name if len(name) <= MAX_DISPLAY_NAME else f"{name[: MAX_DISPLAY_NAME - 3]}..."


def quote_variable(name: str) -> str | None:
    """Returns a variable for a message: its name between backticks, or None if it is too long as its author wrote it.

    A mangled name, which may be much longer, is not shortened: reports do that where they are not `--verbose`.
    """
    return f"`{name}`" if len(short_name(name)) <= MAX_NAME_LENGTH else None


def describe_objects(
    variable_at: Callable[[int], DeclaredVariable | None], addresses: set[int], initialized: Collection[int] = ()
) -> str | None:
    """Returns the mbarriers at some offsets of shared memory: `bar`, `full[1]`, `full[0..2]`, `smem+64`.

    variable_at: returns the variable at an offset. initialized: the offsets of known mbarriers; a variable that
    consists of them has an index even where a compiler declares it in bytes.
    """
    by_variable: dict[DeclaredVariable, list[int]] = {}
    for address in sorted(addresses):
        held = variable_at(address)
        if held is None:
            return None
        by_variable.setdefault(held, []).append(address - held.address)
    words = []
    for variable, offsets in by_variable.items():
        name = short_display_name(variable.name)
        places = range(variable.address, variable.address + variable.size, MBARRIER_BYTES)
        is_array = variable.element_size == MBARRIER_BYTES or all(place in initialized for place in places)
        if is_array and variable.size > MBARRIER_BYTES:
            words.append(f"{name}[{format_runs([offset // MBARRIER_BYTES for offset in offsets], '..')}]")
        elif len(offsets) > 1:
            words.append(f"{name} ({len(offsets)} objects)")
        else:
            words.append(f"{name}+{offsets[0]}" if offsets[0] else name)
    return ", ".join(words) or None
