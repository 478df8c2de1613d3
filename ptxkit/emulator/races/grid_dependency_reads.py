"""Reads of global memory before a thread waits for prerequisite grids, of data that is read again after the wait.

Source: PTX ISA, "griddepcontrol".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.races.vector_clocks import CtaClocks
from ptxkit.isa import table
from ptxkit.isa.effects import Grid

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.races.race_detector import RaceDetector
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_WORD = 4


@lru_cache(maxsize=4096)
def may_wait_for_grids(opcode: str) -> bool:
    """Return whether an instruction may wait for other grids."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(each, Grid) and each.action == "wait" for each in effects)


class GridDependencyReads:
    """The threads that have waited, and the words that threads read before."""

    def __init__(self, races: RaceDetector) -> None:
        self._detector = races
        self._has_waited: dict[Cta, Any] = {}
        self._wait_clocks: list[tuple[CtaClocks, Any, Any]] = []
        self._early_words: dict[ByteBuffer, Any] = {}
        self._reads: list[tuple[DecodedFunction, int, Cta, int]] = []
        self._is_relevant: bool | None = None

    def record_wait(self, group: ThreadGroup) -> None:
        """Record that threads wait for the grids that this one depends on."""
        known, index = self._detector.clocks_of(group.cta), group.lanes.index
        self._state_of(group.cta)[index] = True
        self._wait_clocks.append((known, index, known.own_times[index].copy()))

    def _state_of(self, cta: Cta) -> Any:
        found = self._has_waited.get(cta)
        if found is None:
            found = self._has_waited[cta] = numpy.zeros(cta.threads, bool)
        return found

    def record_read(self, group: ThreadGroup, pool: ByteBuffer, places: Any, size: int) -> None:
        """Record plain reads of global memory, which do not synchronize with other threads."""
        if self._is_relevant is None:
            codes = group.cta.machine.program.decoded_functions
            self._is_relevant = any(may_wait_for_grids(each) for code in codes for each in code.opcodes)
        if not self._is_relevant:
            return
        index, waited = group.lanes.index, self._state_of(group.cta)
        early = self._early_words.get(pool)
        if early is None:
            early = self._early_words[pool] = numpy.zeros(len(pool.data) // _WORD, numpy.int32)
        first = places >> 2
        for at in range(max(size // _WORD, 1)):
            words = first + at
            behind = waited[index]
            self._check_reread(group, pool, words[behind], index[behind], early)
            before = ~behind
            if before.any() and not self._is_ordered_after_wait(group, index[before]):
                place = (group.activation.function, group.pc, group.cta)
                for word, thread in zip(words[before].tolist(), index[before].tolist(), strict=True):
                    if not early[word]:
                        self._reads.append((*place, thread))
                        early[word] = len(self._reads)

    def _is_ordered_after_wait(self, group: ThreadGroup, index: Any) -> bool:
        """Return whether a thread knows that another one has waited."""
        known = self._detector.clocks_of(group.cta)
        return any(
            known.happens_before(numpy.full(len(threads), one), other, threads, times).any()
            for other, threads, times in self._wait_clocks
            for one in index[:1]
        )

    def _check_reread(self, group: ThreadGroup, pool: ByteBuffer, words: Any, index: Any, early: Any) -> None:
        numbers = early[words]
        for at in numpy.flatnonzero(numbers):
            code, pc, cta, thread = self._reads[int(numbers[at]) - 1]
            if not self._state_of(cta)[thread]:
                continue
            flight, start = group.cta.machine.async_engine.inflight, int(words[at]) * _WORD
            own = flight.access_witness(code, pc, cta, thread, pool, start, _WORD)
            here = (group.activation.function, group.pc, group.cta, int(index[at]))
            other = flight.access_witness(*here, pool, start, _WORD)
            message = (
                f"`{own.action}` reads before `griddepcontrol.wait` what is read again behind it at line {other.line}: "
                "an earlier grid may not have written it yet"
            )
            missing = "the wait before the read, or no other read where no earlier grid writes it"
            finding = Violation("PTX604", message, own.line, code.offsets[pc], (own, other), missing, "warning")
            group.cta.machine.report.add(finding)
            return
