"""Determines which axes of its CTA a thread is first along, from the values of the predicates under which it runs.

Kernels select the first thread in different ways: by its number, by its warp and its lane, or by the sum of its
positions. Terms are those of `guard_values`; positions and lengths along the axes are small and never negative.

Source: PTX ISA, "Special Registers: %tid", "%ntid".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Set

from ptxkit.analysis.abstract_interpretation.guard_values import GuardValue

#: More bits than a product of positions and lengths has.
_NUMBER_BITS = 0xFFFFF
#: The special registers that count threads or CTAs.
_COUNTS = ("%tid.", "%ntid.", "%ctaid.", "%nctaid.")


def first_axes(conditions: Iterable[GuardValue]) -> frozenset[str]:
    """Returns the axes along which a thread has the position 0 if all of some predicates have their values."""
    axes: set[str] = set()
    masks: dict[Hashable, int] = defaultdict(int)
    for one, other in _equal_terms(conditions):
        match other:
            case ("integer", 0):
                axes |= _axes_of_zero(one)
            case ("neg", _, negated) if _is_position(one) and _is_position(negated):
                axes |= _axes_of_zero(one) | _axes_of_zero(negated)
            case ("neg", ("integer", 64), negated) if _is_count(one) and _is_position(negated):
                axes |= _axes_of_zero(negated)
        match one, other:
            case ("and", _, number, ("integer", int(mask))), ("integer", 0):
                masks[number] |= mask
    for number, mask in masks.items():
        if mask & _NUMBER_BITS == _NUMBER_BITS:
            axes |= _axes_of_zero(number)
    return frozenset(axes)


def is_implied(condition: GuardValue, axes: Set[str]) -> bool:
    """Returns whether a predicate has its value in threads that have the position 0 along some axes."""
    equal = list(_equal_terms([condition]))
    return bool(equal) and all(_vanishes(one, axes) and _vanishes(other, axes) for one, other in equal)


def _equal_terms(conditions: Iterable[GuardValue]) -> Iterator[tuple[Hashable, Hashable]]:
    """Yields the pairs of terms that are equal if each predicate has its value."""
    for value, is_true in conditions:
        match value:
            case ("compare", ("word", "eq"), ("word", _), one, other) if is_true:
                yield one, other
            case ("not", ("integer", 1), inner):
                yield from _equal_terms([(inner, not is_true)])
            case ("or", ("integer", 1), one, other) if not is_true:
                yield from _equal_terms([(one, False), (other, False)])


def _axes_of_zero(term: Hashable) -> frozenset[str]:
    """Returns the axes along which the position is 0 if a term is."""
    match term:
        case ("special", str(name)) if name.startswith("%tid."):
            return frozenset(name[-1])
        case ("add", _, one, other) if _is_position(term):
            return _axes_of_zero(one) | _axes_of_zero(other)
        case ("mul", _, one, other) if _is_position(term):
            return _axes_of_zero(one) if _is_length(other) else _axes_of_zero(other) if _is_length(one) else frozenset()
        case ("convert", _, _, inner):
            return _axes_of_zero(inner)
    return frozenset()


def _is_position(term: Hashable) -> bool:
    """Returns whether a term is made of positions in the CTA and of its lengths, by sums and products."""
    match term:
        case ("special", str(name)):
            return name.startswith(("%tid.", "%ntid."))
        case ("add" | "mul", _, one, other):
            return _is_position(one) and _is_position(other)
        case ("convert", _, _, inner):
            return _is_position(inner)
    return False


def _is_count(term: Hashable) -> bool:
    """Returns whether a term of 64 bits is made of positions and lengths in the CTA and in the grid."""
    match term:
        case ("special", str(name)):
            return name.startswith(_COUNTS)
        case ("add" | "mul", ("integer", 64), one, other) | ("mul_wide", _, ("integer", False), one, other):
            return _is_count(one) and _is_count(other)
        case ("convert", _, _, inner):
            return _is_count(inner) if not _is_position(inner) else True
    return False


def _is_length(term: Hashable) -> bool:
    match term:
        case ("special", str(name)):
            return name.startswith("%ntid.")
        case ("mul", _, one, other):
            return _is_length(one) and _is_length(other)
    return False


def _vanishes(term: Hashable, axes: Set[str]) -> bool:
    """Returns whether a term is 0 in threads that have the position 0 along some axes."""
    match term:
        case ("integer", int(number)):
            return number == 0
        case ("special", str(name)):
            return name.startswith("%tid.") and name[-1] in axes
        case ("add", _, one, other):
            return _vanishes(one, axes) and _vanishes(other, axes)
        case ("mul" | "and", _, one, other):
            return _vanishes(one, axes) or _vanishes(other, axes)
        case ("neg", _, inner) | ("convert", _, _, inner):
            return _vanishes(inner, axes)
    return False
