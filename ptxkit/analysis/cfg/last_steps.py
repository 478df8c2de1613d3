"""Finds the nearest steps of some kind before or after a step, on all paths to or from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist


def last_steps_before(program: Program, step: Step, is_wanted: Callable[[Step], bool]) -> Iterator[Step | None]:
    """Yields the wanted steps that may be the last ones before a step, and None if a path from the start has none."""
    flow = program.analysis(ControlFlowGraph)
    own = flow.block_of(step)
    paths: list[tuple[int, Sequence[Step]]] = [(own, [e for e in flow.steps_of_block(own) if e.index < step.index])]
    blocks = Worklist[int](())
    while paths:
        block, steps = paths.pop()
        last = next((each for each in reversed(steps) if is_wanted(each)), None)
        if last is not None or block == 0:
            yield last
        blocks.add(flow.predecessors[block] if last is None else ())
        paths += [(each, flow.steps_of_block(each)) for each in blocks]


def next_steps_after(program: Program, step: Step, is_wanted: Callable[[Step], bool]) -> Iterator[Step | None]:
    """Yields the wanted steps that may be the next ones after a step, and None if a path to an exit has none."""
    flow = program.analysis(ControlFlowGraph)
    own = flow.block_of(step)
    paths: list[tuple[int, Sequence[Step]]] = [(own, [e for e in flow.steps_of_block(own) if e.index > step.index])]
    blocks = Worklist[int](())
    while paths:
        block, steps = paths.pop()
        following = next((each for each in steps if is_wanted(each)), None)
        if following is not None or not flow.successors[block]:
            yield following
        blocks.add(flow.successors[block] if following is None else ())
        paths += [(each, flow.steps_of_block(each)) for each in blocks]
