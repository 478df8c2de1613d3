"""Names as their author wrote them, where a compiler lengthened them."""

from __future__ import annotations

import re

from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.limits import MAX_DISPLAY_NAME

#: A variable inside a function, as the Itanium ABI mangles it: `_ZZ4loadE4tile` for `tile` in `load`.
_LOCAL = re.compile(r"_ZZ.*E(\d+)(\w+?)(?:_\d+)?")
#: A variable of a namespace or class: `_ZN3lib6bufferE` for `lib::buffer`.
_NESTED = re.compile(r"_ZN\w+E")


def short_display_name(name: str) -> str:
    """A variable's name, taken out of a mangled one; cut where it is too long for a table."""
    match = _LOCAL.fullmatch(name)
    if match:
        tail = name.rpartition("E" + match[1])[2]
        name = tail[: int(match[1])] if len(tail) >= int(match[1]) else name
    elif _NESTED.fullmatch(name):
        name = _last_part(name[3:-1]) or name
    return name if len(name) <= MAX_DISPLAY_NAME else f"{name[: MAX_DISPLAY_NAME - 3]}..."


def _last_part(parts: str) -> str | None:
    """The last of the names in `3lib6buffer`; None where it is made of anything else."""
    last = None
    while parts:
        digits = re.match(r"\d+", parts)
        if digits is None:
            return None
        end = digits.end() + int(digits[0])
        last, parts = parts[digits.end() : end], parts[end:]
    return last


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
