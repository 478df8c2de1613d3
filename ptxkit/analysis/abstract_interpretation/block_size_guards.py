"""Determines whether a kernel has branches or guards for the threads that a larger block has.

Such a kernel is written for the larger block: in the smaller one, a part of it is executed by no thread, or by all.

Source: PTX ISA, "Special Registers: %tid", "%ntid", "Predicated Execution".
"""

from __future__ import annotations

from ptxkit.analysis.abstract_interpretation.abstract_values import integers_in
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.syntax.tree import Name


def distinguishes_further_threads(small: Program, large: Program) -> bool:
    """Returns whether a guard has one value in all threads of a small block, and may have both in a large one.

    The programs are the same kernel with two declared sizes of its block.
    """
    first, second = (AbstractRegisters(code, code.analysis(ControlFlowGraph)) for code in (small, large))
    guarded = [step for step in large.own_effectful_steps if step.instruction.guard is not None]
    return any(_is_constant(first, small.steps[step.index]) and not _is_constant(second, step) for step in guarded)


def _is_constant(values: AbstractRegisters, step: Step) -> bool:
    guard = step.instruction.guard
    found = None if guard is None else integers_in(values.value_at(step, Name(guard.predicate)))
    return found is not None and found.low == found.high
