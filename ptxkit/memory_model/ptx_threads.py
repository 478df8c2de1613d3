"""The code of a thread of a PTX kernel: from its instructions to the events of the model.

What an instruction does is read from the instruction table: its effects, and for atomic operations its semantics. Each
thread is the first lane of a separate warp, so that barriers of a warp do nothing, and barriers of a CTA count warps.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa import table
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Control,
    Effect,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    Value,
    WaitGroup,
)
from ptxkit.isa.forms import Match
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.limits import MAX_LOCAL_STEPS
from ptxkit.memory_model.litmus_test import Input, Operation, ThreadState, TimedEvent
from ptxkit.memory_model.ptx_events import EventMaker, is_refused
from ptxkit.memory_model.ptx_state import PtxState
from ptxkit.memory_model.ptx_values import PtxOperandReader, PtxStep
from ptxkit.semantics.control_flow import successors_of
from ptxkit.semantics.linear_code import LinearCode
from ptxkit.semantics.ordering import is_warp_barrier
from ptxkit.semantics.symbols import NameScope
from ptxkit.syntax.printer import print_instruction
from ptxkit.syntax.tree import Name, Vector

_VISIBLE = (
    *(Barrier, MemoryFence, ProxyFence, WaitGroup, CommitGroup),
    *(MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierInit, MbarrierInvalidate, MbarrierTrack, MbarrierWait),
)
"""The effects that other threads may notice, besides accesses."""


def decorate(code: LinearCode[NameScope]) -> list[PtxStep]:
    """Returns the instructions with their forms. Raises LitmusError for one that the model does not cover."""
    steps = []
    for step in code.steps:
        match = table().match(step.instruction)
        text = print_instruction(replace(step.instruction, guard=None)).strip().rstrip(";")
        if not isinstance(match, Match):
            raise LitmusError(f"`{text}` is no instruction", "`ptxkit lint` states why")
        if any(is_refused(effect) for effect in match.effects):
            raise LitmusError(f"the model does not cover `{text}`", "it covers accesses, fences, barriers and copies")
        steps.append(PtxStep(step, match, text))
    return steps


@dataclass(slots=True, eq=False)
class PtxCode:
    """The code of one thread of a kernel."""

    steps: Sequence[PtxStep]
    reader: PtxOperandReader
    maker: EventMaker
    _live: list[frozenset[str]] = field(default_factory=list)

    @property
    def start(self) -> ThreadState:
        """The state before the first instruction."""
        return PtxState()

    def final_registers(self, state: ThreadState) -> Mapping[str, int]:
        """Returns the registers."""
        assert isinstance(state, PtxState)
        return dict(state.registers)

    def loop_key(self, state: ThreadState) -> Hashable:
        """Returns the place, the live registers and the open groups."""
        assert isinstance(state, PtxState)
        if not self._live:
            self._live = live_registers(self.steps)
        live = self._live[state.at]
        return state.at, tuple(each for each in state.registers if each[0] in live), state.groups

    def settle(self, state: ThreadState) -> ThreadState:
        """Executes what no other thread notices. Raises LitmusError at an endless loop of that."""
        assert isinstance(state, PtxState)
        for _ in range(MAX_LOCAL_STEPS):
            if state.at >= len(self.steps):
                return state
            step = self.steps[state.at]
            if not self._is_executed(step, state):
                state = replace(state, at=state.at + 1)
            elif any(_is_visible(effect) for effect in step.match.effects):
                return state
            else:
                state = self._execute(step, state)
        raise LitmusError("a loop without an access to memory does not end", "let it read a location, or remove it")

    def _is_executed(self, step: PtxStep, state: PtxState) -> bool:
        guard = step.step.instruction.guard
        if guard is None:
            return True
        value = dict(state.registers).get(step.step.scope.declared_name(guard.predicate), 0)
        return bool(value) != guard.negated

    def _execute(self, step: PtxStep, state: PtxState) -> PtxState:
        """Executes an instruction without events."""
        following = state.at + 1
        taint = state.taint_of(read_names(step))
        control = state.control
        if step.step.instruction.guard is not None:
            control |= taint
        for effect in step.match.effects:
            if isinstance(effect, Control):
                if effect.kind == "branch" and step.step.targets:
                    following = step.step.targets[0]
                elif effect.kind in ("return", "exit"):
                    following = len(self.steps)
                else:
                    raise LitmusError(f"the model does not cover `{step.text}`", "write one kernel without calls")
        after = state
        for effect in step.match.effects:
            if isinstance(effect, Value):
                after = self._assign(step, after, effect, state, taint)
        return replace(after, at=following, control=control)

    def _assign(
        self, step: PtxStep, after: PtxState, effect: Value, before: PtxState, taint: frozenset[int]
    ) -> PtxState:
        values = self._results(step, effect, dict(before.registers))
        for name, value in values:
            after = after.assign(name, value, taint)
        return after

    def _results(self, step: PtxStep, effect: Value, registers: Mapping[str, int]) -> list[tuple[str, int]]:
        """Returns the registers that a local value goes to. An unknown value is 0."""
        operand = step.match.operand(effect.result, step.step.instruction)
        if isinstance(operand, Vector):
            return [(name, 0) for name in self.maker.result_names(step, effect.result)]
        if not isinstance(operand, Name) or operand.text == "_":
            return []
        value = self.maker.parameter_value(step, registers)
        if value is None:
            value = self.reader.evaluate(step, effect.value, registers)
        return [(step.step.scope.declared_name(operand.text), value or 0)]

    def next_operation(self, state: ThreadState) -> Operation | None:
        """Returns the next instruction that other threads may notice."""
        assert isinstance(state, PtxState)
        if state.at >= len(self.steps):
            return None
        step = self.steps[state.at]
        inputs = self.maker.inputs(step, state)

        def perform(values: Sequence[int], at: int) -> tuple[Sequence[TimedEvent], ThreadState]:
            depends = state.control | state.taint_of(read_names(step))
            return self.maker.perform(step, state, values, at, depends)

        typed: tuple[Input, ...] = tuple(inputs)
        return Operation(typed, perform)


def _is_visible(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return not effect.space.startswith(("param", "const", "local"))
    return isinstance(effect, _VISIBLE) and not is_warp_barrier(effect)


def read_names(step: PtxStep) -> list[str]:
    """Returns the registers that an instruction reads, with its guard."""
    scope, instruction = step.step.scope, step.step.instruction
    results = {step.match.roles[role] for role in step.match.results if role in step.match.roles}
    names: list[str] = []
    todo: list[object] = [each for at, each in enumerate(instruction.operands) if at not in results]
    while todo:
        operand = todo.pop()
        if isinstance(operand, Name):
            names.append(scope.declared_name(operand.text))
        else:
            todo += [
                getattr(operand, part) for part in ("base", "operand", "first", "second") if hasattr(operand, part)
            ]
            todo += list(getattr(operand, "elements", ()))
    guard = instruction.guard
    return [*names, *([scope.declared_name(guard.predicate)] if guard is not None else [])]


def live_registers(steps: Sequence[PtxStep]) -> list[frozenset[str]]:
    """Returns the registers that may be read before they are written, by instruction and at the end."""
    live: list[frozenset[str]] = [frozenset() for _ in range(len(steps) + 1)]
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(steps))):
            step = steps[at]
            instruction = step.step.instruction
            after = frozenset().union(*(live[each] for each in successors_of(step.step, step.match.effects)))
            written = [step.match.operand(role, instruction) for role in step.match.results]
            killed = {step.step.scope.declared_name(each.text) for each in written if isinstance(each, Name)}
            found = (after - killed if instruction.guard is None else after) | frozenset(read_names(step))
            if found != live[at]:
                live[at], changed = found, True
    return live
