"""Finds the loops that no execution repeated, although the kernel may.

An execution covers an instruction of a loop in the rounds that it made. Where it left the loop after one round, such as
a persistent loop over tiles with a problem of one tile, nothing is known about the stages, the phases and the groups of
the second round, nor about what it does to the buffers of the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.loops import CfgLoop
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.async_steps import async_steps_of
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.trace import GroupTrace, UnknownCall
from ptxkit.isa.effects import MbarrierWait


def steps_of_unrepeated_loops(
    independence: InputIndependence, groups: Collection[GroupTrace], last_visits: Iterable[Mapping[Step, int]]
) -> list[Step]:
    """Returns the asynchronous steps in outermost loops that executions entered, and did not repeat.

    independence: of the kernel. groups: the traces of all executions. last_visits: the `last_visits_of` these. Loops
    that only poll an mbarrier are left out, and so are loops that contain no event but those of inner loops, and loops
    that no input can make repeat.
    """
    program, cfg = independence.program, independence.cfg
    own = program.analysis(_steps_by_outermost_loop)
    if not own:
        return []
    rounds = _rounds_by_loop(program, last_visits, cfg)
    found: list[Step] = []
    for loop, inside in own.items():
        if rounds.get(loop) == 1 and not all(map(_only_waits, inside)) and _depends_on_inputs(loop, independence):
            found += inside
    return [step for step in found if any(step in group.covered_steps for group in groups)]


def _steps_by_outermost_loop(program: Program) -> dict[CfgLoop, list[Step]]:
    """Returns the asynchronous steps in outermost loops, by loop."""
    cfg = program.analysis(ControlFlowGraph)
    outermost = [loop for loop in cfg.loops.loops if loop.outer is None]
    loop_of = {node: loop for loop in outermost for node in loop.nodes}
    found: dict[CfgLoop, list[Step]] = {loop: [] for loop in outermost}
    for step in async_steps_of(program):
        loop = loop_of.get(cfg.block_of(step))
        if loop is not None:
            found[loop].append(step)
    return {loop: inside for loop, inside in found.items() if inside}


def _depends_on_inputs(loop: CfgLoop, independence: InputIndependence) -> bool:
    """Returns whether inputs may decide when control leaves a loop."""
    cfg = independence.cfg
    leaving = {cfg.steps_of_block(node)[-1] for node, _ in cfg.loops.exit_edges(loop)}
    return not leaving or not all(map(independence.is_branch_independent, leaving))


def last_visits_of(groups: Iterable[GroupTrace]) -> dict[Step, int]:
    """Returns the steps that executions made events of, with the largest number of earlier executions."""
    found: dict[Step, int] = {}
    for group in groups:
        for event in group.events:
            if not isinstance(event, UnknownCall) and event.visit >= found.get(event.step, 0):
                found[event.step] = event.visit
    return found


def _rounds_by_loop(
    program: Program, last_visits: Iterable[Mapping[Step, int]], cfg: ControlFlowGraph
) -> dict[CfgLoop, int]:
    """Returns how often executions made an event directly in each loop, at most."""
    rounds: dict[CfgLoop, int] = {}
    for visits in last_visits:
        for step, visit in visits.items():
            loop = cfg.loops.innermost_loop(cfg.block_of(step)) if program.contains(step) else None
            if loop is not None:
                rounds[loop] = max(rounds.get(loop, 0), visit + 1)
    return rounds


def _only_waits(step: Step) -> bool:
    return any(isinstance(effect, MbarrierWait) for effect in step.effects)
