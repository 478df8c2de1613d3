"""Finds two conditions of a kernel that no launch satisfies together.

If each launch executes both of their instructions, one of them is wrong in each launch. Addresses are compared by
other analyses, which know more about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import gcd
from typing import TypeAlias

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.parameter_multiples import find_multiples, find_multiples_of_callees
from ptxkit.analysis.contract.tensor_maps import (
    find_map_uses,
    find_map_uses_of_callees,
    find_possible_map_uses,
)
from ptxkit.analysis.dataflow.slicing import may_change_tensor_maps
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.launch_contract import ParameterMultiple, TensorMapUse

Requirement: TypeAlias = "ParameterMultiple | TensorMapUse"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two requirements of one parameter, in the order of the text, with the instructions from which they follow.

    is_certain: whether each launch executes both; otherwise a thread that executes the second may have executed the
    first.
    """

    first: tuple[Step, Requirement]
    second: tuple[Step, Requirement]
    is_certain: bool


@dataclass(frozen=True, slots=True)
class _Demand:
    """A requirement of an instruction, and the step of the kernel that executes it: the instruction itself, or a call.

    is_proven: whether the requirement follows if the instruction is executed.
    """

    site: Step
    step: Step
    wanted: Requirement
    is_proven: bool = True


def find_contradictions(kernel: KernelFacts) -> Iterator[Contradiction]:
    """Yields the first contradiction of each instruction with an earlier one."""
    certain, reported = CertainSteps(kernel), set[Step]()
    demands = sorted(_demands_of(kernel.program), key=lambda each: (each.site.index, each.step.index))
    for first, second in combinations(demands, 2):
        is_new = second.step not in reported and first.step is not second.step
        if is_new and contradict(first.wanted, second.wanted):
            is_certain = all(each.is_proven and certain.is_certain(each.step) for each in (first, second))
            if is_certain or _may_follow(kernel.program, first, second):
                reported.add(second.step)
                yield Contradiction((first.step, first.wanted), (second.step, second.wanted), is_certain)


def _demands_of(program: Program) -> Iterator[_Demand]:
    linear = LinearParameters(program)
    for step, multiple in find_multiples(program, linear):
        if not multiple.is_address:
            yield _Demand(step, step, multiple)
    for call, step, multiple in find_multiples_of_callees(program, linear):
        yield _Demand(call, step, multiple)
    if not may_change_tensor_maps(program):
        for step, use in find_map_uses(program, linear):
            yield _Demand(step, step, use)
        for step, use in find_possible_map_uses(program, linear):
            yield _Demand(step, step, use, is_proven=False)
        for call, step, use in find_map_uses_of_callees(program, linear):
            yield _Demand(call, step, use, is_proven=False)


def _may_follow(program: Program, first: _Demand, second: _Demand) -> bool:
    """Returns whether a thread that executes a step has executed another one, as far as their sites decide this."""
    if first.site is second.site:
        return _always_follows(program.function_of(first.step), first.step, second.step)
    return _always_follows(program, first.site, second.site)


def _always_follows(program: Program, first: Step, second: Step) -> bool:
    """Returns whether a thread that executes a step has executed another one, under the same condition or none."""
    guard = first.instruction.guard
    is_executed = guard is None or guard == second.instruction.guard
    return is_executed and program.analysis(ControlFlowGraph).dominates(first, second)


def contradict(first: Requirement, second: Requirement) -> bool:
    """Returns whether no value of a parameter satisfies both of two requirements."""
    if first.parameter != second.parameter:
        return False
    match first, second:
        case TensorMapUse(), TensorMapUse():
            is_same_map = first.is_pointer == second.is_pointer
            return is_same_map and (first.rank, first.mode) != (second.rank, second.mode)
        case ParameterMultiple(), ParameterMultiple():
            return (first.remainder - second.remainder) % gcd(first.divisor, second.divisor) != 0
    return False
