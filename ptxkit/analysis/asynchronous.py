"""Which instructions are asynchronous, or order such ones: what most rules are about."""

from __future__ import annotations

from ptxkit.analysis.program import Program, Step
from ptxkit.isa.effects import Access, CommitGroup, Control, Effect, MemoryFence, Value, WaitGroup


def asynchronous_steps(program: Program) -> list[Step]:
    """The instructions that are asynchronous, or that asynchronous ones are ordered by."""
    return [step for step in program.acting if any(map(_is_one, step.effects))]


def _is_one(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return effect.completion is not None or effect.proxy != "generic"
    if isinstance(effect, Value | Control | MemoryFence):
        return False
    return isinstance(effect, CommitGroup | WaitGroup) or type(effect).__name__.startswith("Mbarrier")


def is_asynchronous(program: Program) -> bool:
    """Whether a kernel, or a function that it calls, has any."""
    return any(asynchronous_steps(each) for each in (program, *program.called.values()))
