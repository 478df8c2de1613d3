"""Finds `cp.async.mbarrier.arrive` that a later one of the thread makes redundant, on all paths of a kernel.

The instruction tracks all earlier copies of its thread. Without `.noinc`, it changes no count: it keeps the phase
incomplete as long as the copies are. If the thread tracks the same copies again before it synchronizes with another
thread, the arrivals of other threads that could complete the phase between the two could also have completed it before
the first one, so that no thread can rely on that one.

Source: PTX ISA, "cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access, CommitGroup, Control, Effect, MbarrierTrack, Prefetch, Value


def find_repeated_tracking(program: Program) -> Iterator[tuple[Step, Step]]:
    """Yields each such instruction with the next one of the thread."""
    if not is_self_contained(program):
        return
    for step in program.effectful_steps:
        effect = _tracking(step)
        if effect is not None and not effect.counted:
            following = _next_tracking(program, step)
            if following is not None:
                yield step, following


def _tracking(step: Step) -> MbarrierTrack | None:
    return next((effect for effect in step.effects if isinstance(effect, MbarrierTrack)), None)


def _next_tracking(program: Program, tracking: Step) -> Step | None:
    """Returns the nearest step in the text that tracks the same copies again; None if a path may have none."""
    named, found = set(read_registers(tracking)), []
    waiting = Worklist(step_successors(program, tracking))
    for index in waiting:
        step = program.steps[index]
        if step is not tracking and _is_same(step, tracking):
            found.append(step)
            continue
        following = step_successors(program, step)
        changes = not named.isdisjoint(step.result_registers())
        if changes or not following or (step is not tracking and not all(map(_is_local, step.effects))):
            return None
        waiting.add(following)
    return min(found, key=lambda step: step.index, default=None)


def _is_same(step: Step, tracking: Step) -> bool:
    """Returns whether a step tracks copies by the same mbarrier, whenever the other one does."""
    one, other = step.instruction, tracking.instruction
    return _tracking(step) is not None and one.operands == other.operands and one.guard in (None, other.guard)


def _is_local(effect: Effect) -> bool:
    """Returns whether other threads cannot learn by an effect what the thread has done."""
    match effect:
        case Access(order=order, kind=kind):
            return order == "weak" and kind != "update"
        case Control(kind=kind):
            return kind.startswith("branch")
    return isinstance(effect, CommitGroup | Prefetch | Value)
