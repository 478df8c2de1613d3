"""Instructions of textures and surfaces whose brackets stand elsewhere: assemblers only look what follows what.

`tex.1d.v4.s32.s32 {...}, [texture, sampler], {%x};` is to them `[texture, sampler, {%x}]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptxkit.isa.forms import Match
from ptxkit.records import replace
from ptxkit.syntax.tree import Address, Instruction, Name, Operand, Vector

_REFERENCES = frozenset({"texture", "surface"})

_MOST = 3
"""The most that stands in brackets: a texture, a sampler, coordinates."""


def regrouped(instruction: Instruction, candidates: Iterable[Match]) -> Iterator[Instruction]:
    """The instruction with its brackets where one of the forms has them, each way once and without its own; nothing
    for an instruction that names no texture or surface in brackets."""
    layouts = {layout for match in candidates if (layout := _layout(match)) is not None}
    readable = layouts and _can_be_read(instruction.operands)
    flat = list(_flat(instruction.operands)) if readable else []
    alone = _places_alone(instruction.operands)
    for layout in sorted(layouts):
        if sum(layout) == len(flat) and alone <= _starts(layout):
            operands = tuple(_grouped(flat, layout))
            if operands != instruction.operands:
                yield replace(instruction, operands=operands)


def _can_be_read(operands: Sequence[Operand]) -> bool:
    """Whether an assembler reads the brackets at all: something stands behind a comma in them, names first and then
    a name or elements, and no more than three things in all."""
    inside = [operand.index for operand in operands if isinstance(operand, Address) and operand.index]
    return bool(inside) and all(
        len(index) < _MOST
        and (isinstance(index[-1], Vector) or _is_whole_name(index[-1]))
        and all(map(_is_whole_name, index[:-1]))
        for index in inside
    )


def _is_whole_name(operand: Operand) -> bool:
    """Whether an operand is a name, and no component of a vector, which nobody reads in brackets."""
    return isinstance(operand, Name) and "." not in operand.text


def _places_alone(operands: Sequence[Operand]) -> set[int]:
    """The places of operands alone in brackets, and of an address that the instruction begins with."""
    found, place = set(), 0
    for operand in operands:
        inside = operand.index if isinstance(operand, Address) else ()
        if isinstance(operand, Address) and (place == 0 or not inside):
            found.add(place)
        place += 1 + len(inside)
    return found


def _starts(layout: Sequence[int]) -> set[int]:
    """The places where a texture or surface stands in a form."""
    return {sum(layout[:index]) for index, size in enumerate(layout) if size > 1}


def _layout(match: Match) -> tuple[int, ...] | None:
    """How many operands stand together in each place of a form, all without the brackets; None where there are none."""
    there = [operand.kind == "address" and operand.object in _REFERENCES for operand in match.operands]
    sizes = (1 + len(operand.elements) if yes else 1 for yes, operand in zip(there, match.operands, strict=True))
    return tuple(sizes) if any(there) else None


def _flat(operands: Sequence[Operand]) -> Iterator[Operand]:
    """The operands without brackets; an address with an offset keeps them."""
    for operand in operands:
        if isinstance(operand, Address) and not operand.offset:
            yield operand.base
            yield from operand.index
        else:
            yield operand


def _grouped(flat: Sequence[Operand], layout: Sequence[int]) -> Iterator[Operand]:
    place = 0
    for size in layout:
        first, *rest = flat[place : place + size]
        yield Address(first, 0, tuple(rest)) if size > 1 else first
        place += size
