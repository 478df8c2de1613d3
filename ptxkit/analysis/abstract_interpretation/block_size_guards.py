"""Determines whether a kernel has branches or guards for the threads that a larger block has.

Such a kernel is written for the larger block: in the smaller one, a part of it is executed by no thread, or by all.

Source: PTX ISA, "Special Registers: %tid", "%ntid", "Predicated Execution".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.abstract_interpretation.abstract_values import integers_in
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import read_registers
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, Expression
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Function, Integer, Name


def last_distinguished_block(program: Program, blocks: Sequence[Function]) -> int | None:
    """Returns the number of the last block in which a guard may have both values, and one in the block before it.

    blocks: the kernel with declared sizes of its block, in ascending order.
    """
    values = [AbstractRegisters(program, declared) for declared in blocks]
    guarded = [step for step in program.own_effectful_steps if step.instruction.guard is not None]
    for number in range(len(blocks) - 1, 0, -1):
        small, large = values[number - 1 : number + 1]
        if any(_is_constant(small, step) and not _is_constant(large, step) for step in guarded):
            return number
    return None


def strides_over_threads(program: Program, threads: int) -> bool:
    """Returns whether a number that begins with the position of a thread is increased by at most a number of threads.

    A loop over elements with this stride, of whole warps, is written for a block with that number of threads. Its test
    whether a thread has an element at all, which only threads of a larger block fail, is no branch for these.
    """
    dependence, strides = program.analysis(Dependence), range(WARP_SIZE, threads + 1, WARP_SIZE)
    return any(
        any(isinstance(each, Integer) and each.value in strides for each in step.instruction.operands)
        and any(leaf.name.startswith("%tid") for leaf in dependence.sources_of(step, step.instruction.operands[0]))
        for step in program.steps
        if any(isinstance(each, Value) and _is_sum(each.value) for each in step.effects)
        and not set(step.result_registers()).isdisjoint(read_registers(step))
    )


def _is_sum(value: Expression) -> bool:
    return isinstance(value, CallExpr) and value.function == "add"


def _is_constant(values: AbstractRegisters, step: Step) -> bool:
    guard = step.instruction.guard
    found = None if guard is None else integers_in(values.value_at(step, Name(guard.predicate)))
    return found is not None and found.low == found.high
