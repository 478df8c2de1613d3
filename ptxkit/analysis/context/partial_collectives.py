"""Finds matrix instructions of a warp that some of its lanes execute, and others do not.

Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix", "mma" (`.aligned`: all threads in the warp must execute
the same instruction).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.convergence_compiler import is_collective_instruction
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace
from ptxkit.isa.effects import Access, Effect, Value
from ptxkit.semantics.ordering import is_warp_barrier
from ptxkit.syntax.constants import WARP_SIZE


def collective_steps(program: Program) -> list[Step]:
    """Returns the instructions of whole warps that compute, or access memory at once; for all functions of a kernel.

    Other rules examine those that manage Tensor Memory, registers or tensor maps, or are of a warpgroup.
    """
    return [
        step
        for code in program.functions
        for step in code.steps
        if step.match is not None and is_collective_instruction(step.match) and all(map(_is_immediate, step.effects))
    ]


def find_partial_collectives(facts: ScenarioFacts) -> dict[Step, int | None]:
    """Returns how many lanes of the first divergent warp execute each such instruction; None if no warp diverges.

    Warps of which an execution was cut short do not count.
    """
    steps = set(facts.program.analysis(collective_steps))
    lanes = Counter(tid // WARP_SIZE for group in facts.groups for tid in group.tids)
    cut = {tid // WARP_SIZE for group in facts.groups if group.end_reason != "exit" for tid in group.tids}
    counts: dict[Step, Counter[int]] = defaultdict(Counter)
    for group in facts.groups if steps else ():
        guarded = _threads_of_guarded_steps(group, steps)
        for step in steps & group.covered_steps:
            counts[step].update(tid // WARP_SIZE for tid in guarded.get(step, group.tids))
    return {
        step: next((count for warp, count in warps.items() if warp not in cut and count < lanes[warp]), None)
        for step, warps in counts.items()
    }


def _threads_of_guarded_steps(group: GroupTrace, steps: Container[Step]) -> dict[Step, list[int]]:
    """Maps each of the steps that a guard divides the threads of a group at to those that execute it the first time."""
    found: dict[Step, list[int]] = {}
    for event in group.events:
        if not isinstance(event, GroupEvent) or event.participants is None:
            continue
        if event.step in steps and is_warp_barrier(event.effect):
            executing = [tid for tid, there in zip(group.tids, event.participants, strict=True) if there]
            found.setdefault(event.step, executing)
    return found


def _is_immediate(effect: Effect) -> bool:
    if isinstance(effect, Access):
        is_plain = (effect.proxy, effect.completion, effect.via) == ("generic", None, "address")
        return is_plain and effect.space.startswith(("shared", "global", "generic"))
    return isinstance(effect, Value)
