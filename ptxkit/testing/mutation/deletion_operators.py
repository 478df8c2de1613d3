"""Deletes one synchronization instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

from ptxkit.analysis.ir.program import Step
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
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.syntax.tree import Integer
from ptxkit.testing.mutation.edits import MutationEdit, delete_step
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.mutation_operator import MutationOperator, Search
from ptxkit.testing.mutation.redundancy import (
    is_expect_tx,
    is_repeated_wait,
    is_warp_sync,
    publishes_nothing,
    separates_only_reads,
)

T = TypeVar("T")


def _delete_each(kind: type[T], rules: Callable[[FunctionAnalysis, Step, T], tuple[str, ...] | None]) -> Search:
    """Deletes each instruction with an effect. `rules` returns the violated rules, or None if it belongs to another
    family.
    """

    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
        for step, effect in reading.steps_with(kind):
            broken = rules(reading, step, effect)
            if broken is not None:
                yield delete_step(reading, step, broken)

    return search


# ------------------------------------------------------------------------------------------ fences


def _async_fence(_: FunctionAnalysis, __: Step, fence: ProxyFence) -> tuple[str, ...] | None:
    if fence.proxy != "async":
        return None
    return ("PX1",) if fence.direction == "both" else ("PX12",)


def _tensormap_fence(reading: FunctionAnalysis, step: Step, fence: ProxyFence) -> tuple[str, ...] | None:
    is_without_access = not reading.effects(step, Access)
    return ("TM2",) if fence.proxy == "tensormap" and is_without_access else None


def _memory_fence(_: FunctionAnalysis, __: Step, fence: MemoryFence) -> tuple[str, ...] | None:
    return ("CL4",) if fence.only is None and fence.scope == "cluster" else ("race",) if fence.only is None else None


def _init_fence(reading: FunctionAnalysis, step: Step, fence: MemoryFence) -> tuple[str, ...] | None:
    """Returns the violated rule if a cluster barrier follows that does not publish the initialization by itself."""
    return ("MB5",) if fence.only is not None and relies_on_init_fence(reading, step) else None


def relies_on_init_fence(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether the next arrival at the cluster barrier is relaxed, so that a fence for mbarrier.init is
    needed.
    """
    later = [
        each for after, each in reading.steps_with(Barrier) if after.index > step.index and each.level == "cluster"
    ]
    return bool(later) and later[0].order == "relaxed"


def _register_fence(_: FunctionAnalysis, __: Step, ___: RegisterFence) -> tuple[str, ...] | None:
    return ("WG1",)


def _tensor_fence(_: FunctionAnalysis, __: Step, fence: TensorFence) -> tuple[str, ...] | None:
    return ("TC11",) if fence.side == "after" else ("TC12",)


# ---------------------------------------------------------------------------------------- barriers


def published_rules(reading: FunctionAnalysis, step: Step) -> tuple[str, ...]:
    """Returns the rules for what a barrier of the CTA publishes: the last relevant operation since the previous
    barrier.
    """
    for earlier in reversed(reading.steps[: step.index]):
        for effect in earlier.effects:
            rule = _publication_rule(effect)
            if rule is not None:
                return (rule,)
            if isinstance(effect, Barrier) and effect.level == "cta":
                return ("race",)
    return ("race",)


def _publication_rule(effect: Effect) -> str | None:
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


def _barrier(reading: FunctionAnalysis, step: Step, barrier: Barrier) -> tuple[str, ...] | None:
    if barrier.level != "cta" or barrier.action != "sync":
        return None
    return () if is_redundant_barrier(reading, step) else published_rules(reading, step)


