"""Finds synchronization without effect: waits without pending operations, empty groups, fences that order nothing.

Findings require that all threads of the CTA explored the whole kernel without a guess: a wait that is redundant in one
scenario may be necessary in another one.

Source: PTX ISA, "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group",
"Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Access, Barrier, CommitGroup, Control, Effect, Grid, ProxyFence, Value, WaitGroup
from ptxkit.semantics.ordering import connects_proxies


def is_fully_executed(kernel: KernelFacts) -> bool:
    """Returns whether all threads explored every instruction with an effect, and no exploration had to guess."""
    covered = kernel.explorer.covered_steps()
    for step in kernel.program.steps:
        effects = step.effects
        if step.match is None or any(isinstance(e, Control) and e.kind == "call" for e in effects):
            return False
        if any(not isinstance(effect, Value) for effect in effects) and step not in covered:
            return False
    return all(
        facts.is_complete
        and not facts.has_unknown_call
        and all(g.first_guess is None and g.end_reason == "exit" for g in facts.groups)
        for facts in kernel.scenarios
    )


@dataclass(slots=True)
class GroupUsage:
    """Whether each wait had an operation to wait for in some execution, and each commit had one to commit.

    counted_kinds: the kinds of groups for which some wait leaves a number of groups pending, so that empty ones count.
    """

    useful_waits: dict[Step, bool] = field(default_factory=dict)
    useful_commits: dict[Step, bool] = field(default_factory=dict)
    counted_kinds: set[str] = field(default_factory=set)


def collect_group_usage(kernel: KernelFacts) -> GroupUsage | None:
    """Returns whether each wait and commit had any operations; None where not all threads are known."""
    found = GroupUsage()
    for facts in kernel.scenarios:
        threads = facts.all_threads(Access, CommitGroup, WaitGroup)
        if threads is None:
            return None
        for thread in threads:
            _count_operations(thread.trace, found)
    return found


def _count_operations(trace: ThreadTrace, found: GroupUsage) -> None:
    """Records, for each closed group, the number of its operations and whether their sources are known to be read."""
    started: dict[str, int] = defaultdict(int)
    closed: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for event in trace.events:
        if isinstance(event, UnknownCall):
            continue
        match event.effect:
            case Access(completion=str(group)) if group in GROUP_MECHANISMS:
                started[group] += 1
            case CommitGroup(group=group):
                found.useful_commits[event.step] = found.useful_commits.get(event.step, False) or started[group] > 0
                closed[group].append((started.pop(group, 0), False))
            case WaitGroup(group=group) as effect if group in GROUP_MECHANISMS:
                if effect.commits:
                    closed[group].append((started.pop(group, 0), False))
                pending = event.amount if isinstance(event.amount, int) else 0
                if event.amount != 0:
                    found.counted_kinds.add(group)
                useful = _complete_groups(closed[group], pending, read_only=effect.read_only) or event.amount is None
                found.useful_waits[event.step] = found.useful_waits.get(event.step, False) or useful


def _complete_groups(closed: list[tuple[int, bool]], pending: int, *, read_only: bool) -> bool:
    """Completes the groups that a wait covers; returns whether any of them had operations to wait for."""
    count = max(len(closed) - pending, 0)
    useful = any(operations and not (read and read_only) for operations, read in closed[:count])
    if read_only:
        closed[:count] = [(operations, True) for operations, _ in closed[:count]]
    else:
        del closed[:count]
    return useful


def is_independent_of_loop_count(step: Step, kernel: KernelFacts) -> bool:
    """Returns whether the number of loop iterations cannot change how many groups a wait leaves pending.

    This holds if it leaves none, or if the kernel has no loop.
    """
    flow = kernel.program.analysis(ControlFlowGraph)
    scenarios = kernel.scenarios
    amounts = {
        e.amount for w in scenarios for g in w.groups for e in g.events if isinstance(e, TraceEvent) and e.step is step
    }
    return amounts == {0} or not any(flow.may_repeat(each) for each in kernel.program.steps)


def find_shared_proxy_fences(kernel: KernelFacts) -> list[Step]:
    """Returns the proxy fences for shared memory of a kernel, in both directions."""
    return [step for step in kernel.program.effectful_steps if any(_is_fence(effect) for effect in step.effects)]


def has_external_communication(kernel: KernelFacts) -> bool:
    """Returns whether a kernel may synchronize with other CTAs: by flags, in a cluster, or with another grid."""
    effects = [effect for step in kernel.program.effectful_steps for effect in step.effects]
    strong = any(isinstance(e, Access) and (e.kind == "update" or e.order != "weak") for e in effects)
    beyond = any(isinstance(e, Grid) or (isinstance(e, Barrier) and e.level == "cluster") for e in effects)
    return strong or beyond or any(facts.scenario.launch.cluster_size > 1 for facts in kernel.scenarios)


def is_shared_only_fence(step: Step) -> bool:
    """Returns whether a fence concerns shared memory only."""
    fences = [effect for effect in step.effects if isinstance(effect, ProxyFence)]
    return all(fence.spaces and all(space.startswith("shared") for space in fence.spaces) for fence in fences)


def accessed_spaces(kernel: KernelFacts, proxy: str) -> set[str]:
    """Returns the state spaces, without sub-qualifiers, that a kernel's accesses through a proxy name."""
    return {
        effect.space.partition("::")[0]
        for step in kernel.program.effectful_steps
        for effect in step.effects
        if isinstance(effect, Access) and effect.proxy == proxy
    }


def find_ordering_fences(kernel: KernelFacts, fences: Collection[Step]) -> set[Step]:
    """Returns the fences that may have a generic access of shared memory before them and an async one after them.

    Any order is considered that the threads' synchronization allows. The result is all fences where the budget is
    exceeded.
    """
    found: set[Step] = set()
    for facts in kernel.scenarios:
        causality = HappensBefore(facts, facts.budget)
        for path in causality.paths:
            for position, event in enumerate(path.group.events):
                if event.step in found or event.step not in fences or isinstance(event, UnknownCall):
                    continue
                if _has_generic_access_before(causality, path, position) and _has_async_access_after(
                    causality, path, position
                ):
                    found.add(event.step)
        if facts.budget.is_exhausted:
            return set(fences)
    return found


def _has_generic_access_before(causality: HappensBefore, path: WarpPath, position: int) -> bool:
    for other in causality.paths:
        first = next(_accesses(other, "generic"), None)
        if first is None:
            continue
        if other.warp == path.warp:
            if causality.first_concurrent_position(other, first, path) <= position:
                return True
        elif causality.may_precede(other, first, path, position):
            return True
    return False


def _has_async_access_after(causality: HappensBefore, path: WarpPath, position: int) -> bool:
    for other in causality.paths:
        last = max(_accesses(other, "async"), default=-1)
        if last < 0:
            continue
        there = (
            causality.first_concurrent_position(path, position, other)
            if other.warp == path.warp
            else causality.first_ordered_position(path, position, other)
        )
        if there <= last:
            return True
    return False


def _accesses(path: WarpPath, proxy: str) -> Iterator[int]:
    """Yields the positions of a path's accesses to shared memory through a proxy."""
    for position, event in enumerate(path.group.events):
        if isinstance(event, TraceEvent | GroupEvent):
            effect = event.effect
            if isinstance(effect, Access) and effect.proxy == proxy and effect.space.startswith(("shared", "generic")):
                yield position


def _is_fence(effect: Effect) -> bool:
    return connects_proxies(effect, "async", "shared", "both")
