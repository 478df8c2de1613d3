"""The order of the accesses of a kernel to shared memory, as `Program.analysis` computes it once.

Source: PTX ISA, "Performance-Tuning Directives: .maxntid", ".reqntid".
"""

from __future__ import annotations

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.dataflow.thread_numbering import count_block_axes
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.phase_order.interval_proofs import IntervalProofs
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.limits import MAX_CTA_THREADS


def shared_order(program: Program) -> IntervalProofs:
    """Returns the order of accesses, in blocks of each size of one row if the kernel declares no size."""
    return _order_of(program, is_strict=False)


def strict_shared_order(program: Program) -> IntervalProofs:
    """Returns the same order, where all accesses of the same bytes are compared of which one writes."""
    return _order_of(program, is_strict=True)


def _order_of(program: Program, *, is_strict: bool) -> IntervalProofs:
    program = _with_block_limit(program)
    registers, execution = program.analysis(AbstractRegisters), UniformExecution(program, after_exits=True)
    return IntervalProofs(program, registers, execution, is_strict=is_strict)


def _with_block_limit(program: Program) -> Program:
    """Returns a kernel that declares the largest block of one row, if it declares no size and is written for such."""
    launch = launch_config_of(program)
    is_row = not (launch.is_exact or launch.is_limit) and program.analysis(count_block_axes) == 1
    if not is_row or not is_sole_function(program):
        return program
    declared = program.with_function(program.function.with_directive("maxntid", (MAX_CTA_THREADS,)))
    return declared if launch_config_of(declared).block[1:] == (1, 1) else program
