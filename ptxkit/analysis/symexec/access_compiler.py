"""Compiles accesses to memory that other threads may observe into recorded events."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from ptxkit.analysis.symexec.descriptor_addresses import UNIT_BYTES, far_unit, first_unit
from ptxkit.analysis.symexec.event_compiler import cta_mask_reader
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.symexec.store_compiler import compile_private_store
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    group_value_of,
    is_outside_shared_memory,
    lift,
)
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import StepAction
    from ptxkit.analysis.symexec.group_state import GroupState

#: The number of lanes of a warp.


def compile_access(
    operands: OperandCompiler, effect: fx.Access, *, keeps: bool, outside: frozenset[str]
) -> list[StepAction | None]:
    """Compiles an access.

    Accesses to shared memory and reads of tensor maps are recorded as events. Accesses to global memory are recorded if
    `outside` contains their kind. Stores to private memory are tracked, except that stores to memory other than
    parameters require `keeps`. All other accesses are not tracked.
    """
    if effect.space.startswith("param") or (effect.space.startswith("local") and keeps):
        return [compile_private_store(operands, effect)]
    anywhere = effect.kind in outside and effect.via in ("address", "multimem")
    is_now = (effect.proxy, effect.completion) == ("generic", None)
    anywhere &= effect.kind == "read" or is_now or effect.completion == "bulk"
    if effect.proxy == "tensormap" or (anywhere and effect.space == "global"):
        return [_compile_global_access(operands, effect)]
    if effect.via == "tensormap" or not effect.space.startswith(("shared", "generic")):
        return []
    actions = [_compile_shared_access(operands, effect, anywhere=anywhere)]
    if effect.rows is not None:
        actions.append(_compile_far_access(operands, effect))
    if effect.space == "generic" and keeps:
        actions.append(compile_private_store(operands, effect))
    return actions


def _compile_global_access(operands: OperandCompiler, effect: fx.Access) -> StepAction | None:
    """Records an access outside shared memory, with the address as a term."""
    address = operands.shared_offset_reader(effect.address, "generic")
    size = operands.evaluator(effect.size)
    barrier = operands.shared_offset_reader(effect.barrier) if effect.barrier else None
    if address is None:
        return None

    def record(state: GroupState) -> None:
        length = size(state) if size else None
        state.record(effect, address(state), length, None, barrier(state) if barrier else None)

    return record


def _compile_shared_access(
    operands: OperandCompiler, effect: fx.Access, *, anywhere: bool = False
) -> StepAction | None:
    """Records an access to shared memory.

    anywhere: whether an access through a generic address is also recorded if it is certainly outside shared memory.
    """
    generic = effect.space == "generic"
    if effect.via == "descriptor":
        address: ValueReader | None = _descriptor_address(operands, effect.address)
    else:
        address = operands.shared_offset_reader(effect.address, "generic" if generic else "shared")
    size = operands.evaluator(effect.size)
    barrier = operands.shared_offset_reader(effect.barrier) if effect.barrier else None
    unless = _inactive_lanes(operands, effect)
    ctas = cta_mask_reader(operands, effect.multicast)
    if address is None:
        return None

    def record(state: GroupState) -> None:
        place = address(state)
        if generic and isinstance(place, SymbolicValue) and is_outside_shared_memory(place) and not anywhere:
            return
        length = size(state) if size else None
        tracked = barrier(state) if barrier else None
        mask = ctas(state) if ctas else None
        state.record(effect, place, length, mask, tracked, unless=unless(state) if unless else None)

    return record


def _inactive_lanes(operands: OperandCompiler, effect: fx.Access) -> ValueReader | None:
    """Returns the threads that do not take part: those excluded by a predicate, or lanes without an address."""
    if effect.unless:
        return operands.evaluator(OperandRole(effect.unless))
    count = effect.lanes.value if isinstance(effect.lanes, ConstantExpr) else None
    if not isinstance(count, int) or count >= WARP_SIZE:
        return None
    return lambda state: group_value_of([int(tid % WARP_SIZE >= count) for tid in state.tids])


def _descriptor_address(operands: OperandCompiler, role: str) -> ValueReader | None:
    """Returns the address at which the matrix of a descriptor begins; each warpgroup of a group may give its own."""
    operand = operands.step.operand(role)
    if operand is None:
        return None
    reader = operands.reader(operand)
    return lambda state: lift(first_unit, reader(state))


def _shared_number(held: GroupValue) -> GroupValue:
    """Returns the number that all threads share, if they share one; else the values as they are."""
    if not isinstance(held, LaneValues) or not held.are_numbers:
        return held
    return held.values[0] if held.values.count(held.values[0]) == held.count else held


def _compile_far_access(operands: OperandCompiler, effect: fx.Access) -> StepAction | None:
    """Records the access to a part of a descriptor's matrix that is far from its beginning, if that part is known."""
    roles = (OperandRole(effect.address), effect.rows, effect.width, effect.transposed or ConstantExpr(0))
    readers = [reader for each in roles if (reader := operands.evaluator(each)) is not None]
    if len(readers) < len(roles):
        return None

    def record(state: GroupState) -> None:
        values = [_shared_number(each(state)) for each in readers]
        lanes = next((each.count for each in values if isinstance(each, LaneValues)), 1)
        columns = [each.values if isinstance(each, LaneValues) else repeat(each, lanes) for each in values]
        rows = list(zip(*columns, strict=True))
        places = {row: far_unit(*row) for row in set(rows)}  # the threads of a warpgroup have one descriptor
        known = [place for row in rows if (place := places[row]) is not None]
        if len(known) == len(rows):
            state.record(effect, group_value_of(known), UNIT_BYTES)

    return record
