"""Finds fences and barriers that follow another one of their kind with only arithmetic between them.

Source: PTX ISA, "membar / fence", "bar, barrier", "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import UnknownCall
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, Barrier, Effect, MemoryFence, ProxyFence, RegisterFence, Value
from ptxkit.semantics.ordering import is_cta_barrier

_READ_ONLY = ("const", "param")


@dataclass(frozen=True, slots=True)
class RedundantSync:
    """Two adjacent instructions.

    redundant: the instruction that the other one subsumes. kind: `fence` or `barrier`.
    """

    redundant: Step
    other: Step
    kind: str


def find_redundant_sync(kernel: KernelFacts) -> Iterator[RedundantSync]:
    """Yields the redundant instructions in the blocks of a kernel."""
    flow = kernel.program.analysis(ControlFlowGraph)
    for block in range(len(flow.block_starts)):
        last: Step | None = None
        for step in flow.steps_of_block(block):
            if _sole_sync_effect(step) is not None:
                repeat = None if last is None else _compare(kernel, last, step)
                if repeat is not None:
                    yield repeat
                last = step
            elif last is not None and not _is_arithmetic(step, last):
                last = None


def _compare(kernel: KernelFacts, first: Step, second: Step) -> RedundantSync | None:
    if first.instruction.guard != second.instruction.guard:
        return None
    before, after = _sole_sync_effect(first), _sole_sync_effect(second)
    if isinstance(after, Barrier):
        equal = before == after and first.instruction.operands == second.instruction.operands
        return RedundantSync(second, first, "barrier") if equal and _is_executed_by_all(kernel, first, second) else None
    if before == after or (_covers(before, after)):
        return RedundantSync(second, first, "fence")
    return RedundantSync(first, second, "fence") if _covers(after, before) else None


def _sole_sync_effect(step: Step) -> Effect | None:
    """Returns the effect of an instruction that is only a fence, or a barrier of all threads of a CTA."""
    effects = step.effects
    if len(effects) != 1:
        return None
    effect = effects[0]
    if isinstance(effect, Barrier):
        return effect if is_cta_barrier(effect) and step.instruction.guard is None else None
    if isinstance(effect, ProxyFence):
        return effect if effect.address is None else None
    return effect if isinstance(effect, MemoryFence | RegisterFence) else None


def _covers(wide: Effect | None, narrow: Effect | None) -> bool:
    """Returns whether a proxy fence orders everything that another one orders."""
    if not isinstance(wide, ProxyFence) or not isinstance(narrow, ProxyFence):
        return False
    if replace(wide, spaces=()) != replace(narrow, spaces=()):
        return False
    return not wide.spaces or (bool(narrow.spaces) and set(narrow.spaces) <= set(wide.spaces))


def _is_arithmetic(step: Step, last: Step) -> bool:
    """Returns whether an instruction only computes values.

    The result is false where `last` has a guard, which the instruction may compute.
    """
    effects = step.effects
    if not effects or last.instruction.guard is not None:
        return False
    return all(isinstance(effect, Value) or _is_constant(effect) for effect in effects)


def _is_constant(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.kind == "read" and effect.space.partition("::")[0] in _READ_ONLY


def _is_executed_by_all(kernel: KernelFacts, first: Step, second: Step) -> bool:
    """Returns whether all threads of a CTA execute the same barriers, including these two."""
    return bool(kernel.scenarios) and all(_is_uniform_in_scenario(facts, first, second) for facts in kernel.scenarios)


def _is_uniform_in_scenario(facts: ScenarioFacts, first: Step, second: Step) -> bool:
    if not facts.is_complete or facts.has_unknown_call:
        return False
    stories = [_barriers(facts, number) for number in range(len(facts.groups))]
    return all(story == stories[0] for story in stories) and {first, second} <= set(stories[0])


def _barriers(facts: ScenarioFacts, number: int) -> list[Step]:
    """Returns the CTA barriers that the threads of a group executed."""
    events = (event for event in facts.groups[number].events if not isinstance(event, UnknownCall))
    return [event.step for event in events if isinstance(event.effect, Barrier) and event.effect.level == "cta"]
