"""PTX652: the guard of an instruction is a predicate to which no path assigns a value.

What it does
    Finds guards, such as those of branches, whose predicate no instruction assigns on any path from the start of the
    kernel. It is a warning where it is not known whether a thread executes the instruction.

Why it matters
    Registers have no initial value, so it is undefined whether the instruction is executed. A loop that waits until
    the predicate changes either ends at once or never. Usually the instruction that assigns the predicate was lost,
    such as `mbarrier.try_wait`.

Example
    wait:
    @!%p1 bra wait;

Use instead
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r1;
    @!%p1 bra wait;

ISA section
    "Predicated Execution", "Register State Space".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reachability import reachable_steps
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, named_registers
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import obligation_words, ptx6xx
from ptxkit.rules.limits import MAX_NEAR_ASSIGNMENTS
from ptxkit.rules.model import STEP_LINES, Evidence, Finding, Observation, Rule
from ptxkit.rules.obligation_sites import Site

if TYPE_CHECKING:
    from ptxkit.rules.function_proofs import FunctionProofs


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Searches the assignments that reach each guard."""
    for function in kernel.program.functions:
        for step in (each for each in _guarded_steps(function) if not _is_assigned(function, each)):
            guard = step.instruction.guard
            assert guard is not None
            text = ptx6xx.GUARD_NEVER_ASSIGNED(predicate=guard.predicate)
            severity = None if _is_executed(function, step, kernel.explorer.covered_steps()) else Severity.WARNING
            advice = ptx6xx.ASSIGN_GUARD(predicate=guard.predicate)
            yield Observation((step, None), 0, True, Finding(step, text, help=advice, severity=severity))


def _guarded_steps(program: Program) -> Iterator[Step]:
    """Yields the reachable instructions with a guard that only known instructions assign.

    Instructions without a form in the table may assign what they name.
    """
    reachable = program.analysis(reachable_steps)
    unknown = {name for step in program.steps if step.match is None for name in named_registers(step)}
    for step in program.steps:
        if step.instruction.guard is not None and step in reachable and unknown.isdisjoint(guard_registers(step)):
            yield step


def _is_assigned(program: Program, step: Step) -> bool:
    """Returns whether an assignment reaches a guard; mostly one of the last before it in the text is on all paths."""
    graph = program.analysis(ControlFlowGraph)
    for register in guard_registers(step):
        found = program.definitions.get(register, ())
        last = bisect_left(found, step.index, key=lambda each: each.index)
        if any(graph.dominates(each, step) for each in found[max(last - MAX_NEAR_ASSIGNMENTS, 0) : last]):
            return True
    return bool(_assignments(program, step))


def _assignments(program: Program, step: Step) -> frozenset[Step]:
    definitions = program.analysis(ReachingDefinitions)
    return frozenset[Step]().union(
        *(definitions.definitions_reaching(step, each, surely=True) for each in guard_registers(step))
    )


def _is_executed(program: Program, step: Step, covered: set[Step]) -> bool:
    """Returns whether a thread comes to an instruction: each complete path leads to it, or an execution did."""
    graph = program.analysis(ControlFlowGraph)
    block = graph.block_of(step)
    before = [each for each in graph.predecessors[block] if graph.successors[each] == (block,)]
    led = any(other in covered for each in (block, *before) for other in graph.steps_of_block(each))
    return led or graph.post_dominators.dominates(block, 0)


def _sites(program: Program) -> Iterator[Site]:
    for function in program.functions:
        yield from (Site(step, "guard") for step in _guarded_steps(function))


def _prove(proofs: FunctionProofs, site: Site) -> Evidence | None:
    found = sorted(_assignments(proofs.program, site.step), key=lambda each: each.index)
    return Evidence("assigned", obligation_words.GUARD_ASSIGNED(lines=STEP_LINES), tuple(found)) if found else None


RULE = Rule(ptx6xx.UNASSIGNED_GUARD, check, sites=_sites, prove=_prove)
