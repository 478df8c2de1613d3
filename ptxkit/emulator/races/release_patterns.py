"""What strong writes release to their readers: release and acquire patterns at locations of memory.

A write releases what the release patterns that end in it release: its own, or those of its thread's fences and of its
thread's earlier releases of the location. It does so until it is overwritten; an update that reads a morally strong
write passes on what that released (observation order). An acquiring read takes effect immediately, any other read at
the next fence of its thread.

Source: PTX ISA, "Memory Consistency Model": "Observation Order", "Release and Acquire Patterns", "Morally Strong
Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulator.races.mbarrier_clocks import ACQUIRE_ORDERS, RELEASE_ORDERS
from ptxkit.emulator.races.shadow_memory import WRITE, ShadowMemory
from ptxkit.emulator.races.vector_clocks import ClockVector, CtaClocks, join_into, required_scope_level
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.state.memory import ByteBuffer

_Patterns: TypeAlias = "dict[tuple[Cta, int], ClockVector]"
"""What release patterns release, by the CTA of each and the level of its first operation's scope."""


@dataclass(slots=True)
class _LocationRelease:
    """What the last write of a location releases. cta, level: of the write and its scope. mark: its entry in the
    shadow memory; a different entry shows a later write; None until it is recorded."""

    cta: Cta
    level: int
    patterns: _Patterns
    shadow_entry: tuple[int, int] | None = None


class ReleasePatterns:
    """The releases at all locations."""

    def __init__(self) -> None:
        self._last_releases: dict[tuple[ByteBuffer, int], _LocationRelease] = {}
        self._thread_releases: dict[tuple[ByteBuffer, int, CtaClocks, int], tuple[int, ClockVector]] = {}

    def record_access(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        known: CtaClocks,
        index: Any,
        shadow: ShadowMemory,
        pool: ByteBuffer,
        places: Any,
        kind: str,
        order: str,
        level: int,
    ) -> None:
        """Record strong accesses before the shadow memory does; updates take effect in the order of threads."""
        if kind == "read":
            if self._last_releases:
                for thread, place in zip(index.tolist(), places.tolist(), strict=True):
                    self._acquire(known, thread, self._release_at(shadow, pool, place), order, level)
            return
        if (
            order not in RELEASE_ORDERS
            and not known.has_fenced
            and not self._last_releases
            and not self._thread_releases
        ):
            return
        for thread, place in zip(index.tolist(), places.tolist(), strict=True):
            before = self._release_at(shadow, pool, place) if kind == "update" else None
            passed = self._acquire(known, thread, before, order, level)
            given = self._release_of_write(known, thread, pool, place, order, level)
            for pattern, told in passed.items():
                given[pattern] = join_into(dict(given[pattern]), told) if pattern in given else told
            if given:
                self._last_releases[pool, place] = _LocationRelease(known.cta, level, given)
            elif (pool, place) in self._last_releases:
                del self._last_releases[pool, place]

    def record_write(self, shadow: ShadowMemory, pool: ByteBuffer, places: Any) -> None:
        """Associate releases with strong writes that the shadow memory has recorded."""
        if self._last_releases:
            for place in places.tolist():
                message = self._last_releases.get((pool, place))
                if message is not None:
                    message.shadow_entry = _shadow_entry(shadow, place)

    def _release_at(self, shadow: ShadowMemory, pool: ByteBuffer, place: int) -> _LocationRelease | None:
        """Return the release of the present write at a location."""
        found = self._last_releases.get((pool, place))
        return found if found is not None and found.shadow_entry in (None, _shadow_entry(shadow, place)) else None

    @staticmethod
    def _acquire(known: CtaClocks, thread: int, message: _LocationRelease | None, order: str, level: int) -> _Patterns:
        """Let a thread acquire from a write; return the patterns that it observes."""
        if message is None or required_scope_level(message.cta, known.cta) > min(message.level, level):
            return {}
        for (cta, reach), told in message.patterns.items():
            need = required_scope_level(cta, known.cta)
            if order in ACQUIRE_ORDERS and need <= min(level, reach):
                known.acquire_clock(numpy.array([thread]), told)
            elif need <= reach:
                waiting = known.pending_acquires.setdefault(thread, [])
                if not any(each is told for _, each in waiting[-len(message.patterns) :]):  # threads may poll often
                    waiting.append((need, told))
        return message.patterns

    def _release_of_write(
        self, known: CtaClocks, thread: int, pool: ByteBuffer, place: int, order: str, level: int
    ) -> _Patterns:
        """Return what a thread's write itself releases."""
        key = (pool, place, known, thread)
        if order in RELEASE_ORDERS:
            told = known.release_clock(numpy.array([thread]))
            self._thread_releases[key] = level, told
            return {(known.cta, level): told}
        given: _Patterns = {(known.cta, reach): told for reach, told in known.fence_releases(thread).items()}
        earlier = self._thread_releases.get(key)
        if earlier is not None:
            reach, told = earlier
            held = given.get((known.cta, reach))
            given[known.cta, reach] = told if held is None else join_into(dict(held), told)
        return given


def _shadow_entry(shadow: ShadowMemory, place: int) -> tuple[int, int]:
    unit = place // shadow.unit
    return int(shadow.entries[WRITE][unit]), int(shadow.sites[WRITE][unit])
