"""Which assignment a register holds where it is read: the static single assignment form, computed on demand.

Where several assignments may reach the start of a block, the register has a separate value there (a merge).

Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import named_registers
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import AsyncRegisters, Control, Value
from ptxkit.syntax.tree import Name


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """The value of a register after a step. If the step has a guard, the register may keep its value."""

    register: str
    step: Step


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """The value of a register at the start of a block with several predecessors."""

    register: str
    block: int


@dataclass(frozen=True, slots=True, eq=False)
class Unassigned:
    """The value of a register that no step has assigned, or that an asynchronous operation may write at any time."""

    register: str


ValueNode: TypeAlias = Assignment | Merge | Unassigned


class ValueGraph:
    """The values of the registers of one function, all of whose instructions and branch targets are known."""

    def __init__(self, program: Program, cfg: ControlFlowGraph) -> None:
        self._program, self._cfg = program, cfg
        self._assignments: dict[tuple[str, int], Assignment] = {}
        self._at_start: dict[tuple[str, int], ValueNode] = {}
        self._unassigned: dict[str, Unassigned] = {}
        self._sources: dict[Merge, list[tuple[int | None, ValueNode]]] = {}

    @cached_property
    def _defining_steps(self) -> dict[str, list[int]]:
        """The indices of the steps that may assign each register, in the order of the text."""
        found: dict[str, list[int]] = defaultdict(list)
        for register, steps in self._program.definitions.items():
            found[register] = list(dict.fromkeys(step.index for step in steps))
        calls = [step for step in self._program.own_effectful_steps if _is_call(step)]
        for step in calls:
            for register in dict.fromkeys(named_registers(step)):
                if step.index not in found[register]:
                    found[register] = sorted((*found[register], step.index))
        return found

    @cached_property
    def _asynchronous(self) -> frozenset[str]:
        """The registers that asynchronous operations write."""
        return frozenset(
            register
            for step in self._program.own_effectful_steps
            for effect in step.effects
            if isinstance(effect, AsyncRegisters) and effect.kind != "read"
            for register in registers_in(step.operand(effect.operand), step.scope)
        )

    def before(self, step: Step, register: str) -> ValueNode:
        """Returns the value of a register that a step reads."""
        if register in self._asynchronous:
            return self._never_assigned(register)
        block = self._cfg.block_of(step)
        return self._last_in_block(register, block, step.index) or self.at_start(block, register)

    def after(self, step: Step, register: str) -> Assignment:
        """Returns the value of a register after a step that assigns it."""
        return self._assignment(register, step.index)

    def at_end(self, block: int, register: str) -> ValueNode:
        """Returns the value of a register after the last step of a block."""
        if register in self._asynchronous:
            return self._never_assigned(register)
        end = self._cfg.steps_of_block(block)[-1].index + 1
        return self._last_in_block(register, block, end) or self.at_start(block, register)

    def at_start(self, block: int, register: str) -> ValueNode:
        """Returns the value of a register before the first step of a block."""
        passed: list[int] = []
        found: ValueNode | None = None
        while found is None:
            found = self._at_start.get((register, block))
            if found is not None:
                break
            passed.append(block)
            predecessors = self._cfg.predecessors[block]
            sole = self._sole_assignment(register, block)
            if sole is not None:
                found = sole
            elif (block == 0 and not predecessors) or not self._cfg.dominators.is_reachable(block):
                found = self._never_assigned(register)
            elif block == 0 or len(predecessors) != 1:
                found = Merge(register, block)
            else:
                (block,) = predecessors
                end = self._cfg.steps_of_block(block)[-1].index + 1
                found = self._last_in_block(register, block, end)
        for each in passed:
            self._at_start[(register, each)] = found
        return found

    def sources_of(self, merge: Merge) -> list[tuple[int | None, ValueNode]]:
        """Returns the values that a merge may have, each with the block that control comes from; None for the entry."""
        found = self._sources.get(merge)
        if found is None:
            found = self._sources[merge] = [
                (block, self.at_end(block, merge.register))
                for block in self._cfg.predecessors[merge.block]
                if self._cfg.dominators.is_reachable(block)
            ]
            if merge.block == 0:
                found.append((None, self._never_assigned(merge.register)))
        return found

    def _sole_assignment(self, register: str, block: int) -> ValueNode | None:
        """Returns the only assignment of a register if it is on every path to a block; None otherwise."""
        steps = self._defining_steps.get(register, ())
        if not steps:
            return self._never_assigned(register)
        if len(steps) > 1:
            return None
        step = self._program.steps[steps[0]]
        home = self._cfg.block_of(step)
        if step.instruction.guard is not None or home == block or not self._cfg.dominators.dominates(home, block):
            return None
        return self._assignment(register, step.index)

    def _last_in_block(self, register: str, block: int, end: int) -> Assignment | None:
        """Returns the last assignment in a block before a step."""
        steps = self._defining_steps.get(register, ())
        at = bisect_left(steps, end) - 1
        if at < 0 or steps[at] < self._cfg.block_starts[block]:
            return None
        return self._assignment(register, steps[at])

    def _assignment(self, register: str, index: int) -> Assignment:
        found = self._assignments.get((register, index))
        if found is None:
            found = self._assignments[(register, index)] = Assignment(register, self._program.steps[index])
        return found

    def _never_assigned(self, register: str) -> Unassigned:
        return self._unassigned.setdefault(register, Unassigned(register))


def sole_value(step: Step, register: str) -> Value | None:
    """Returns the only effect by which a step assigns a register as a whole; None if none or several do."""
    found = [effect for effect in step.effects if isinstance(effect, Value) and _result(step, effect) == register]
    return found[0] if len(found) == 1 else None


def _result(step: Step, effect: Value) -> str | None:
    operand = step.operand(effect.result)
    return step.scope.register_name(operand.text) if isinstance(operand, Name) else None


def _is_call(step: Step) -> bool:
    return any(isinstance(effect, Control) and effect.kind == "call" for effect in step.effects)
