"""Finds the waits at which the threads of a group observe the completion of their asynchronous operations.

The operations are copies into shared memory, reads of it, and multiplications of its contents that complete by a group.
For operations that complete on an mbarrier, the phases decide. A wait that only some of the threads execute is omitted,
with all operations that it may complete.

Source: PTX ISA, "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import async_copies_of
from ptxkit.isa.effects import Access, CommitGroup, MbarrierTrack, WaitGroup

#: The groups for which these threads wait themselves, whichever other threads the operation belongs to.
_THREAD_GROUPS = ("cp.async", "bulk", "wgmma")


def find_completion_points(group: GroupTrace) -> Mapping[int, int]:
    """Returns the position of the completing wait by the position of the asynchronous access in the events of a group.

    An operation that only reads shared memory counts as complete when its source has been read.
    """
    places: list[int] = []
    events: list[TraceEvent] = []
    for at, event in enumerate(group.events):
        if isinstance(event, UnknownCall) or not _is_group_event(event):
            continue
        if isinstance(event, GroupEvent) and event.participants is not None and not isinstance(event.effect, Access):
            return {}
        places.append(at)
        events.append(event if isinstance(event, TraceEvent) else _common_event(event))
    found: dict[int, int] = {}
    for copy in async_copies_of(ThreadTrace(group.tids[0], list(events))) if events else ():
        effect = copy.event.effect
        over = (
            copy.source_free_position
            if isinstance(effect, Access) and effect.kind == "read"
            else copy.completion_position
        )
        if over is not None and copy.commit_position is not None and copy.track_position is None:
            found[places[copy.position]] = places[over]
    return found


def _is_group_event(event: TraceEvent | GroupEvent) -> bool:
    effect = event.effect
    if isinstance(effect, Access):
        return effect.completion in _THREAD_GROUPS
    return isinstance(effect, MbarrierTrack) or (
        isinstance(effect, CommitGroup | WaitGroup) and effect.group in _THREAD_GROUPS
    )


def _common_event(event: GroupEvent) -> TraceEvent:
    """Returns the event that the threads of a group have in common.

    A wait for different numbers of groups counts as one that leaves no group pending.
    """
    _, _, amount, *_ = (*event.fields, None, None, None)  # the last fields may be missing
    return TraceEvent(event.step, event.visit, event.effect, amount=amount if isinstance(amount, int) else None)
