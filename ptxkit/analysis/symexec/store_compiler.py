"""Compiles stores: to the private memory of the thread, and broadcasts to its whole CTA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.dataflow.slicing import ProgramSlice
from ptxkit.analysis.symexec.convergence_compiler import is_collective_instruction
from ptxkit.analysis.symexec.lane_ops import private_location
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, constant_reader
from ptxkit.analysis.values.symbolic_values import LaneValues, SymbolicValue, Value, value_of_lane
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.tree import Address, Name, Operand, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction
    from ptxkit.analysis.symexec.group_state import GroupState

#: The sizes in bytes of an element that can be broadcast.
_BROADCAST_SIZES = (1, 2, 4, 8)


def compile_private_store(operands: OperandCompiler, effect: fx.Access) -> StepAction | None:
    """Returns the action of a store to local memory or to a parameter; a later load of the thread returns the value."""
    target = operands.step.operand(effect.address)
    sources, each = _stored_operands(operands, effect)
    if effect.kind != "write" or not isinstance(target, Address) or not sources:
        return None
    readers = [operands.reader(source) for source in sources]
    name, place = effect.space, operands.reader(target)
    if effect.space.startswith("param") and isinstance(target.base, Name):
        name, place = target.base.text, constant_reader(target.offset)

    def store(state: GroupState) -> None:
        space, where = name, place(state)
        if space == "generic":
            space, where = private_location(state, where)
            if space != "local":
                if _may_be_private(value_of_lane(where, state.first_active)):
                    state.private_memory.clear("local")
                return
        for position, reader in enumerate(readers):
            cell = state.operations.add_offset(where, position * each)
            state.store_private(space, cell, reader(state), each)

    return store


def _may_be_private(address: Value) -> bool:
    """Returns whether a generic address that is not known to be in local memory may nevertheless be there."""
    return isinstance(address, SymbolicValue) and not address.pointer and address.space is None


def compile_broadcast_store(
    operands: OperandCompiler, effect: fx.Access, wanted: ProgramSlice | None
) -> StepAction | None:
    """Returns the action of a store of one value, at one address, by all threads of the group.

    Other threads may load the value after a barrier.
    """
    match = operands.step.match
    sources, each = _stored_operands(operands, effect)
    is_plain = effect.kind == "write" and (effect.proxy, effect.completion) == ("generic", None)
    if match is None or is_collective_instruction(match) or not is_plain or not effect.space.startswith("shared"):
        return None
    address = operands.shared_offset_reader(effect.address)
    if address is None or each not in _BROADCAST_SIZES:
        return None
    readers = [
        operands.reader(source) if wanted is None or wanted.is_tracked(source, operands.scope) else None
        for source in sources
    ]

    def send(state: GroupState) -> None:
        place = address(state)
        if isinstance(place, int):
            for position, reader in enumerate(readers):
                held = reader(state) if reader else None
                value = None if isinstance(held, LaneValues) else held
                if isinstance(value, int):
                    value &= bit_mask(8 * each)
                state.exchange.broadcasts.store(state, place + position * each, each, value)

    return send


def _stored_operands(operands: OperandCompiler, effect: fx.Access) -> tuple[tuple[Operand, ...], int]:
    """Returns the operands that a store writes, and the size of each element in bytes."""
    target = operands.step.operand(effect.address)
    stored = [operand for operand in operands.step.instruction.operands if operand is not target]
    if not stored:
        return (), 0
    sources = stored[0].elements if isinstance(stored[0], Vector) else (stored[0],)
    total = effect.size.value if isinstance(effect.size, ConstantExpr) and isinstance(effect.size.value, int) else 0
    return sources, total // len(sources)
