"""The paths of the warps of a group: threads of one warp that take one path and synchronize identically.

Source: PTX ISA, "Causality Order", "mbarrier".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import (
    GroupEvent,
    GroupTrace,
    ThreadTrace,
    TraceEvent,
    UnknownCall,
    differences_of_lanes,
)
from ptxkit.analysis.sync.late_expect_tx import PendingTx, expected_tx_of
from ptxkit.analysis.sync.sync_edges import ReleaseAcquirePoints, release_acquire_points
from ptxkit.analysis.sync.thread_classes import is_sync_effect
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierTrack,
)
from ptxkit.semantics.ordering import is_fence, is_relaxed_sync
from ptxkit.syntax.constants import WARP_SIZE


@dataclass(frozen=True, slots=True, eq=False)
class WarpPath:
    """The threads `tids` of one warp that take the path of a group and synchronize identically.

    release_acquire_points: the positions in the group's events where they release and acquire. sync_events: the events
    at these positions. has_known_phases: whether a simulated schedule determines the phases of their arrivals and
    waits. completion_phases: the round of the mbarrier in which each operation that they start completes, by mbarrier
    and execution, where it is known.
    """

    group: GroupTrace
    warp: int
    tids: tuple[int, ...]
    release_acquire_points: ReleaseAcquirePoints
    sync_events: tuple[TraceEvent, ...]
    has_known_phases: bool
    completion_phases: Mapping[tuple[Hashable, Step, int], int]

    @property
    def is_truncated(self) -> bool:
        """Whether the threads may continue after the end of their exploration."""
        return self.group.end_reason != "exit"


def split_into_paths(
    group: GroupTrace, phases_of: Callable[[ThreadTrace], Mapping[int, int]], threads: int, *, masks: bool
) -> list[WarpPath]:
    """Splits a group into the paths of its warps.

    phases_of: returns the phases of a thread's trace, by position, in a simulated schedule. threads: the number of
    threads of the CTA. masks: whether all threads of the CTA name known masks of lanes at barriers of warps.
    """
    events = [(at, e) for at, e in enumerate(group.events) if not isinstance(e, UnknownCall)]
    synchronizing = [(at, e) for at, e in events if is_sync_effect(e.effect, warp=True)]
    # Only for relaxed effects do fences determine what they order.
    if any(is_relaxed_sync(e.effect) for _, e in synchronizing):
        synchronizing = [
            (at, e) for at, e in events if is_sync_effect(e.effect, warp=True) or is_fence(e.effect, proxy_fences=True)
        ]
    differ = [event for _, event in synchronizing if isinstance(event, GroupEvent)]
    same_events: dict[Hashable, list[int]] = defaultdict(list)
    stories = differences_of_lanes(differ, len(group.tids))
    for index, tid in enumerate(group.tids):
        same_events[tid // WARP_SIZE, stories[index]].append(index)
    found: list[WarpPath] = []
    for indices in same_events.values():
        first = indices[0]
        own = [(at, event.for_thread(first) if isinstance(event, GroupEvent) else event) for at, event in synchronizing]
        kept = [(at, event) for at, event in own if event is not None]
        tids = tuple(group.tids[index] for index in indices)
        trace = ThreadTrace(tids[0], [event for _, event in kept])
        phases = phases_of(trace)
        marks = release_acquire_points(trace, phases, proxies=True, threads=threads, masks=masks)
        for positions in (*marks.releases.values(), *marks.acquires.values()):
            positions[:] = [kept[at][0] if 0 <= at < len(kept) else at for at in positions]
        syncs = tuple(event for _, event in kept)
        completions = _find_completion_phases(kept, marks) | {
            (("mbarrier", event.address), event.step, event.visit): phases[index]
            for index, event in enumerate(syncs)
            if isinstance(event.effect, MbarrierComplete) and index in phases
        }
        found.append(WarpPath(group, tids[0] // WARP_SIZE, tids, marks, syncs, bool(phases), completions))
    return found


def _find_completion_phases(
    events: list[tuple[int, TraceEvent]], marks: ReleaseAcquirePoints
) -> dict[tuple[Hashable, Step, int], int]:
    """Determines the mbarrier round in which each operation that these threads start completes.

    A phase begins either with its expect-tx or with its operations; the first such event determines which. After an
    arrival, an expect-tx begins the next phase unless the current phase still expects bytes whose transfer was not
    started. An operation begins the next phase only where operations come first.
    """
    found: dict[tuple[Hashable, Step, int], int] = {}
    waiting: dict[Hashable, list[TraceEvent]] = defaultdict(list)
    expect_comes_first: dict[Hashable, bool] = {}
    arrived: dict[Hashable, int] = {}
    arrivals: dict[Hashable, int] = defaultdict(int)
    due: dict[Hashable, PendingTx] = defaultdict(PendingTx)
    for _, event in events:
        effect, key = event.effect, ("mbarrier", event.address)
        if isinstance(effect, MbarrierExpect | MbarrierArrive | MbarrierTrack):
            expect_comes_first.setdefault(key, True)
            if key in arrived and not (isinstance(effect, MbarrierExpect) and due[key].keeps_phase_open):
                del arrived[key], due[key]
                waiting[key].clear()
            due[key].add_expected(expected_tx_of(event))
            if not isinstance(effect, MbarrierExpect):
                arrived[key] = marks.release_phases[key][arrivals[key]]
                arrivals[key] += 1
                found.update(((key, e.step, e.visit), arrived[key]) for e in waiting.pop(key, ()))
        elif isinstance(effect, MbarrierComplete):
            if not expect_comes_first.setdefault(key, False) and key in arrived:
                del arrived[key], due[key]
            due[key].add_copied(event.size)
            if key in arrived:
                found[(key, event.step, event.visit)] = arrived[key]
            else:
                waiting[key].append(event)
    return found
