"""One schedule of the groups of threads of a CTA, for all arguments and data, and the accesses that it does not order.

Which arrivals complete a phase, and which phase a wait waits for, does not depend on the schedule if each group knows
that a phase is complete before it arrives in the next one, and that the phase before the awaited one is complete when
it waits. This is checked. So the order of events is the same in all schedules, and it is enough to explore one for each
choice of unknown branches: each group runs until it has to wait. A phase that waits for bytes is completed when no
group can run, since all copies that belong to it have been started then.

Source: PTX ISA, "mbarrier", "bar, barrier", "Causality order", "Data-Movement and Conversion Instructions: Asynchronous
copy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.column_ranges import ColumnRanges
from ptxkit.analysis.intervals.cta_states import IntervalState
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_SCHEDULE_EVENTS
from ptxkit.analysis.phase_order.access_comparison import AccessComparison
from ptxkit.analysis.phase_order.order_state import Known, ScheduleState
from ptxkit.analysis.phase_order.ordering_effects import WARPGROUP, OrderingEffects
from ptxkit.analysis.phase_order.overlaps import Overlaps
from ptxkit.analysis.phase_order.relevance import Relevance
from ptxkit.analysis.phase_order.segments import DividedGroupError, LocatedAccess, Segments, UnknownOrderError
from ptxkit.analysis.phase_order.thread_states import ThreadStates, WaitResult
from ptxkit.isa import effects as fx
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.constants import WARP_SIZE


class PhaseSchedule:
    """The schedule of one kernel. compared: the accesses that it does not order."""

    def __init__(
        self,
        values: ThreadValues,
        states: ThreadStates,
        accesses: IntervalAccesses,
        segments: Segments,
        overlaps: Overlaps,
        program: Program,
    ) -> None:
        cfg = program.analysis(ControlFlowGraph)
        self._max_events = program.scale_limit(MAX_SCHEDULE_EVENTS)
        self._shared = segments.shared
        self._values, self._states, self._accesses = values, states, accesses
        self._segments = segments
        self.blocked: set[Step] = set()
        self._guards: dict[IntervalState, tuple[int, int]] = {}
        self._count = 0
        has_wgmma = any(state.barrier is not None and _is_collective(state.barrier) for state in states.states)
        cluster = values.cluster
        size = WARPGROUP if has_wgmma else cluster.of_cta
        if cluster.ctas > 1 and cluster.of_cta % (WARPGROUP if has_wgmma else WARP_SIZE):
            raise UnknownOrderError("a CTA of the cluster does not consist of whole warps")
        parts = (
            cluster.mask(rank) & bit_mask(size) << first
            for rank in range(cluster.ctas)
            for first in range(0, values.threads, size)
        )
        groups = [part for part in parts if part]
        self._effects = OrderingEffects(values, groups)
        has_fences = any(state.barrier is not None and _fences_tensor_memory(state.barrier) for state in states.states)
        columns = program.analysis(ColumnRanges)
        self.compared = AccessComparison(overlaps, self._effects, columns, has_tensor_fences=has_fences)
        uses = self._blocks_of_mbarriers(cfg)
        self._relevance = Relevance(cfg, segments.shared, segments.tracked, uses, overlaps)
        while not self._try_to_explore():
            pass

    @property
    def counted(self) -> set[Step]:
        """The steps that use only mbarriers whose phases wait for as many bytes as copies transfer."""
        unbalanced = self._effects.unbalanced
        return {step for step, used in self._effects.uses.items() if used.isdisjoint(unbalanced)}

    def _blocks_of_mbarriers(self, cfg: ControlFlowGraph) -> Mapping[Hashable, set[int]]:
        """Returns the blocks that use each mbarrier; none if an operand may be any of them."""
        found: dict[Hashable, set[int]] = defaultdict(set)
        everyone = (1 << self._values.threads) - 1
        for state in self._states.states:
            steps = [access.step for access in self._accesses.of_state(state) if access.group == "mbarrier"]
            if state.barrier is not None:
                steps.append(state.barrier)
            for step in steps:
                for effect in step.effects:
                    if isinstance(effect, fx.MbarrierEffect):
                        try:
                            keys = self._effects.mbarriers(state, step, effect, everyone)
                        except UnknownOrderError:
                            return {}
                        for key in keys:
                            found[key].add(cfg.block_of(step))
        return found

    def _try_to_explore(self) -> bool:
        try:
            self._explore()
        except DividedGroupError as error:
            parts = self._effects.groups
            for piece in error.parts:
                parts = [each for part in parts for each in (part & piece, part & ~piece) if each]
            self._effects.groups = parts
            return False
        return True

    def _explore(self) -> None:
        self.blocked.clear()
        self.compared.clear()
        self._effects.unbalanced.clear()
        first = self._states.states[0]
        waiting = [ScheduleState([None] * len(self._effects.groups))]
        for group in range(len(self._effects.groups)):
            waiting = [after for state in waiting for after in self._enter(state, group, [first])]
        seen: set[object] = set()
        while waiting:
            state = waiting.pop()
            self._relevance.reduce(state)
            key = state.key()
            if key in seen:
                continue
            seen.add(key)
            waiting.extend(self._follow(state))

    def _follow(self, state: ScheduleState) -> Sequence[ScheduleState]:
        """Returns the next states that are to be compared with earlier ones: where the schedule divides or repeats."""
        while True:
            self._count += 1 + len(state.events)
            if self._count > self._max_events:
                raise UnknownOrderError("the schedule has too many states")
            found = self._advance(state)
            if len(found) != 1 or found[0].is_repeated:
                return found
            state = found[0]

    # Which group runs.

    def _advance(self, state: ScheduleState) -> Sequence[ScheduleState]:
        """Returns what may follow a state: the first group that can run does so."""
        self._effects.complete_barriers_of_all(state)
        for group in range(len(self._effects.groups)):
            if state.at[group] is not None:
                found = self._run(state, group)
                if found is not None:
                    return found
        waiting = [key for key, each in state.barriers.items() if each.expects and not each.remaining]
        ready = [key for key in waiting if not state.barriers[key].due]
        if waiting:
            after = state.copy()
            for key in ready or waiting:  # the bytes of some copies may be unknown
                self._effects.complete(after, key)
            return [after]
        return list(self._test_again(state))

    def _test_again(self, state: ScheduleState) -> Iterator[ScheduleState]:
        """Yields what follows a state in which no group can continue: all groups that test for a phase do so once.

        The groups are blocked if they come to the same state again in this way.
        """
        found = [state]
        for group, at in enumerate(state.at):
            if at is not None and _wait_of(at) is not None:
                untrue = list(_after(at, WaitResult(is_complete=False)))
                found = [after for each in found for after in self._enter(each, group, untrue)]
        self._relevance.reduce(state)
        tested = state.tested | {state.key()}
        for after in found:
            self._relevance.reduce(after)
            if after.key() in tested:
                self.blocked.update(at.barrier for at in state.at if at is not None and at.barrier is not None)
                continue
            after.tested, after.is_repeated = tested, True
            yield after

    def _run(self, state: ScheduleState, group: int) -> Sequence[ScheduleState] | None:
        """Executes the next ordering step of a group; returns None if the group has to wait."""
        at = state.at[group]
        assert at is not None
        assert at.barrier is not None
        if group in state.passed:
            after = state.copy()
            after.passed -= {group}
            return list(self._enter(after, group, _after(at, None)))
        if any(group in barrier.waiting for barrier in state.barriers.values()):
            return None
        found: list[ScheduleState] = []
        is_waiting = False
        for before, executes in self._sides(state, group, at, at.barrier):
            if not executes:
                found.extend(self._enter(before, group, _after(at, None)))
                continue
            executed = self._execute(before, group, at, at.barrier)
            is_waiting = executed is None
            found.extend(executed or ())
        return found if found or not is_waiting else None

    def _sides(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step
    ) -> Iterator[tuple[ScheduleState, bool]]:
        """Yields whether a group executes an ordering step, each with the state in which it decides so."""
        mask = self._effects.groups[group]
        if at not in self._guards:
            self._guards[at] = self._values.members(step, at.values)
        taken, others = self._guards[at]
        if not others & mask or not taken & mask:
            yield state, bool(taken & mask)
            return
        if not taken & others & mask:
            raise DividedGroupError((taken & mask, others & mask))
        side, shared = self._states.side_of(step, at.values), self._shared.get(step.index)
        if not side.is_uniform and shared is None:
            if mask.bit_count() > 1:
                raise UnknownOrderError("data decides whether threads execute an ordering step")
            yield state, False
            yield state, True
            return
        if mask & ~side.threads:
            raise DividedGroupError((mask & side.threads, mask & ~side.threads))
        key = side.atom, side.offset
        for value in (1 - side.value, side.value):
            if state.assumed.get(key, value) != value:
                continue
            after = state.copy()
            if shared is not None and not after.decide(group, [(shared, value == shared.stays)]):
                continue
            if key in self._segments.tracked and not after.assume({key: value}):
                continue
            yield after, value == side.value

    def _execute(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step
    ) -> Sequence[ScheduleState] | None:
        wait = _wait_of(at)
        is_decided = wait is not None and WaitResult(is_complete=True) in at.choices.values()
        if wait is not None and is_decided and not self._effects.is_complete(state, group, at, step, wait):
            return None
        after = state.copy()
        movers = [group]
        choice: WaitResult | None = None
        for effect in step.effects:
            match effect:
                case fx.MbarrierWait() if is_decided:
                    self._effects.wait(after, group, at, step, effect)
                    choice = WaitResult(is_complete=True)
                case fx.Barrier(level="warp", order="acq_rel"):
                    meeting = self._effects.meeting_in_warp(after, group, at, step, effect)
                    if meeting is None:
                        return None
                    movers = meeting
                    self._effects.exchange(after, movers)
                case fx.Barrier(level="cta" | "cluster"):
                    if not self._effects.meet(after, group, at, step, effect):
                        return [after]
                case _:
                    self._effects.apply(after, group, at, step, effect)
        if _is_collective(step):
            meeting = self._effects.meeting(after, group, WARPGROUP)
            if meeting is None:
                return None
            movers = meeting
        states = [after]
        for each in movers:
            here = after.at[each]
            assert here is not None
            located = [(here, access, self._effects.groups[each]) for access in self._accesses.of_barrier(here)]
            states = [more for one in states for more in self._continue(one, each, here, located, choice)]
        if choice is not None:
            states.extend(self._enter(state, group, _after(at, WaitResult(is_complete=False))))
        return states

    def _continue(
        self,
        state: ScheduleState,
        group: int,
        at: IntervalState,
        located: Sequence[LocatedAccess],
        choice: WaitResult | None,
    ) -> Iterator[ScheduleState]:
        if located:
            state = state.copy()
            self.compared.add(state, group, located, None)
        yield from self._enter(state, group, _after(at, choice))

    def _enter(self, state: ScheduleState, group: int, roots: Iterable[IntervalState]) -> Iterator[ScheduleState]:
        """Executes what a group does from one of some states until its next ordering step."""
        for root in roots:
            for segment in self._segments.from_state(root, self._effects.groups[group], state.assumed):
                base = state.copy()
                if not base.assume(segment.assumed) or not base.decide(group, segment.decided):
                    continue
                self.compared.add(base, group, segment.accesses, segment)
                for end in segment.ends:
                    after = base.copy()
                    after.at[group], before = end, state.at[group]
                    if end is None:
                        rank = self._effects.rank_of(group)
                        published = after.published_by(group, self._effects.groups[group])
                        after.left[rank] = after.left.get(rank, Known()) | published
                    after.is_repeated = before is not None and end is not None and end.end <= before.end
                    yield after


def _after(at: IntervalState, choice: WaitResult | None) -> Iterator[IntervalState]:
    """Yields the states that follow an ordering step: after a test, only those with its result."""
    for after in at.following:
        label = at.choices.get(after)
        if choice is None or label is None or label == choice:
            yield after


def _wait_of(at: IntervalState) -> fx.MbarrierWait | None:
    effects = at.barrier.effects if at.barrier is not None else ()
    return next((effect for effect in effects if isinstance(effect, fx.MbarrierWait)), None)


def _is_collective(step: Step) -> bool:
    return any(isinstance(effect, fx.Access) and effect.completion == "wgmma" for effect in step.effects)


def _fences_tensor_memory(step: Step) -> bool:
    return any(isinstance(effect, fx.TensorFence) for effect in step.effects)
