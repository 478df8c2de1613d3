"""Computes what decided conditions imply for others: at most 3 is not at least 4, and in `.shared` is not in `.local`.

A guess at one branch decides other branches that test the same unknown in a different form, as tests of the roles of
warps do. Otherwise, executions would take paths that no thread can take.

Source: PTX ISA, "isspacep", "Generic Addressing" (the windows of state spaces do not overlap, except that the window of
kernel parameters is in `global`), "Shared State Space" (`.shared::cta` is part of `.shared::cluster`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ptxkit.analysis.limits import MAX_COMPARISONS
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.semantics.value_ops import compare

_WIDTHS = {"16": 16, "32": 32, "64": 64}
_SPACE = "space"
#: The state space whose window contains that of another one, by the latter.
_ENCLOSING_SPACE = {"param": "global", "shared": "shared::cluster", "shared::cta": "shared::cluster"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The condition `unknown operator constant`, on numbers of a type such as `u32`."""

    unknown: SymbolicValue
    kind: str
    operator: str
    constant: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest number of the type."""
        width = _WIDTHS[self.kind[1:]]
        return (-1 << width - 1, (1 << width - 1) - 1) if self.kind[0] == "s" else (0, (1 << width) - 1)

    def holds(self, number: int) -> bool:
        """Returns whether the comparison holds for a number in place of the unknown, interpreted as the type."""
        return compare(self.operator, self.kind, number, self.constant) == 1


def comparison_of(key: Hashable) -> Comparison | None:
    """Returns the comparison that a condition results from; None for any other condition."""
    if not isinstance(key, tuple) or len(key) != 5 or subject_of(key) is None:
        return None
    _, operator, kind, unknown, constant = key
    return Comparison(unknown, kind, operator, constant)


def subject_of(key: Hashable) -> tuple[SymbolicValue, str] | None:
    """Returns the unknown that a condition compares with a constant, and the width.

    For a test of a state space, the result has the unknown that is tested, whatever its offset. It is None for any
    other condition. (The function does not use `comparison_of` because it is called for each lane in each iteration,
    mostly with a distinct unknown.)
    """
    if not isinstance(key, tuple) or len(key) != 5 or key[0] != "compare":
        if isinstance(key, tuple) and len(key) == 3 and key[0] == "is_space" and isinstance(key[2], SymbolicValue):
            return key[2].with_offset(0), _SPACE
        return None
    kind, unknown, constant = key[2:]
    if not isinstance(unknown, SymbolicValue) or not isinstance(constant, int) or kind[0] not in "usb":
        return None
    return (unknown, kind[1:]) if kind[1:] in _WIDTHS else None


@dataclass(slots=True)
class Implications:
    """The comparisons and tests of state spaces that were decided in one scenario, by their subject."""

    decided_conditions: dict[tuple[SymbolicValue, str], list[tuple[Hashable, bool]]] = field(default_factory=dict)
    _cache: dict[Hashable, bool | None] = field(default_factory=dict)
    """The results of `implied_side` since the last decision: lanes and iterations repeat the same queries."""

    def note(self, key: Hashable, side: bool) -> None:
        """Records the decision of a condition."""
        subject = subject_of(key)
        if subject is not None:
            decided = self.decided_conditions.setdefault(subject, [])
            if len(decided) < MAX_COMPARISONS:
                decided.append((key, side))
                self._cache.clear()

    def implied_side(self, key: Hashable) -> bool | None:
        """Returns the side that the decided conditions imply for a condition; None where it may be either."""
        if not self.decided_conditions:
            return None
        subject = subject_of(key)
        decided = self.decided_conditions.get(subject) if subject is not None else None
        if decided is None:
            return None
        if key not in self._cache:
            self._cache[key] = _implied_side(key, decided)
        return self._cache[key]


def _implied_side(key: Hashable, before: list[tuple[Hashable, bool]]) -> bool | None:
    found = comparison_of(key)
    if found is None:
        return _implied_space(_space_of(key), [(_space_of(other), side) for other, side in before])
    decided = [(each, side) for other, side in before if (each := comparison_of(other)) is not None]
    fitting = (
        number
        for number in _sample_points(found, decided)
        if all(comparison.holds(number) == side for comparison, side in decided)
    )
    sides = {found.holds(number) for number in fitting}
    return sides.pop() if len(sides) == 1 else None


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


def _sample_points(found: Comparison, decided: list[tuple[Comparison, bool]]) -> Iterator[int]:
    """Yields a number from each interval in which all the comparisons have constant results."""
    for comparison in (found, *(each for each, _ in decided)):
        least, largest = comparison.bounds
        yield from (least, largest, 0)
        yield from (comparison.constant + step for step in (-1, 0, 1))
