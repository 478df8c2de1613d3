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

from ptxkit.emulator.races.copy_waits import CopyWaits
from ptxkit.emulator.races.foreign_times import ForeignTimes

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta

ClockVector: TypeAlias = "dict[CtaClocks, Any]"
"""Times by CTA: an array (aspects, threads)."""

(
    COMPLETED,
    FENCED_SHARED,
    FENCED_GLOBAL,
    IN_SCOPE,
    RELEASED,
    FENCED_HERE_SHARED,
    FENCED_HERE_GLOBAL,
    IMPLICITLY_FENCED,
    AFTER_WAIT,
) = range(9)
"""Aspects: what is known to be done; what of it is fenced towards the async proxy, by space; what is known by
operations whose scopes reach that far; what is released towards the async proxy, and needs an acquire, too; what of
other CTAs' doing was fenced in this CTA; behind what a wait for an operation stands, which may be such a fence, and
behind what of other CTAs' doing one of this CTA. All launches have the first three, see `aspects_of`."""

_FENCED_HERE = FENCED_HERE_SHARED - FENCED_SHARED
_MIN_KINDS, _CLUSTER_KINDS, _STRICT_KINDS = 3, 5, 9
ENGINE_COUNT = 32
"""Agents of a CTA beside its threads: what asynchronous operations did is known by the mbarriers that they tell."""

_SCOPE_LEVELS = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 3}


def clock_kind_count(*, parted: bool, strict: bool) -> int:
    """How many aspects matter in a launch. parted: CTAs reach each other's memory, or fences go one way."""
    return _STRICT_KINDS if strict else _CLUSTER_KINDS if parted else _MIN_KINDS


def scope_level(scope: str | None) -> int:
    """How far a scope reaches; without one, as far as can be."""
    return _SCOPE_LEVELS.get(scope or "sys", 3)


def required_scope_level(first: Cta, second: Cta) -> int:
    """The level that a scope must have for two CTAs."""
    return 0 if first is second else 1 if first.cluster is second.cluster else 2


