"""What each thread knows of what others have done: vector clocks.

A thread's time counts the moments at which it told somebody something. A vector says, for the threads of some CTAs, up
to which time of each thread all it did is known, and up to which its writes are fenced towards the async proxy, in
shared and in global memory. What all threads of a CTA know stands once; what single threads know beyond is a matrix
that is gone at the next barrier of all.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Synchronization", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulate.copy_waits import CopyWaits
from ptxkit.emulate.foreign_times import ForeignTimes

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta

Vector: TypeAlias = "dict[Knowledge, Any]"
"""Times by CTA: an array (aspects, threads)."""

DONE, FENCED_SHARED, FENCED_GLOBAL, SCOPED, RELEASED, NEAR_SHARED, NEAR_GLOBAL, IMPLIED, WAITED = range(9)
"""Aspects: what is known to be done; what of it is fenced towards the async proxy, by space; what is known by
operations whose scopes reach that far; what is released towards the async proxy, and needs an acquire, too; what of
other CTAs' doing was fenced in this CTA; behind what a wait for an operation stands, which may be such a fence, and
behind what of other CTAs' doing one of this CTA. All launches have the first three, see `aspects_of`."""

_NEAR = NEAR_SHARED - FENCED_SHARED
_FEWEST, _USUAL, _MOST = 3, 5, 9
ENGINES = 32
"""Agents of a CTA beside its threads: what asynchronous operations did is known by the mbarriers that they tell."""

_LEVELS = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 3}


def aspects_of(*, parted: bool, strict: bool) -> int:
    """How many aspects matter in a launch. parted: CTAs reach each other's memory, or fences go one way."""
    return _MOST if strict else _USUAL if parted else _FEWEST


def level_of(scope: str | None) -> int:
    """How far a scope reaches; without one, as far as can be."""
    return _LEVELS.get(scope or "sys", 3)


def distance(first: Cta, second: Cta) -> int:
    """The level that a scope must have for two CTAs."""
    return 0 if first is second else 1 if first.cluster is second.cluster else 2


