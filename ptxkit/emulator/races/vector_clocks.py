"""Vector clocks: the accesses of other threads that precede the next one of each thread.

A thread's time counts its release operations. A vector holds, for the threads of some CTAs, the time up to which all
accesses of each thread are known, and the time up to which its writes are fenced toward the async proxy, in shared and
in global memory. The knowledge of all threads of a CTA is stored once; additional knowledge of single threads is a
matrix that is discarded at the next barrier of all threads.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Memory synchronization", "Release and Acquire
Patterns".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulator.limits import MAX_ENGINES
from ptxkit.emulator.races.copy_waits import CopyWaits
from ptxkit.emulator.races.foreign_times import ForeignTimes
from ptxkit.semantics.ordering import CLUSTER_LEVEL, CTA_LEVEL, GPU_LEVEL

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState

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
    BEFORE_SC_FENCE,
    BEFORE_SEEN_WRITE,
) = range(11)
"""Aspects of the knowledge of an access: that it is complete; that it is fenced toward the async proxy, by space; that
it is known by operations whose scopes include both CTAs; that it is released toward the async proxy, and still needs an
acquire; that an access of another CTA was fenced in this CTA; that it precedes a wait for an operation, which may be
such a fence; that an access of another CTA precedes such a wait in this CTA; that it precedes a sequentially consistent
fence; and that it does, and what follows the fence was observed, see `sc_fences`. All launches have
the first three, see `clock_kind_count`.
"""

_SHARED_ENGINES = (
    f"more than {MAX_ENGINES} mbarriers and warpgroups of a CTA signal copies, and not all races of these are found"
)

_FENCED_HERE = FENCED_HERE_SHARED - FENCED_SHARED
_MIN_KINDS, _CLUSTER_KINDS, _STRICT_KINDS, _SC_KINDS = 3, 5, 9, 11


def clock_kind_count(*, parted: bool, strict: bool, sc: bool) -> int:
    """Returns the number of aspects of a launch.

    `parted` states whether CTAs access each other's memory, or fences are one-directional, and `sc` whether there are
    sequentially consistent fences.
    """
    if sc:
        return _SC_KINDS
    return _STRICT_KINDS if strict else _CLUSTER_KINDS if parted else _MIN_KINDS


def required_scope_level(first: CtaState, second: CtaState) -> int:
    """Returns the level that a scope must have to include two CTAs."""
    if first is second:
        return CTA_LEVEL
    return CLUSTER_LEVEL if first.cluster is second.cluster else GPU_LEVEL


class CtaClocks:
    """The clocks of the threads of one CTA. `base` is the number of its first thread in the launch, from 1.

    The engines follow the threads of the CTA, and `threads` is the number of both. `own_times` has the present time of
    each thread, and `fenced_times` the time up to which each has fenced its own accesses. `common_times` are the times
    of the CTA's threads that all of them know; `thread_times` are those that each knows, or None if no thread knows
    more than all do. `remote_times` and `thread_remote_times` are the same for threads of other CTAs.
    `has_cluster_started` states whether the CTAs of the cluster are known to have started.
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

    def __init__(self, cta: CtaState, base: int, aspects: int = _MIN_KINDS) -> None:
        self.cta, self.base, self.threads, self.clock_kinds = cta, base, cta.threads + MAX_ENGINES, aspects
        self.relaxed_vector: ClockVector = {}
        """The accesses of other CTAs before relaxed arrivals, which release nothing."""
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

    # ---------------------------------------------------------------------------------------------- release and acquire

    def release_clock(self, index: Any) -> ClockVector:
        """Returns the accesses of some threads and those before them; their later accesses are not included."""
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
        """Merges a released vector into the knowledge of some threads."""
        is_whole_cta = len(index) == self.cta.threads
        for other, times in vector.items():
            if other is not self:
                if is_whole_cta:
                    join_into(self.remote_times, {other: times})
                else:
                    self.thread_remote_times.learn(index, other, times)
            elif is_whole_cta:
                self.common_times = numpy.maximum(self.common_times, times)
            elif (times > self.common_times).any():
                extra = self._require_thread_times()
                extra[:, index] = numpy.maximum(extra[:, index], times[:, None])

    def acquire_clock_by_all(self, vector: ClockVector) -> None:
        """Merges a vector of all threads into their common knowledge: no thread knows more than the others."""
        self.acquire_clock(self.cta.all_threads, vector)
        self.thread_times = None
        self.thread_remote_times.clear()

    # ------------------------------------------------------------------------------------------------- fences

    def fence(self, index: Any, level: int) -> None:
        """Records a fence: later writes of some threads release their earlier accesses, and earlier reads become
        acquires.

        `level` is that of the fence's scope; accesses that need a wider scope are not released.
        """
        for thread in index.tolist():
            one = numpy.array([thread])
            waiting = self.pending_acquires.pop(thread, [])
            for need, released in waiting:
                if need <= level:
                    self.acquire_clock(one, released)
            wider = [each for each in waiting if each[0] > level]
            if wider:
                self.pending_acquires[thread] = wider
            self._fence_releases.setdefault(thread, {})[level] = self.release_clock(one)

    def fence_proxy(self, index: Any, aspects: Sequence[int]) -> None:
        """Fences the accesses that some threads know to be complete toward the async proxy."""
        is_whole_cta = len(index) == self.cta.threads
        for clock_kind in aspects:
            self.fenced_times[clock_kind, index] = self.own_times[index]
            if is_whole_cta:
                self.common_times[clock_kind] = numpy.maximum(
                    self.common_times[clock_kind], self.common_times[COMPLETED]
                )
            elif (self.common_times[COMPLETED] > self.common_times[clock_kind]).any():
                self._require_thread_times()[clock_kind, index] = numpy.maximum(
                    self._require_thread_times()[clock_kind, index], self.common_times[COMPLETED]
                )
            if self.thread_times is not None:
                self.thread_times[clock_kind, index] = numpy.maximum(
                    self.thread_times[clock_kind, index], self.thread_times[COMPLETED, index]
                )
        self.own_times[index] += 1
        if is_whole_cta:
            self.remote_times = {other: _mark_fenced(times, aspects) for other, times in self.remote_times.items()}
        if self.thread_remote_times or (self.remote_times and not is_whole_cta):
            self.thread_remote_times.change(index, self.remote_times, partial(_mark_fenced, aspects=aspects))

    def note_wait(self, index: Any) -> None:
        """Records a wait for an operation: accesses of other CTAs that precede the threads precede the wait."""
        if self.clock_kinds <= AFTER_WAIT or not (self.remote_times or self.thread_remote_times):
            return
        if len(index) == self.cta.threads:
            self.remote_times = {other: _mark_waited(times) for other, times in self.remote_times.items()}
        if self.thread_remote_times or len(index) < self.cta.threads:
            self.thread_remote_times.change(index, self.remote_times, _mark_waited)

    def acquire_proxy(self, index: Any, aspects: Sequence[int], by: int = RELEASED) -> None:
        """Fences the accesses that some threads know to be released toward the async proxy, or in another aspect."""
        is_whole_cta = len(index) == self.cta.threads
        for clock_kind in aspects:
            self.fenced_times[clock_kind, index] = numpy.maximum(
                self.fenced_times[clock_kind, index], self.fenced_times[by, index]
            )
            if is_whole_cta:
                self.common_times[clock_kind] = numpy.maximum(self.common_times[clock_kind], self.common_times[by])
            else:
                extra = self._require_thread_times()
                extra[clock_kind, index] = numpy.maximum(extra[clock_kind, index], self.common_times[by])
            if self.thread_times is not None:
                self.thread_times[clock_kind, index] = numpy.maximum(
                    self.thread_times[clock_kind, index], self.thread_times[by, index]
                )
        self.own_times[index] += 1
        if is_whole_cta:
            self.remote_times = {other: _mark_fenced(times, aspects, by) for other, times in self.remote_times.items()}
        if self.thread_remote_times or (self.remote_times and not is_whole_cta):
            self.thread_remote_times.change(index, self.remote_times, partial(_mark_fenced, aspects=aspects, by=by))

    def is_out_of_scope(self, index: Any, other: CtaClocks, threads: Any, times: Any) -> Any:
        """Returns which threads know an access of another CTA at a time only by operations of a narrower scope."""
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
        """Returns the clocks that a thread's last fences let its later writes release, by the level of each fence."""
        return self._fence_releases.get(thread, {})

    @property
    def has_fenced(self) -> bool:
        """Whether any thread executed a fence."""
        return bool(self._fence_releases)

    def engine_for(self, key: object) -> int:
        """Returns the engine whose operations an object signals."""
        if len(self._engines) >= MAX_ENGINES and key not in self._engines:
            self.cta.machine.report.unchecked_reasons[_SHARED_ENGINES] = None
        return self._engines.setdefault(key, self.threads - MAX_ENGINES + len(self._engines) % MAX_ENGINES)

    def engine_clock(self, engine: int) -> ClockVector:
        """Returns the accesses of an engine until the present."""
        known = numpy.zeros((self.clock_kinds, self.threads), numpy.int64)
        known[COMPLETED, engine] = self.own_times[engine]
        if self.clock_kinds > IN_SCOPE:
            known[IN_SCOPE, engine] = self.own_times[engine]
        return {self: known}

    # ------------------------------------------------------------------------------------------------ queries

    def full_clock(self) -> ClockVector:
        """Returns all accesses of any thread and those that precede them."""
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
        """Returns whether an access of another CTA precedes all these threads, and its start too."""
        if self.has_cluster_started or other in self.remote_times:
            return True
        return self.thread_remote_times.has(index, other)

    def happens_before(
        self, index: Any, other: CtaClocks, threads: Any, times: Any, clock_kind: int = COMPLETED
    ) -> Any:
        """Returns whether each thread of `index` knows an access of the thread of another CTA, or of this one, at a
        time.
        """
        if other is self:
            known = self.common_times[clock_kind, threads]
            if self.thread_times is not None:
                known = numpy.maximum(known, self.thread_times[clock_kind, index, threads])
            if clock_kind == COMPLETED:
                return (known >= times) | (threads == index)
            return (known >= times) | ((threads == index) & (self.fenced_times[clock_kind, threads] >= times))
        held = self.remote_times.get(other)
        found = numpy.zeros(len(index), bool) if held is None else held[clock_kind, threads] >= times
        if self.thread_remote_times and not found.all():
            left = numpy.flatnonzero(~found)
            found[left] = self.thread_remote_times.knows(index[left], other, threads[left], times[left], clock_kind)
        return found


