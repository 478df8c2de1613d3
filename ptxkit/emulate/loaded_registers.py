"""Registers that loads of Tensor Memory bring something to: whoever uses them waits for the load.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations": "Register dependencies, same
thread".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.emulate.register_flight import slots_in
from ptxkit.emulate.scopes import Scope
from ptxkit.emulate.tensor_order import LOAD
from ptxkit.isa import table
from ptxkit.isa.effects import AsyncRegisters
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.syntax.tree import Instruction

if TYPE_CHECKING:
    from ptxkit.emulate.groups import Group, Signal

Step: TypeAlias = "Callable[[Group], Signal | None]"


@lru_cache(maxsize=4096)
def is_load(opcode: str) -> bool:
    """Whether an instruction may load from Tensor Memory to registers."""
    return any(_results(match) for match in table().candidates(opcode))


def _results(match: Match) -> list[str]:
    return [each.operand for each in match.effects if isinstance(each, AsyncRegisters) and each.group == LOAD]


class LoadedRegisters:
    """The registers of a function to which Tensor Memory is loaded."""

    def __init__(self, body: Sequence[tuple[Instruction, Scope]]) -> None:
        slots: set[int] = set()
        for instruction, scope in body:
            match = table().match(instruction)
            if not isinstance(match, Mismatch):
                for role in _results(match):
                    slots.update(slots_in(match.operand(role, instruction), scope))
        self._slots = frozenset(slots)

    def watched(self, step: Step, instruction: Instruction, match: Match, scope: Scope) -> Step:
        """A step that tells of the registers that it uses."""
        results = _results(match)
        if results:
            brought = {slot for role in results for slot in slots_in(match.operand(role, instruction), scope)}
            return _loading(step, sorted(brought))
        used = self._slots & {slot for each in instruction.operands for slot in slots_in(each, scope)}
        return _using(step, sorted(used)) if used else step


def _loading(step: Step, slots: Sequence[int]) -> Step:
    def run(group: Group) -> Signal | None:
        signal = step(group)
        order = group.cta.machine.order.tensor
        if signal is None and order is not None:
            order.loads_to(group, slots)
        return signal

    return run


def _using(step: Step, slots: Sequence[int]) -> Step:
    def run(group: Group) -> Signal | None:
        order = group.cta.machine.order.tensor
        if order is not None:
            order.registers_used(group, slots)
        return step(group)

    return run
