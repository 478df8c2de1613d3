"""What a walker records of Tensor Memory: accesses by their addresses, allocations by columns.

Source: PTX ISA, "Tensor Memory", "Tensor Memory Addressing", "tcgen05.alloc".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.operands import Operands, Reader
from ptxkit.analysis.terms import Terms, Value, lifted
from ptxkit.isa import effects as fx

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker

#: The term that numbers count from: no number may be taken for an address of shared memory.
BASE = ("tensor memory",)
#: The space of such a term: the address counts from no allocation.
ABSOLUTE = "tensor"


def tensor_access(operands: Operands, effect: fx.Access) -> Callable[[Walker], None] | None:
    """Records an access to Tensor Memory."""
    address = _place(operands, effect.address)
    size = operands.evaluator(effect.size)
    if address is None:
        return None

    def record(walker: Walker) -> None:
        walker.record(effect, address(walker), size(walker) if size else None)

    return record


def tensor_memory(operands: Operands, effect: fx.TensorMemory) -> Callable[[Walker], None]:
    """Records an allocation with the shared word that receives the address, a deallocation with the address itself;
    the amount is the columns."""
    written = effect.action == "allocate" and effect.address is not None
    place = operands.shared(effect.address or "") if written else _place(operands, effect.address)
    columns = operands.evaluator(effect.columns)

    def record(walker: Walker) -> None:
        where = place(walker) if place else None
        walker.record(effect, where, None, columns(walker) if columns else None)

    return record


def _place(operands: Operands, role: str | None) -> Reader | None:
    operand = operands.role(role) if role is not None else None
    if operand is None:
        return None
    reader = operands.reader(operand)
    return lambda walker: lifted(partial(_apart, walker.terms), reader(walker))


def _apart(terms: Terms, place: Value) -> Value:
    return terms.of(BASE).within(ABSOLUTE).plus(place) if isinstance(place, int) else place
