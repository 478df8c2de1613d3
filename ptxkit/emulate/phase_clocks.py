"""What mbarriers let threads know of each other, as far as the scopes of those who arrive and wait reach.

Within a CTA each arrival that releases tells those who acquire. Between CTAs of a cluster both need a scope that takes
in the two; where one is narrower, the phase is seen, and what was done before it is not made known (`SCOPED`). A copy
tells of its own bytes whatever the scopes are.

Source: PTX ISA, "Memory Consistency Model": "Scope", "Release and Acquire Patterns", "mbarrier.arrive",
"mbarrier.test_wait, mbarrier.try_wait".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.births import Birth
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.knowledge import Knowledge, Vector, distance, join, level_of, narrowed
from ptxkit.emulate.mbarriers import SIZE
from ptxkit.emulate.operations import Arrival, Operation
from ptxkit.emulate.races import Races

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.mbarriers import Mbarrier

RELEASES = frozenset({"release", "acq_rel", "sc"})
ACQUIRES = frozenset({"acquire", "acq_rel", "sc"})
_WIDEST = 3


class PhaseClocks(Races):
    """Races between accesses that mbarriers order."""

    def mbarrier_begins(self, group: Group, thread: int, barrier: Mbarrier) -> None:
        """A thread has initialised an mbarrier."""
        known = self.knowledge(group.cta)
        place = (group.activation.code, group.pc, group.cta)
        self._clock(barrier).begun = Birth(known, int(thread), int(known.own[thread]), place)

    def uses(self, group: Group, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) execute an operation on a live mbarrier: they must know of its beginning."""
        known, clock = self.knowledge(group.cta), self._clock(barrier)
        times = clock.users.get(known)
        if times is None:
            times = clock.users[known] = numpy.zeros(known.threads, numpy.int64)
        times[index] = known.own[index]
        begun = clock.begun
        if begun is not None and self.machine is not None:
            begun.check(group, index, barrier, known, self.machine)

    def mbarrier_ends(self, group: Group, index: Any, barrier: Mbarrier) -> None:
        """Threads (`index`) are about to end the life of an mbarrier: all others must be known to be done with it."""
        known, clock = self.knowledge(group.cta), self._clock(barrier)
        for other, times in clock.users.items():
            used = numpy.flatnonzero(times)
            who, last = numpy.full(len(used), index[0]), other.own[used] - 1
            late = used[~known.knows(who, other, used, times[used])]
            # Lanes speak for their warp by what orders nothing by the letter: `match.sync`, then a fence and an atomic
            # by one; it is the last that this one tells.
            spoken = numpy.unique(used[(last >= times[used]) & known.knows(who, other, used, last)] >> 5)
            if other is known:
                spoken = numpy.append(spoken, index[0] >> 5)
            late = late[~numpy.isin(late >> 5, spoken)]
            if len(late) and self.machine is not None:
                message = f"ends {barrier.name}, and nothing tells this thread that thread {late[0]} is done with it"
                fault = Fault("PTX507", message, index[:1], space="shared", start=barrier.offset, size=SIZE)
                fault.place, fault.cta = (group.activation.code, group.pc), group.cta
                self.machine.note(fault)
                return

    def arrives(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) are about to arrive at an mbarrier."""
        known, clock, level = self.knowledge(group.cta), self._clock(barrier), level_of(scope)
        if order in RELEASES:
            clock.comes(group.cta, level, known.tell(index))
            return
        for thread in index.tolist():
            for reach, told in known.fenced(thread).items():
                clock.comes(group.cta, min(level, reach), told)
        join(clock.heard, known.tell(index))

    def mbarrier_completes(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier is complete."""
        self._clock(barrier).completes()

    def observes(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:
        """Threads (`index`) have seen that the phase before the current one is complete."""
        group.cta.together.met[index] = True
        known, clock, level = self.knowledge(group.cta), self._clock(barrier), level_of(scope)
        join(known.heard, clock.heard)
        for (cta, reach), told in clock.done.items():
            need = 0 if cta is None else distance(cta, group.cta)
            reaches = need <= min(reach, level)
            if order in ACQUIRES:
                known.learn(index, told if reaches else narrowed(told))
                continue
            for thread in index.tolist():
                waiting = known.seen.setdefault(thread, [])
                waiting.append((0, narrowed(told) if need else dict(told)))
                if need and reaches:
                    waiting.append((need, dict(told)))
        if (None, _WIDEST) in clock.done:
            known.wait(index)

    def signals(self, operation: Operation | Arrival, barrier: Mbarrier) -> None:
        """A complete operation of the async proxy tells an mbarrier what it did, and not what its thread did before.

        Stores and reductions through the generic proxy release, and so may arrivals behind copies: these tell what was
        known when they were made, too.
        """
        if operation.known is not None:
            known, clock = self.knowledge(operation.cta), self._clock(barrier)
            if isinstance(operation, Arrival) or operation.proxy == "generic":
                clock.comes(None, _WIDEST, operation.known)
            # What one arrival found complete, a later one on another object tells, too.
            engines = known.copying if isinstance(operation, Arrival) else {known.engine(operation.signals[0][0])}
            for engine in engines:
                clock.comes(None, _WIDEST, known.told_by(engine))

    @staticmethod
    def _tell_into(vector: Vector, known: Knowledge, index: Any, order: str) -> None:
        if order in RELEASES:
            join(vector, known.tell(index))
            return
        for thread in index.tolist():
            for told in known.fenced(thread).values():
                join(vector, told)

    @staticmethod
    def _clock(barrier: Mbarrier) -> _PhaseClock:
        if barrier.clock is None:
            barrier.clock = _PhaseClock()
        found: _PhaseClock = barrier.clock
        return found


class _PhaseClock:
    """What those who arrive at an mbarrier tell, in the current phase and in those that are complete.

    By the CTA that tells (None: an operation, which needs no scope) and how far its scope reaches. heard: what relaxed
    arrivals do not tell, though it was over before them.
    """

    def __init__(self) -> None:
        self.coming: dict[tuple[Cta | None, int], Vector] = {}
        self.done: dict[tuple[Cta | None, int], Vector] = {}
        self.heard: Vector = {}
        self.begun: Birth | None = None
        self.users: Vector = {}
        """By CTA, when each thread used it last."""

    def comes(self, cta: Cta | None, reach: int, told: Vector) -> None:
        """Somebody arrives."""
        join(self.coming.setdefault((cta, reach), {}), told)

    def completes(self) -> None:
        """The phase is complete."""
        for key, told in self.coming.items():
            join(self.done.setdefault(key, {}), told)
        self.coming = {}