def _mark_fenced(times: Any, aspects: Sequence[int], by: int = COMPLETED) -> Any:
    """Marks all accesses that another CTA has completed (or released) as fenced in this CTA."""
    made = times.copy()
    for clock_kind in aspects:
        made[clock_kind] = numpy.maximum(made[clock_kind], made[by])
        if len(made) > FENCED_HERE_SHARED and clock_kind in (FENCED_SHARED, FENCED_GLOBAL):
            made[clock_kind + _FENCED_HERE] = numpy.maximum(made[clock_kind + _FENCED_HERE], made[by])
    return made


def _mark_waited(times: Any) -> Any:
    """Marks all accesses that another CTA has completed as preceding a wait."""
    made = times.copy()
    made[AFTER_WAIT] = numpy.maximum(made[AFTER_WAIT], made[COMPLETED])
    return made


def without_scope(vector: ClockVector) -> ClockVector:
    """Returns a released vector as known through a scope that does not include the other CTA."""
    made = {}
    for owner, times in vector.items():
        made[owner] = times
        if owner.clock_kinds > IN_SCOPE:
            made[owner] = times.copy()
            made[owner][IN_SCOPE] = 0
    return made


def join_into(vector: ClockVector, other: ClockVector) -> ClockVector:
    """Merges another vector into a vector, and returns the latter."""
    for owner, times in other.items():
        held = vector.get(owner)
        vector[owner] = times if held is None else numpy.maximum(held, times)
    return vector