def is_redundant_barrier(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether another barrier of all threads in the same block has the same effect as this one, or this one has
    no effect.

    Between the two barriers there are only computations, waits, fences, and expectations of the bytes of copies after
    the later one; after the earlier one, the thread that issues the asynchronous operation has executed the fence
    itself. Bytes that are expected with the arrival that the phase needs may also be expected after the copy.
    """
    if not reading.is_cta_wide_barrier(step):
        return False
    if separates_only_reads(reading, step) or publishes_nothing(reading, step):
        return True
    ordering = (ProxyFence, MemoryFence, WaitGroup, CommitGroup)
    for later in reading.following_steps(step):
        if reading.is_cta_wide_barrier(later):
            return True
        if not (
            reading.has_only_effects(later, ordering) or is_expect_tx(reading, later) or is_warp_sync(reading, later)
        ):
            break
    for earlier in reading.preceding_steps(step):
        if reading.is_cta_wide_barrier(earlier):
            return True
        fences = [each for each in reading.effects(earlier, ProxyFence) if each.proxy == "async"]
        fenced = bool(fences) and earlier.instruction.guard is None and reading.has_only_effects(earlier, (ProxyFence,))
        if not (reading.has_no_effects(earlier) or is_expect_tx(reading, earlier) or fenced):
            break
    return reading.is_executed_by_all(step) and not reading.may_be_followed_by(
        step, lambda each: not reading.has_only_effects(each, ())
    )


def _named_arrive(_: FunctionAnalysis, __: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("BR3",) if barrier.level == "cta" and barrier.action == "arrive" else None


def _warp_barrier(reading: FunctionAnalysis, step: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("BR6",) if barrier.level == "warp" and reading.barriers(step) else None


def _cluster_arrive(_: FunctionAnalysis, __: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("CL3",) if barrier.level == "cluster" and barrier.action == "arrive" else None


def _cluster_wait(_: FunctionAnalysis, __: Step, barrier: Barrier) -> tuple[str, ...] | None:
    return ("CL3", "CL5") if barrier.level == "cluster" and barrier.action == "wait" else None


def _cluster_pairs(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Yields an arrival at the cluster barrier and the wait that follows it."""
    found = [(step, each) for step, each in reading.steps_with(Barrier) if each.level == "cluster"]
    for (arrive, first), (wait, second) in pairwise(found):
        if (first.action, second.action) == ("arrive", "wait"):
            both = (*delete_step(reading, arrive).splices, *delete_step(reading, wait).splices)
            started = "CL1" if arrive.index == found[0][0].index else "CL2"
            yield MutationEdit(
                arrive.start, f"`{reading.text(arrive)}` and `{reading.text(wait)}` deleted", both, (started,)
            )


# ------------------------------------------------------------------------------------------ groups


def _commit(_: FunctionAnalysis, __: Step, commit: CommitGroup) -> tuple[str, ...] | None:
    return {"cp.async": ("CA3",), "bulk": ("BK7",), "wgmma": ("WG4",)}[commit.group]


def is_empty_wait(reading: FunctionAnalysis, step: Step, wait: WaitGroup) -> bool:
    """Returns whether every path from an operation of such a group to a wait contains another wait for it.

    Operations committed before a wait that leaves nothing pending have completed there.
    """
    if is_repeated_wait(reading, step, wait):
        return True
    ends: list[Step] = []

    def copies(each: Step) -> bool:
        calls = any(control.kind == "call" for control in reading.effects(each, Control))
        return calls or each.match is None or reading.has_access(each, lambda access: access.completion == wait.group)

    def completes(each: Step) -> bool:
        earlier = [other for other in reading.effects(each, WaitGroup) if _subsumes_wait(other, each, wait)]
        ends.extend([each] if earlier and not earlier[0].commits else [])
        return bool(earlier)

    def commits(each: Step) -> bool:
        return each.instruction.guard is None and any(
            other.group == wait.group for other in reading.effects(each, CommitGroup)
        )

    if reading.may_be_preceded_by(step, copies, completes):
        return False
    return not any(reading.may_be_preceded_by(end, copies, commits) for end in dict.fromkeys(ends))


def _subsumes_wait(earlier: WaitGroup, step: Step, wait: WaitGroup) -> bool:
    """Returns whether a thread that has waited at a step has no pending groups for another wait."""
    pending = step.operand(earlier.pending.name) if isinstance(earlier.pending, OperandRole) else earlier.pending
    none_left = isinstance(pending, Integer | ConstantExpr) and pending.value == 0
    whole = wait.read_only or not earlier.read_only
    return earlier.group == wait.group and whole and none_left and step.instruction.guard is None


def _group_wait(reading: FunctionAnalysis, step: Step, wait: WaitGroup) -> tuple[str, ...] | None:
    if wait.group in ("bulk", "cp.async") and is_empty_wait(reading, step, wait):
        return ()
    if wait.group == "bulk":
        return ("BK12",) if wait.read_only else ("BK9", "BK12")
    return {"cp.async": ("CA1",), "wgmma": ("WG3",), "tcgen05.ld": ("TC13",), "tcgen05.st": ("TC14",)}[wait.group]


# ---------------------------------------------------------------------------------------- mbarrier


def _arrive(_: FunctionAnalysis, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return None if arrive.asynchronous or arrive.expect is not None or arrive.drop else ("MB7",)


def _arrive_drop(_: FunctionAnalysis, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return ("MB20",) if arrive.drop else None


def _arrive_expect(_: FunctionAnalysis, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return ("MB7", "BK5") if arrive.expect is not None else None


def _commit_arrive(_: FunctionAnalysis, __: Step, arrive: MbarrierArrive) -> tuple[str, ...] | None:
    return ("TC9",) if arrive.asynchronous else None


def _constant_rules(*rules: str) -> Callable[[FunctionAnalysis, Step, object], tuple[str, ...]]:
    return lambda _, __, ___: rules


def _tracked_copy(reading: FunctionAnalysis, step: Step, complete: MbarrierComplete) -> tuple[str, ...] | None:
    """Returns the violated rules, or None: without one of several boxes of unknown size, the sum of the others may be
    correct.
    """
    unknown = [each for _, each in reading.steps_with(MbarrierComplete) if each.size is None]
    if complete.size is None and len(unknown) > 1:
        return None
    return ("BK5",) if complete.asynchronous and reading.effects(step, Access) else None


# ----------------------------------------------------------------------------------------- others


def _tensor_memory_rules(
    action: str, *rules: str
) -> Callable[[FunctionAnalysis, Step, TensorMemory], tuple[str, ...] | None]:
    return lambda _, __, memory: rules if memory.action == action else None


def _grid_wait(_: FunctionAnalysis, __: Step, grid: Grid) -> tuple[str, ...] | None:
    return ("BR10",) if grid.action == "wait" else None


OPERATORS = (
    MutationOperator("delete-proxy-fence", ("PX1",), _delete_each(ProxyFence, _async_fence)),
    MutationOperator("delete-tensormap-fence", ("TM2",), _delete_each(ProxyFence, _tensormap_fence)),
    MutationOperator("delete-memory-fence", ("race",), _delete_each(MemoryFence, _memory_fence)),
    MutationOperator("delete-init-fence", ("MB5",), _delete_each(MemoryFence, _init_fence)),
    MutationOperator("delete-wgmma-fence", ("WG1",), _delete_each(RegisterFence, _register_fence)),
    MutationOperator("delete-tcgen05-fence", ("TC11", "TC12"), _delete_each(TensorFence, _tensor_fence)),
    MutationOperator("delete-barrier", ("race",), _delete_each(Barrier, _barrier)),
    MutationOperator("delete-barrier-arrive", ("BR3",), _delete_each(Barrier, _named_arrive)),
    MutationOperator("delete-warp-barrier", ("BR6",), _delete_each(Barrier, _warp_barrier)),
    MutationOperator("delete-cluster-arrive", ("CL3",), _delete_each(Barrier, _cluster_arrive)),
    MutationOperator("delete-cluster-wait", ("CL3", "CL5"), _delete_each(Barrier, _cluster_wait)),
    MutationOperator("delete-cluster-barrier", ("CL1", "CL2"), _cluster_pairs),
    MutationOperator("delete-commit", ("CA3",), _delete_each(CommitGroup, _commit)),
    MutationOperator("delete-group-wait", ("CA1",), _delete_each(WaitGroup, _group_wait)),
    MutationOperator("delete-init", ("MB2",), _delete_each(MbarrierInit, _constant_rules("MB2"))),
    MutationOperator("delete-arrive", ("MB7",), _delete_each(MbarrierArrive, _arrive)),
    MutationOperator("delete-arrive-drop", ("MB20",), _delete_each(MbarrierArrive, _arrive_drop)),
    MutationOperator("delete-arrive-expect", ("MB7", "BK5"), _delete_each(MbarrierArrive, _arrive_expect)),
    MutationOperator("delete-expect", ("BK5",), _delete_each(MbarrierExpect, _constant_rules("BK5"))),
    MutationOperator("delete-track", ("CA10",), _delete_each(MbarrierTrack, _constant_rules("CA10"))),
    MutationOperator("delete-tcgen05-commit", ("TC9",), _delete_each(MbarrierArrive, _commit_arrive)),
    MutationOperator("delete-copy", ("BK5",), _delete_each(MbarrierComplete, _tracked_copy)),
    MutationOperator(
        "delete-allocation", ("TC19",), _delete_each(TensorMemory, _tensor_memory_rules("allocate", "TC19"))
    ),
    MutationOperator(
        "delete-deallocation", ("TC2",), _delete_each(TensorMemory, _tensor_memory_rules("deallocate", "TC2"))
    ),
    MutationOperator("delete-grid-wait", ("BR10",), _delete_each(Grid, _grid_wait)),
)
