"""Finds two conditions of a kernel that no launch satisfies together.

If each launch executes both of their instructions, one of them is wrong in each launch. Addresses are compared by
other analyses, which know more about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import gcd

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.parameter_multiples import find_multiples
from ptxkit.analysis.contract.tensor_maps import find_map_uses
from ptxkit.analysis.dataflow.slicing import may_change_tensor_maps
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.launch_contract import ParameterMultiple, TensorMapUse


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two requirements of one parameter, in the order of the text, with the instructions from which they follow.

    is_certain: whether each launch executes both; otherwise a thread that executes the second has executed the first.
    """

    first: tuple[Step, ParameterMultiple | TensorMapUse]
    second: tuple[Step, ParameterMultiple | TensorMapUse]
    is_certain: bool


def find_contradictions(kernel: KernelFacts) -> Iterator[Contradiction]:
    """Yields the first contradiction of each instruction with an earlier one."""
    program = kernel.program
    linear, certain = LinearParameters(program), CertainSteps(kernel)
    found: list[tuple[Step, ParameterMultiple | TensorMapUse]] = [
        (step, each) for step, each in find_multiples(program, linear) if not each.is_address
    ]
    if not may_change_tensor_maps(program):
        found += find_map_uses(program, linear)
    reported: set[Step] = set()
    for first, second in combinations(sorted(found, key=lambda each: each[0].index), 2):
        is_new = second[0] not in reported and first[0] is not second[0]
        if is_new and _contradict(first[1], second[1]):
            is_certain = all(certain.is_certain(step) for step, _ in (first, second))
            if is_certain or _always_follows(program, first[0], second[0]):
                reported.add(second[0])
                yield Contradiction(first, second, is_certain)


def _always_follows(program: Program, first: Step, second: Step) -> bool:
    """Returns whether a thread that executes a step has executed another one, under the same condition or none."""
    guard = first.instruction.guard
    is_executed = guard is None or guard == second.instruction.guard
    return is_executed and program.analysis(ControlFlowGraph).dominates(first, second)


def _contradict(first: ParameterMultiple | TensorMapUse, second: ParameterMultiple | TensorMapUse) -> bool:
    if first.parameter != second.parameter:
        return False
    match first, second:
        case TensorMapUse(), TensorMapUse():
            is_same_map = first.is_pointer == second.is_pointer
            return is_same_map and (first.rank, first.mode) != (second.rank, second.mode)
        case ParameterMultiple(), ParameterMultiple():
            return (first.remainder - second.remainder) % gcd(first.divisor, second.divisor) != 0
    return False
