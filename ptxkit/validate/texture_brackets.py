"""Instructions of textures and surfaces with different brackets: assemblers only check the order of the operands.

They read `tex.1d.v4.s32.s32 {...}, [texture, sampler], {%x};` as `[texture, sampler, {%x}]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.forms import Immediates, Match, OperandForm
from ptxkit.syntax.tree import Address, Instruction, Name, Operand, Vector

_REFERENCES = frozenset({"texture", "surface"})


def regroup_brackets(
    instruction: Instruction, candidates: Iterable[Match]
) -> Iterator[tuple[Instruction, tuple[Match, ...]]]:
    """Yields the instruction without its brackets, with the forms without theirs that have as many operands, each
    variant once.

    The brackets of a texture or surface remain. Nothing is yielded for an instruction that names none in brackets. A
    form with the same brackets as the instruction is not included.
    """
    forms: dict[tuple[int, ...], list[Match]] = {}
    own = tuple(1 + len(_index_operands(operand)) for operand in instruction.operands)
    for match in candidates:
        layout = _group_sizes(match)
        if layout is not None and layout != own:
            forms.setdefault(layout, []).append(match)
    flat = (
        list(_flatten_brackets(instruction.operands)) if forms and _has_readable_brackets(instruction.operands) else []
    )
    lone_brackets = _lone_bracket_positions(instruction.operands)
    for layout, matches in sorted(forms.items(), key=lambda item: item[0]):
        starts = _reference_positions(layout)
        if sum(layout) == len(flat) and lone_brackets <= starts:
            operands = [Address(each, 0) if place in starts else each for place, each in enumerate(flat)]
            yield replace(instruction, operands=tuple(operands)), tuple(map(_without_brackets, matches))


def _without_brackets(match: Match) -> Match:
    """Returns a form whose operands are written one by one; those that are in brackets otherwise may be constants."""
    found: list[OperandForm] = []
    for operand in match.operands:
        if _is_reference(operand):
            found += [replace(operand, elements=()), *map(_unbracketed_form, operand.elements)]
        else:
            found.append(operand)
    return replace(match, operands=tuple(found))


def _unbracketed_form(element: OperandForm) -> OperandForm:
    """Returns the form of an operand after a comma in brackets that is written outside: it may be a constant there, or
    a part of a vector.
    """
    return replace(element, immediates=Immediates()) if element.more and element.immediates is None else element


def _has_readable_brackets(operands: Sequence[Operand]) -> bool:
    """Returns whether an assembler reads the brackets at all: there is a comma in them."""
    inside = [index for operand in operands if (index := _index_operands(operand))]
    return bool(inside) and all(_is_readable(index) for index in inside)


def _is_readable(index: Sequence[Operand]) -> bool:
    """Returns whether an assembler accepts these operands after the first comma in brackets: a name or elements in
    braces, or a name and one of these, followed by elements again.
    """
    first, *others = index
    if not others:
        return isinstance(first, Vector) or _is_whole_name(first)
    return (
        _is_whole_name(first)
        and (isinstance(others[0], Vector) or _is_whole_name(others[0]))
        and (len(others) == 1 or (len(others) == 2 and isinstance(others[1], Vector)))
    )


def _is_whole_name(operand: Operand) -> bool:
    """Returns whether an operand is a name, and not a component of a vector or a number, which no assembler accepts in
    brackets.
    """
    return isinstance(operand, Name) and operand.text != "WARP_SZ" and "." not in operand.text


def _lone_bracket_positions(operands: Sequence[Operand]) -> set[int]:
    """Returns the positions of single operands in brackets, and of an address that the instruction begins with."""
    found, place = set(), 0
    for operand in operands:
        index = _index_operands(operand)
        if isinstance(operand, Address) and (place == 0 or not index):
            found.add(place)
        place += 1 + len(index)
    return found


def _reference_positions(layout: Sequence[int]) -> set[int]:
    """Returns the positions of textures and surfaces in a form."""
    return {sum(layout[:index]) for index, size in enumerate(layout) if size > 1}


def _group_sizes(match: Match) -> tuple[int, ...] | None:
    """Returns the number of operands in each place of a form without the brackets, or None if there are no brackets."""
    there = [_is_reference(operand) for operand in match.operands]
    sizes = (1 + len(operand.elements) if yes else 1 for yes, operand in zip(there, match.operands, strict=True))
    return tuple(sizes) if any(there) else None


def _is_reference(operand: OperandForm) -> bool:
    return operand.kind == "address" and operand.object in _REFERENCES


def _index_operands(operand: Operand) -> tuple[Operand, ...]:
    """Returns the operands after a comma in the operand's brackets."""
    return operand.index if isinstance(operand, Address) else ()


def _flatten_brackets(operands: Sequence[Operand]) -> Iterator[Operand]:
    """Yields the operands without brackets; an address with an offset keeps them."""
    for operand in operands:
        if isinstance(operand, Address) and not operand.offset:
            yield operand.base
            yield from operand.index
        else:
            yield operand
