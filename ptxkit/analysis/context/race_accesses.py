"""The accesses of one execution that race analyses compare, which do not depend on what orders its threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptxkit.analysis.context.access_sampling import (
    FIRST_EXECUTIONS,
    execution_count_for,
    is_mbarrier_copy,
    sample_accesses,
)
from ptxkit.analysis.context.group_completion import find_completion_points
from ptxkit.analysis.context.race_filter import (
    AccessFootprint,
    AccessInterval,
    compute_footprints,
    divide_into_intervals,
)
from ptxkit.analysis.limits import MAX_GROUP_ACCESSES
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent
from ptxkit.isa.effects import Access

#: The numbers of first executions that are examined where there are too many accesses; the largest that fits is used.
FEWER_EXECUTIONS = (3, 1)


class RaceAccesses:
    """The sampled accesses of the groups of an execution, by their kind (`is_access_of_kind`), and their intervals."""

    def __init__(self, groups: Sequence[GroupTrace]) -> None:
        self._groups = groups
        self._completion_points: dict[int, Mapping[int, int]] = {}
        self._sampled: dict[tuple[int, str, int], list[tuple[int, TraceEvent | GroupEvent]]] = {}
        self._intervals: dict[tuple[str, str], list[AccessInterval] | None] = {}

    def sample(self, group: GroupTrace, kind: str, rounds: int) -> list[tuple[int, TraceEvent | GroupEvent]]:
        """Returns some accesses of a group, with positions. rounds: the number of first executions of each step."""
        key = id(group), kind, rounds
        found = self._sampled.get(key)
        if found is None:
            found = self._sampled[key] = list(sample_accesses(group, kind, rounds))
        return found

    def completion_wait_of(self, group: GroupTrace, position: int, event: TraceEvent | GroupEvent) -> int | None:
        """Returns the position of the wait that completes the operation that a group starts at a position."""
        if not isinstance(event.effect, Access) or event.effect.completion is None:
            return None
        endings = self._completion_points.get(group.tids[0])
        if endings is None:
            endings = self._completion_points[group.tids[0]] = find_completion_points(group)
        return endings.get(position)

    def intervals_of(self, writing: str, reading: str) -> list[AccessInterval] | None:
        """Returns the accesses of two kinds by interval; None where even few executions are too many."""
        key = writing, reading
        if key not in self._intervals:
            self._intervals[key] = self._find_intervals(writing, reading)
        return self._intervals[key]

    def _find_intervals(self, writing: str, reading: str) -> list[AccessInterval] | None:
        for rounds in (FIRST_EXECUTIONS, *FEWER_EXECUTIONS):
            writes = [(group, self.sample(group, writing, rounds)) for group in self._groups]
            fills = {event.step for _, seen in writes for _, event in seen if is_mbarrier_copy(event)}
            wanted = execution_count_for(len(fills)) if rounds == FIRST_EXECUTIONS else rounds
            reads = [(group, self.sample(group, reading, wanted)) for group in self._groups]
            if not any(seen for _, seen in writes) or not any(seen for _, seen in reads):
                return []
            if sum(len(seen) for _, seen in (*writes, *reads)) <= MAX_GROUP_ACCESSES:
                return divide_into_intervals(self._groups, self._footprints(writes), self._footprints(reads))
        return None

    def _footprints(
        self, seen: Sequence[tuple[GroupTrace, Sequence[tuple[int, TraceEvent | GroupEvent]]]]
    ) -> list[AccessFootprint]:
        return [
            touching
            for group, accesses in seen
            for touching in compute_footprints(
                group, ((at, e, self.completion_wait_of(group, at, e)) for at, e in accesses)
            )
        ]
