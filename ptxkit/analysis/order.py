"""What orders two threads of a CTA: barriers, warp barriers and mbarrier hand-overs, by how often each was used.

The n-th use of a barrier by one thread meets the n-th use of the same barrier by another. For an mbarrier, the n-th
arrival of a thread belongs to phase n, and a wait tells of the phase before the one its parity names.
Source: PTX ISA, "Causality Order", "bar", "mbarrier", "Phase of the mbarrier object".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator

from ptxkit.analysis.trace import Event, Opaque, Trace
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierTrack, MbarrierWait
from ptxkit.records import dataclass, field


@dataclass(slots=True)
class Marks:
    """Where one thread gives (`releases`) and takes (`acquires`) order, by barrier: positions in its trace, in order.

    `phases` says for an mbarrier which phase each acquire tells of.
    """

    releases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    acquires: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))
    phases: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(list))

    def observed(self, key: Hashable, position: int) -> int:
        """How many rounds of a barrier this thread knows to be over, just before `position`."""
        count = bisect_left(self.acquires.get(key, ()), position)
        phases = self.phases.get(key)
        return count if phases is None else max(phases[:count], default=0)

    def takes_between(self, since: int, until: int) -> bool:
        """Whether this thread takes order anywhere between two positions."""
        for positions in self.acquires.values():
            first = bisect_right(positions, since)
            if first < len(positions) and positions[first] < until:
                return True
        return False

    def acquire_of(self, key: Hashable, ordinal: int) -> int | None:
        """The position at which this thread first knows that round `ordinal` (from 1) is over."""
        positions = self.acquires.get(key, [])
        phases = self.phases.get(key)
        if phases is None:
            return positions[ordinal - 1] if ordinal <= len(positions) else None
        return next((at for at, phase in zip(positions, phases, strict=True) if phase >= ordinal), None)


def marks_of(trace: Trace) -> Marks:
    """The marks of a trace."""
    marks = Marks()
    for position, event in enumerate(trace.events):
        if isinstance(event, Opaque):
            continue
        effect = event.effect
        if isinstance(effect, Barrier) and (effect.level, effect.order) != ("warp", "relaxed"):
            key = _barrier_key(effect, event, trace.tid)
            if effect.action in ("sync", "arrive"):
                marks.releases[key].append(position)
            if effect.action in ("sync", "wait"):
                marks.acquires[key].append(position)
        elif isinstance(effect, MbarrierArrive | MbarrierTrack):
            marks.releases[("mbarrier", event.address)].append(position)
        elif isinstance(effect, MbarrierWait):
            key = ("mbarrier", event.address)
            marks.acquires[key].append(position)
            marks.phases[key].append(_phase(marks.phases[key], effect, event))
    return marks


def _phase(before: list[int], effect: MbarrierWait, event: Event) -> int:
    """A fresh barrier answers true at once to a wait for parity 1: that wait tells of no phase."""
    if before:
        return before[-1] + 1
    return 0 if effect.by == "parity" and event.amount == 1 else 1


def _barrier_key(effect: Barrier, event: Event, tid: int) -> Hashable:
    if effect.level == "warp":
        return ("warp", tid // 32)
    return (effect.level, event.amount if effect.level == "cta" and event.amount is not None else 0)


@dataclass(frozen=True, slots=True)
class Handover:
    """A way by which what thread A did before `released` is before what thread B does after `acquired`."""

    released: int
    acquired: int


def handovers(giver: Marks, since: int, taker: Marks, until: int) -> Iterator[Handover]:
    """The ways that order the giver's position `since` before the taker's position `until`."""
    for key, positions in giver.releases.items():
        first = bisect_left(positions, since)
        observed = taker.observed(key, until)
        if first < min(observed, len(positions)):
            for ordinal in {first + 1, min(observed, len(positions))}:
                acquired = taker.acquire_of(key, ordinal)
                if acquired is not None and acquired < until:
                    yield Handover(positions[ordinal - 1], acquired)
