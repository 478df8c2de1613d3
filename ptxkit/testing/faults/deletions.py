"""One synchronising instruction left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

from ptxkit.analysis.program import Step
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Control,
    Effect,
    Grid,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MemoryFence,
    ProxyFence,
    RegisterFence,
    TensorFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.isa.expressions import Const, Role
from ptxkit.syntax.tree import Integer
from ptxkit.testing.faults.changes import Change, dropped
from ptxkit.testing.faults.family import Operator, Search
from ptxkit.testing.faults.reading import Reading, operand
from ptxkit.testing.faults.spare import announces, is_of_a_warp, parts_only_reads, repeats_a_wait, tells_nothing

T = TypeVar("T")

NOTHING: tuple[str, ...] = ()


def _without(kind: type[T], rules: Callable[[Reading, Step, T], tuple[str, ...] | None]) -> Search:
    """Leaves out each instruction with an effect; `rules` says what that breaks, None where it is another family's."""

    def search(reading: Reading) -> Iterator[Change]:
        for step, effect in reading.having(kind):
            broken = rules(reading, step, effect)
            if broken is not None:
                yield dropped(reading, step, broken)

    return search


# ------------------------------------------------------------------------------------------ fences


def _async_fence(_: Reading, __: Step, fence: ProxyFence) -> tuple[str, ...] | None:
    if fence.proxy != "async":
        return None
    return ("PX1",) if fence.direction == "both" else ("PX12",)


def _tensormap_fence(reading: Reading, step: Step, fence: ProxyFence) -> tuple[str, ...] | None:
    alone = not reading.effects(step, Access)
    return ("TM2",) if fence.proxy == "tensormap" and alone else None


def _memory_fence(_: Reading, __: Step, fence: MemoryFence) -> tuple[str, ...] | None:
    return ("CL4",) if fence.only is None and fence.scope == "cluster" else ("race",) if fence.only is None else None


def _init_fence(reading: Reading, step: Step, fence: MemoryFence) -> tuple[str, ...] | None:
    """Breaks something where a cluster barrier that itself publishes nothing follows."""
    return ("MB5",) if fence.only is not None and relies_on_init_fence(reading, step) else None


def relies_on_init_fence(reading: Reading, step: Step) -> bool:
    """Whether the next arrival at the cluster's barrier is relaxed, so that a fence for mbarrier.init is needed."""
    later = [each for after, each in reading.having(Barrier) if after.index > step.index and each.level == "cluster"]
    return bool(later) and later[0].order == "relaxed"


def _register_fence(_: Reading, __: Step, ___: RegisterFence) -> tuple[str, ...] | None:
    return ("WG1",)


def _tensor_fence(_: Reading, __: Step, fence: TensorFence) -> tuple[str, ...] | None:
    return ("TC11",) if fence.side == "after" else ("TC12",)


# ---------------------------------------------------------------------------------------- barriers


def handed_over(reading: Reading, step: Step) -> tuple[str, ...]:
    """What a barrier of the CTA makes known to the other threads: the last thing of weight since the one before."""
    for earlier in reversed(reading.steps[: step.index]):
        for effect in earlier.effects:
            rule = _reason(effect)
            if rule is not None:
                return (rule,)
            if isinstance(effect, Barrier) and effect.level == "cta":
                return ("race",)
    return ("race",)


def _reason(effect: Effect) -> str | None:
    match effect:
        case MbarrierInit():
            return "MB3"
        case TensorMemory(action="allocate"):
            return "TC6"
        case ProxyFence(proxy="async"):
            return "PX15"
        case WaitGroup(group="cp.async"):
            return "CA2"
        case WaitGroup(group="bulk"):
            return "BK9"
        case WaitGroup(group="wgmma"):
            return "WG6"
    return None


def _barrier(reading: Reading, step: Step, barrier: Barrier) -> tuple[str, ...] | None:
    if barrier.level != "cta" or barrier.action != "sync":
        return None
    return () if is_spare(reading, step) else handed_over(reading, step)


