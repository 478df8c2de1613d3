"""Recognizes terms whose last operation undoes an earlier one: `(a + b) - b` is `a`, whatever `b` is.

Each function returns the operand that is left, or None where nothing is undone. It is a view in the state space of the
operand before the first operation, so an address is still one of its state space.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "prmt", "shf", "mov".
"""

from __future__ import annotations

from collections.abc import Hashable

from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable, Value
from ptxkit.semantics.value_ops import bit_mask, to_signed

#: The selectors of `prmt` that return its first and its second operand.
_FIRST_WORD, _SECOND_WORD = 0x3210, 0x7654


def key_with_spaces(name: str, *arguments: Hashable) -> tuple[Hashable, ...]:
    """Returns the key of a term that distinguishes operands that are addresses in different state spaces.

    Equal terms may be views in different state spaces, and the key of an undone operation returns its operand.
    """
    spaces = tuple([each.space for each in arguments if isinstance(each, SymbolicValue)])
    return (name, *arguments, spaces) if any(spaces) else (name, *arguments)


def undo_add(terms: SymbolicValueTable, width: int, total: Value, summand: Value) -> Value | None:
    """Returns the other summand of a sum from which one summand is subtracted."""
    if not isinstance(total, SymbolicValue) or not isinstance(summand, SymbolicValue) or summand.space is not None:
        return None
    match terms.key_of(total):
        case ("add", int(first), int(other)) if summand.identity in (first, other):
            left = terms.term_of(other if summand.identity == first else first)
            return left.plus(to_signed(total.offset - summand.offset, width)).with_space(total.space)
    return None


def undo_xor(terms: SymbolicValueTable, width: int, a: Value, b: Value) -> Value | None:
    """Returns the other operand of an exclusive or of which one operand is removed by another one."""
    for whole, part in ((a, b), (b, a)):
        if isinstance(whole, SymbolicValue) and not whole.offset:
            match terms.key_of(whole):
                case ("xor", int(known), first, other, *_) if known == width and part in (first, other):
                    left = other if part == first else first
                    return left if isinstance(left, int | SymbolicValue) else None
    return None


def undo_masks(terms: SymbolicValueTable, width: int, a: Value, b: Value) -> Value | None:
    """Returns the sum of a value and a number that was added to its upper bits only, while they were apart.

    `((x & ~m) + c) | (x & m)` is `x + c` where `m` has the lowest bits, and `c` none of them.
    """
    if not isinstance(a, SymbolicValue) or not isinstance(b, SymbolicValue):
        return None
    every = bit_mask(width)
    for high, low in ((a, b), (b, a)):
        match terms.key_of(high), terms.key_of(low):
            case ("and", int(known), SymbolicValue() as whole, int(upper), *_), (
                "and",
                int(same),
                other,
                int(lower),
                *_,
            ):
                is_split = (upper ^ lower) & every == every and not lower & lower + 1 and whole == other
                if is_split and known == same == width and not low.offset and not high.offset & lower:
                    return whole.with_offset(to_signed(whole.offset + high.offset, width))
    return None


def undo_not(terms: SymbolicValueTable, width: int, a: Value) -> Value | None:
    """Returns the operand of a complement that is complemented."""
    if isinstance(a, SymbolicValue) and not a.offset:
        match terms.key_of(a):
            case ("not", int(known), SymbolicValue() as left, *_) if known == width:
                return left
    return None


def undo_unpack(terms: SymbolicValueTable, width: int, parts: tuple[Value, ...]) -> Value | None:
    """Returns the register whose elements of `width` bits, all of them and in their order, are packed."""
    found: SymbolicValue | None = None
    for position, part in enumerate(parts):
        if not isinstance(part, SymbolicValue) or part.offset:
            return None
        match terms.key_of(part):
            case ("unpack", SymbolicValue() as whole, int(place), int(each), int(count), *_) if (
                place,
                each,
                count,
            ) == (position, width, len(parts)) and found in (None, whole):
                found = whole
            case _:
                return None
    return found


def undo_pack(terms: SymbolicValueTable, position: int, width: int, whole: SymbolicValue) -> Value | None:
    """Returns the element of `width` bits of a register that was packed from such elements."""
    if whole.offset:
        return None
    match terms.key_of(whole):
        case ("pack", int(each), *parts) if each == width and position < len(parts):
            part = parts[position]
            return part if isinstance(part, int | SymbolicValue) else None
    return None


def truth_of(terms: SymbolicValueTable, operator: str, a: Value, b: Value) -> Value | None:
    """Returns the predicate whose number, 1 or 0, is tested for being different from zero."""
    if operator != "ne" or b != 0 or not isinstance(a, SymbolicValue) or a.offset:
        return None
    match terms.key_of(a):
        case ("select", int(), 1, 0, SymbolicValue() as predicate):
            return predicate
    return None


def permuted_word(a: Value, b: Value, selectors: Value, mode: str | None) -> Value | None:
    """Returns the operand of `prmt` whose bytes are selected in their order."""
    if mode is not None or not isinstance(selectors, int):
        return None
    return {_FIRST_WORD: a, _SECOND_WORD: b}.get(selectors & 0xFFFF)


def shifted_word(direction: str, a: Value, b: Value, amount: Value) -> Value | None:
    """Returns the operand of `shf` that a shift by zero returns: the high one of a left shift, else the low one."""
    return (b if direction == "l" else a) if amount == 0 else None
