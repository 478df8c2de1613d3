"""Finds `wgmma.fence` without effect, on all paths of a kernel: another one orders the same accesses to registers.

Source: PTX ISA, "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.abstract_interpretation.path_cases import path_cases
from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.registers.wgmma_events import WgmmaEvents
from ptxkit.analysis.registers.wgmma_fences import ReachingAccesses, WgmmaFences
from ptxkit.analysis.registers.wgmma_hazards import find_issues

_GROUP = "wgmma"


def find_redundant_register_fences(program: Program) -> Iterator[Step]:
    """Yields each fence after which no multiplication needs it.

    On each path to a multiplication that follows the fence, there is another fence, or a multiplication of the same
    shape with the same registers, and no instruction between the two accesses these registers. Paths count that some
    thread may take.
    """
    issues = find_issues(program, _GROUP)
    if not issues or not is_self_contained(program):
        return
    flow, events = program.analysis(ControlFlowGraph), WgmmaEvents(_GROUP)
    fences = WgmmaFences(flow, events)
    approaches = [approach for issue in issues for approach in fences.reaching_accesses(issue)]
    if any(approach.is_unclear for approach in approaches):
        return
    found = [step for step in program.effectful_steps if step in fences]
    cases = list(path_cases(program, flow, [*found, *issues]))
    for fence in found:
        following = dict.fromkeys(each.issue for each in approaches if fence in each.ordering_steps)
        searches = (WgmmaFences(flow, events, fence, case) for case in cases)
        if all(_is_ordered(each, events) for others in searches for each in _approaches(others, following)):
            yield fence


def _approaches(fences: WgmmaFences, issues: Iterable[Step]) -> Iterator[ReachingAccesses]:
    return (approach for issue in issues for approach in fences.reaching_accesses(issue))


def _is_ordered(approach: ReachingAccesses, events: WgmmaEvents) -> bool:
    """Returns whether all paths come from another fence, or from a multiplication with the same registers."""
    if approach.accesses or approach.reaches_entry or approach.is_unclear or approach.moves:
        return False
    own = events[approach.issue]
    earlier = [events[step] for step in approach.ordering_steps]
    return all(each.accumulators in (frozenset(), own.accumulators) for each in earlier)
