"""The value of a register in all threads of a CTA: numbers, or a number of unknown size that all threads share.

A value is an integer that all threads have, a tuple with one integer for each thread, a `UniformTerm`, or None where
nothing is known. Integers have the bits of their width and are not negative, as in `ptxkit.semantics.value_ops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias
from weakref import WeakValueDictionary

from ptxkit.analysis.values.value_ops_vectorized import VECTORIZED_OPS, vectorized_op
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.value_ops import COMPARISONS, INTEGER_OPERATIONS, interpret

Numbers: TypeAlias = "int | tuple[int, ...]"


class Atom:
    """An unknown that all threads share, identified by how it was computed: equal ones are the same object.

    is_stable: whether it is the same number after a barrier, where the values at merges are replaced.
    """

    __slots__ = ("__weakref__", "is_stable", "key")

    def __init__(self, key: Sequence[object]) -> None:
        self.key = key
        self.is_stable = key[0] not in ("merge", "large") and all(map(_is_stable, key))


def _is_stable(part: object) -> bool:
    if isinstance(part, UniformTerm):
        return part.atom.is_stable
    return not isinstance(part, Atom) or part.is_stable


_ATOMS: WeakValueDictionary[Sequence[object], Atom] = WeakValueDictionary()


def atom(*key: object) -> Atom:
    """Returns the unknown that is computed in some way."""
    found = _ATOMS.get(key)
    if found is None:
        found = _ATOMS[key] = Atom(key)
    return found


@dataclass(frozen=True, slots=True)
class UniformTerm:
    """An unknown that is equal in all threads of the CTA, plus a known offset, modulo the width.

    multiple: a number of which the unknown is a multiple.
    """

    atom: Atom
    offset: Numbers = 0
    multiple: int = 1


@dataclass(frozen=True, slots=True)
class MixedTerm:
    """A number in some threads, and one unknown that the others share: those whose number is None."""

    numbers: tuple[int | None, ...]
    term: UniformTerm

    @property
    def unknown(self) -> int:
        """The threads that have the unknown, as a bit mask."""
        return sum(1 << tid for tid, each in enumerate(self.numbers) if each is None)


CtaValue: TypeAlias = "int | tuple[int, ...] | UniformTerm | MixedTerm | None"

#: The widest register in bits.
_WIDEST = 64
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
        case "add", (first, second):
            return _sum(arguments[0], first, second)
        case "sub", (UniformTerm() as term, int() | tuple() as number):
            return replace(term, offset=_numbers("sub", arguments[0], term.offset, number))
        case "sub", (UniformTerm() as first, UniformTerm() as second) if first.atom == second.atom:
            return _numbers("sub", arguments[0], first.offset, second.offset)
        case "and", (UniformTerm() as term, int() as mask) | (int() as mask, UniformTerm() as term):
            if term.multiple % (1 << mask.bit_length()) == 0:
                return _numbers("and", arguments[0], term.offset, mask)
        case ("shl", (UniformTerm() as term, int() as count)) if count < _WIDEST:
            return _scale(name, arguments, term, 1 << count)
        case ("mul", (UniformTerm() as term, int() as factor) | (int() as factor, UniformTerm() as term)):
            return _scale(name, arguments, term, factor)
        case ("rem", (UniformTerm() as term, int() as divisor)) if divisor and term.multiple % divisor == 0:
            if not arguments[1] and divisor.bit_count() == 1:
                return _numbers("and", arguments[0], term.offset, divisor - 1)
        case "compare", (first, second):
            found = _compare(str(arguments[0]), str(arguments[1]), first, second)
            return _uniform_term(name, arguments, operands) if found is None else found
    return _uniform_term(name, arguments, operands)


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
    offset = _numbers("mul", arguments[0], term.offset, factor)
    return UniformTerm(atom(name, arguments[0], term.atom, factor), offset, term.multiple * factor)


def _sum(width: object, first: object, second: object) -> CtaValue:
    if not isinstance(first, UniformTerm):
        first, second = second, first
    assert isinstance(first, UniformTerm)
    if isinstance(second, UniformTerm):
        atoms = sorted((first.atom, second.atom), key=id)
        return UniformTerm(atom("add", width, *atoms), _numbers("add", width, first.offset, second.offset))
    return replace(first, offset=_numbers("add", width, first.offset, second))


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
