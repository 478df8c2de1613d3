"""The values that threads exchange: by shuffles and votes within a warp, and by broadcasts within a CTA.

Lanes of one warp may be executed in different groups. Each group publishes the values of its threads here, and a later
group reads them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.shared_broadcast import SharedBroadcasts
from ptxkit.analysis.values.symbolic_values import GroupValue, Value, value_of_lane
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.syntax.constants import WARP_SIZE

#: One execution of an instruction: the step, and how often it was executed before.
ExecutionPoint = tuple[Step, int]


@dataclass(frozen=True, slots=True)
class LaneExchange:
    """The exchanges of one exploration.

    votes: the decided votes, by execution point and warp. broadcasts: the values broadcast through shared memory.
    """

    published_values: dict[ExecutionPoint, list[tuple[tuple[int, ...], GroupValue]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    votes: dict[tuple[ExecutionPoint, int], int] = field(default_factory=dict)
    broadcasts: SharedBroadcasts = field(default_factory=SharedBroadcasts)

    def publish(self, place: ExecutionPoint, tids: tuple[int, ...], held: GroupValue) -> None:
        """Records the values of a group's threads."""
        self.published_values[place].append((tids, held))

    def read(self, place: ExecutionPoint, tid: int) -> Value | None:
        """Returns the value of a thread; None where the thread was not executed at this point yet."""
        for tids, held in self.published_values.get(place, ()):
            index = bisect_left(tids, tid)
            if index < len(tids) and tids[index] == tid:
                return value_of_lane(held, index)
        return None

    def read_warp(self, place: ExecutionPoint, warp: int) -> Iterator[Value]:
        """Yields the values of the executed lanes of a warp, each lane once."""
        for tids, held in self.published_values.get(place, ()):
            for index, tid in enumerate(tids):
                if tid // WARP_SIZE == warp:
                    yield value_of_lane(held, index)
