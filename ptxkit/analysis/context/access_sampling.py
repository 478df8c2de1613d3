"""Chooses the accesses, executions and threads that the search for races examines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_FIRST_EXECUTIONS
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.isa.effects import Access
from ptxkit.syntax.constants import WARP_SIZE

#: The numbers of first and of last executions of one instruction that are examined: they suffice for a ring with as
#: many slots.
FIRST_EXECUTIONS, LAST_EXECUTIONS = 6, 2


def is_mbarrier_copy(event: TraceEvent | GroupEvent) -> bool:
    """Returns whether an access is asynchronous and an mbarrier signals its completion."""
    return isinstance(event.effect, Access) and event.effect.completion == "mbarrier"


def is_one_store(step: Step, other: Step) -> bool:
    """Returns whether two steps are one that only stores: most threads that execute it store equal values."""
    accesses = [each for each in step.effects if isinstance(each, Access)]
    return step is other and all(each.kind == "write" and each.completion is None for each in accesses)


def execution_count_for(fills: int) -> int:
    """Returns how many first executions to examine where `fills` instructions fill the bytes that are read."""
    return max(FIRST_EXECUTIONS, min(fills, MAX_FIRST_EXECUTIONS))


def sample_accesses(group: GroupTrace, kind: str, rounds: int) -> Iterator[tuple[int, TraceEvent | GroupEvent]]:
    """Yields the first and last executions of each instruction with an access of a kind, with their positions."""
    last = {event.step: event.visit for event in group.events}
    for position, event in enumerate(group.events):
        if isinstance(event, UnknownCall) or not is_access_of_kind(event, kind):
            continue
        if event.visit < rounds or event.visit > last[event.step] - LAST_EXECUTIONS:
            yield position, event


def warp_edge_lanes(tids: tuple[int, ...]) -> list[int]:
    """Returns the indices of the first two and the last two threads of each warp."""
    by_warp: dict[int, list[int]] = defaultdict(list)
    for index, tid in enumerate(tids):
        by_warp[tid // WARP_SIZE].append(index)
    return sorted({index for found in by_warp.values() for index in (*found[:2], *found[-2:])})


def first_lanes_of_warps(tids: Sequence[int]) -> list[int]:
    """Returns the indices of the first two threads of each warp."""
    by_warp: dict[int, list[int]] = defaultdict(list)
    for index, tid in enumerate(tids):
        by_warp[tid // WARP_SIZE].append(index)
    return [index for found in by_warp.values() for index in found[:2]]


def first_lane_of_paths(paths: list[WarpPath]) -> list[int]:
    """Returns the index of the first thread of each path, which suffices where all threads access the same bytes."""
    return list({path: index for index, path in reversed(list(enumerate(paths)))}.values())


def is_access_of_kind(event: TraceEvent | GroupEvent, kind: str) -> bool:
    """Returns whether an access is weak, or belongs to an update that is not atomic with respect to weak accesses.

    A `copy` is a write of the thread's own cp.async groups, a `store` a synchronous write, and an `update` a strong
    synchronous one.
    """
    effect = event.effect
    if not isinstance(effect, Access):
        return False
    if kind == "update":
        return (effect.kind, effect.proxy, effect.completion) == (kind, "generic", None) and effect.order != "weak"
    if kind in ("copy", "store"):
        completion = "cp.async" if kind == "copy" else None
        return (effect.kind, effect.proxy, effect.completion, effect.order) == ("write", "generic", completion, "weak")
    if kind == "read":
        return effect.kind != "write" and effect.order == "weak"
    return effect.kind == "update" or (effect.kind == "write" and effect.order == "weak")
