"""Where the threads of a group learn that what they started is over: copies into shared memory, reads of it, and
multiplications of what is there.

Only for what a wait for a group ends; what an mbarrier signals is decided by its phases. A wait that only some of the
threads execute is left out with all that it may end.

Source: PTX ISA, "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group",
"wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import async_copies_of
from ptxkit.isa.effects import Access, CommitGroup, MbarrierTrack, WaitGroup

#: The groups that these threads wait for themselves, whichever other threads the operation belongs to.
_THREAD_GROUPS = ("cp.async", "bulk", "wgmma")


def find_completion_points(group: GroupTrace) -> Mapping[int, int]:
    """By position of an asynchronous access among the events of a group: that of the wait after which it is complete.

    What reads its source only is over when that has been read.
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
    """What the threads of a group have in common of an event: of a wait for different numbers of groups, that it leaves
    none pending."""
    _, _, amount, *_ = (*event.fields, None, None, None)  # the last fields may be missing
    return TraceEvent(event.step, event.visit, event.effect, amount=amount if isinstance(amount, int) else None)
