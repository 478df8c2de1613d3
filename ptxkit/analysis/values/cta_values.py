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
from ptxkit.semantics.value_ops import COMPARISONS, INTEGER_OPERATIONS

Numbers: TypeAlias = "int | tuple[int, ...]"


class Atom:
    """An unknown that all threads share, identified by how it was computed: equal ones are the same object.

    is_stable: whether it is the same number after a barrier, where the values at merges are replaced.
    """

    __slots__ = ("__weakref__", "is_stable", "key")

    def __init__(self, key: Sequence[object]) -> None:
        self.key = key
        self.is_stable = key[0] != "merge" and all(map(_is_stable, key))


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


CtaValue: TypeAlias = "int | tuple[int, ...] | UniformTerm | None"

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
    if any(isinstance(each, UniformTerm) for each in operands):
        return _apply_to_terms(name, arguments, operands)
    if operation is None:
        return _uniform_term(name, arguments, operands)
    if all(isinstance(each, int) for each in operands):
        return operation.compute(*arguments)
    return _apply_to_threads(name, arguments)


def _copy(width: object, value: object) -> CtaValue:
    if isinstance(value, UniformTerm):
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
        case "compare", (UniformTerm() as first, UniformTerm() as second) if first.atom == second.atom:
            if arguments[0] in ("eq", "ne") and isinstance(first.offset, int) and isinstance(second.offset, int):
                return int(COMPARISONS[str(arguments[0])](first.offset, second.offset))
    return _uniform_term(name, arguments, operands)


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
    """Returns the term of an operation whose operands all threads share; None for any other."""
    return UniformTerm(atom(name, *arguments)) if all(map(is_uniform, operands)) else None


def is_uniform(value: object) -> bool:
    """Returns whether all threads have the same value."""
    if isinstance(value, UniformTerm):
        return isinstance(value.offset, int)
    return isinstance(value, int)
