"""The order of sequentially consistent fences that the values of memory force.

A thread passes such a fence; later, in causality order, a strong write follows. Another thread observes the write or a
later one at its location, and passes such a fence afterwards. The second fence cannot precede the first one, since its
thread would then have observed the location before the write; so the first one synchronizes with the second one. The
barriers of CTAs may be between the fences and the accesses, as in reductions by the last CTA that counts.

Fences and accesses count whose scope is that of the GPU or wider.

Source: PTX ISA, "Memory Consistency Model": "Fence-SC Order", "Causality Order", "Coherence".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.vector_clocks import (
    BEFORE_SC_FENCE,
    BEFORE_SEEN_WRITE,
    COMPLETED,
    IN_SCOPE,
    ClockVector,
    join_into,
)
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver
from ptxkit.semantics.ordering import GPU_LEVEL, scope_level

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class ScFences(MachineObserver):
    """The accesses before sequentially consistent fences that precede the writes of each location."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history
        self._fenced_writes: dict[tuple[ByteBuffer, int], ClockVector] = {}

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Threads execute a fence."""
        if order != "sc" or scope_level(scope) < GPU_LEVEL:
            return
        known = self._history.clocks_of(group.cta)
        known.acquire_proxy(group.lanes.index, [COMPLETED, IN_SCOPE], BEFORE_SEEN_WRITE)
        known.fence_proxy(group.lanes.index, [BEFORE_SC_FENCE])

    def on_access(self, event: AccessEvent) -> None:
        """Threads observe what precedes the writes of a location, and write there themselves."""
        access = self._history.access_of(event)
        known = access.clocks
        if known.clock_kinds <= BEFORE_SC_FENCE or access.strength - 1 < GPU_LEVEL:
            return
        for thread, place in zip(access.index.tolist(), access.byte_offsets.tolist(), strict=True):
            one, key = numpy.array([thread]), (event.buffer, place)
            seen = self._fenced_writes.get(key)
            if event.kind != "write" and seen is not None:
                known.acquire_clock(one, {owner: _as_seen(times) for owner, times in seen.items()})
            if event.kind != "read":
                vector = known.release_clock(one)
                if any(times[BEFORE_SC_FENCE].any() for times in vector.values()):
                    self._fenced_writes[key] = vector if seen is None else join_into(dict(seen), vector)


def _as_seen(times: Any) -> Any:
    """Returns only which accesses precede a fence before a write that is observed."""
    made = numpy.zeros_like(times)
    made[BEFORE_SEEN_WRITE] = times[BEFORE_SC_FENCE]
    return made
