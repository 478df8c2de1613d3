"""What is there in vain: waits that find nothing to wait for, groups without operations, fences that order nothing.

Nothing is said unless all that a kernel does was walked, without a guess, by all threads of its CTA: a wait that is in
vain in one scenario may be what another one needs.

Source: PTX ISA, "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group",
"Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from ptxkit.analysis.causality import Causality, Path
from ptxkit.analysis.flow import Flow
from ptxkit.analysis.inflight import GROUPED
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Event, GroupEvent, Opaque, Trace
from ptxkit.isa.effects import Access, Barrier, CommitGroup, Control, Effect, Grid, ProxyFence, Value, WaitGroup
from ptxkit.records import dataclass, field


def is_all_known(kernel: Kernel) -> bool:
    """Whether every instruction that does something was walked, by all threads, and no walk had to guess."""
    covered = kernel.explorer.covered()
    for step in kernel.program.steps:
        effects = step.effects
        if step.match is None or any(isinstance(e, Control) and e.kind == "call" for e in effects):
            return False
        if any(not isinstance(effect, Value) for effect in effects) and step not in covered:
            return False
    return all(
        world.is_whole and not world.is_opaque and all(g.guessed is None and g.ended == "exit" for g in world.groups)
        for world in kernel.worlds
    )


# ---------------------------------------------------------------------------------------------------- groups


@dataclass(slots=True)
class Groups:
    """Whether each wait had something to wait for in some execution, and each commit an operation to commit.

    counted: the kinds of groups of which some wait leaves a number pending, so that empty ones count, too.
    """

    waits: dict[Step, bool] = field(default_factory=dict)
    commits: dict[Step, bool] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)


def groups_of(kernel: Kernel) -> Groups | None:
    """Whether each wait and commit had anything to wait for, or to commit. None where not all threads are known."""
    found = Groups()
    for world in kernel.worlds:
        threads = world.everyone(Access, CommitGroup, WaitGroup)
        if threads is None:
            return None
        for thread in threads:
            _follow(thread.trace, found)
    return found


def _follow(trace: Trace, found: Groups) -> None:
    """Counts operations in groups. Of each closed group: how many, and whether their sources are known to be read."""
    started: dict[str, int] = defaultdict(int)
    closed: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for event in trace.events:
        if isinstance(event, Opaque):
            continue
        match event.effect:
            case Access(completion=str(group)) if group in GROUPED:
                started[group] += 1
            case CommitGroup(group=group):
                found.commits[event.step] = found.commits.get(event.step, False) or started[group] > 0
                closed[group].append((started.pop(group, 0), False))
            case WaitGroup(group=group) as effect if group in GROUPED:
                if effect.commits:
                    closed[group].append((started.pop(group, 0), False))
                pending = event.amount if isinstance(event.amount, int) else 0
                if event.amount != 0:
                    found.counted.add(group)
                useful = _wait(closed[group], pending, read_only=effect.read_only) or event.amount is None
                found.waits[event.step] = found.waits.get(event.step, False) or useful


def _wait(closed: list[tuple[int, bool]], pending: int, *, read_only: bool) -> bool:
    """Ends the groups that a wait covers; whether there was anything in them to wait for."""
    count = max(len(closed) - pending, 0)
    useful = any(operations and not (read and read_only) for operations, read in closed[:count])
    if read_only:
        closed[:count] = [(operations, True) for operations, _ in closed[:count]]
    else:
        del closed[:count]
    return useful


def waits_for_all(step: Step, kernel: Kernel) -> bool:
    """Whether rounds that no walk made can change nothing of what a wait leaves: it leaves none, or there are none."""
    flow = Flow(kernel.program)
    worlds = kernel.worlds
    amounts = {e.amount for w in worlds for g in w.groups for e in g.events if isinstance(e, Event) and e.step is step}
    return amounts == {0} or not any(flow.repeats(each) for each in kernel.program.steps)


# ---------------------------------------------------------------------------------------------------- fences


def fences_of(kernel: Kernel) -> list[Step]:
    """The proxy fences about shared memory of a kernel, in both directions."""
    return [step for step in kernel.program.steps if any(_is_fence(effect) for effect in step.effects)]


def talks_beyond(kernel: Kernel) -> bool:
    """Whether a kernel may synchronise with other CTAs while it runs: by flags in memory, a cluster, another grid."""
    effects = [effect for step in kernel.program.steps for effect in step.effects]
    strong = any(isinstance(e, Access) and (e.kind == "update" or e.order != "weak") for e in effects)
    beyond = any(isinstance(e, Grid) or (isinstance(e, Barrier) and e.level == "cluster") for e in effects)
    return strong or beyond or any(world.scenario.launch.cluster_size > 1 for world in kernel.worlds)


def is_narrow(step: Step) -> bool:
    """Whether a fence is about shared memory only."""
    fences = [effect for effect in step.effects if isinstance(effect, ProxyFence)]
    return all(fence.spaces and all(space.startswith("shared") for space in fence.spaces) for fence in fences)


def spaces_used(kernel: Kernel, proxy: str) -> set[str]:
    """The state spaces that a kernel's accesses through a proxy name, the parts of a window by its name."""
    return {
        effect.space.partition("::")[0]
        for step in kernel.program.steps
        for effect in step.effects
        if isinstance(effect, Access) and effect.proxy == proxy
    }


def ordering(kernel: Kernel, fences: Collection[Step]) -> set[Step]:
    """Those of some fences that may have a generic access of shared memory before them, and an async one behind them,
    in any order that the threads' synchronisation allows; all of them, where there is too much to look at."""
    found: set[Step] = set()
    for world in kernel.worlds:
        causality = Causality(world, world.budget)
        for path in causality.paths:
            for position, event in enumerate(path.group.events):
                if event.step in found or event.step not in fences or isinstance(event, Opaque):
                    continue
                if _any_before(causality, path, position) and _any_behind(causality, path, position):
                    found.add(event.step)
        if world.budget.is_over:
            return set(fences)
    return found


def _any_before(causality: Causality, path: Path, position: int) -> bool:
    for other in causality.paths:
        first = next(_accesses(other, "generic"), None)
        if first is None:
            continue
        if other.warp == path.warp:
            if causality.beside(other, first, path) <= position:
                return True
        elif causality.may_precede(other, first, path, position):
            return True
    return False


def _any_behind(causality: Causality, path: Path, position: int) -> bool:
    for other in causality.paths:
        last = max(_accesses(other, "async"), default=-1)
        if last < 0:
            continue
        there = (
            causality.beside(path, position, other)
            if other.warp == path.warp
            else causality.horizon(path, position, other)
        )
        if there <= last:
            return True
    return False


def _accesses(path: Path, proxy: str) -> Iterator[int]:
    """The positions of a path's accesses to shared memory through a proxy."""
    for position, event in enumerate(path.group.events):
        if isinstance(event, Event | GroupEvent):
            effect = event.effect
            if isinstance(effect, Access) and effect.proxy == proxy and effect.space.startswith(("shared", "generic")):
                yield position


def _is_fence(effect: Effect) -> bool:
    if not isinstance(effect, ProxyFence) or (effect.proxy, effect.direction) != ("async", "both"):
        return False
    return not effect.spaces or any(space.startswith("shared") for space in effect.spaces)
