"""The accesses to shared memory that the fast filter does not prove free of races."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ptxkit.analysis.context.race_filter import AccessInterval, SharingAccesses
from ptxkit.analysis.ir.budget import AnalysisBudget


class UnprovenAccesses:
    """The accesses of the intervals between barriers that the filter did not prove, computed as they are asked for.

    What the filter looks up does not count in the budget of the search for races.
    """

    def __init__(self, intervals: Iterator[AccessInterval], budget: AnalysisBudget) -> None:
        self._intervals, self._budget = intervals, budget

    @cached_property
    def is_empty(self) -> bool:
        """Whether all accesses are free of races."""
        return self._first is None

    def sharing(self) -> Iterator[tuple[SharingAccesses, SharingAccesses]]:
        """Yields the writes and the reads of each interval that share bytes with other threads; can be read once."""
        found = self._first
        while found is not None:
            yield found.sharing
            found = self._next_interval()

    @cached_property
    def _first(self) -> AccessInterval | None:
        return self._next_interval()

    def _next_interval(self) -> AccessInterval | None:
        """Returns the accesses of the next interval; None after the last one."""
        left = self._budget.pair_checks
        found = next(self._intervals, None)
        self._budget.pair_checks = left
        return found