def is_spare(reading: Reading, step: Step) -> bool:
    """Whether another barrier of all threads in the same block does what this one does, or nothing is left to do.

    What stands between the two only computes, waits, fences or announces the bytes of copies that come behind the later
    one; behind the earlier one, whoever
    issues the asynchronous operation has executed the fence itself. Announcing bytes with the arrival that its phase
    needs may as well come behind the copy.
    """
    if not reading.is_of_all(step):
        return False
    if parts_only_reads(reading, step) or tells_nothing(reading, step):
        return True
    ordering = (ProxyFence, MemoryFence, WaitGroup, CommitGroup)
    for later in reading.after(step):
        if reading.is_of_all(later):
            return True
        if not (reading.does_only(later, ordering) or announces(reading, later) or is_of_a_warp(reading, later)):
            break
    for earlier in reading.before(step):
        if reading.is_of_all(earlier):
            return True
        fences = [each for each in reading.effects(earlier, ProxyFence) if each.proxy == "async"]
        fenced = bool(fences) and earlier.instruction.guard is None and reading.does_only(earlier, (ProxyFence,))
        if not (reading.is_still(earlier) or announces(reading, earlier) or fenced):
            break
    return reading.reached_by_all(step) and not reading.may_come_after(
        step, lambda each: not reading.does_only(each, ())
    )


