"""Proves that each thread that allocates Tensor Memory deallocates it before it exits, on all paths.

Source: PTX ISA, "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit".
"""

from __future__ import annotations

from ptxkit.analysis.abstract_interpretation.path_cases import path_cases
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reachability import Reachability
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import TensorMemory

_NONE, _HELD = frozenset([False]), frozenset([True])


class _Allocation:
    """The domain: whether a thread may hold an allocation (True), or none (False)."""

    def entry(self) -> frozenset[bool]:
        return _NONE

    def join(self, first: frozenset[bool], second: frozenset[bool]) -> frozenset[bool]:
        return first | second

    def is_relevant(self, step: Step) -> bool:
        return _action_of(step) in ("allocate", "deallocate")

    def transfer(self, step: Step, state: frozenset[bool]) -> frozenset[bool]:  # noqa: ARG002 (of every domain)
        return _HELD if _action_of(step) == "allocate" else _NONE


def has_balanced_allocations(program: Program) -> bool:
    """Returns whether a kernel allocates at most once at a time in a thread, which then deallocates once.

    No allocation may follow `tcgen05.relinquish_alloc_permit`.
    """
    return program.analysis(_is_balanced)


def management_steps(program: Program) -> tuple[Step, ...]:
    """Returns the allocations and deallocations of a function, and the ends of the permit to allocate."""
    return tuple(step for step in program.own_effectful_steps if _action_of(step))


def _is_balanced(program: Program) -> bool:
    if not is_sole_function(program):
        return False
    steps = management_steps(program)
    allocations = [step for step in steps if _action_of(step) == "allocate"]
    after = Reachability(program).steps_reachable_from(s for s in steps if _action_of(s) == "relinquish")
    if any(step in after for step in allocations):
        return False
    cfg = program.analysis(ControlFlowGraph)
    for case in path_cases(program, cfg, steps):
        solution = ForwardSolution(case, _Allocation())
        for block in range(len(cfg.block_starts)):
            for step, state in solution.states_before(block):
                needed = _NONE if _action_of(step) == "allocate" else _HELD
                if case.executes(step) is not False and state != needed:
                    return False
            end = solution.state_at_end(block)
            if end is not None and case.may_leave(block) and end != _NONE:
                return False
    return True


def _action_of(step: Step) -> str:
    return next((effect.action for effect in step.effects if isinstance(effect, TensorMemory)), "")
