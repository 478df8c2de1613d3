"""Reads of global memory before a thread waits for prerequisite grids, if the same data is read again after the wait.

Source: PTX ISA, "griddepcontrol".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.limits import MAX_CACHED_OPCODES
from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.vector_clocks import CtaClocks
from ptxkit.emulator.races.witnesses import access_witness
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver
from ptxkit.isa import table
from ptxkit.isa.effects import Grid

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_WORD = 4


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def may_wait_for_grids(opcode: str) -> bool:
    """Returns whether an instruction may wait for other grids."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(each, Grid) and each.action == "wait" for each in effects)


class GridDependencyReads(MachineObserver):
    """The threads that have waited, and the words that threads read before, for the strict policy."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history
        self._has_waited: dict[CtaState, Any] = {}
        self._wait_clocks: list[tuple[CtaClocks, Any, Any]] = []
        self._early_words: dict[ByteBuffer, Any] = {}
        self._reads: list[tuple[FunctionCode, int, CtaState, int]] = []
        self._is_relevant: bool | None = None

    def on_grid_dependency_wait(self, group: ThreadGroup) -> None:
        """Records that threads wait for the grids that this one depends on."""
        known, index = self._history.clocks_of(group.cta), group.lanes.index
        self._state_of(group.cta)[index] = True
        self._wait_clocks.append((known, index, known.own_times[index].copy()))

    def _state_of(self, cta: CtaState) -> Any:
        found = self._has_waited.get(cta)
        if found is None:
            found = self._has_waited[cta] = numpy.zeros(cta.threads, bool)
        return found

    def on_access(self, event: AccessEvent) -> None:
        """Records plain reads of global memory, which do not synchronize with other threads."""
        group, pool = event.group, event.buffer
        if event.kind != "read" or event.order != "weak" or pool.name != "global":
            return
        if self._is_relevant is None:
            codes = group.cta.machine.program.decoded_functions
            self._is_relevant = any(may_wait_for_grids(each) for code in codes for each in code.opcodes)
        if not self._is_relevant:
            return
        index, waited = group.lanes.index, self._state_of(group.cta)
        early = self._early_words.get(pool)
        if early is None:
            early = self._early_words[pool] = numpy.zeros(len(pool.data) // _WORD, numpy.int32)
        first = event.byte_offsets >> 2
        for at in range(max(event.size // _WORD, 1)):
            words = first + at
            is_after_wait = waited[index]
            self._check_reread(group, pool, words[is_after_wait], index[is_after_wait], early)
            before = ~is_after_wait
            if before.any() and not self._is_ordered_after_wait(group, index[before]):
                place = (group.activation.function, group.pc, group.cta)
                for word, thread in zip(words[before].tolist(), index[before].tolist(), strict=True):
                    if not early[word]:
                        self._reads.append((*place, thread))
                        early[word] = len(self._reads)

    def _is_ordered_after_wait(self, group: ThreadGroup, index: Any) -> bool:
        """Returns whether a thread knows that another one has waited."""
        known = self._history.clocks_of(group.cta)
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
            start = int(words[at]) * _WORD
            own = access_witness(code, pc, cta, thread, pool, start, _WORD)
            here = (group.activation.function, group.pc, group.cta, int(index[at]))
            other = access_witness(*here, pool, start, _WORD)
            message = ptx6xx.READ_BEFORE_GRID_WAIT_SEEN(action=own.action)
            finding = Violation(message, own.line, code.offsets[pc], (own, other))
            group.cta.machine.report.add(finding)
            return
