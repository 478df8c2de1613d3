"""Whether the assumed results of comparisons can hold together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from ptxkit.analysis.values.cta_values import apply
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.semantics.value_ops import NEGATED_COMPARISONS, SWAPPED_COMPARISONS, bit_mask, interpret

#: What is subtracted from, or added to, the constant of a comparison to get the largest or the least number.
_BELOW = {"lt": 1, "lo": 1, "le": 0, "ls": 0}
_ABOVE = {"gt": 1, "hi": 1, "ge": 0, "hs": 0}
_UNLIMITED = (float("-inf"), float("inf"))


def is_possible(assumed: Mapping[tuple[Atom, int], int]) -> bool:
    """Returns whether one number can satisfy all assumed comparisons with constants, for each unknown.

    assumed: the values of predicates. Sums of an unknown and a constant are taken to be within the limits of their
    type, since a size that is almost the largest number of 32 bits has no memory.
    """
    return all(least <= most for least, most in _limits(assumed).values())


def _limits(assumed: Mapping[tuple[Atom, int], int]) -> dict[tuple[UniformTerm, str], tuple[float, float]]:
    """Returns the least and the largest number of each unknown that is compared, with its type.

    An unsigned comparison is one of signed numbers where neither is negative.
    """
    limits: dict[tuple[UniformTerm, str], tuple[float, float]] = {}
    found = [_comparison(atom, holds=bool(value & 1)) for (atom, _), value in assumed.items()]
    for each in sorted((each for each in found if each is not None), key=lambda each: each.kind):
        signed = "s" + each.kind[1:]
        is_signed = limits.get((each.term, signed), _UNLIMITED)[0] + each.offset >= 0
        key = each.term, signed if is_signed else each.kind
        least, most = limits.get(key, _UNLIMITED)
        if each.operator in _BELOW:
            most = min(most, each.limit(signed=is_signed) - _BELOW[each.operator])
        else:
            least = max(least, each.limit(signed=is_signed) + _ABOVE[each.operator])
        limits[key] = (least, most)
    return limits


@lru_cache(maxsize=4096)
def bounds(term: UniformTerm, assumed: frozenset[tuple[tuple[Atom, int], int]]) -> tuple[int | None, int | None]:
    """Returns limits of a number that grows with one compared unknown, such as the number of tiles with a size.

    Each is None where it is not known.
    """
    leaves = leaves_of(term)
    if len(leaves) != 1 or not isinstance(term.offset, int):
        return None, None
    (leaf,) = leaves
    for (base, kind), (least, most) in _limits(dict(assumed)).items():
        if base.atom is leaf and kind[0] == "s" and least >= 0:
            found = [None if number == float("inf") else _value(term, leaf, int(number)) for number in (least, most)]
            return found[0], found[1]
    return None, None


#: The operations whose result does not fall where an operand grows that is not negative.
_GROWING = frozenset(("add", "shr", "shl", "mul", "max", "min"))


def leaves_of(term: UniformTerm) -> set[Atom | None]:
    """Returns the unknowns on which a number depends; None is one of them if it may fall with one."""
    return set(_leaves(term))


def _leaves(term: UniformTerm) -> Iterator[Atom | None]:
    """Yields the unknowns on which a number depends, None for an operation with which it may fall."""
    operands = [_term(each) for each in term.atom.key if isinstance(each, UniformTerm | Atom)]
    if not operands:
        yield term.atom
    elif term.atom.key[0] not in _GROWING:
        yield None
    for each in operands:
        yield from _leaves(each)


def _term(operand: UniformTerm | Atom) -> UniformTerm:
    return UniformTerm(operand) if isinstance(operand, Atom) else operand


def _value(term: UniformTerm, leaf: Atom, number: int) -> int | None:
    """Returns the value of a term for a number that an unknown may be."""

    def value(of: object) -> object:
        if not isinstance(of, UniformTerm | Atom):
            return of
        sum_of = _term(of)
        key = sum_of.atom.key
        held = number if sum_of.atom is leaf else apply(str(key[0]), [value(each) for each in key[1:]])
        return apply("add", (32, held, sum_of.offset))

    found = value(term)
    return found if isinstance(found, int) and found < 1 << 31 else None


def compared_term(atom: Atom) -> object:
    """Returns the unknown that a predicate compares with a constant, with the type; the predicate itself for others."""
    found = _comparison(atom, holds=True)
    return (found.term, found.kind) if found is not None else atom


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A comparison of the sum of an unknown and an offset with a number of some type."""

    term: UniformTerm
    kind: str
    operator: str
    number: int
    offset: int

    def limit(self, *, signed: bool) -> int:
        """Returns the number with which the unknown itself is compared."""
        width = int(self.kind[1:])
        offset = self.offset if signed or self.kind[0] == "s" else self.offset & bit_mask(width)
        return self.number - offset


def _comparison(atom: Atom, *, holds: bool) -> _Comparison | None:
    """Returns what a predicate compares; None if it is no comparison of an unknown with a constant."""
    if len(atom.key) != 5 or atom.key[0] != "compare":
        return None
    operator, kind, left, right = str(atom.key[1]), str(atom.key[2]), atom.key[3], atom.key[4]
    if isinstance(right, UniformTerm):
        left, right, operator = right, left, SWAPPED_COMPARISONS.get(operator, "")
    if not holds:
        operator = NEGATED_COMPARISONS.get(operator, "")
    if not isinstance(left, UniformTerm) or not isinstance(right, int) or operator not in {*_BELOW, *_ABOVE}:
        return None
    width = int(kind[1:])
    if not isinstance(left.offset, int) or kind[0] not in "su":
        return None
    number = interpret(right, width, kind[0] == "s")
    return _Comparison(replace(left, offset=0), kind, operator, number, interpret(left.offset, width, True))
