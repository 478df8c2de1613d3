"""Whether the bytes that the CTAs of a cluster announce to their mbarriers come, as far as a rehearsal tells.

Source: PTX ISA, "Tracking asynchronous operations by the mbarrier object", "Data Movement and Conversion Instructions:
cp.async.bulk.tensor" (`.multicast::cluster`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cast import Cast
from ptxkit.analysis.objects import Object
from ptxkit.analysis.places import Place, place_of, places_of
from ptxkit.analysis.rehearsal import Rehearsal, Stuck
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack
from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class Imbalance:
    """An mbarrier that other bytes are announced to than come. wait: the event that waits for them for ever.

    announced, brought: bytes; in the phase that is waited for, or in the whole kernel where nobody waits for ever.
    arrived: whether any thread arrives at it at all.
    """

    place: Place
    announced: int
    brought: int
    expects: tuple[Event, ...]
    copies: tuple[Event, ...]
    wait: Event | None = None
    arrived: bool = True


def imbalances(cast: Cast, rehearsal: Rehearsal) -> Iterator[Imbalance]:
    """The mbarriers whose bytes are wrong, once all actors wait or have ended."""
    if rehearsal.excess or rehearsal.uneven:
        return
    stuck = [(waiting, place_of(cast.actors[waiting.actor].rank, waiting.event)) for waiting in rehearsal.stuck]
    waiting = {each.actor for each in rehearsal.stuck}
    cut = any(actor.ended != "exit" and number not in waiting for number, actor in enumerate(cast.actors))
    if cut:
        return
    if stuck:
        for each, place in stuck:
            found = None if place is None or each.state is None else _of_phase(cast, each, each.state, place)
            if found is not None:
                yield found
    else:
        for place in rehearsal.uneven_bytes:
            found = _of_kernel(cast, place)
            if found is not None:
                yield found


def _of_phase(cast: Cast, stuck: Stuck, state: Object, place: Place) -> Imbalance | None:
    """What keeps a phase from its end: bytes, where all arrivals are there, or announcements that are no arrivals."""
    events = list(dict.fromkeys(cast.at(place)))
    copies = tuple(event for event in events if isinstance(event.effect, MbarrierComplete))
    if state.pending == 0 and state.bytes:
        came = state.expected - state.bytes
        return Imbalance(place, state.expected, came, tuple(dict.fromkeys(state.expects)), copies, stuck.event)
    if state.pending and not any(isinstance(event.effect, MbarrierArrive | MbarrierTrack) for event in events):
        came = state.expected - state.bytes
        expects = tuple(event for event in events if isinstance(event.effect, MbarrierExpect))
        return Imbalance(place, state.expected, came, expects, copies, stuck.event, arrived=False)
    return None


def _of_kernel(cast: Cast, place: Place) -> Imbalance | None:
    """What is announced and comes in a whole kernel in which no wait stays; None where the size of a copy is not known,
    and where more is announced than comes: nobody waits for that phase.
    """
    announced = brought = 0
    expects: dict[Event, None] = {}
    copies: dict[Event, None] = {}
    for actor in cast.actors:
        for event in actor.events:
            size = _announced(event)
            if size is None and not isinstance(event.effect, MbarrierComplete):
                continue
            if place not in (places_of(actor.rank, event) or ()):
                continue
            if size is not None:
                announced += size * len(actor.tids)
                expects[event] = None
            elif isinstance(event.size, int):
                brought += event.size * len(actor.tids)
                copies[event] = None
            else:
                return None
    if announced >= brought:
        return None
    return Imbalance(place, announced, brought, tuple(expects), tuple(copies))


def _announced(event: Event) -> int | None:
    effect = event.effect
    if isinstance(effect, MbarrierExpect):
        size = event.size
    elif isinstance(effect, MbarrierArrive) and effect.expect is not None:
        size = event.expect
    else:
        return None
    return size if isinstance(size, int) else None
