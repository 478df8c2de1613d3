"""The instructions that are asynchronous or order asynchronous ones, which most rules check, and those that count."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Control,
    Effect,
    MbarrierInit,
    MemoryFence,
    Value,
    WaitGroup,
)


def async_steps_of(program: Program) -> list[Step]:
    """Returns the instructions of one function that are asynchronous or that order asynchronous ones."""
    return [step for step in program.own_effectful_steps if any(map(_is_async_effect, step.effects))]


def _is_async_effect(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return effect.completion is not None or effect.proxy != "generic"
    if isinstance(effect, Value | Control | MemoryFence):
        return False
    return isinstance(effect, CommitGroup | WaitGroup) or type(effect).__name__.startswith("Mbarrier")


def has_async_steps(program: Program) -> bool:
    """Returns whether a kernel, or a function that it calls, has such instructions."""
    return any(async_steps_of(each) for each in program.functions)


def names_thread_counts(program: Program) -> bool:
    """Returns whether a kernel states how many threads use a barrier or mbarrier.

    The number of threads then matters.
    """
    effects = (effect for step in program.effectful_steps for effect in step.effects)
    return any(isinstance(e, MbarrierInit) or (isinstance(e, Barrier) and e.threads is not None) for e in effects)
