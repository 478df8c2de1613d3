"""The paths of the warps of a CTA, and where paths of one warp may be ordered: where lanes converge.

All relations of the order of a CTA's threads (`happens_before`) use the same paths.

Source: PTX ISA, "Causality Order", "Program Order", "bar.warp.sync".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

from ptxkit.analysis.context.warp_paths import WarpPath, split_into_paths
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_LOOKBACK
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.sync_edges import warp_mask_of
from ptxkit.analysis.sync.warp_convergence import (
    ConvergencePoints,
    barriers_of_some_lanes,
    is_collective_step,
    steps_of_different_masks,
)
from ptxkit.semantics.ordering import is_warp_barrier, sync_operation_of

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import ScenarioFacts

#: A position after all others.
NEVER = 1 << 62


class WarpOrder:
    """The paths of the warps of some groups, with the convergence of the lanes of each warp.

    paths_by_warp: the paths by the number of their warp.
    """

    def __init__(self, facts: ScenarioFacts) -> None:
        self._collectives = True
        threads = facts.scenario.launch.threads
        masks = all(map(_has_known_masks, facts.groups))
        self.paths = [
            path for group in facts.groups for path in split_into_paths(group, facts.phases_of, threads, masks=masks)
        ]
        self.paths_by_warp: dict[int, list[WarpPath]] = defaultdict(list)
        for path in self.paths:
            self.paths_by_warp[path.warp].append(path)
        self._path_by_thread = {tid: path for path in self.paths for tid in path.tids}
        self._positions_cache: dict[int, dict[tuple[Step, int], int]] = {}
        self._concurrency_cache: dict[tuple[int, int, int], int] = {}
        self._barriers_cache: dict[tuple[int, ...], list[GroupEvent]] = {}
        self._apart_cache: dict[tuple[tuple[int, ...], tuple[int, ...]], frozenset[Step]] = {}
        self._ordered_positions_cache: dict[tuple[int, int, int, int], int] = {}
        self._convergence_cache: dict[tuple[tuple[int, ...], frozenset[Step]], ConvergencePoints] = {}

    def without_collectives(self) -> WarpOrder:
        """Returns the order of the same paths in which collective instructions, where lanes converge, order nothing."""
        other = copy(self)
        other._collectives, other._ordered_positions_cache, other._convergence_cache = False, {}, {}
        return other

    def path_of(self, tid: int) -> WarpPath:
        """Returns the path of a thread."""
        return self._path_by_thread[tid]

    def convergence_points_of(self, group: GroupTrace, tids: Sequence[int]) -> ConvergencePoints:
        """Returns the points of a group at which some of its threads, of one warp, may all converge."""
        barriers = self._barriers_cache.get(group.tids)
        if barriers is None:
            barriers = self._barriers_cache[group.tids] = barriers_of_some_lanes(group)
        if not barriers:
            return self.convergence_points(group)
        key = (group.tids, tuple(tids))
        if key not in self._apart_cache:
            lanes = {group.tids.index(tid): tid for tid in tids}
            self._apart_cache[key] = steps_of_different_masks(barriers, lanes)
        return self.convergence_points(group, self._apart_cache[key])

    def convergence_points(self, group: GroupTrace, apart: frozenset[Step] = frozenset()) -> ConvergencePoints:
        """Returns the points at which lanes of a group converge. apart: the steps at which they do not."""
        key = (group.tids, apart)
        found = self._convergence_cache.get(key)
        if found is None:
            found = self._convergence_cache[key] = ConvergencePoints(group, apart, collectives=self._collectives)
        return found

    def ordered_position(self, path: WarpPath, position: int, peer: WarpPath) -> int:
        """Returns the first position of `peer` that may be ordered after a position of another path of its warp."""
        if peer is path:
            return position
        key = (path.tids[0], position, peer.group.tids[0], peer.tids[0])
        found = self._ordered_positions_cache.get(key)
        if found is None:
            found = self._ordered_positions_cache[key] = self._next_convergence(path, position, peer)
        return found

    def _next_convergence(self, path: WarpPath, position: int, peer: WarpPath) -> int:
        """Returns the next position at which `peer` converges with a path.

        After a truncated exploration, this may be any position.
        """
        if position >= len(path.group.events):
            return self.first_concurrent_position(path, position, peer) if peer.group is path.group else NEVER
        if peer.group is path.group:
            met = self.convergence_points_of(path.group, (path.tids[0], peer.tids[0]))
            there = met.next_point(position)
            return there if there is not None else (len(path.group.events) if path.is_truncated else NEVER)
        met, places = self.convergence_points(path.group), self.positions_by_execution(peer.group)
        own = path.group.events[position]
        is_met = self._collectives and is_collective_step(own.step)
        ahead = [*([own] if is_met else []), *met.barriers_from(position)]
        for event in ahead:
            found = places.get((event.step, event.visit))
            if found is not None:
                return found
        apart = any(event.step in peer.group.covered_steps for event in ahead)
        return (
            self.first_concurrent_position(path, position, peer)
            if apart or path.is_truncated or peer.is_truncated
            else NEVER
        )

    def first_concurrent_position(self, path: WarpPath, position: int, peer: WarpPath) -> int:
        """Returns the first position of `peer` that may be concurrent with a position of another path of its warp.

        This position follows the last event that both paths executed.
        """
        if peer.group is path.group:
            return position
        key = (path.group.tids[0], position, peer.group.tids[0])
        found = self._concurrency_cache.get(key)
        if found is None:
            found = self._concurrency_cache[key] = self._position_after_common_event(
                path.group, position, self.positions_by_execution(peer.group)
            )
        return found

    def _position_after_common_event(
        self, group: GroupTrace, position: int, places: dict[tuple[Step, int], int]
    ) -> int:
        """Returns the other group's position after the last event that both groups executed up to a position."""
        for at in range(position, max(position - MAX_LOOKBACK, -1), -1):
            there = places.get((group.events[at].step, group.events[at].visit))
            if there is not None:
                return there if at == position else there + 1
        return 0

    def positions_by_execution(self, group: GroupTrace) -> dict[tuple[Step, int], int]:
        """Maps each step and execution number to the position at which a group executes it."""
        found = self._positions_cache.get(group.tids[0])
        if found is None:
            events = group.events
            found = {(events[at].step, events[at].visit): at for at in range(len(events) - 1, -1, -1)}
            self._positions_cache[group.tids[0]] = found
        return found


def _has_known_masks(group: GroupTrace) -> bool:
    """Returns whether the masks of lanes at all barriers of warps are known."""
    return all(
        own is None or warp_mask_of(own, tid) is not None
        for event in group.events
        if not isinstance(event, UnknownCall) and is_warp_barrier(event.effect) and sync_operation_of(event.effect)
        for index, tid in enumerate(group.tids)
        for own in (event if isinstance(event, TraceEvent) else event.for_thread(index),)
    )
