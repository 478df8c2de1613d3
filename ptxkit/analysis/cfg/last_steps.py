"""Finds the nearest steps of some kind before or after a step, on all paths to or from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist


def last_steps_before(program: Program, step: Step, is_wanted: Callable[[Step], bool]) -> Iterator[Step | None]:
    """Yields the wanted steps that may be the last ones before a step, and None if a path from the start has none."""
    flow = program.analysis(ControlFlowGraph)
    before = [each for each in flow.steps_of_block(flow.block_of(step)) if each.index < step.index]
    return _nearest_steps(flow, step, before[::-1], is_wanted, forward=False)


def next_steps_after(program: Program, step: Step, is_wanted: Callable[[Step], bool]) -> Iterator[Step | None]:
    """Yields the wanted steps that may be the next ones after a step, and None if a path to an exit has none."""
    flow = program.analysis(ControlFlowGraph)
    after = [each for each in flow.steps_of_block(flow.block_of(step)) if each.index > step.index]
    return _nearest_steps(flow, step, after, is_wanted, forward=True)


def _nearest_steps(
    flow: ControlFlowGraph, step: Step, near: Sequence[Step], is_wanted: Callable[[Step], bool], *, forward: bool
) -> Iterator[Step | None]:
    """Yields the first wanted step of each path in one direction. near: the other steps of the block of the step."""
    following = flow.successors if forward else flow.predecessors
    paths: list[tuple[int, Sequence[Step]]] = [(flow.block_of(step), near)]
    blocks = Worklist[int](())
    while paths:
        block, steps = paths.pop()
        found = next((each for each in steps if is_wanted(each)), None)
        if found is not None or (not following[block] if forward else block == 0):
            yield found
        blocks.add(following[block] if found is None else ())
        paths += [(each, flow.steps_of_block(each)[:: 1 if forward else -1]) for each in blocks]
