"""Waits that give up: loops that ask an mbarrier for its phase, and are left by something else as well.

A loop that only asks, and ends when a count or a clock has come to its end, goes on though the phase never does. It is
told from one that waits by what decides over its ways out: a register that some answer of a wait leads to, or another.

Source: PTX ISA, "mbarrier.test_wait / mbarrier.try_wait" (neither has to wait until the phase is complete).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.actors import synchronises
from ptxkit.analysis.definitions import Definitions
from ptxkit.analysis.flow import Flow
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.slicing import registers_in
from ptxkit.isa.effects import Access, Effect, MbarrierWait


def gives_up(program: Program, wait: Step) -> bool:
    """Whether a thread may go on behind a wait of a function that never answers true."""
    if wait.index >= len(program.steps) or program.steps[wait.index] is not wait:
        return False  # of a function that is called
    flow = Flow(program)
    loop = flow.loop_of(wait)
    if loop is None or not all(_is_idle(effect) for at in loop.nodes for s in flow.steps(at) for effect in s.effects):
        return False
    definitions = Definitions(program)
    deciding = {flow.steps(inside)[-1] for inside, _ in flow.loops.exits(loop)}
    return any(step.instruction.guard is not None and not _is_answered(definitions, step) for step in deciding)


def _is_idle(effect: Effect) -> bool:
    """Whether an effect is none that other threads may wait for."""
    if isinstance(effect, Access):
        return effect.kind == "read"
    return isinstance(effect, MbarrierWait) or not synchronises(effect)


def _is_answered(definitions: Definitions, branch: Step) -> bool:
    """Whether the answer of some wait decides over a branch."""
    seen: set[tuple[Step, str]] = set()
    waiting = [(branch, register) for register in _guard(branch)]
    while waiting:
        asked = waiting.pop()
        if asked in seen:
            continue
        seen.add(asked)
        for step in definitions.before(*asked):
            if any(isinstance(effect, MbarrierWait) for effect in step.effects):
                return True
            waiting.extend((step, register) for register in (*_guard(step), *_read(step)))
    return False


def _guard(step: Step) -> Iterator[str]:
    if step.instruction.guard is not None:
        yield step.scope.register(step.instruction.guard.predicate)


def _read(step: Step) -> Iterator[str]:
    for operand in step.instruction.operands:
        yield from registers_in(operand, step.scope)