class Knowledge:
    """What the threads of one CTA know. base: the number of its first thread among all of the launch, from 1 on.

    threads: how many there are, with the engines behind them.

    own: the present time of each thread. fenced_by: what each has fenced of its own doing. common: times of the CTA's
    threads that all of them know. extra: the same for each thread, where some know more, else None. foreign: times of
    other CTAs' threads that all know; foreign_of: the same for single threads. seen: by thread, what a fence of a level
    makes known.
    """

    __slots__ = (
        "_engines",
        "_fenced",
        "aspects",
        "base",
        "common",
        "copy_waits",
        "copying",
        "cta",
        "extra",
        "fenced_by",
        "foreign",
        "foreign_of",
        "has_met",
        "heard",
        "own",
        "seen",
        "threads",
    )

    def __init__(self, cta: Cta, base: int, aspects: int = _FEWEST) -> None:
        self.cta, self.base, self.threads, self.aspects = cta, base, cta.threads + ENGINES, aspects
        self.heard: Vector = {}
        """What other CTAs did before relaxed arrivals, which tell of nothing."""
        self._engines: dict[object, int] = {}
        self.copying: set[int] = set()
        """The engines through which copies of single threads were complete."""
        self.copy_waits = CopyWaits()
        self.own = numpy.ones(self.threads, numpy.int64)
        self.fenced_by = numpy.zeros((self.aspects, self.threads), numpy.int64)
        self.common = numpy.zeros((self.aspects, self.threads), numpy.int64)
        self.extra: Any = None
        self.foreign: Vector = {}
        self.has_met = cta.cluster.size == 1
        """Whether the CTAs of the cluster are known to have begun."""
        self.foreign_of = ForeignTimes(self.threads)
        self._fenced: dict[int, dict[int, Vector]] = {}
        self.seen: dict[int, list[tuple[int, Vector]]] = {}

    # ------------------------------------------------------------------------------------------------ telling

    def tell(self, index: Any) -> Vector:
        """All that some threads know and have done until now, together; what they do from here on is not in it."""
        known = self.common.copy()
        if self.extra is not None:
            numpy.maximum(known, self.extra[:, index].max(axis=1), out=known)
        known[:, index] = numpy.maximum(known[:, index], self.fenced_by[:, index])
        known[DONE, index] = numpy.maximum(known[DONE, index], self.own[index])
        if self.aspects > SCOPED:
            known[SCOPED, index] = known[DONE, index]
        self.own[index] += 1
        vector: Vector = dict(self.foreign)
        vector[self] = known
        for part in self.foreign_of.of(index):
            join(vector, part)
        return vector

    def learn(self, index: Any, vector: Vector) -> None:
        """Some threads come to know what was told."""
        everyone = len(index) == self.cta.threads
        for other, times in vector.items():
            if other is not self:
                if everyone:
                    join(self.foreign, {other: times})
                else:
                    self.foreign_of.learn(index, other, times)
            elif everyone:
                self.common = numpy.maximum(self.common, times)
            elif (times > self.common).any():
                extra = self._need_extra()
                extra[:, index] = numpy.maximum(extra[:, index], times[:, None])

    def learn_all(self, vector: Vector) -> None:
        """All threads that live come to know what all of them told: nobody knows more than the others."""
        self.learn(self.cta.everyone, vector)
        self.extra = None
        self.foreign_of.clear()

    # ------------------------------------------------------------------------------------------------- fences

    def fence(self, index: Any, level: int) -> None:
        """What some threads did before is told by what they write from here on, and what they read told them counts.

        level: of the fence's scope; what needs a wider one stays untold.
        """
        for thread in index.tolist():
            one = numpy.array([thread])
            waiting = self.seen.pop(thread, [])
            for need, told in waiting:
                if need <= level:
                    self.learn(one, told)
            wider = [each for each in waiting if each[0] > level]
            if wider:
                self.seen[thread] = wider
            self._fenced.setdefault(thread, {})[level] = self.tell(one)

    def fence_proxy(self, index: Any, aspects: Sequence[int]) -> None:
        """What some threads know to be done is fenced towards the async proxy from here on."""
        everyone = len(index) == self.cta.threads
        for aspect in aspects:
            self.fenced_by[aspect, index] = self.own[index]
            if everyone:
                self.common[aspect] = numpy.maximum(self.common[aspect], self.common[DONE])
            elif (self.common[DONE] > self.common[aspect]).any():
                self._need_extra()[aspect, index] = numpy.maximum(self._need_extra()[aspect, index], self.common[DONE])
            if self.extra is not None:
                self.extra[aspect, index] = numpy.maximum(self.extra[aspect, index], self.extra[DONE, index])
        self.own[index] += 1
        if everyone:
            self.foreign = {other: _covered(times, aspects) for other, times in self.foreign.items()}
        if self.foreign_of or (self.foreign and not everyone):
            self.foreign_of.change(index, self.foreign, partial(_covered, aspects=aspects))

    def wait(self, index: Any) -> None:
        """Some threads have waited for an operation: what they know of other CTAs' doing stands behind that."""
        if self.aspects <= WAITED or not (self.foreign or self.foreign_of):
            return
        if len(index) == self.cta.threads:
            self.foreign = {other: _waited(times) for other, times in self.foreign.items()}
        if self.foreign_of or len(index) < self.cta.threads:
            self.foreign_of.change(index, self.foreign, _waited)

    def acquire_proxy(self, index: Any, aspects: Sequence[int]) -> None:
        """What some threads know to be released towards the async proxy is fenced from here on."""
        everyone = len(index) == self.cta.threads
        for aspect in aspects:
            self.fenced_by[aspect, index] = numpy.maximum(
                self.fenced_by[aspect, index], self.fenced_by[RELEASED, index]
            )
            if everyone:
                self.common[aspect] = numpy.maximum(self.common[aspect], self.common[RELEASED])
            else:
                extra = self._need_extra()
                extra[aspect, index] = numpy.maximum(extra[aspect, index], self.common[RELEASED])
            if self.extra is not None:
                self.extra[aspect, index] = numpy.maximum(self.extra[aspect, index], self.extra[RELEASED, index])
        self.own[index] += 1
        if everyone:
            self.foreign = {other: _covered(times, aspects, RELEASED) for other, times in self.foreign.items()}
        if self.foreign_of or (self.foreign and not everyone):
            self.foreign_of.change(index, self.foreign, partial(_covered, aspects=aspects, by=RELEASED))

    def lacks_scope(self, index: Any, other: Knowledge, threads: Any, times: Any) -> Any:
        """Which threads know what another CTA did at a time, and only by operations of a narrower scope."""
        if self.aspects <= SCOPED:
            return numpy.zeros(len(index), bool)
        return self.knows(index, other, threads, times) & ~self.knows(index, other, threads, times, SCOPED)

    def _need_extra(self) -> Any:
        if self.extra is None:
            self.extra = numpy.zeros((self.aspects, self.threads, self.threads), numpy.int64)
        return self.extra

    def fenced(self, thread: int) -> Mapping[int, Vector]:
        """What a thread's last fences let its later writes tell, by the level of each fence."""
        return self._fenced.get(thread, {})

    @property
    def has_fenced(self) -> bool:
        """Whether any thread executed a fence."""
        return bool(self._fenced)

    def engine(self, key: object) -> int:
        """The engine whose operations an object tells of."""
        return self._engines.setdefault(key, self.threads - ENGINES + len(self._engines) % ENGINES)

    def told_by(self, engine: int) -> Vector:
        """What an engine has done until now."""
        known = numpy.zeros((self.aspects, self.threads), numpy.int64)
        known[DONE, engine] = self.own[engine]
        if self.aspects > SCOPED:
            known[SCOPED, engine] = self.own[engine]
        return {self: known}

    # ------------------------------------------------------------------------------------------------ knowing

    def everything(self) -> Vector:
        """All that any thread knows, and has done."""
        known = self.common.copy()
        if self.extra is not None:
            numpy.maximum(known, self.extra.max(axis=1), out=known)
        known[DONE] = numpy.maximum(known[DONE], self.own)
        vector: Vector = dict(self.foreign)
        vector[self] = known
        for part in self.foreign_of.of(self.cta.everyone):
            join(vector, part)
        return vector

    def has_heard(self, index: Any, other: Knowledge) -> bool:
        """Whether all these threads know of anything that another CTA did, and so that it has begun."""
        if self.has_met or other in self.foreign:
            return True
        return self.foreign_of.has(index, other)

    def knows(self, index: Any, other: Knowledge, threads: Any, times: Any, aspect: int = DONE) -> Any:
        """Whether each thread of `index` knows what the thread of another CTA, or of this one, did at a time."""
        if other is self:
            known = self.common[aspect, threads]
            if self.extra is not None:
                known = numpy.maximum(known, self.extra[aspect, index, threads])
            if aspect == DONE:
                return (known >= times) | (threads == index)
            return (known >= times) | ((threads == index) & (self.fenced_by[aspect, threads] >= times))
        held = self.foreign.get(other)
        found = numpy.zeros(len(index), bool) if held is None else held[aspect, threads] >= times
        if self.foreign_of and not found.all():
            left = numpy.flatnonzero(~found)
            found[left] = self.foreign_of.knows(index[left], other, threads[left], times[left], aspect)
        return found


def _covered(times: Any, aspects: Sequence[int], by: int = DONE) -> Any:
    """Another CTA's times, of which all that is done (or released) is fenced here."""
    made = times.copy()
    for aspect in aspects:
        made[aspect] = numpy.maximum(made[aspect], made[by])
        if len(made) > NEAR_SHARED and aspect in (FENCED_SHARED, FENCED_GLOBAL):
            made[aspect + _NEAR] = numpy.maximum(made[aspect + _NEAR], made[by])
    return made


def _waited(times: Any) -> Any:
    """Another CTA's times, of which all that is done stands behind a wait."""
    made = times.copy()
    made[WAITED] = numpy.maximum(made[WAITED], made[DONE])
    return made


def narrowed(vector: Vector) -> Vector:
    """What was told, as those know it who tell or hear at a scope that does not reach the other."""
    made = {}
    for owner, times in vector.items():
        made[owner] = times
        if owner.aspects > SCOPED:
            made[owner] = times.copy()
            made[owner][SCOPED] = 0
    return made


def join(vector: Vector, other: Vector) -> Vector:
    """Add to a vector what another says; the vector."""
    for owner, times in other.items():
        held = vector.get(owner)
        vector[owner] = times if held is None else numpy.maximum(held, times)
    return vector
