"""The accesses to shared memory that the fast filter does not prove free of races."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.context.race_filter import AccessFootprint
from ptxkit.analysis.ir.budget import AnalysisBudget


class UnprovenAccesses:
    """The accesses of the intervals between barriers that the filter did not prove, computed as they are asked for.

    What the filter looks up does not count in the budget of the search for races.
    """

    def __init__(self, intervals: Iterator[Sequence[AccessFootprint]], budget: AnalysisBudget) -> None:
        self._intervals, self._budget = intervals, budget

    @cached_property
    def is_empty(self) -> bool:
        """Whether all accesses are free of races."""
        return not self._first

    @cached_property
    def places(self) -> frozenset[tuple[int, int]]:
        """The groups, by identity, and the positions of the accesses."""
        intervals = [self._first]
        while found := self._next_interval():
            intervals.append(found)
        return frozenset((id(each.group), each.position) for accesses in intervals for each in accesses)

    @cached_property
    def _first(self) -> Sequence[AccessFootprint]:
        return self._next_interval()

    def _next_interval(self) -> Sequence[AccessFootprint]:
        """Returns the accesses of the next interval; none after the last one."""
        left = self._budget.pair_checks
        found = next(self._intervals, ())
        self._budget.pair_checks = left
        return found
