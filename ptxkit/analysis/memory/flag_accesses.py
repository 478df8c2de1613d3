"""Finds the accesses of global memory of a function, and those of them that poll a flag.

A thread polls a flag if it reads a word in a loop until it has the expected value. A strong read is a poll wherever its
result may decide when its loop ends. An atomic operation or a weak read is one only in a loop that does nothing else,
and whose end no other value decides that changes: other loops process data, or draw tickets.

Source: PTX ISA, "Memory Consistency Model: Operation types", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import is_result_used
from ptxkit.analysis.memory.polled_flags import decides_loop_end, is_polling_read, is_read_by_value_only
from ptxkit.isa.effects import Access


def find_global_accesses(program: Program) -> list[Step]:
    """Returns the steps that may access global memory; for `Program.analysis`."""
    dependence = program.analysis(Dependence)
    return [step for step in program.own_effectful_steps if _may_be_global(step, dependence)]


def find_polls(program: Program) -> list[Step]:
    """Returns the steps that poll a flag; for `Program.analysis`."""
    return [step for step in program.analysis(find_global_accesses) if _is_poll(program, step)]


def find_flag_pointers(program: Program) -> frozenset[tuple[str, int]]:
    """Returns the arguments that point to words by which a kernel synchronizes, which hosts usually set to zero.

    These are the words that it polls and also changes, and those of atomics whose results it uses.
    """
    steps, polls = program.analysis(find_global_accesses), program.analysis(find_polls)
    polled = _pointers_of(program, polls) & _pointers_of(
        program, [s for s in steps if global_accesses(s, "write", "update")]
    )
    drawn = [step for step in steps if global_accesses(step, "update") and is_result_used(program, step)]
    return frozenset(polled | _pointers_of(program, drawn))


def _pointers_of(program: Program, steps: Iterable[Step]) -> set[tuple[str, int]]:
    dependence, pointers = program.analysis(Dependence), pointer_parameters(program)
    leaves = {
        leaf
        for step in steps
        for access in global_accesses(step, "read", "write", "update")
        for leaf in dependence.sources_of(step, step.operand(access.address))
    }
    return {place for place in pointers for leaf in leaves if leaf.kind == "parameter" and leaf.covers(place)}


def global_accesses(step: Step, *kinds: str) -> list[Access]:
    """Returns the accesses of some kinds that may be of global memory, through the generic proxy."""
    return [
        effect
        for effect in step.effects
        if isinstance(effect, Access)
        and effect.kind in kinds
        and effect.space in ("global", "generic")
        and (effect.proxy, effect.via) == ("generic", "address")
    ]


def reads_weakly(step: Step) -> bool:
    """Returns whether a step reads memory that other threads may write, without a strong operation."""
    return any(each.order == "weak" and each.coherent for each in global_accesses(step, "read"))


def _may_be_global(step: Step, dependence: Dependence) -> bool:
    """Returns whether a step accesses global memory, and no variable of another state space."""
    accesses = global_accesses(step, "read", "write", "update")
    for access in accesses:
        leaves = dependence.sources_of(step, step.operand(access.address)) if access.space == "generic" else ()
        variables = (step.scope.variable(leaf.name) for leaf in leaves if leaf.kind == "variable")
        if any(variable is not None and variable.space != "global" for variable in variables):
            return False
    return bool(accesses)


def _is_poll(program: Program, step: Step) -> bool:
    flow, dependence = program.analysis(ControlFlowGraph), program.analysis(Dependence)
    accesses = global_accesses(step, "read", "update")
    if not accesses:
        return False
    is_strong = accesses[0].order != "weak"
    if is_strong and accesses[0].kind == "read":
        return decides_loop_end(step, flow, dependence)
    return is_polling_read(step, flow, dependence) and (is_strong or is_read_by_value_only(step, flow, program))
