"""Registers that loads of Tensor Memory write: a wait for the load must precede an instruction that uses them.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations": "Register dependencies, same
thread".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ptxkit.emulator.limits import MAX_CACHED_OPCODES
from ptxkit.emulator.races.tensor_memory_order import LOAD, tensor_memory_order_of
from ptxkit.emulator.races.wgmma_register_hazards import operand_slots
from ptxkit.emulator.state.symbols import BlockScope
from ptxkit.isa import table
from ptxkit.isa.effects import AsyncRegisters
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.semantics.linear_code import LinearStep

if TYPE_CHECKING:
    from ptxkit.emulator.threads.thread_groups import Signal, Step, ThreadGroup


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def may_load_tensor_memory(opcode: str) -> bool:
    """Returns whether an instruction may load from Tensor Memory to registers."""
    return any(_loaded_registers(match) for match in table().candidates(opcode))


def _loaded_registers(match: Match) -> list[str]:
    return [each.operand for each in match.effects if isinstance(each, AsyncRegisters) and each.group == LOAD]


class LoadedRegisterWatch:
    """The registers of a function that loads of Tensor Memory write."""

    def __init__(self, linear_steps: Sequence[LinearStep[BlockScope]]) -> None:
        slots: set[int] = set()
        for linear in linear_steps:
            match = table().match(linear.instruction)
            if not isinstance(match, Mismatch):
                for role in _loaded_registers(match):
                    slots.update(operand_slots(match.operand(role, linear.instruction), linear.scope))
        self._slots = frozenset(slots)

    def instrument(self, step: Step, linear: LinearStep[BlockScope], match: Match) -> Step:
        """Wraps a step to report the registers that it uses."""
        instruction, scope = linear.instruction, linear.scope
        results = _loaded_registers(match)
        if results:
            brought = {slot for role in results for slot in operand_slots(match.operand(role, instruction), scope)}
            return _loading_step(step, sorted(brought))
        used = self._slots & {slot for each in instruction.operands for slot in operand_slots(each, scope)}
        return _using_step(step, sorted(used)) if used else step


def _loading_step(step: Step, slots: Sequence[int]) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        signal = step(group)
        order = tensor_memory_order_of(group)
        if signal is None and order is not None:
            order.record_load(group, slots)
        return signal

    return run


def _using_step(step: Step, slots: Sequence[int]) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        order = tensor_memory_order_of(group)
        if order is not None:
            order.record_register_use(group, slots)
        return step(group)

    return run
