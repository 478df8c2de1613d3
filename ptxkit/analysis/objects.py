"""mbarriers as a rehearsal plays them: what their phases wait for, who arrives, and what waits are told.

An object is at a `Place`: the rank of its CTA in the cluster, and where it is in that CTA's shared memory.
Source: PTX ISA, "Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object",
"mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.places import Place
from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Value
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierArrive, MbarrierWait
from ptxkit.records import dataclass, field

#: Bytes that an mbarrier may be due at most.
MAX_BYTES = (1 << 20) - 1

#: What made an object: an instruction, the number of its execution, and the warps that execute it.
Maker: TypeAlias = tuple[Step, int, frozenset[int]]


@dataclass(slots=True)
class Object:
    """An mbarrier. count: arrivals that a phase needs. pending: those still to come. bytes: those still to come;
    copies of unknown size (`boxes`) bring what is left. phase: phases that are complete. past: those that objects
    at its place began before. observed: the latest that some wait has told of. arrivals: the events that arrived in
    the current phase; last: those of the phase before. expected: the bytes announced in the current phase, by
    `expects`. touched: when it was last arrived at, or told to expect.
    """

    count: int
    pending: int
    bytes: int = 0
    boxes: int = 0
    phase: int = 0
    past: int = 0
    observed: int = 0
    arrivals: list[Event] = field(default_factory=list)
    last: tuple[Event, ...] = ()
    expected: int = 0
    expects: list[Event] = field(default_factory=list)
    touched: int = 0
    maker: Maker | None = None

    @property
    def is_complete(self) -> bool:
        return self.pending == 0 and self.bytes == 0 and not self.boxes


@dataclass(frozen=True, slots=True)
class Excess:
    """An arrival that its phase has no room for.

    phase: the number of the phase, from 1. others: the arrivals before it. unobserved: the phase began before any
    thread had observed the one before; else all arrivals of the phase were there already.
    """

    actor: int
    event: Event
    place: Place
    phase: int
    others: tuple[Event, ...]
    unobserved: bool
    count: int


class Objects:
    """All mbarriers of one rehearsal.

    excess: arrivals that were too many, once where some come together. overfull: announcements after which an object
    was due more bytes than it can count, with these bytes. vague: something could not be played as it is. changed:
    objects that a phase or their life has ended of since somebody looked. now: how many events were played, which says
    what was touched last. is_cut: some actor has come to where its walk was cut short, so that no later arrival is
    surely too many.
    """

    def __init__(self, actors: Sequence[Actor]) -> None:
        self._actors = actors
        self._known: dict[Place, Object] = {}
        self._past: Counter[Place] = Counter()
        self._observed: list[Counter[Place]] = [Counter() for _ in actors]
        self._tokens: list[Counter[Place]] = [Counter() for _ in actors]
        self.excess: list[Excess] = []
        self.overfull: list[tuple[Event, int]] = []
        self.vague = False
        self.changed: list[Object] = []
        self.now = 0
        self.is_cut = False

    def uneven(self) -> list[Place]:
        """Where objects are still due bytes, or have had some that nobody announced."""
        return [place for place, known in self._known.items() if known.bytes and not known.boxes]

    def get(self, place: Place) -> Object | None:
        """The live object at a place."""
        return self._known.get(place)

    def begin(self, place: Place, count: Value | None, maker: Maker | None = None) -> None:
        """Makes an object; lanes of one warp that do so in one execution make it together, once."""
        known = self._known.get(place)
        if known is not None:
            if maker is not None and known.maker == maker:
                return
            self.end(place)
        needed = count if isinstance(count, int) else 0
        self.vague |= not needed
        self._known[place] = Object(needed, needed, past=self._past[place], maker=maker)

    def end(self, place: Place) -> None:
        """Ends the life of an object, and what was known of its phases."""
        ended = self._known.pop(place)
        self.changed.append(ended)
        self._past[place] = ended.past + ended.phase + bool(ended.arrivals)
        for known in (*self._tokens, *self._observed):
            known.pop(place, None)

    def expect(self, known: Object, event: Event, size: Value | None, times: int) -> None:
        """Announces bytes."""
        known.touched = self.now
        known.expects.append(event)
        if isinstance(size, int):
            known.bytes += size * times
            known.expected += size * times
            if known.bytes > MAX_BYTES and not self.overfull:
                self.overfull.append((event, known.bytes))
        else:
            self.vague = True

    def begin_copy(self, known: Object, size: Value | None, times: int) -> None:
        """Starts what will complete bytes."""
        if not isinstance(size, int):
            known.boxes += times

    def end_copy(self, known: Object, size: Value | None, times: int) -> None:
        """Completes bytes; the last of the copies of unknown size, all that are left."""
        if isinstance(size, int):
            known.bytes -= size * times
        else:
            known.boxes -= times
            if not known.boxes:
                known.bytes = 0
        self._settle(known)

    def arrive(self, actor: int, event: Event, place: Place, known: Object) -> None:
        """Arrives at once, with every thread of an actor."""
        effect = event.effect
        assert isinstance(effect, MbarrierArrive)
        each = event.amount if isinstance(event.amount, int) else None
        self.vague |= each is None
        self._tokens[actor][place] = known.phase
        threads = len(self._actors[actor].tids)
        if effect.expect is None and not effect.drop:
            self.count(known, (each or 1) * threads, actor, event, place)
            return
        for _ in range(threads):
            if effect.expect is not None:
                self.expect(known, event, event.expect, 1)
            if effect.drop:
                known.count -= each or 0
            self.count(known, each or 1, actor, event, place)

    def count(self, known: Object, arrivals: int, actor: int, event: Event, place: Place) -> None:
        """Counts arrivals, those of one phase at a time."""
        known.touched = self.now
        told = False
        while arrivals > 0:
            if told and known.pending == known.count > 0:
                arrivals = self._pass_over(known, arrivals, event)
                continue
            if known.phase > known.observed:
                told = True
                # Who has asked may have been told; what it did then is not what this walk does.
                if (event.step, event.visit) not in self._actors[actor].tested:
                    self._exceeds(known, actor, event, place, known.last, unobserved=True)
                known.observed = known.phase
            if known.pending == 0:
                self._exceeds(known, actor, event, place, tuple(known.arrivals), unobserved=False)
                return
            some = min(arrivals, known.pending) if known.pending > 0 else arrivals
            arrivals -= some
            known.pending -= some
            known.arrivals.append(event)
            self._settle(known)

    def _pass_over(self, known: Object, arrivals: int, event: Event) -> int:
        """Ends all phases that arrivals of one event fill, however many; the arrivals that are left."""
        whole, left = divmod(arrivals, known.count)
        if not whole:
            known.observed = known.phase
            known.pending -= left
            known.arrivals.append(event)
            return 0
        known.phase += whole
        known.observed = known.phase - 1
        known.last = (event,)
        self.changed.append(known)
        return left

    def _exceeds(
        self, known: Object, actor: int, event: Event, place: Place, others: tuple[Event, ...], *, unobserved: bool
    ) -> None:
        if self.is_cut:
            return
        phase, before = known.phase + 1, tuple(dict.fromkeys(others))
        self.excess.append(Excess(actor, event, place, phase, before, unobserved, known.count))

    def _settle(self, known: Object) -> None:
        """Ends the phase when all of it is there."""
        if known.is_complete:
            self.changed.append(known)
            known.phase += 1
            known.pending = known.count
            known.last, known.arrivals = tuple(known.arrivals), []
            known.expected, known.expects = 0, []

    def passes(self, actor: int, effect: MbarrierWait, event: Event, place: Place, known: Object) -> bool:
        """Whether a wait answers true; then its phase is observed."""
        seen = self._observed[actor]
        if effect.by == "state":
            passes = known.phase > self._tokens[actor][place]
        elif isinstance(event.amount, int):
            passes = known.phase & 1 != event.amount & 1
        else:
            self.vague = True
            passes = known.phase > seen[place]
        if passes:
            seen[place] = known.phase
            known.observed = max(known.observed, known.phase)
        return passes
