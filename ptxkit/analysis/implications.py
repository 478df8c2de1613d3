"""What comparisons of one unknown with constants say of others: what is at most 3 is not at least 4.

A guess at one branch settles the branches that ask the same of the same unknown in other words, as the roles of warps
do. Without that, walks would take paths that no thread can take.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ptxkit.analysis.operations import compared
from ptxkit.analysis.terms import Term
from ptxkit.records import dataclass, field

_WIDTHS = {"16": 16, "32": 32, "64": 64}
_MOST = 8
"""Comparisons of one unknown that are kept; more are rare, and each costs time."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`unknown operator constant`, of numbers of a type such as `u32`."""

    unknown: Term
    kind: str
    operator: str
    constant: int

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the largest number of the type."""
        width = _WIDTHS[self.kind[1:]]
        return (-1 << width - 1, (1 << width - 1) - 1) if self.kind[0] == "s" else (0, (1 << width) - 1)

    def holds(self, number: int) -> bool:
        """For a number in place of the unknown, as the type reads it."""
        return compared(self.operator, self.kind, number, self.constant)


def comparison_of(key: Hashable) -> Comparison | None:
    """The comparison that a condition came about by; None for any other condition."""
    match key:
        case ("compare", str(operator), str(kind), Term() as unknown, int(constant)) if kind[1:] in _WIDTHS:
            return Comparison(unknown, kind, operator, constant) if kind[0] in "usb" else None
    return None


@dataclass(slots=True)
class Implications:
    """The comparisons that were decided in one scenario, by what they are of."""

    known: dict[tuple[Term, str], list[tuple[Comparison, bool]]] = field(default_factory=dict)
    _answers: dict[Comparison, bool | None] = field(default_factory=dict)
    """What `of` said since the last one was decided: lanes and rounds ask the same again and again."""

    def note(self, key: Hashable, side: bool) -> None:
        """A condition was decided."""
        found = comparison_of(key)
        if found is not None:
            decided = self.known.setdefault((found.unknown, found.kind[1:]), [])
            if len(decided) < _MOST:
                decided.append((found, side))
                self._answers.clear()

    def of(self, key: Hashable) -> bool | None:
        """What those that were decided say of a condition; None where it may be either."""
        if not self.known:
            return None
        found = comparison_of(key)
        decided = self.known.get((found.unknown, found.kind[1:])) if found is not None else None
        if found is None or decided is None:
            return None
        if found not in self._answers:
            self._answers[found] = _implied(found, decided)
        return self._answers[found]


def _implied(found: Comparison, decided: list[tuple[Comparison, bool]]) -> bool | None:
    fitting = (
        number
        for number in _numbers(found, decided)
        if all(comparison.holds(number) == side for comparison, side in decided)
    )
    sides = {found.holds(number) for number in fitting}
    return sides.pop() if len(sides) == 1 else None


def _numbers(found: Comparison, decided: list[tuple[Comparison, bool]]) -> Iterator[int]:
    """A number of each stretch in which all the comparisons come out alike."""
    for comparison in (found, *(each for each, _ in decided)):
        least, largest = comparison.ends
        yield from (least, largest, 0)
        yield from (comparison.constant + step for step in (-1, 0, 1))