def _named_arrive(_: Reading, __: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("BR3",) if barrier.level == "cta" and barrier.action == "arrive" else None


def _warp_barrier(reading: Reading, step: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("BR6",) if barrier.level == "warp" and reading.barriers(step) else None


def _cluster_arrive(_: Reading, __: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("CL3",) if barrier.level == "cluster" and barrier.action == "arrive" else None


def _cluster_wait(_: Reading, __: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("CL3", "CL5") if barrier.level == "cluster" and barrier.action == "wait" else None


def _cluster_pairs(reading: Reading) -> Iterator[Change]:
    """An arrival at the cluster's barrier and the wait that follows it."""
    found = [(step, each) for step, each in reading.having(Barrier) if each.level == "cluster"]
    for (arrive, first), (wait, second) in pairwise(found):
        if (first.action, second.action) == ("arrive", "wait"):
            both = (*dropped(reading, arrive).splices, *dropped(reading, wait).splices)
            started = "CL1" if arrive.index == found[0][0].index else "CL2"
            yield Change(arrive.start, f"`{reading.text(arrive)}` and `{reading.text(wait)}` deleted", both, (started,))


# ------------------------------------------------------------------------------------------ groups


def _commit(_: Reading, __: Step, commit: CommitGroup) -> tuple[str, ...] | None:
    return {"cp.async": ("CA3",), "bulk": ("BK7",), "wgmma": ("WG4",)}[commit.group]


def waits_for_nothing(reading: Reading, step: Step, wait: WaitGroup) -> bool:
    """Whether no path leads to a wait from an operation that completes in such a group, but over a wait for it.

    What was committed before a wait that leaves nothing pending has completed there.
    """
    if repeats_a_wait(reading, step, wait):
        return True
    ends: list[Step] = []

    def brings(each: Step) -> bool:
        calls = any(control.kind == "call" for control in reading.effects(each, Control))
        return calls or each.match is None or reading.accesses(each, lambda access: access.completion == wait.group)

    def completes(each: Step) -> bool:
        earlier = [other for other in reading.effects(each, WaitGroup) if _covers(other, each, wait)]
        ends.extend([each] if earlier and not earlier[0].commits else [])
        return bool(earlier)

    def commits(each: Step) -> bool:
        return each.instruction.guard is None and any(
            other.group == wait.group for other in reading.effects(each, CommitGroup)
        )

    if reading.may_come_before(step, brings, completes):
        return False
    return not any(reading.may_come_before(end, brings, commits) for end in dict.fromkeys(ends))


def _covers(earlier: WaitGroup, step: Step, wait: WaitGroup) -> bool:
    """Whether a thread that has waited at a step has nothing left in its groups that another wait is for."""
    pending = operand(step, earlier.pending.name) if isinstance(earlier.pending, Role) else earlier.pending
    none_left = isinstance(pending, Integer | Const) and pending.value == 0
    whole = wait.read_only or not earlier.read_only
    return earlier.group == wait.group and whole and none_left and step.instruction.guard is None


def _group_wait(reading: Reading, step: Step, wait: WaitGroup) -> tuple[str, ...] | None:
    if wait.group in ("bulk", "cp.async") and waits_for_nothing(reading, step, wait):
        return ()
    if wait.group == "bulk":
        return ("BK12",) if wait.read_only else ("BK9", "BK12")
    return {"cp.async": ("CA1",), "wgmma": ("WG3",), "tcgen05.ld": ("TC13",), "tcgen05.st": ("TC14",)}[wait.group]


# ---------------------------------------------------------------------------------------- mbarrier


def _arrive(_: Reading, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return None if arrive.asynchronous or arrive.expect is not None or arrive.drop else ("MB7",)


def _drop(_: Reading, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return ("MB20",) if arrive.drop else None


def _arrive_expect(_: Reading, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return ("MB7", "BK5") if arrive.expect is not None else None


def _commit_arrive(_: Reading, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return ("TC9",) if arrive.asynchronous else None


def _always(*rules: str) -> Callable[[Reading, Step, object], tuple[str, ...]]:
    return lambda _, __, ___: rules


def _tracked_copy(reading: Reading, step: Step, complete: MbarrierComplete) -> tuple[str, ...] | None:
    """Without one of several boxes of unknown size, the others may still make up the bytes."""
    unknown = [each for _, each in reading.having(MbarrierComplete) if each.size is None]
    if complete.size is None and len(unknown) > 1:
        return None
    return ("BK5",) if complete.asynchronous and reading.effects(step, Access) else None


# ----------------------------------------------------------------------------------------- the rest


def _memory(action: str, *rules: str) -> Callable[[Reading, Step, TensorMemory], tuple[str, ...] | None]:
    return lambda _, __, memory: rules if memory.action == action else None


def _grid_wait(_: Reading, __: Step, grid: Grid) -> tuple[str, ...] | None:
    return ("BR10",) if grid.action == "wait" else None


OPERATORS = (
    Operator("delete-proxy-fence", ("PX1",), _without(ProxyFence, _async_fence)),
    Operator("delete-tensormap-fence", ("TM2",), _without(ProxyFence, _tensormap_fence)),
    Operator("delete-memory-fence", ("race",), _without(MemoryFence, _memory_fence)),
    Operator("delete-init-fence", ("MB5",), _without(MemoryFence, _init_fence)),
    Operator("delete-wgmma-fence", ("WG1",), _without(RegisterFence, _register_fence)),
    Operator("delete-tcgen05-fence", ("TC11", "TC12"), _without(TensorFence, _tensor_fence)),
    Operator("delete-barrier", ("race",), _without(Barrier, _barrier)),
    Operator("delete-barrier-arrive", ("BR3",), _without(Barrier, _named_arrive)),
    Operator("delete-warp-barrier", ("BR6",), _without(Barrier, _warp_barrier)),
    Operator("delete-cluster-arrive", ("CL3",), _without(Barrier, _cluster_arrive)),
    Operator("delete-cluster-wait", ("CL3", "CL5"), _without(Barrier, _cluster_wait)),
    Operator("delete-cluster-barrier", ("CL1", "CL2"), _cluster_pairs),
    Operator("delete-commit", ("CA3",), _without(CommitGroup, _commit)),
    Operator("delete-group-wait", ("CA1",), _without(WaitGroup, _group_wait)),
    Operator("delete-init", ("MB2",), _without(MbarrierInit, _always("MB2"))),
    Operator("delete-arrive", ("MB7",), _without(MbarrierArrive, _arrive)),
    Operator("delete-arrive-drop", ("MB20",), _without(MbarrierArrive, _drop)),
    Operator("delete-arrive-expect", ("MB7", "BK5"), _without(MbarrierArrive, _arrive_expect)),
    Operator("delete-expect", ("BK5",), _without(MbarrierExpect, _always("BK5"))),
    Operator("delete-track", ("CA10",), _without(MbarrierTrack, _always("CA10"))),
    Operator("delete-tcgen05-commit", ("TC9",), _without(MbarrierArrive, _commit_arrive)),
    Operator("delete-copy", ("BK5",), _without(MbarrierComplete, _tracked_copy)),
    Operator("delete-allocation", ("TC19",), _without(TensorMemory, _memory("allocate", "TC19"))),
    Operator("delete-deallocation", ("TC2",), _without(TensorMemory, _memory("deallocate", "TC2"))),
    Operator("delete-grid-wait", ("BR10",), _without(Grid, _grid_wait)),
)
