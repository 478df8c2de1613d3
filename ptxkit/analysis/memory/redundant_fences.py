"""Finds proxy fences without effect, on all paths of a kernel: other fences order all accesses that they order.

A fence between the generic and the async proxy is necessary only for generic accesses that are not followed by another
such fence: those of the executing thread, and those of other threads of which it learns by synchronization. It is
necessary only for async accesses that no other such fence precedes. All threads come to a common barrier, and leave it,
on the same paths, so that a search can pass it; any other synchronization ends the search.

Source: PTX ISA, "Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

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
    MbarrierArrive,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    WaitGroup,
)

_PRIVATE_SPACES = ("const", "local", "param")


def find_redundant_proxy_fences(
    program: Program, fences: Iterable[Step], known: Collection[Step] = (), *, only_earlier: bool = False
) -> Iterator[tuple[Step, bool]]:
    """Yields those of some fences between the generic and the async proxy that could all be removed together.

    Each is yielded with whether earlier fences order the same accesses; otherwise, later ones do. known: fences that
    are redundant for another reason. only_earlier: whether no later fences count.
    """
    removed = set(known)
    if not is_self_contained(program):
        return
    for fence in fences:
        if program.contains(fence) and fence not in removed:
            is_late = _is_needless(program, fence, removed, forward=False)
            if is_late or (not only_earlier and _is_needless(program, fence, removed, forward=True)):
                removed.add(fence)
                yield fence, is_late


def _is_needless(program: Program, fence: Step, removed: Collection[Step], *, forward: bool) -> bool:
    """Returns whether each path to a fence comes from another one, or from the entry, without a generic access.

    forward: whether instead each path leads to another fence, or an exit, without an async access.
    """
    flow, common = program.analysis(ControlFlowGraph), program.analysis(CommonBarriers).steps
    own = _async_fence(fence)
    if own is None:
        return False

    def is_ordered(steps: Sequence[Step]) -> bool | None:
        """Returns whether steps end a path: True at another fence, False at an access, None if they do not."""
        for step in steps if forward else reversed(steps):
            if step is fence or step in removed or step in common:
                continue
            other = _async_fence(step)
            if other is not None and step.instruction.guard is None and _covers(other, own):
                return True
            if any(_may_use_later(e) if forward else _may_need_fence(program, e, own) for e in step.effects):
                return False
        return None

    block = flow.block_of(fence)
    verdict = is_ordered([step for step in flow.steps_of_block(block) if (step.index > fence.index) is forward])
    following = flow.successors if forward else flow.predecessors
    blocks = Worklist(() if verdict is not None else following[block])
    for each in blocks:
        verdict = is_ordered(flow.steps_of_block(each))
        if verdict is False:
            return False
        blocks.add(() if verdict else following[each])
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


def _may_use_later(effect: Effect) -> bool:
    """Returns whether an effect may access memory through the async proxy, or let another thread do so."""
    match effect:
        case Access(proxy=proxy, order=order, space=space, kind=kind):
            is_private = space.partition("::")[0] in _PRIVATE_SPACES
            return proxy == "async" or not (is_private or (order == "weak" and kind != "update"))
        case Barrier(order=order):
            return order != "relaxed"
        case Control(kind=kind):
            return kind == "call"
    return isinstance(effect, Cancellation | Grid | MbarrierArrive | MbarrierTrack | MemoryFence)
