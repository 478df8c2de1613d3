"""Checks that copies of unknown size by several CTAs complete on the phases of an mbarrier in a fixed pattern.

The model of a phase with copies of unknown size lets the last of those that have started complete all missing bytes.
Where several CTAs copy to one mbarrier, a CTA that is late would then find its phase complete without its bytes, and
everything after it would count in the wrong phase. If the copies of each CTA in each complete phase are as many as in
the first one, no CTA was late.

Source: PTX ISA, "Tracking asynchronous operations by the mbarrier object".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation
from ptxkit.analysis.sync.thread_classes import ThreadClass


class UnsizedCopyBalance:
    """The copies of unknown size to mbarriers on which those of several CTAs complete, by phase and CTA."""

    def __init__(self, actors: Sequence[ThreadClass]) -> None:
        ranks: dict[MbarrierLocation, set[int]] = defaultdict(set)
        for actor in actors:
            for place in actor.unsized_copies:
                ranks[place].add(actor.rank)
        self._ranks = {place: found for place, found in ranks.items() if len(found) > 1}
        self._copies: dict[MbarrierLocation, dict[int, Counter[int]]] = {
            place: defaultdict(Counter) for place in self._ranks
        }
        self._checked_phases: Counter[MbarrierLocation] = Counter()
        self.first_uneven: int | None = None
        """The time at which the first phase was completed that does not have the copies of the first one."""

    @property
    def is_needed(self) -> bool:
        """Whether copies of several CTAs complete on some mbarrier."""
        return bool(self._copies)

    def add(self, place: MbarrierLocation, phase: int, rank: int, count: int) -> None:
        """Counts copies that a CTA starts in a phase of an mbarrier."""
        if place in self._copies:
            self._copies[place][phase][rank] += count

    def note_completions(self, place: MbarrierLocation, completed: int, time: int) -> None:
        """Checks the phases of an mbarrier that were completed since the last call.

        completed: the number of its complete phases. time: the number of simulated events.
        """
        if place not in self._copies or self.first_uneven is not None:
            return
        phases = self._copies[place]
        usual = phases.get(1, Counter())
        for number in range(self._checked_phases[place] + 1, completed + 1):
            if phases.get(number, Counter()) != usual or usual.keys() != self._ranks[place]:
                self.first_uneven = time
        self._checked_phases[place] = completed

    def is_uniform(self, completed_phases: Callable[[MbarrierLocation], int]) -> bool:
        """Returns whether each complete phase has the same copies of each CTA, and the current one no more than these.

        completed_phases: the number of complete phases of an mbarrier.
        """
        return all(
            self._is_uniform(self._ranks[place], phases, completed_phases(place))
            for place, phases in self._copies.items()
        )

    @staticmethod
    def _is_uniform(ranks: set[int], phases: dict[int, Counter[int]], completed: int) -> bool:
        complete = [phases.get(number, Counter()) for number in range(1, completed + 1)]
        if not complete:
            return True
        usual = complete[0]
        current = (copies for number, copies in phases.items() if number > completed)
        is_repeated = all(each == usual for each in complete) and all(each <= usual for each in current)
        return usual.keys() == ranks and is_repeated
