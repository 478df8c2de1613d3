"""Finds proxy fences without effect, on all paths of a kernel: earlier fences have ordered all accesses before them.

A fence between the generic and the async proxy is necessary only for generic accesses that are not followed by another
such fence: those of the executing thread, and those of other threads of which it learns by synchronization. All threads
come to a common barrier on the same paths, so that a search backwards can pass it; any other synchronization ends it.

Source: PTX ISA, "Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ptxkit.analysis.abstract_interpretation.returning_calls import is_self_contained
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.memory.redundant_barriers import CommonBarriers
from ptxkit.isa.effects import (
    Access,
    Barrier,
    Cancellation,
    Control,
    Effect,
    Grid,
    MbarrierWait,
    ProxyFence,
    WaitGroup,
)

_PRIVATE_SPACES = ("const", "local", "param")


def find_redundant_proxy_fences(program: Program, fences: Iterable[Step]) -> Iterator[Step]:
    """Yields those of some fences between the generic and the async proxy that could all be removed together."""
    removed: set[Step] = set()
    if not is_self_contained(program):
        return
    for fence in fences:
        if program.contains(fence) and _is_needless(program, fence, removed):
            removed.add(fence)
            yield fence


def _is_needless(program: Program, fence: Step, removed: Collection[Step]) -> bool:
    """Returns whether each path to a fence comes from another one, or from the entry, without a generic access."""
    flow, common = program.analysis(ControlFlowGraph), program.analysis(CommonBarriers).steps
    own = _async_fence(fence)
    if own is None:
        return False

    def is_ordered(steps: Iterable[Step]) -> bool | None:
        """Returns whether steps end a path backwards: True before a fence, False before an access, None if not."""
        for step in steps:
            if step is fence or step in removed or step in common:
                continue
            other = _async_fence(step)
            if other is not None and step.instruction.guard is None and _covers(other, own):
                return True
            if any(_may_need_fence(program, effect, own) for effect in step.effects):
                return False
        return None

    block = flow.block_of(fence)
    before = [step for step in flow.steps_of_block(block) if step.index < fence.index]
    verdict = is_ordered(reversed(before))
    blocks = Worklist(() if verdict else flow.predecessors[block])
    for each in blocks if verdict is not False else ():
        verdict = is_ordered(reversed(flow.steps_of_block(each)))
        if verdict is None:
            blocks.add(flow.predecessors[each])
        elif not verdict:
            return False
    return verdict is not False


def _async_fence(step: Step) -> ProxyFence | None:
    effect = step.effects[0] if len(step.effects) == 1 else None
    is_fence = isinstance(effect, ProxyFence) and (effect.proxy, effect.direction) == ("async", "both")
    return effect if is_fence and isinstance(effect, ProxyFence) and effect.address is None else None


def _covers(wide: ProxyFence, narrow: ProxyFence) -> bool:
    return not wide.spaces or (bool(narrow.spaces) and set(narrow.spaces) <= set(wide.spaces))


def _may_need_fence(program: Program, effect: Effect, fence: ProxyFence) -> bool:
    """Returns whether an effect is a generic access that a fence orders, or completes one, or learns of others."""
    match effect:
        case Access(space=space, proxy=proxy, order=order):
            name = space.partition("::")[0]
            if name in _PRIVATE_SPACES or proxy != "generic":
                return False
            fenced = {each.partition("::")[0] for each in fence.spaces}
            return order != "weak" or not fenced or name == "generic" or name in fenced
        case WaitGroup(group=group):
            return any(
                isinstance(each, Access) and each.completion == group and each.proxy == "generic"
                for step in program.effectful_steps
                for each in step.effects
            )
        case Barrier(order=order):
            return order != "relaxed"
        case Control(kind=kind):
            return kind == "call"
    return isinstance(effect, Cancellation | Grid | MbarrierWait)
