"""What threads had for one another: of a warp, values at shuffles, and what votes came to; of a CTA, what they told.

Lanes of one warp may be walked in different groups. Each group leaves here what its threads had, and a later group
finds it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.notices import Notices
from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Held, Value, of_lane
from ptxkit.records import dataclass, field

#: One execution of an instruction: the step, and how often it was executed before.
Place = tuple[Step, int]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The exchanges of one exploration. votes: by place and warp, those that are decided. notices: what threads told
    one another through shared memory."""

    groups: dict[Place, list[tuple[tuple[int, ...], Held]]] = field(default_factory=lambda: defaultdict(list))
    votes: dict[tuple[Place, int], int] = field(default_factory=dict)
    notices: Notices = field(default_factory=Notices)

    def give(self, place: Place, tids: tuple[int, ...], held: Held) -> None:
        """Notes what a group's threads had."""
        self.groups[place].append((tids, held))

    def of(self, place: Place, tid: int) -> Value | None:
        """What a thread had; None where it was not walked there yet."""
        for tids, held in self.groups.get(place, ()):
            index = bisect_left(tids, tid)
            if index < len(tids) and tids[index] == tid:
                return of_lane(held, index)
        return None

    def of_warp(self, place: Place, warp: int) -> Iterator[Value]:
        """What the walked lanes of a warp had, each lane once."""
        for tids, held in self.groups.get(place, ()):
            for index, tid in enumerate(tids):
                if tid // 32 == warp:
                    yield of_lane(held, index)