class CtaClocks:
    """What the threads of one CTA know. base: the number of its first thread among all of the launch, from 1 on.

    threads: how many there are, with the engines behind them.

    own: the present time of each thread. fenced_by: what each has fenced of its own doing. common: times of the CTA's
    threads that all of them know. extra: the same for each thread, where some know more, else None. foreign: times of
    other CTAs' threads that all know; foreign_of: the same for single threads. seen: by thread, what a fence of a level
    makes known.
    """

    __slots__ = (
        "_engines",
        "_fence_releases",
        "base",
        "clock_kinds",
        "common_times",
        "copy_engines",
        "copy_waits",
        "cta",
        "fenced_times",
        "has_cluster_started",
        "own_times",
        "pending_acquires",
        "relaxed_vector",
        "remote_times",
        "thread_remote_times",
        "thread_times",
        "threads",
    )

    def __init__(self, cta: Cta, base: int, aspects: int = _MIN_KINDS) -> None:
        self.cta, self.base, self.threads, self.clock_kinds = cta, base, cta.threads + ENGINE_COUNT, aspects
        self.relaxed_vector: ClockVector = {}
        """What other CTAs did before relaxed arrivals, which tell of nothing."""
        self._engines: dict[object, int] = {}
        self.copy_engines: set[int] = set()
        """The engines through which copies of single threads were complete."""
        self.copy_waits = CopyWaits()
        self.own_times = numpy.ones(self.threads, numpy.int64)
        self.fenced_times = numpy.zeros((self.clock_kinds, self.threads), numpy.int64)
        self.common_times = numpy.zeros((self.clock_kinds, self.threads), numpy.int64)
        self.thread_times: Any = None
        self.remote_times: ClockVector = {}
        self.has_cluster_started = cta.cluster.size == 1
        """Whether the CTAs of the cluster are known to have begun."""
        self.thread_remote_times = ForeignTimes(self.threads)
        self._fence_releases: dict[int, dict[int, ClockVector]] = {}
        self.pending_acquires: dict[int, list[tuple[int, ClockVector]]] = {}

    # ------------------------------------------------------------------------------------------------ telling

    def release_clock(self, index: Any) -> ClockVector:
        """All that some threads know and have done until now, together; what they do from here on is not in it."""
        known = self.common_times.copy()
        if self.thread_times is not None:
            numpy.maximum(known, self.thread_times[:, index].max(axis=1), out=known)
        known[:, index] = numpy.maximum(known[:, index], self.fenced_times[:, index])
        known[COMPLETED, index] = numpy.maximum(known[COMPLETED, index], self.own_times[index])
        if self.clock_kinds > IN_SCOPE:
            known[IN_SCOPE, index] = known[COMPLETED, index]
        self.own_times[index] += 1
        vector: ClockVector = dict(self.remote_times)
        vector[self] = known
        for part in self.thread_remote_times.of(index):
            join_into(vector, part)
        return vector

    def acquire_clock(self, index: Any, vector: ClockVector) -> None:
        """Some threads come to know what was told."""
        everyone = len(index) == self.cta.threads
        for other, times in vector.items():
            if other is not self:
                if everyone:
                    join_into(self.remote_times, {other: times})
                else:
                    self.thread_remote_times.learn(index, other, times)
            elif everyone:
                self.common_times = numpy.maximum(self.common_times, times)
            elif (times > self.common_times).any():
                extra = self._require_thread_times()
                extra[:, index] = numpy.maximum(extra[:, index], times[:, None])

    def acquire_clock_by_all(self, vector: ClockVector) -> None:
        """All threads that live come to know what all of them told: nobody knows more than the others."""
        self.acquire_clock(self.cta.all_threads, vector)
        self.thread_times = None
        self.thread_remote_times.clear()

    # ------------------------------------------------------------------------------------------------- fences

    def fence(self, index: Any, level: int) -> None:
        """What some threads did before is told by what they write from here on, and what they read told them counts.

        level: of the fence's scope; what needs a wider one stays untold.
        """
        for thread in index.tolist():
            one = numpy.array([thread])
            waiting = self.pending_acquires.pop(thread, [])
            for need, told in waiting:
                if need <= level:
                    self.acquire_clock(one, told)
            wider = [each for each in waiting if each[0] > level]
            if wider:
                self.pending_acquires[thread] = wider
            self._fence_releases.setdefault(thread, {})[level] = self.release_clock(one)

    def fence_proxy(self, index: Any, aspects: Sequence[int]) -> None:
        """What some threads know to be done is fenced towards the async proxy from here on."""
        everyone = len(index) == self.cta.threads
        for aspect in aspects:
            self.fenced_times[aspect, index] = self.own_times[index]
            if everyone:
                self.common_times[aspect] = numpy.maximum(self.common_times[aspect], self.common_times[COMPLETED])
            elif (self.common_times[COMPLETED] > self.common_times[aspect]).any():
                self._require_thread_times()[aspect, index] = numpy.maximum(
                    self._require_thread_times()[aspect, index], self.common_times[COMPLETED]
                )
            if self.thread_times is not None:
                self.thread_times[aspect, index] = numpy.maximum(
                    self.thread_times[aspect, index], self.thread_times[COMPLETED, index]
                )
        self.own_times[index] += 1
        if everyone:
            self.remote_times = {other: _mark_fenced(times, aspects) for other, times in self.remote_times.items()}
        if self.thread_remote_times or (self.remote_times and not everyone):
            self.thread_remote_times.change(index, self.remote_times, partial(_mark_fenced, aspects=aspects))

    def note_wait(self, index: Any) -> None:
        """Some threads have waited for an operation: what they know of other CTAs' doing stands behind that."""
        if self.clock_kinds <= AFTER_WAIT or not (self.remote_times or self.thread_remote_times):
            return
        if len(index) == self.cta.threads:
            self.remote_times = {other: _mark_waited(times) for other, times in self.remote_times.items()}
        if self.thread_remote_times or len(index) < self.cta.threads:
            self.thread_remote_times.change(index, self.remote_times, _mark_waited)

    def acquire_proxy(self, index: Any, aspects: Sequence[int]) -> None:
        """What some threads know to be released towards the async proxy is fenced from here on."""
        everyone = len(index) == self.cta.threads
        for aspect in aspects:
            self.fenced_times[aspect, index] = numpy.maximum(
                self.fenced_times[aspect, index], self.fenced_times[RELEASED, index]
            )
            if everyone:
                self.common_times[aspect] = numpy.maximum(self.common_times[aspect], self.common_times[RELEASED])
            else:
                extra = self._require_thread_times()
                extra[aspect, index] = numpy.maximum(extra[aspect, index], self.common_times[RELEASED])
            if self.thread_times is not None:
                self.thread_times[aspect, index] = numpy.maximum(
                    self.thread_times[aspect, index], self.thread_times[RELEASED, index]
                )
        self.own_times[index] += 1
        if everyone:
            self.remote_times = {
                other: _mark_fenced(times, aspects, RELEASED) for other, times in self.remote_times.items()
            }
        if self.thread_remote_times or (self.remote_times and not everyone):
            self.thread_remote_times.change(
                index, self.remote_times, partial(_mark_fenced, aspects=aspects, by=RELEASED)
            )

    def is_out_of_scope(self, index: Any, other: CtaClocks, threads: Any, times: Any) -> Any:
        """Which threads know what another CTA did at a time, and only by operations of a narrower scope."""
        if self.clock_kinds <= IN_SCOPE:
            return numpy.zeros(len(index), bool)
        return self.happens_before(index, other, threads, times) & ~self.happens_before(
            index, other, threads, times, IN_SCOPE
        )

    def _require_thread_times(self) -> Any:
        if self.thread_times is None:
            self.thread_times = numpy.zeros((self.clock_kinds, self.threads, self.threads), numpy.int64)
        return self.thread_times

    def fence_releases(self, thread: int) -> Mapping[int, ClockVector]:
        """What a thread's last fences let its later writes tell, by the level of each fence."""
        return self._fence_releases.get(thread, {})

    @property
    def has_fenced(self) -> bool:
        """Whether any thread executed a fence."""
        return bool(self._fence_releases)

    def engine_for(self, key: object) -> int:
        """The engine whose operations an object tells of."""
        return self._engines.setdefault(key, self.threads - ENGINE_COUNT + len(self._engines) % ENGINE_COUNT)

    def engine_clock(self, engine: int) -> ClockVector:
        """What an engine has done until now."""
        known = numpy.zeros((self.clock_kinds, self.threads), numpy.int64)
        known[COMPLETED, engine] = self.own_times[engine]
        if self.clock_kinds > IN_SCOPE:
            known[IN_SCOPE, engine] = self.own_times[engine]
        return {self: known}

    # ------------------------------------------------------------------------------------------------ knowing

    def full_clock(self) -> ClockVector:
        """All that any thread knows, and has done."""
        known = self.common_times.copy()
        if self.thread_times is not None:
            numpy.maximum(known, self.thread_times.max(axis=1), out=known)
        known[COMPLETED] = numpy.maximum(known[COMPLETED], self.own_times)
        vector: ClockVector = dict(self.remote_times)
        vector[self] = known
        for part in self.thread_remote_times.of(self.cta.all_threads):
            join_into(vector, part)
        return vector

    def has_started_before(self, index: Any, other: CtaClocks) -> bool:
        """Whether all these threads know of anything that another CTA did, and so that it has begun."""
        if self.has_cluster_started or other in self.remote_times:
            return True
        return self.thread_remote_times.has(index, other)

    def happens_before(self, index: Any, other: CtaClocks, threads: Any, times: Any, aspect: int = COMPLETED) -> Any:
        """Whether each thread of `index` knows what the thread of another CTA, or of this one, did at a time."""
        if other is self:
            known = self.common_times[aspect, threads]
            if self.thread_times is not None:
                known = numpy.maximum(known, self.thread_times[aspect, index, threads])
            if aspect == COMPLETED:
                return (known >= times) | (threads == index)
            return (known >= times) | ((threads == index) & (self.fenced_times[aspect, threads] >= times))
        held = self.remote_times.get(other)
        found = numpy.zeros(len(index), bool) if held is None else held[aspect, threads] >= times
        if self.thread_remote_times and not found.all():
            left = numpy.flatnonzero(~found)
            found[left] = self.thread_remote_times.knows(index[left], other, threads[left], times[left], aspect)
        return found


