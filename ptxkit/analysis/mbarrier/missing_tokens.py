"""Finds waits on an mbarrier for the phase of a token that no arrival of the thread can have returned.

The thread never assigns the register of the token before the wait. A token identifies a phase only if an operation on
the same mbarrier returned it.

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
    waits = {step: _assignments_of_token(kernel.program, step) for step in kernel.program.effectful_steps}
    by_token = {step: found for step, found in waits.items() if found is not None}
    for number, facts in enumerate(kernel.scenarios if by_token else ()):
        for group in facts.groups:
            for position, event in enumerate(group.events):
                assignments = by_token.get(event.step)
                if assignments is not None and assignments.isdisjoint(group.covered_steps):
                    yield number, event.step, group.first_guess is None or position < group.first_guess


def _assignments_of_token(program: Program, step: Step) -> frozenset[Step] | None:
    """Returns the steps that may assign the token of a wait; None for other steps, and where they are unknown."""
    function = program.function_of(step)
    if not function.is_kernel or not function.is_fully_matched:
        return None
    reaching = function.analysis(ReachingDefinitions)
    for effect in step.effects:
        operand = step.operand(effect.phase) if isinstance(effect, MbarrierWait) and effect.by == "state" else None
        names = list(registers_in(operand, step.scope)) if operand is not None else []
        if names:
            found = (reaching.definitions_reaching(step, name, surely=True) for name in names)
            return frozenset(each for some in found for each in some)
    return None
