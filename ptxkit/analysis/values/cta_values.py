"""The value of a register in all threads of a CTA: numbers, or a number of unknown size that all threads share.

A value is an integer that all threads have, a tuple with one integer for each thread, a `UniformTerm`, or None where
nothing is known. Integers have the bits of their width and are not negative, as in `ptxkit.semantics.value_ops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import TypeAlias

from ptxkit.analysis.values.counter_fractions import fraction_of, has_multiples, is_counter, reciprocal
from ptxkit.analysis.values.uniform_terms import Atom, Numbers, UniformTerm, atom
from ptxkit.analysis.values.value_ops_vectorized import VECTORIZED_OPS, vectorized_op
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.value_ops import COMPARISONS, INTEGER_OPERATIONS, bit_mask, interpret


@dataclass(frozen=True, slots=True)
class MixedTerm:
    """A number in some threads, and one unknown that the others share: those whose number is None."""

    numbers: tuple[int | None, ...]
    term: UniformTerm

    @property
    def unknown(self) -> int:
        """The threads that have the unknown, as a bit mask."""
        return mask_of([each is None for each in self.numbers])


CtaValue: TypeAlias = "int | tuple[int, ...] | UniformTerm | MixedTerm | None"

#: The widest register in bits.
_WIDEST = 64
#: The least width of a number that holds any counter.
_LEAST_COUNTER_WIDTH = 32
#: The operations whose result is zero where one operand is, whatever the other one is.
_PRODUCTS = ("mul", "mul_wide", "mul_hi", "and")
_VECTORIZED = {name: vectorized_op(name) for name in VECTORIZED_OPS if name in INTEGER_OPERATIONS}


def apply(name: str, arguments: Sequence[object]) -> CtaValue:
    """Returns the result of an operation of the instruction table.

    arguments: words and widths where the table fixes them, values elsewhere.
    """
    operation = INTEGER_OPERATIONS.get(name)
    operands = list(arguments) if operation is None else operation.operands(arguments)
    if name == "select":
        chosen = operands[2]
        if isinstance(chosen, int):
            return _copy(arguments[0], operands[0] if chosen & 1 else operands[1])
    if name in _PRODUCTS and 0 in operands:
        return 0
    if any(each is None for each in operands):
        return None
    if _is_mixed(name, arguments, operands):
        return _apply_to_mixed(name, arguments)
    if any(isinstance(each, UniformTerm) for each in operands):
        return _apply_to_terms(name, arguments, operands)
    if operation is None:
        return _uniform_term(name, arguments, operands)
    if all(isinstance(each, int) for each in operands):
        return operation.compute(*arguments)
    return _apply_to_threads(name, arguments)


def _is_mixed(name: str, arguments: Sequence[object], operands: Sequence[object]) -> bool:
    """Returns whether threads with a number and others with an unknown are to be distinguished in an operation."""
    if any(isinstance(each, MixedTerm) for each in operands):
        return True
    is_logical = name in ("combine", "select") or (name in ("and", "or") and arguments[0] == 1)
    return is_logical and {tuple, UniformTerm} <= {type(each) for each in operands}


def _apply_to_mixed(name: str, arguments: Sequence[object]) -> CtaValue:
    count = next(len(_numbers_of(each)) for each in arguments if isinstance(each, tuple | MixedTerm))
    columns = [_numbers_of(each) if isinstance(each, tuple | MixedTerm) else (each,) * count for each in arguments]
    known: dict[tuple[object, ...], CtaValue] = {}
    results: list[int | None] = []
    terms: set[UniformTerm] = set()
    for own in zip(*columns, strict=True):
        if own not in known:
            known[own] = _absorb(name, own)
        result = known[own]
        if isinstance(result, UniformTerm):
            terms.add(result)
        elif not isinstance(result, int):
            return None
        results.append(result if isinstance(result, int) else None)
    if not terms:
        return per_thread(results)
    if len(terms) > 1:
        return None
    (term,) = terms
    return term if all(each is None for each in results) else MixedTerm(tuple(results), term)


def _numbers_of(value: tuple[int, ...] | MixedTerm) -> Sequence[object]:
    if isinstance(value, MixedTerm):
        return tuple(value.term if each is None else each for each in value.numbers)
    return value


def _absorb(name: str, arguments: Sequence[object]) -> CtaValue:
    """Applies an operation in one thread; a conjunction or disjunction may be known if one operand is."""
    operator = arguments[0] if name == "combine" else name
    number = next((each for each in arguments[1:] if isinstance(each, int)), None)
    if operator in ("and", "or") and number is not None and (name == "combine" or arguments[0] == 1):
        if (number & 1) == (operator == "or"):
            return int(operator == "or")
        return next((each for each in arguments[1:] if isinstance(each, UniformTerm)), apply(name, arguments))
    return apply(name, arguments)


def _copy(width: object, value: object) -> CtaValue:
    if isinstance(value, UniformTerm | MixedTerm):
        return value
    return None if value is None else apply("copy", (width, value))


def _apply_to_threads(name: str, arguments: Sequence[object]) -> CtaValue:
    static = INTEGER_OPERATIONS[name].static
    fast = _VECTORIZED.get(name)
    results: Sequence[int | None] | None = None
    if fast is not None:
        results = fast(*(list(each) if isinstance(each, tuple) else each for each in arguments))
    if results is None:
        compute = INTEGER_OPERATIONS[name].compute
        count = next(len(each) for each in arguments if isinstance(each, tuple))
        columns = [
            each if isinstance(each, tuple) and at not in static else (each,) * count
            for at, each in enumerate(arguments)
        ]
        results = [compute(*own) for own in zip(*columns, strict=True)]
    return per_thread(results)


def members_of(guard: CtaValue, *, count: int) -> tuple[int, int]:
    """Returns the threads that may execute a step with a guard, and those that may not, as bit masks.

    count: the number of threads.
    """
    everyone = (1 << count) - 1
    if isinstance(guard, int):
        return (everyone, 0) if guard & 1 else (0, everyone)
    if isinstance(guard, tuple):
        chosen = mask_of([each & 1 for each in guard])
        return chosen, everyone & ~chosen
    if isinstance(guard, MixedTerm):
        chosen = mask_of([each is not None and each & 1 for each in guard.numbers])
        return chosen | guard.unknown, everyone & ~chosen
    return everyone, everyone


def mask_of(members: Sequence[object]) -> int:
    """Returns the bit mask of the threads for which a value is true."""
    return int("".join(["1" if each else "0" for each in reversed(members)]) or "0", 2)


def per_thread(results: Sequence[int | None]) -> CtaValue:
    """Returns the value with one number for each thread: a single one if all are equal, None if one is unknown."""
    numbers = tuple(each for each in results if each is not None)
    if len(numbers) < len(results):
        return None
    return numbers[0] if numbers.count(numbers[0]) == len(numbers) else numbers


def _apply_to_terms(name: str, arguments: Sequence[object], operands: Sequence[object]) -> CtaValue:
    match name, operands:
        case "copy", (UniformTerm() as term,):
            return term
        case "convert", (UniformTerm() as term,) if (kept := _convert_counter(arguments, term)) is not None:
            return kept
        case "add", (first, second):
            return _sum(arguments[0], first, second)
        case "sub", (first, second):
            return _difference(arguments[0], first, second)
        case "neg", (UniformTerm() as term,):
            return _negate_term(arguments[0], term)
        case "and", (UniformTerm() as term, int() as mask) | (int() as mask, UniformTerm() as term):
            return _mask_term(arguments[0], term, mask)
        case ("shl", (UniformTerm() as term, int() as count)) if count < _WIDEST:
            return _scale(name, arguments, term, 1 << count)
        case ("mul", (UniformTerm() as term, int() as factor) | (int() as factor, UniformTerm() as term)):
            return _scale(name, arguments, term, factor)
        case (("mul_hi" | "shr" | "div" | "rem"), (UniformTerm() as term, int() as number)):
            found = _divide_term(name, arguments, term, number)
            return _uniform_term(name, arguments, operands) if found is None else found
        case "compare", (first, second):
            result = _compare(str(arguments[0]), str(arguments[1]), first, second)
            return _uniform_term(name, arguments, operands) if result is None else result
    return _uniform_term(name, arguments, operands)


def _convert_counter(conversion: Sequence[object], term: UniformTerm) -> UniformTerm | None:
    """Returns a counter after a conversion, which keeps it as it is less than 2**26; None for another unknown.

    conversion: the types of the operand and of the result, and the operand.
    """
    kinds = [str(each) for each in conversion[:2]]
    before, after = (int(each[1:]) if each[0] in "us" else 0 for each in kinds)
    if min(before, after) < _LEAST_COUNTER_WIDTH or not is_counter(term, before):
        return None
    assert isinstance(term.offset, int)
    return replace(term, offset=interpret(term.offset, before, True) & bit_mask(after))


def _divide_term(name: str, arguments: Sequence[object], term: UniformTerm, number: int) -> CtaValue:
    """Returns what one of the operations that divide computes of a term; None if it is not known.

    arguments: the width, and whether the numbers are signed, before the operands.
    """
    width = arguments[0]
    assert isinstance(width, int)
    if name == "rem" and number and not arguments[1] and number.bit_count() == 1 and term.multiple % number == 0:
        return _numbers("and", width, term.offset, number - 1)
    if name == "shr" and term.atom.key[0] == "mul_wide" and term.offset == 0:
        return _shift_product(term.atom.key, number)
    if not is_counter(term, width):
        return None
    if name == "mul_hi":
        number &= bit_mask(width)
        factor = reciprocal(number, width)
        found = None if factor is None else fraction_of(term, factor, width)
        is_negative = bool(arguments[1]) and number >> (width - 1)
        return found if found is None or not is_negative else _difference(width, found, term)
    if name == "shr":
        if number >= width - 1:
            return 0  # a counter is not negative
        return fraction_of(term, Fraction(1, 1 << number), width) if number < _WIDEST else None
    quotient = fraction_of(term, Fraction(1, number), width) if 0 < number < 1 << (width - 1) else None
    if name == "div" or quotient is None:
        return quotient
    return _difference(width, term, fraction_of(quotient, Fraction(number), width))


def _shift_product(product: Sequence[object], count: int) -> CtaValue:
    """Returns a product of twice the width of its operands, shifted by this width and more; None if it is not known.

    product: `mul_wide`, the width, whether the operands are signed, and the operands. Such a shift leaves a part of the
    upper half.
    """
    width, term, number = product[1], product[3], product[4]
    assert isinstance(width, int)
    if count < width or not isinstance(term, UniformTerm) or not isinstance(number, int):
        return None
    if not is_counter(term, width):
        return None
    upper = _divide_term("mul_hi", product[1:], term, number)
    if count > width and isinstance(upper, UniformTerm):
        upper = _divide_term("shr", (width, False), upper, count - width)
    if not isinstance(upper, UniformTerm):
        return upper
    return _convert_counter((f"u{width}", f"u{2 * width}"), upper)


def large_term(offset: int, least: int, modulus: int, *key: object) -> UniformTerm:
    """Returns a counter that is a multiple of `modulus`, and not less than `least`, plus an offset."""
    return UniformTerm(atom("large", least, *key), offset, modulus)


def is_large(value: object) -> bool:
    """Returns whether a value is the sum of a large counter and a number that is not negative."""
    return isinstance(value, UniformTerm) and value.atom.key[0] == "large" and _is_small(value.offset)


def _is_small(offset: Numbers) -> bool:
    return isinstance(offset, int) and offset < 1 << 30


def _compare(operator: str, kind: str, first: object, second: object) -> int | None:
    """Returns the result of a comparison with an unknown; None if it is not known."""
    if isinstance(first, UniformTerm) and is_large(first) and isinstance(second, int):
        return _compare_large(operator, kind, first, second)
    if not isinstance(first, UniformTerm) or not isinstance(second, UniformTerm) or first.atom != second.atom:
        return None
    is_known = isinstance(first.offset, int) and isinstance(second.offset, int) and operator in ("eq", "ne")
    return int(COMPARISONS[operator](first.offset, second.offset)) if is_known else None


def _compare_large(operator: str, kind: str, term: UniformTerm, number: int) -> int | None:
    """Returns the result of a comparison with a number that is less than the counter; None if it may not be less."""
    number = interpret(number, int(kind[1:]), kind[0] == "s")
    assert isinstance(term.offset, int)
    least = term.atom.key[1]
    assert isinstance(least, int)
    least += term.offset
    return int(COMPARISONS[operator](least, number)) if number < least else None


def _scale(name: str, arguments: Sequence[object], term: UniformTerm, factor: int) -> UniformTerm:
    width = arguments[0]
    offset = _numbers("mul", width, term.offset, factor)
    if has_multiples(term) and isinstance(width, int):
        signed = interpret(factor, width, True)
        found = fraction_of(replace(term, offset=0), Fraction(abs(signed)), width) if signed else None
        if found is not None:
            return replace(found if signed > 0 else _negate_term(width, found), offset=offset)
    return UniformTerm(atom(name, width, term.atom, factor), offset, term.multiple * factor)


def _sum(width: object, first: object, second: object) -> CtaValue:
    if not isinstance(first, UniformTerm):
        first, second = second, first
    assert isinstance(first, UniformTerm)
    if isinstance(second, UniformTerm):
        if _are_opposite(width, first.atom, second.atom):
            return _numbers("add", width, first.offset, second.offset)
        atoms = sorted((first.atom, second.atom), key=id)
        offset = _numbers("add", width, first.offset, second.offset)
        return UniformTerm(atom("add", width, *atoms), offset, gcd(first.multiple, second.multiple))
    return replace(first, offset=_numbers("add", width, first.offset, second))


def _mask_term(width: object, term: UniformTerm, mask: int) -> CtaValue:
    """Returns the bits of a term that are in a mask."""
    if term.multiple % (1 << mask.bit_length()) == 0:
        return _numbers("and", width, term.offset, mask)
    zeros = mask & -mask
    if term.multiple % zeros and is_uniform(term):
        return UniformTerm(atom("and", width, term, mask), 0, zeros)
    return _uniform_term("and", (width, term, mask), (term, mask))


def _are_opposite(width: object, first: Atom, second: Atom) -> bool:
    pairs = ((first, second), (second, first))
    return any(one.key[:2] == ("neg", width) and one.key[2] is other for one, other in pairs)


def _difference(width: object, first: object, second: object) -> CtaValue:
    """Returns the difference of two values; that of a number and its lowest bits is the number without them."""
    if not isinstance(second, UniformTerm):
        assert isinstance(first, UniformTerm)
        return replace(first, offset=_numbers("sub", width, first.offset, second))
    if not isinstance(first, UniformTerm):
        return _sum(width, _negate_term(width, second), first)
    if first.atom == second.atom:
        return _numbers("sub", width, first.offset, second.offset)
    for number, bits in ((first, second), (second, first)):
        mask = bits.atom.key[3] if bits.atom.key[:3] == ("and", width, number) and bits.offset == 0 else None
        if isinstance(mask, int) and isinstance(width, int) and mask & (mask + 1) == 0:
            rest = _mask_term(width, number, bit_mask(width) & ~mask)
            return rest if number is first or not isinstance(rest, UniformTerm) else _negate_term(width, rest)
    return _sum(width, first, _negate_term(width, second))


def _negate_term(width: object, term: UniformTerm) -> UniformTerm:
    """Returns a term with the opposite sign, so that two negations leave no trace."""
    offset = _numbers("neg", width, term.offset)
    if term.atom.key[:2] == ("neg", width) and isinstance(term.atom.key[2], Atom):
        return UniformTerm(term.atom.key[2], offset, term.multiple)
    return UniformTerm(atom("neg", width, term.atom), offset, term.multiple)


def _numbers(name: str, *arguments: object) -> Numbers:
    found = apply(name, arguments)
    assert isinstance(found, int | tuple)
    return found


def _uniform_term(name: str, arguments: Sequence[object], operands: Sequence[object]) -> CtaValue:
    """Returns the term of an operation whose operands all threads share; None for any other.

    The lowest bits of the result are known where they depend only on known lowest bits of the operands.
    """
    if not all(map(is_uniform, operands)):
        return None
    bits = min(each.multiple & -each.multiple for each in operands if isinstance(each, UniformTerm)).bit_length() - 1
    known = _known_bits(name, operands, bits)
    if known <= 0:
        return UniformTerm(atom(name, *arguments))
    low = [each.offset if isinstance(each, UniformTerm) else each for each in arguments]
    result = apply(name, low)
    if not isinstance(result, int):
        return UniformTerm(atom(name, *arguments))
    return UniformTerm(atom(name, *arguments), result & ((1 << known) - 1), 1 << known)


def _known_bits(name: str, operands: Sequence[object], bits: int) -> int:
    """Returns how many lowest bits of a result are known if so many of each unknown operand are."""
    if name in _LOW_BITS_ONLY:
        return bits
    if name == "shr" and isinstance(operands[-1], int):
        return bits - operands[-1]
    if name == "div" and isinstance(operands[-1], int) and operands[-1].bit_count() == 1:
        return bits - operands[-1].bit_length() + 1
    return 0


#: The operations whose lowest bits depend only on as many lowest bits of the operands.
_LOW_BITS_ONLY = frozenset(("add", "sub", "mul", "and", "or", "xor", "not", "neg", "copy", "lop3"))


def is_uniform(value: object) -> bool:
    """Returns whether all threads have the same value."""
    if isinstance(value, UniformTerm):
        return isinstance(value.offset, int)
    return isinstance(value, int)
