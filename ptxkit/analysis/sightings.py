"""What walks saw of each transfer: its executions, by thread and scenario."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.inflight import Copy
from ptxkit.analysis.kernel import World
from ptxkit.analysis.plain import AT_ONCE
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.isa.effects import Access
from ptxkit.records import dataclass

#: Executions of one instruction by one thread that are kept.
MAX_EACH = 20


@dataclass(frozen=True, slots=True)
class Sighting:
    """One execution of one access of a transfer by one thread."""

    world: World
    thread: Thread
    copy: Copy


class Sightings:
    """The executions of a kernel's asynchronous accesses, and of the plain copies at `stores`, by instruction."""

    def __init__(self, worlds: Sequence[World], stores: Collection[Step] = ()) -> None:
        self._found: dict[Step, list[Sighting]] = defaultdict(list)
        for world in worlds:
            for thread in world.threads.values():
                seen: dict[tuple[Step, int], int] = defaultdict(int)
                for copy in (*thread.copies, *_plain(thread, stores)):
                    key = (copy.event.step, id(copy.event.effect))
                    seen[key] += 1
                    if seen[key] <= MAX_EACH:
                        self._found[copy.event.step].append(Sighting(world, thread, copy))

    def of(self, step: Step, access: Access | None) -> Sequence[Sighting]:
        """The executions of one access of an instruction."""
        return [seen for seen in self._found.get(step, ()) if seen.copy.event.effect is access]


def _plain(thread: Thread, stores: Collection[Step]) -> Iterator[Copy]:
    for position, event in thread.accesses if stores else ():
        if event.step in stores:
            yield Copy(position, event, AT_ONCE, done=position)
