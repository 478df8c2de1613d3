"""Reads of global memory before a thread waits for the grids that this one depends on, of what is read again behind it.

Source: PTX ISA, "griddepcontrol".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding
from ptxkit.emulate.knowledge import Knowledge
from ptxkit.isa import table
from ptxkit.isa.effects import Grid

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.program import Code
    from ptxkit.emulate.races import Races

_WORD = 4


@lru_cache(maxsize=4096)
def is_wait(opcode: str) -> bool:
    """Whether an instruction may wait for other grids."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(each, Grid) and each.action == "wait" for each in effects)


class GridReads:
    """Who has waited, and who read which words before."""

    def __init__(self, races: Races) -> None:
        self._races = races
        self._waited: dict[Cta, Any] = {}
        self._told: list[tuple[Knowledge, Any, Any]] = []
        self._early: dict[Pool, Any] = {}
        self._reads: list[tuple[Code, int, Cta, int]] = []
        self._matters: bool | None = None

    def waits(self, group: Group) -> None:
        """Threads wait for the grids that this one depends on."""
        known, index = self._races.knowledge(group.cta), group.lanes.index
        self._of(group.cta)[index] = True
        self._told.append((known, index, known.own[index].copy()))

    def _of(self, cta: Cta) -> Any:
        found = self._waited.get(cta)
        if found is None:
            found = self._waited[cta] = numpy.zeros(cta.threads, bool)
        return found

    def read(self, group: Group, pool: Pool, places: Any, size: int) -> None:
        """Threads read global memory, as anybody does who need not be told by others."""
        if self._matters is None:
            codes = group.cta.machine.program.codes
            self._matters = any(is_wait(each) for code in codes for each in code.opcodes)
        if not self._matters:
            return
        index, waited = group.lanes.index, self._of(group.cta)
        early = self._early.get(pool)
        if early is None:
            early = self._early[pool] = numpy.zeros(len(pool.data) // _WORD, numpy.int32)
        first = places >> 2
        for at in range(max(size // _WORD, 1)):
            words = first + at
            behind = waited[index]
            self._check(group, pool, words[behind], index[behind], early)
            before = ~behind
            if before.any() and not self._hears(group, index[before]):
                place = (group.activation.code, group.pc, group.cta)
                for word, thread in zip(words[before].tolist(), index[before].tolist(), strict=True):
                    if not early[word]:
                        self._reads.append((*place, thread))
                        early[word] = len(self._reads)

    def _hears(self, group: Group, index: Any) -> bool:
        """Whether a thread has been told that another one has waited."""
        known = self._races.knowledge(group.cta)
        return any(
            known.knows(numpy.full(len(threads), one), other, threads, times).any()
            for other, threads, times in self._told
            for one in index[:1]
        )

    def _check(self, group: Group, pool: Pool, words: Any, index: Any, early: Any) -> None:
        numbers = early[words]
        for at in numpy.flatnonzero(numbers):
            code, pc, cta, thread = self._reads[int(numbers[at]) - 1]
            if not self._of(cta)[thread]:
                continue
            flight, start = group.cta.machine.asynchrony.flight, int(words[at]) * _WORD
            own = flight.witness(code, pc, cta, thread, pool, start, _WORD)
            here = (group.activation.code, group.pc, group.cta, int(index[at]))
            other = flight.witness(*here, pool, start, _WORD)
            message = (
                f"`{own.action}` reads before `griddepcontrol.wait` what is read again behind it at line {other.line}: "
                "an earlier grid may not have written it yet"
            )
            missing = "the wait before the read, or no other read where no earlier grid writes it"
            finding = Finding("PTX604", message, own.line, code.offsets[pc], (own, other), missing, "warning")
            group.cta.machine.report.add(finding)
            return
