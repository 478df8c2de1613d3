"""Finds waits on an mbarrier for the phase of a token that no arrival of the thread can have returned.

The register of the token is never assigned before the wait. A token identifies a phase only if an operation on the same
mbarrier returned it.

Source: PTX ISA, "mbarrier.test_wait / mbarrier.try_wait", "Phases of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.isa.effects import MbarrierWait


def find_missing_tokens(kernel: KernelFacts) -> Iterator[tuple[int, Step, bool]]:
    """Yields the number of a scenario, a wait that it executes, and whether its path is certain."""
    waits = {step for step in kernel.program.effectful_steps if _lacks_token(kernel.program, step)}
    for number, facts in enumerate(kernel.scenarios if waits else ()):
        for group in facts.groups:
            for position, event in enumerate(group.events):
                if event.step in waits:
                    yield number, event.step, group.first_guess is None or position < group.first_guess


def _lacks_token(program: Program, step: Step) -> bool:
    function = program.function_of(step)
    if not function.is_kernel or not function.is_fully_matched:
        return False
    reaching = function.analysis(ReachingDefinitions)
    for effect in step.effects:
        operand = step.operand(effect.phase) if isinstance(effect, MbarrierWait) and effect.by == "state" else None
        names = list(registers_in(operand, step.scope)) if operand is not None else []
        if names and not any(reaching.definitions_reaching(step, name, surely=True) for name in names):
            return True
    return False
