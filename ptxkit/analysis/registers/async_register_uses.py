"""Finds the instructions that name registers of asynchronous operations, whatever the order of execution.

A plain move gives a value another name, so the targets of moves of such registers count, and the moves do not.

Source: PTX ISA, "wgmma.mma_async", "wgmma.wait_group".
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import named_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.registers.wgmma_events import WgmmaEvent, WgmmaEventKind, WgmmaEvents
from ptxkit.analysis.registers.wgmma_hazards import find_issues


class AsyncRegisterUses:
    """The instructions of one function that name registers of the asynchronous operations of a group."""

    def __init__(self, program: Program, group: str) -> None:
        self._program = program
        self.events = WgmmaEvents(group)
        self.issues: list[WgmmaEvent] = [self.events[step] for step in find_issues(program, group)]

    @cached_property
    def moves(self) -> dict[str, list[WgmmaEvent]]:
        """The plain moves between registers, by source."""
        found: dict[str, list[WgmmaEvent]] = defaultdict(list)
        for event in map(self.events.__getitem__, self._program.steps if self.issues else ()):
            for source in event.sources:
                found[source].append(event)
        return found

    @cached_property
    def steps(self) -> list[Step]:
        """The instructions that name such a register, in the order of the text."""
        names = Worklist(name for issue in self.issues for name in issue.registers)
        for name in names:
            names.add(move.target for move in self.moves.get(name, ()))
        if not names.seen:
            return []
        return [step for step in self._program.steps if not self.registers_used(step).isdisjoint(names.seen)]

    def registers_used(self, step: Step) -> frozenset[str]:
        """Returns the registers that a step computes with, stores, passes to a function or overwrites."""
        event = self.events[step]
        if event.kind in (WgmmaEventKind.ISSUE, WgmmaEventKind.OTHER):
            return event.registers
        return frozenset(named_registers(step)) if event.kind is WgmmaEventKind.UNKNOWN else frozenset()
