"""Release and acquire patterns at locations of memory: the clocks that strong writes release to their readers.

A write releases the clocks of the release patterns that end in it: its own, or those of its thread's fences and of its
thread's earlier releases of the location. It does so until it is overwritten; an update that reads a morally strong
write forwards its releases (observation order). An acquiring read takes effect immediately, any other read at the next
fence of its thread.

Source: PTX ISA, "Memory Consistency Model": "Observation Order", "Release and Acquire Patterns", "Morally Strong
Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy

from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.memory_access import MemoryAccess
from ptxkit.emulator.races.shadow_memory import WRITE, ShadowMemory
from ptxkit.emulator.races.vector_clocks import ClockVector, CtaClocks, join_into, required_scope_level
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver
from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, RELEASE_ORDERS

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.machine_state import CtaState

_Patterns: TypeAlias = "dict[tuple[CtaState, int], ClockVector]"
"""The clocks of release patterns, by the CTA of each and the level of its first operation's scope."""


@dataclass(slots=True)
class _LocationRelease:
    """The releases of the last write of a location. `cta` and `level` are those of the write and its scope.

    `shadow_entry` is the entry of the write in the shadow memory, or None until it is recorded; a different entry
    indicates a later write.
    """

    cta: CtaState
    level: int
    patterns: _Patterns
    shadow_entry: tuple[int, int] | None = None


class ReleasePatterns(MachineObserver):
    """The releases at all locations. It must receive an access before the race detector, which records the access."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history
        self._last_releases: dict[tuple[ByteBuffer, int], _LocationRelease] = {}
        self._thread_releases: dict[tuple[ByteBuffer, int, CtaClocks, int], tuple[int, ClockVector]] = {}

    def on_access(self, event: AccessEvent) -> None:
        """Processes the acquires and releases of strong accesses; updates take effect thread by thread."""
        access = self._history.access_of(event)  # with the present times: a release ends them, and covers the access
        if not access.strength:
            return
        known, shadow, pool, order = access.clocks, access.shadow, event.buffer, event.order
        index, places, level = access.index, event.byte_offsets, access.strength - 1
        if event.kind == "read":
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
            before = self._release_at(shadow, pool, place) if event.kind == "update" else None
            passed = self._acquire(known, thread, before, order, level)
            given = self._release_of_write(known, thread, pool, place, order, level)
            for pattern, released in passed.items():
                given[pattern] = join_into(dict(given[pattern]), released) if pattern in given else released
            if given:
                self._last_releases[pool, place] = _LocationRelease(known.cta, level, given)
            elif (pool, place) in self._last_releases:
                del self._last_releases[pool, place]

    def record_write(self, access: MemoryAccess) -> None:
        """Associates releases with strong writes that the shadow memory has recorded."""
        if self._last_releases:
            for place in access.byte_offsets.tolist():
                message = self._last_releases.get((access.buffer, place))
                if message is not None:
                    message.shadow_entry = _shadow_entry(access.shadow, place)

    def _release_at(self, shadow: ShadowMemory, pool: ByteBuffer, place: int) -> _LocationRelease | None:
        """Returns the release of the present write at a location."""
        found = self._last_releases.get((pool, place))
        return found if found is not None and found.shadow_entry in (None, _shadow_entry(shadow, place)) else None

    @staticmethod
    def _acquire(known: CtaClocks, thread: int, message: _LocationRelease | None, order: str, level: int) -> _Patterns:
        """Acquires from a write for a thread, and returns the patterns that it observes."""
        if message is None or required_scope_level(message.cta, known.cta) > min(message.level, level):
            return {}
        for (cta, reach), released in message.patterns.items():
            need = required_scope_level(cta, known.cta)
            if order in ACQUIRE_ORDERS and need <= min(level, reach):
                known.acquire_clock(numpy.array([thread]), released)
            elif need <= reach:
                waiting = known.pending_acquires.setdefault(thread, [])
                if not any(each is released for _, each in waiting[-len(message.patterns) :]):  # threads may poll often
                    waiting.append((need, released))
        return message.patterns

    def _release_of_write(
        self, known: CtaClocks, thread: int, pool: ByteBuffer, place: int, order: str, level: int
    ) -> _Patterns:
        """Returns the clocks that a thread's write itself releases."""
        key = (pool, place, known, thread)
        if order in RELEASE_ORDERS:
            released = known.release_clock(numpy.array([thread]))
            self._thread_releases[key] = level, released
            return {(known.cta, level): released}
        given: _Patterns = {(known.cta, reach): released for reach, released in known.fence_releases(thread).items()}
        earlier = self._thread_releases.get(key)
        if earlier is not None:
            reach, released = earlier
            held = given.get((known.cta, reach))
            given[known.cta, reach] = released if held is None else join_into(dict(held), released)
        return given


def _shadow_entry(shadow: ShadowMemory, place: int) -> tuple[int, int]:
    unit = place // shadow.unit
    return int(shadow.entries[WRITE][unit]), int(shadow.sites[WRITE][unit])
