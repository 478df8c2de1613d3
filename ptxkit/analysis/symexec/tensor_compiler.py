"""Compiles operations on Tensor Memory: accesses by their addresses, allocations by columns.

Source: PTX ISA, "Tensor Memory", "Tensor Memory Addressing", "tcgen05.alloc".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable, Value, lift
from ptxkit.isa import effects as fx

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

#: The base term of absolute addresses in Tensor Memory, so that no number is taken for an address of shared memory.
BASE = ("tensor memory",)
#: The space of such a term: the address is not relative to an allocation.
ABSOLUTE = "tensor"


def compile_tensor_access(operands: OperandCompiler, effect: fx.Access) -> Callable[[GroupState], None] | None:
    """Records an access to Tensor Memory."""
    address = _address_reader(operands, effect.address)
    size = operands.evaluator(effect.size)
    if address is None:
        return None

    def record(state: GroupState) -> None:
        state.record(effect, address(state), size(state) if size else None)

    return record


def compile_tensor_allocation(operands: OperandCompiler, effect: fx.TensorMemory) -> Callable[[GroupState], None]:
    """Records an allocation or a deallocation of Tensor Memory, with the number of columns as its amount.

    The address of an allocation is the shared word that receives the result; that of a deallocation is its operand.
    """
    written = effect.action == "allocate" and effect.address is not None
    place = (
        operands.shared_offset_reader(effect.address or "") if written else _address_reader(operands, effect.address)
    )
    columns = operands.evaluator(effect.columns)

    def record(state: GroupState) -> None:
        where = place(state) if place else None
        state.record(effect, where, None, columns(state) if columns else None)

    return record


def _address_reader(operands: OperandCompiler, role: str | None) -> ValueReader | None:
    operand = operands.step.operand(role) if role is not None else None
    if operand is None:
        return None
    reader = operands.reader(operand)
    return lambda state: lift(partial(_with_tensor_base, state.symbolic_values), reader(state))


def _with_tensor_base(terms: SymbolicValueTable, place: Value) -> Value:
    return terms.intern(BASE).with_space(ABSOLUTE).plus(place) if isinstance(place, int) else place