def _mark_fenced(times: Any, aspects: Sequence[int], by: int = COMPLETED) -> Any:
    """Another CTA's times, of which all that is done (or released) is fenced here."""
    made = times.copy()
    for aspect in aspects:
        made[aspect] = numpy.maximum(made[aspect], made[by])
        if len(made) > FENCED_HERE_SHARED and aspect in (FENCED_SHARED, FENCED_GLOBAL):
            made[aspect + _FENCED_HERE] = numpy.maximum(made[aspect + _FENCED_HERE], made[by])
    return made


def _mark_waited(times: Any) -> Any:
    """Another CTA's times, of which all that is done stands behind a wait."""
    made = times.copy()
    made[AFTER_WAIT] = numpy.maximum(made[AFTER_WAIT], made[COMPLETED])
    return made


def without_scope(vector: ClockVector) -> ClockVector:
    """What was told, as those know it who tell or hear at a scope that does not reach the other."""
    made = {}
    for owner, times in vector.items():
        made[owner] = times
        if owner.clock_kinds > IN_SCOPE:
            made[owner] = times.copy()
            made[owner][IN_SCOPE] = 0
    return made


def join_into(vector: ClockVector, other: ClockVector) -> ClockVector:
    """Add to a vector what another says; the vector."""
    for owner, times in other.items():
        held = vector.get(owner)
        vector[owner] = times if held is None else numpy.maximum(held, times)
    return vector
