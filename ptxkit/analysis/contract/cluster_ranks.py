"""Derives how many CTAs a cluster must have, from the ranks and masks of CTAs that instructions name as constants.

Source: PTX ISA, "mapa", "cp.async.bulk" (`.multicast::cluster`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.derived_condition import DerivedCondition, scope_of
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import is_result_used
from ptxkit.analysis.limits import MAX_CLUSTER_CTAS
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, OperandRole
from ptxkit.model.launch_contract import ClusterLimits
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import Operand


def find_cluster_ranks(program: Program, linear: LinearParameters, certain: CertainSteps) -> Iterator[DerivedCondition]:
    """Yields the least number of CTAs for each instruction that names a CTA other than the first one."""
    for step in program.steps:
        for operand, is_mask in _named_ctas(program, step):
            number = _constant(linear, step, operand)
            least = 1 if number is None else number.bit_length() if is_mask else number + 1
            if 1 < least <= MAX_CLUSTER_CTAS:
                yield DerivedCondition(ClusterLimits(least=least), step, scope_of(certain.is_certain(step)))


def _named_ctas(program: Program, step: Step) -> Iterator[tuple[Operand, bool]]:
    """Yields the operands of a step that are the rank of a CTA, or a mask of CTAs, with whether it is a mask."""
    for effect in step.effects:
        role, is_mask = getattr(effect, "multicast", None), True
        if isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == "map_rank":
            last = effect.value.arguments[-1]
            role = last.name if isinstance(last, OperandRole) and is_result_used(program, step) else None
            is_mask = False
        operand = step.operand(role) if isinstance(role, str) else None
        if operand is not None:
            yield operand, is_mask


def _constant(linear: LinearParameters, step: Step, operand: Operand) -> int | None:
    number = evaluate(operand)
    if number is None:
        total = linear.sum_of(step, operand)
        number = None if total is None else total.number
    return number if number is None or number >= 0 else None
