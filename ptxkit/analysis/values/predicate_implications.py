"""Computes what decided conditions imply for others: at most 3 is not at least 4, and in `.shared` is not in `.local`.

A guess at one branch decides other branches that test the same unknown in a different form, as tests of the roles of
warps do. Otherwise, executions would take paths that no thread can take.

Source: PTX ISA, "isspacep", "Generic Addressing" (the windows of state spaces do not overlap, except that the window of
kernel parameters is in `global`), "Shared State Space" (`.shared::cta` is part of `.shared::cluster`).
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import TypeAlias

from ptxkit.analysis.limits import MAX_COMPARISONS
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.semantics.value_ops import COMPARISONS, bit_mask, interpret

_WIDTHS = {"16": 16, "32": 32, "64": 64}
_SPACE = "space"
#: The state space whose window contains that of another one, by the latter.
_ENCLOSING_SPACE = {"param": "global", "shared": "shared::cluster", "shared::cta": "shared::cluster"}


_Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Ranges of numbers, each with its last one, in ascending order and with others between them. The numbers are bits, so
that they have a meaning for signed and unsigned types of a width.
"""


def numbers_satisfying(key: Hashable) -> _Ranges | None:
    """Returns the numbers for which a condition `unknown operator constant` holds; None for any other condition."""
    if not isinstance(key, tuple) or len(key) != 5 or subject_of(key) is None:
        return None
    _, operator, kind, _, constant = key
    return _satisfying(operator, kind, constant)


@lru_cache(maxsize=1 << 12)
def _satisfying(operator: str, kind: str, constant: int) -> _Ranges:
    width, is_signed = _WIDTHS[kind[1:]], kind[0] == "s"
    limit = interpret(constant, width, is_signed)
    least, largest = (-1 << width - 1, bit_mask(width - 1)) if is_signed else (0, bit_mask(width))
    ordered = [(least, limit - 1), (limit, limit), (limit + 1, largest)]
    holding = [each for each in ordered if each[0] <= each[1] and COMPARISONS[operator](each[0], limit)]
    parts = [
        part for low, high in holding for part in ((low, min(high, -1)), (max(low, 0), high)) if part[0] <= part[1]
    ]
    found: list[tuple[int, int]] = []
    for low, high in sorted((low & bit_mask(width), high & bit_mask(width)) for low, high in parts):
        if found and found[-1][1] == low - 1:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return tuple(found)


def _outside(ranges: _Ranges, width: int) -> _Ranges:
    """Returns the numbers of a width that are in none of the ranges."""
    starts = (0, *(high + 1 for _, high in ranges))
    ends = (*(low - 1 for low, _ in ranges), bit_mask(width))
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)


def _common(first: _Ranges, second: _Ranges) -> _Ranges:
    both = ((max(low, start), min(high, end)) for low, high in first for start, end in second)
    return tuple((low, high) for low, high in both if low <= high)


def subject_of(key: Hashable) -> tuple[SymbolicValue, str] | None:
    """Returns the unknown that a condition compares with a constant, and the width.

    For a test of a state space, the result has the unknown that is tested, whatever its offset. It is None for any
    other condition. (The function is called for each lane in each iteration, mostly with a distinct unknown.)
    """
    if not isinstance(key, tuple) or len(key) != 5 or key[0] != "compare":
        if isinstance(key, tuple) and len(key) == 3 and key[0] == "is_space" and isinstance(key[2], SymbolicValue):
            return key[2].with_offset(0), _SPACE
        return None
    kind, unknown, constant = key[2:]
    if not isinstance(unknown, SymbolicValue) or not isinstance(constant, int) or kind[0] not in "usb":
        return None
    return (unknown, kind[1:]) if kind[1:] in _WIDTHS else None


class _ConditionSolver:
    """Determines what the decided conditions about one subject imply for others.

    Executions ask for each lane in each iteration, so that the numbers which satisfy all comparisons are kept, as far
    as the conditions were read.
    """

    __slots__ = ("_cache", "_conditions", "_possible", "_read_count")

    def __init__(self, conditions: list[tuple[Hashable, bool]], width: str) -> None:
        self._conditions = conditions
        self._read_count = 0
        self._possible: _Ranges = () if width == _SPACE else ((0, bit_mask(_WIDTHS[width])),)
        self._cache: dict[Hashable, bool | None] = {}

    def implied_side(self, key: Hashable) -> bool | None:
        """Returns the side that the decided conditions imply for a condition; None where it may be either."""
        if self._read_count < len(self._conditions):
            self._cache.clear()
            for condition in self._conditions[self._read_count :]:
                self._read(*condition)
            self._read_count = len(self._conditions)
        if key not in self._cache:
            numbers = numbers_satisfying(key)
            self._cache[key] = (
                _implied_space(_space_of(key), [(_space_of(other), side) for other, side in self._conditions])
                if numbers is None
                else self._implied_comparison(numbers)
            )
        return self._cache[key]

    def _read(self, key: Hashable, side: bool) -> None:
        numbers, subject = numbers_satisfying(key), subject_of(key)
        if numbers is not None and subject is not None:
            self._possible = _common(self._possible, numbers if side else _outside(numbers, _WIDTHS[subject[1]]))

    def _implied_comparison(self, numbers: _Ranges) -> bool | None:
        common = _common(self._possible, numbers)
        if not common:
            return False if self._possible else None
        return True if common == self._possible else None


@dataclass(slots=True)
class Implications:
    """The comparisons and tests of state spaces that were decided in one scenario, by their subject."""

    _decided: dict[tuple[SymbolicValue, str], list[tuple[Hashable, bool]]] = field(default_factory=dict)
    _solvers: dict[tuple[SymbolicValue, str], _ConditionSolver] = field(default_factory=dict)
    """Those of the subjects about which an execution has asked: most unknowns are compared once."""

    def note(self, key: Hashable, side: bool) -> None:
        """Records the decision of a condition."""
        subject = subject_of(key)
        if subject is not None:
            decided = self._decided.setdefault(subject, [])
            if len(decided) < MAX_COMPARISONS:
                decided.append((key, side))

    def implied_side(self, key: Hashable) -> bool | None:
        """Returns the side that the decided conditions imply for a condition; None where it may be either."""
        if not self._decided:
            return None
        subject = subject_of(key)
        if subject is None or subject not in self._decided:
            return None
        solver = self._solvers.get(subject)
        if solver is None:
            solver = self._solvers[subject] = _ConditionSolver(self._decided[subject], subject[1])
        return solver.implied_side(key)


def _space_of(key: Hashable) -> str:
    """Returns the state space for which an address is tested; `param::entry` is part of `param`."""
    assert isinstance(key, tuple)
    space = str(key[1])
    return "param" if space.startswith("param") else space


def _implied_space(asked: str, before: list[tuple[str, bool]]) -> bool | None:
    """Returns the result of a test of an address's state space that other tests of it imply; None if they do not."""
    for known, side in before:
        if side and (known == asked or _ENCLOSING_SPACE.get(known) == asked):
            return True
        if not side and (known == asked or _ENCLOSING_SPACE.get(asked) == known):
            return False
        if side and _outermost(known) != _outermost(asked):
            return False
    return None


def _outermost(space: str) -> str:
    return _ENCLOSING_SPACE.get(space, space)
