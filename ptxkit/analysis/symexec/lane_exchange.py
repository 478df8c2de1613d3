"""What threads had for one another: of a warp, values at shuffles, and what votes came to; of a CTA, what they told.

Lanes of one warp may be walked in different groups. Each group leaves here what its threads had, and a later group
finds it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.shared_broadcast import SharedBroadcasts
from ptxkit.analysis.values.symbolic_values import GroupValue, Value, value_of_lane
from ptxkit.fast_dataclasses import dataclass, field

#: One execution of an instruction: the step, and how often it was executed before.
ExecutionPoint = tuple[Step, int]


@dataclass(frozen=True, slots=True)
class LaneExchange:
    """The exchanges of one exploration. votes: by place and warp, those that are decided. notices: what threads told
    one another through shared memory."""

    published_values: dict[ExecutionPoint, list[tuple[tuple[int, ...], GroupValue]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    votes: dict[tuple[ExecutionPoint, int], int] = field(default_factory=dict)
    broadcasts: SharedBroadcasts = field(default_factory=SharedBroadcasts)

    def publish(self, place: ExecutionPoint, tids: tuple[int, ...], held: GroupValue) -> None:
        """Notes what a group's threads had."""
        self.published_values[place].append((tids, held))

    def read(self, place: ExecutionPoint, tid: int) -> Value | None:
        """What a thread had; None where it was not walked there yet."""
        for tids, held in self.published_values.get(place, ()):
            index = bisect_left(tids, tid)
            if index < len(tids) and tids[index] == tid:
                return value_of_lane(held, index)
        return None

    def read_warp(self, place: ExecutionPoint, warp: int) -> Iterator[Value]:
        """What the walked lanes of a warp had, each lane once."""
        for tids, held in self.published_values.get(place, ()):
            for index, tid in enumerate(tids):
                if tid // 32 == warp:
                    yield value_of_lane(held, index)
