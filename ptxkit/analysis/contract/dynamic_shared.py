"""Derives how many bytes of dynamic shared memory a launch must provide, and how its start must be aligned.

Source: PTX ISA, "Shared State Space", "Alignment", "Size and alignment of mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import get_args

from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.derived_condition import DerivedCondition, scope_of
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.check_address_space import address_operands
from ptxkit.analysis.symexec.check_operands import required_alignment
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.values.scenario import representative_threads
from ptxkit.isa.effects import Access, Effect, MbarrierEffect
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.model.launch_contract import ConditionScope, DynamicShared
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.semantics.object_names import MBARRIER_BYTES
from ptxkit.syntax.tree import Address, Operand

#: As a tuple, since each effect is looked up in it.
_MBARRIER_EFFECTS = get_args(MbarrierEffect)


class DynamicSharedUse:
    """The accesses of one kernel to the shared memory that a launch provides."""

    def __init__(self, program: Program, linear: LinearParameters, certain: CertainSteps) -> None:
        self._program, self._linear, self._certain = program, linear, certain

    def conditions(self) -> Iterator[DerivedCondition]:
        """Yields the bytes that instructions need, and the alignment of those at a constant distance from the start.

        For an instruction that not every launch executes, only constant distances are known.
        """
        if not self._variables:
            return
        yield from self._find_executed_bytes()
        for step in self._program.own_effectful_steps:
            for operand, size in _accesses(step):
                place = self._constant_place(step, operand)
                if place is None:
                    continue
                variable, offset = place
                if size is not None and not self._certain.is_certain(step):
                    yield DerivedCondition(DynamicShared(least=offset + size), step, ConditionScope.LINE)
                needed = _needed_alignment(step, operand)
                if needed > variable.alignment and not offset % needed:
                    yield DerivedCondition(
                        DynamicShared(alignment=needed), step, scope_of(self._certain.is_certain(step))
                    )

    def _find_executed_bytes(self) -> Iterator[DerivedCondition]:
        """Yields the bytes that threads which exist in each launch access, where no input decides the address."""
        start = min(each.address for each in self._variables.values())
        for group in self._certain.exploration.groups:
            for thread in representative_threads(group.tids):
                for event in group.for_thread(thread).events:
                    if not isinstance(event, TraceEvent) or not isinstance(event.address, int):
                        continue
                    variable = self._program.variable_at(event.address)
                    size = _size_of_event(event)
                    if variable is not None and variable.is_open and size and self._is_known(event):
                        yield DerivedCondition(DynamicShared(least=event.address + size - start), event.step)

    def _is_known(self, event: TraceEvent) -> bool:
        """Returns whether each launch has an event, at this address and with this size."""
        roles = [_role_of(event.effect)]
        if isinstance(event.effect, Access) and isinstance(event.effect.size, OperandRole):
            roles.append(event.effect.size.name)
        return all(self._certain.is_certain(event.step, event.step.operand(role)) for role in roles)

    def _constant_place(self, step: Step, operand: Operand | None) -> tuple[DeclaredVariable, int] | None:
        """Returns the variable of dynamic shared memory, and the distance from its start in bytes, of an address."""
        total = self._linear.sum_of(step, operand)
        if total is None:
            return None
        for name, variable in self._variables.items():
            offset = total.without(name).number if total.coefficient_of(name) == 1 else None
            if offset is not None and offset >= 0:
                return variable, offset
        return None

    @cached_property
    def _variables(self) -> dict[str, DeclaredVariable]:
        """The variables in dynamic shared memory that no register of the same name hides."""
        registers = {register.partition("#")[0] for register in self._program.definitions}
        return {
            each.name: each
            for each in self._program.variables
            if each.space == "shared" and each.is_open and each.name not in registers
        }


def _accesses(step: Step) -> Iterator[tuple[Operand | None, int | None]]:
    """Yields the addresses that a step uses, each with the number of bytes if the instruction states it."""
    for effect in step.effects:
        role = _role_of(effect)
        if role:
            size = MBARRIER_BYTES if isinstance(effect, _MBARRIER_EFFECTS) else _constant(getattr(effect, "size", None))
            yield step.operand(role), size


def _role_of(effect: Effect) -> str:
    """Returns the role of the address of an access, or of the mbarrier of an operation on one; empty for others."""
    if isinstance(effect, Access):
        return effect.address if effect.via == "address" else ""
    return effect.barrier if isinstance(effect, _MBARRIER_EFFECTS) else ""


def _size_of_event(event: TraceEvent) -> int:
    if isinstance(event.effect, _MBARRIER_EFFECTS):
        return MBARRIER_BYTES
    return event.size if isinstance(event.effect, Access) and isinstance(event.size, int) else 0


def _constant(size: Expression | None) -> int | None:
    return size.value if isinstance(size, ConstantExpr) and isinstance(size.value, int) else None


def _needed_alignment(step: Step, operand: Operand | None) -> int:
    if step.match is None or not isinstance(operand, Address):
        return 1
    forms = [form for form, _ in address_operands(step.match) if step.operand(form.role) is operand]
    return max((required_alignment(step, form) or 1 for form in forms), default=1)
