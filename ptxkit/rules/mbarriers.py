"""What the mbarrier rules share: who initialises which object, and who uses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.analysis.kernel import World
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import (
    Access,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)

USES = (MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait)


def object_of(event: Event) -> int | None:
    """The mbarrier that an event is about, as an offset in the CTA's own shared memory; None where it is not known."""
    address = event.address
    if isinstance(event.effect, Access) or not isinstance(address, int) or address >> CTA_BITS:
        return None
    return address


def initialisations(threads: Iterable[Thread]) -> dict[int, list[tuple[Thread, int, Event]]]:
    """By object: who initialises it, at which position."""
    found: dict[int, list[tuple[Thread, int, Event]]] = defaultdict(list)
    for thread in threads:
        for position, event in thread.positions(MbarrierInit):
            address = object_of(event)
            if address is not None:
                found[address].append((thread, position, event))
    return found


def is_murky(world: World) -> bool:
    """Whether an object might be initialised, or arrived at, where no trace shows it."""
    return any(
        thread.trace.opaque
        or any(not isinstance(e.address, int) for _, e in thread.positions(MbarrierInit, MbarrierInvalidate))
        for thread in world.threads.values()
    )
