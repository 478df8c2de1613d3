"""What strong writes tell those who read them: release and acquire patterns at locations of memory.

A write tells what the release patterns that end in it tell: its own, or those of its thread's fences and of its
thread's earlier releases of the location. It does so until another write is there; an update that reads a morally
strong write passes on what that told (observation order). A read learns at once where it acquires, else at its
thread's next fence.

Source: PTX ISA, "Memory Consistency Model": "Observation Order", "Release and Acquire Patterns", "Morally Strong
Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulate.knowledge import Knowledge, Vector, distance, join
from ptxkit.emulate.phase_clocks import ACQUIRES, RELEASES
from ptxkit.emulate.shadow import WRITE, Shadow
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.memory import Pool

_Patterns: TypeAlias = "dict[tuple[Cta, int], Vector]"
"""What release patterns tell, by the CTA of each and the level of its first operation's scope."""


@dataclass(slots=True)
class _Message:
    """What the last write of a location tells. cta, level: of the write, and of its scope. mark: its entry in the
    shadow, without which another write has come since; None until it is entered."""

    cta: Cta
    level: int
    patterns: _Patterns
    mark: tuple[int, int] | None = None


class Messages:
    """The messages at all locations."""

    def __init__(self) -> None:
        self._told: dict[tuple[Pool, int], _Message] = {}
        self._released: dict[tuple[Pool, int, Knowledge, int], tuple[int, Vector]] = {}

    def speak(  # noqa: PLR0913, PLR0917 (all that an access is)
        self, known: Knowledge, index: Any, shadow: Shadow, pool: Pool, places: Any, kind: str, order: str, level: int
    ) -> None:
        """Strong accesses of threads, before they are entered; updates have their turns, in the order of threads."""
        if kind == "read":
            if self._told:
                for thread, place in zip(index.tolist(), places.tolist(), strict=True):
                    self._take(known, thread, self._at(shadow, pool, place), order, level)
            return
        if order not in RELEASES and not known.has_fenced and not self._told and not self._released:
            return
        for thread, place in zip(index.tolist(), places.tolist(), strict=True):
            before = self._at(shadow, pool, place) if kind == "update" else None
            passed = self._take(known, thread, before, order, level)
            given = self._given(known, thread, pool, place, order, level)
            for pattern, told in passed.items():
                given[pattern] = join(dict(given[pattern]), told) if pattern in given else told
            if given:
                self._told[pool, place] = _Message(known.cta, level, given)
            elif (pool, place) in self._told:
                del self._told[pool, place]

    def entered(self, shadow: Shadow, pool: Pool, places: Any) -> None:
        """Strong writes are entered in the shadow."""
        if self._told:
            for place in places.tolist():
                message = self._told.get((pool, place))
                if message is not None:
                    message.mark = _mark(shadow, place)

    def _at(self, shadow: Shadow, pool: Pool, place: int) -> _Message | None:
        """The message of the write that is there."""
        found = self._told.get((pool, place))
        return found if found is not None and found.mark in (None, _mark(shadow, place)) else None

    @staticmethod
    def _take(known: Knowledge, thread: int, message: _Message | None, order: str, level: int) -> _Patterns:
        """A thread reads a write: what it observes."""
        if message is None or distance(message.cta, known.cta) > min(message.level, level):
            return {}
        for (cta, reach), told in message.patterns.items():
            need = distance(cta, known.cta)
            if order in ACQUIRES and need <= min(level, reach):
                known.learn(numpy.array([thread]), told)
            elif need <= reach:
                waiting = known.seen.setdefault(thread, [])
                if not any(each is told for _, each in waiting[-len(message.patterns) :]):  # a thread may poll for long
                    waiting.append((need, told))
        return message.patterns

    def _given(self, known: Knowledge, thread: int, pool: Pool, place: int, order: str, level: int) -> _Patterns:
        """What a thread's write tells of its own."""
        key = (pool, place, known, thread)
        if order in RELEASES:
            told = known.tell(numpy.array([thread]))
            self._released[key] = level, told
            return {(known.cta, level): told}
        given: _Patterns = {(known.cta, reach): told for reach, told in known.fenced(thread).items()}
        earlier = self._released.get(key)
        if earlier is not None:
            reach, told = earlier
            held = given.get((known.cta, reach))
            given[known.cta, reach] = told if held is None else join(dict(held), told)
        return given


def _mark(shadow: Shadow, place: int) -> tuple[int, int]:
    unit = place // shadow.unit
    return int(shadow.entries[WRITE][unit]), int(shadow.sites[WRITE][unit])
