"""What the ordering steps of a group of threads do to the state of a schedule.

Source: PTX ISA, "mbarrier", "bar, barrier", "bar.warp.sync", "barrier.cluster", "cp.async.mbarrier.arrive",
"cp.async.wait_group / cp.async.wait_all", "wgmma.wait_group", "tcgen05.commit", "membar / fence: fence.proxy.async".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence

from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.intervals.cta_states import IntervalState
from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.intervals.unfenced_writes import is_shared_fence
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.limits import MAX_PENDING_COMMITS
from ptxkit.analysis.phase_order.access_batches import PROXY_FENCE, TENSOR_FENCE, AccessBatch
from ptxkit.analysis.phase_order.order_state import (
    ALL,
    NOTHING,
    THREAD,
    WARP,
    Event,
    EventOrder,
    Known,
    PhaseState,
    ScheduleState,
    cta_of,
    fence_after,
    warps_of,
)
from ptxkit.analysis.phase_order.segments import DividedGroupError, UnknownOrderError
from ptxkit.analysis.values.cta_values import CtaValue
from ptxkit.fast_dataclasses import replace
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Expression
from ptxkit.semantics.mbarrier_state import MAX_TX_COUNT
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.constants import WARP_SIZE

_WINDOW = SharedWindow()
#: The number of threads of a warpgroup.
WARPGROUP = 4 * WARP_SIZE


class OrderingEffects:
    """The effects of ordering steps in one kernel.

    groups: the groups of threads, as bit masks. uses: the mbarriers that each step uses. unbalanced: the mbarriers with
    a phase for which the bytes that are expected, and those that copies transfer, are not known to be equal.
    """

    def __init__(self, values: ThreadValues, groups: list[int]) -> None:
        self._values, self.groups, self._cluster = values, groups, values.cluster
        self._places: dict[Hashable, dict[object, int]] = {}
        self.uses: dict[Step, set[object]] = defaultdict(set)
        self.unbalanced: set[object] = set()

    def complete_barriers_of_all(self, state: ScheduleState) -> None:
        for key, each in list(state.barriers.items()):
            if each.waiting and not each.expected and not self._missing(state, key, each):
                self.complete(state, key)

    def _missing(self, state: ScheduleState, key: object, barrier: PhaseState) -> int:
        """Returns the threads that have not come to a barrier of all threads of the CTA or the cluster."""
        live = sum(mask for mask, at in zip(self.groups, state.at, strict=True) if at is not None)
        rank = cta_of(key)
        return live & ~barrier.arrived & (-1 if rank is None else self._cluster.mask(rank))

    def rank_of(self, group: int) -> int:
        """Returns the rank of the CTA of a group."""
        return next(self._cluster.ranks_of(self.groups[group]))

    def complete(self, state: ScheduleState, key: object) -> None:
        """Completes a phase, and with it the operations that it waits for."""
        done = [event for event, order in state.events.items() if order.is_completed_by(key)]
        if done and not state.barriers[key].expects and any(_is_copy(event) for event in done):
            raise UnknownOrderError("a phase may be complete before the copies that belong to it")
        for event in done:
            state.events[event] = state.events[event].as_complete()
        if state.barriers[key].due:
            self.unbalanced.add(key)
        state.complete(key, done)

    # Ordering steps.

    def apply(self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.Effect) -> None:
        match effect:
            case fx.CommitGroup(group=name):
                _commit(state, group, name)
            case fx.WaitGroup():
                if effect.commits:
                    _commit(state, group, effect.group)
                self._wait_for_groups(state, group, step, effect)
            case fx.ProxyFence() if is_shared_fence(effect):
                state.fence(group, PROXY_FENCE)
            case fx.TensorFence(side="after"):
                state.fence(group, TENSOR_FENCE)
            case fx.MemoryFence(order="acq_rel" | "sc", only=None):
                state.fence_memory(group, self.groups[group])
            case _:
                self._use_mbarrier(state, group, at, step, effect)

    def _use_mbarrier(self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.Effect) -> None:
        match effect:
            case fx.MbarrierInit():
                self._initialize(state, group, at, step, effect)
            case fx.MbarrierInvalidate():
                for key in self.mbarriers(at, step, effect, self.groups[group]):
                    state.barriers.pop(key, None)
            case fx.MbarrierArrive():
                count = self._number(group, at, step, effect.count, "the number of arrivals is unknown")
                self._arrive(state, group, at, step, effect, count)
            case fx.MbarrierExpect() | fx.MbarrierComplete():
                for key, threads in self.mbarriers(at, step, effect, self.groups[group]).items():
                    size = self._sum(at, step, effect.size, threads)
                    if isinstance(effect, fx.MbarrierComplete):
                        known = state.published_by(group, threads)
                        self._transfer(state, group, key, size, known if _is_generic(step) else known.of_phases())
                    else:
                        self._expect(state, group, key, size)
            case fx.MbarrierTrack():
                self._track(state, group, at, step, effect)

    def _initialize(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.MbarrierInit
    ) -> None:
        count = self._number(group, at, step, effect.count, "the arrival count of an mbarrier is unknown")
        for key, threads in self.mbarriers(at, step, effect, self.groups[group]).items():
            state.barriers[key] = PhaseState(count, count)
            for age in (0, 1):
                state.events.pop(("phase", key, age), None)
            levels = [NOTHING] * len(self.groups)
            levels[group] = ALL if threads.bit_count() == 1 and threads == self.groups[group] else THREAD
            state.occur(("init", key, group), EventOrder(tuple(levels), (NOTHING,) * len(levels), threads))

    def _arrive(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.MbarrierArrive, count: int
    ) -> None:
        for key, threads in self.mbarriers(at, step, effect, self.groups[group]).items():
            number = count * threads.bit_count()
            known = state.released_by(group, threads, self.groups[group], effect.order)
            if effect.asynchronous:
                known = known.of_operations() | state.commit_operations(group, threads, key)
            if effect.expect is not None:
                self._expect(state, group, key, self._sum(at, step, effect.expect, threads))
            barrier = self._phase_of(state, key, group)
            if effect.state is not None:
                state.tokens[group, key] = self._values.register_after(step, effect.state), barrier.parity
            state.barriers[key] = replace(barrier, expected=barrier.expected - (number if effect.drop else 0))
            self._release(state, group, key, number, known)

    def _expect(self, state: ScheduleState, group: int, key: object, size: int | None) -> None:
        """Lets the current phase of an mbarrier wait for bytes; None if their number is unknown."""
        barrier = self._phase_of(state, key, group)
        due = barrier.due + (size or 0)
        state.barriers[key] = replace(barrier, expects=True, due=due)
        if size is None or due > MAX_TX_COUNT or not barrier.remaining:  # without arrivals, the phase may have ended
            self.unbalanced.add(key)

    def _transfer(self, state: ScheduleState, group: int, key: object, size: int | None, known: Known) -> None:
        """Counts the bytes of copies for the current phase of an mbarrier; None if their number is unknown.

        known: what was complete before the copies were started, and so before the phase that waits for them.
        """
        barrier = self._phase_of(state, key, group)
        state.barriers[key] = replace(barrier, due=barrier.due - (size or 0), released=barrier.released | known)
        if size is None or not state.knows_last_phase(key, group):
            self.unbalanced.add(key)

    def _track(self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.MbarrierTrack) -> None:
        copies = frozenset(
            event
            for event, order in state.events.items()
            if event[0] == "access" and event[2] == group and order.pending == "cp.async"
        )
        for key, threads in self.mbarriers(at, step, effect, self.groups[group]).items():
            number = threads.bit_count() if effect.counted else 0
            known = Known(copies) | state.published_by(group, threads) if effect.counted else Known(copies)
            self._release(state, group, key, number, known)

    def _release(self, state: ScheduleState, group: int, key: object, number: int, known: Known) -> None:
        """Publishes what is known to those who wait for the current phase of an mbarrier, with a number of arrivals."""
        barrier = self._phase_of(state, key, group)
        if not state.knows_last_phase(key, group):
            raise UnknownOrderError("an arrival may belong to an earlier phase")
        if number > barrier.remaining:
            raise UnknownOrderError("a phase has more arrivals than it waits for")
        remaining = barrier.remaining - number
        state.barriers[key] = replace(barrier, remaining=remaining, released=barrier.released | known)
        if number and not remaining and not barrier.expects:
            self.complete(state, key)

    def is_complete(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.MbarrierWait
    ) -> bool:
        """Returns whether the phase is complete for which a group waits."""
        barrier, parity = self._awaited_phase(state, group, at, step, effect)
        return barrier.parity != parity

    def wait(self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.MbarrierWait) -> None:
        """Lets a group learn what a phase publishes that is complete."""
        barrier, _ = self._awaited_phase(state, group, at, step, effect)
        state.observe(group, barrier.completed, effect.order)

    def _awaited_phase(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.MbarrierWait
    ) -> tuple[PhaseState, int]:
        """Returns the mbarrier for which a group waits, and the parity of the awaited phase."""
        places = self.mbarriers(at, step, effect, self.groups[group])
        if len(places) > 1:
            raise DividedGroupError(places.values())
        (key,) = places
        barrier = self._phase_of(state, key, group)
        if effect.by == "parity":
            parity: object = self._uniform(self._values.operand(step, step.operand(effect.phase), at.values), group)
        else:
            token, parity = state.tokens.get((group, key), (None, None))
            if token is None or token is not self._values.register_before(step, effect.phase):
                raise UnknownOrderError("the token of a wait may be that of an earlier arrival")
        if not isinstance(parity, int):
            raise UnknownOrderError("the phase of a wait is unknown")
        if barrier.parity != parity & 1 and not state.knows_last_phase(key, group, age=1):
            raise UnknownOrderError("a wait may be for an earlier phase")
        return barrier, parity & 1

    def meet(self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.Barrier) -> bool:
        """Arrives at a barrier, or waits there; returns whether the group may continue."""
        number = (
            0
            if effect.number is None
            else self._number(group, at, step, effect.number, "a barrier has no known number")
        )
        key: object = (effect.level, number, self.rank_of(group) if effect.level == "cta" else None)
        needed = 0
        if effect.threads is not None:
            needed = self._number(group, at, step, effect.threads, "the number of threads of a barrier is unknown")
        barrier = state.barriers.get(key) or PhaseState(needed, needed)
        mask = self.groups[group]
        if effect.action == "wait":
            if mask & ~barrier.entered:
                raise UnknownOrderError("a thread may wait at a barrier of the cluster without an arrival")
            barrier = state.barriers[key] = replace(barrier, entered=barrier.entered & ~mask)
            if barrier.arrived & mask:
                state.barriers[key] = replace(barrier, waiting=barrier.waiting | {group})
                return False
            state.learn(group, barrier.completed)
            return True
        if not barrier.arrived:
            barrier = replace(barrier, expected=needed, remaining=needed)
        if not state.knows_last_phase(key, group) or barrier.arrived & mask or barrier.expected != needed:
            raise UnknownOrderError("a barrier may be used again before it is complete")
        known = state.released_by(group, mask, mask, effect.order)
        waits = effect.action == "sync"
        barrier = state.barriers[key] = replace(
            barrier,
            arrived=barrier.arrived | mask,
            entered=barrier.entered | mask if effect.level == "cluster" else 0,
            released=barrier.released | known,
            waiting=barrier.waiting | {group} if waits else barrier.waiting,
        )
        if needed and barrier.arrived.bit_count() > needed:
            raise UnknownOrderError("a barrier has more threads than it waits for")
        if (needed and barrier.arrived.bit_count() == needed) or (
            not needed and not self._missing(state, key, barrier)
        ):
            self.complete(state, key)
        return not waits

    def meeting_in_warp(
        self, state: ScheduleState, group: int, at: IntervalState, step: Step, effect: fx.Barrier
    ) -> list[int] | None:
        """Returns the groups that meet at a barrier of their warps; None if not all of them have come there."""
        lanes = bit_mask(WARP_SIZE)
        if effect.number is not None:
            lanes &= self._number(group, at, step, effect.number, "the mask of a barrier of a warp is unknown")
        return self.meeting(state, group, WARP_SIZE, lanes)

    def meeting(
        self, state: ScheduleState, group: int, size: int, lanes: int = bit_mask(WARP_SIZE)
    ) -> list[int] | None:
        """Returns the groups with threads in the same warps or warpgroups; None if not all of them are at such a step.

        lanes: those of each warp that meet, as a bit mask.
        """
        at = state.at[group]
        assert at is not None
        units = _units_of(self.groups[group], size)
        found = []
        for each, mask in enumerate(self.groups):
            other, shared = state.at[each], _units_of(mask, size)
            if other is None or not shared & units or not _lanes_of(mask) & lanes:
                continue
            if shared != units:  # a group continues as a whole, so that it may not wait for some of its warps only
                common = shared & units
                numbers = (number for number in range(common.bit_length()) if common >> number & 1)
                raise DividedGroupError([sum(bit_mask(size) << size * number for number in numbers)])
            if _lanes_of(mask) & ~lanes:
                raise UnknownOrderError("only some threads of a group meet at a barrier of their warp")
            is_here = other.barrier is at.barrier or (size == WARP_SIZE and _is_warp_barrier(other.barrier))
            if not is_here:
                return None
            found.append(each)
        return found

    def exchange(self, state: ScheduleState, groups: Sequence[int]) -> None:
        """Orders what the threads of each warp did before what all of them do next."""
        masks = self.groups

        def level_of(levels: tuple[int, ...], event: Event, group: int) -> int:
            best = levels[group]
            for other in groups:
                if warps_of(masks[group]) & ~warps_of(masks[other]):
                    continue
                level = levels[other]
                is_own = event[0] == "access" and event[2] == other
                best = max(best, WARP if level == THREAD and is_own else level)
            return best

        for event, order in state.events.items():
            changed = order
            for group in groups:
                changed = changed.with_level(
                    group,
                    level_of(order.levels, event, group),
                    fenced=level_of(order.fenced, event, group) if fence_after(event) == PROXY_FENCE else NOTHING,
                )
            state.events[event] = changed

    def _wait_for_groups(self, state: ScheduleState, group: int, step: Step, effect: fx.WaitGroup) -> None:
        left = pending_groups(step, effect)
        if left is None:
            return
        own = _units_of(self.groups[group], WARPGROUP)
        done: set[Step] = set()
        for event, order in list(state.events.items()):
            if event[0] != "access" or event[2] != group or order.pending != effect.group or order.commits <= left:
                continue
            batch = event[1]
            assert isinstance(batch, AccessBatch)
            if effect.read_only and batch.writes:
                continue
            level = ALL if effect.group == "wgmma" else THREAD
            state.events[event] = order.with_level(group, level).as_complete()
            done.update(access.step for access in batch.accesses)
        if effect.group == "wgmma":
            for event, order in list(state.events.items()):
                batch = event[1]
                is_twin = isinstance(batch, AccessBatch) and all(each.step in done for each in batch.accesses)
                if is_twin and _units_of(order.mask, WARPGROUP) == own:
                    state.events[event] = order.with_level(group, ALL)

    # Operands.

    def _phase_of(self, state: ScheduleState, key: object, group: int) -> PhaseState:
        found = state.barriers.get(key)
        inits = [order for event, order in state.events.items() if event[:2] == ("init", key)]
        if found is None or any(order.levels[group] != ALL for order in inits):
            raise UnknownOrderError("an mbarrier may be used before it is initialized")
        return found

    def _number(self, group: int, at: IntervalState, step: Step, expression: Expression | None, reason: str) -> int:
        """Returns a number that all threads of a group have."""
        found = None if expression is None else self._values.expression(step, expression, at.values)
        found = self._uniform(found, group)
        if not isinstance(found, int):
            raise UnknownOrderError(reason)
        return found

    def _sum(self, at: IntervalState, step: Step, size: Expression | None, threads: int) -> int | None:
        """Returns the sum of a number of each of some threads; None if it is unknown."""
        each = None if size is None else self._values.expression(step, size, at.values)
        if isinstance(each, int):
            return each * threads.bit_count()
        return sum(n for tid, n in enumerate(each) if threads >> tid & 1) if isinstance(each, tuple) else None

    def mbarriers(
        self, at: IntervalState, step: Step, effect: fx.MbarrierEffect, mask: int, target: int | None = None
    ) -> dict[object, int]:
        """Returns the mbarriers that an effect uses, each with the threads that use it.

        target: the rank of a CTA, to return only that which a multicast uses there; None for all of them.
        """
        key = at, step, effect, mask, target
        if key not in self._places:
            self._places[key] = self._find_mbarriers(at, step, effect, mask, target)
        return self._places[key]

    def _find_mbarriers(
        self, at: IntervalState, step: Step, effect: fx.MbarrierEffect, mask: int, target: int | None
    ) -> dict[object, int]:
        value = self._values.operand(step, step.operand(effect.barrier), at.values)
        found: dict[object, int] = defaultdict(int)
        for rank, threads in self._targets(at, step, effect, mask).items():
            if target is not None and rank != target:
                continue
            parts: dict[tuple[object, int], int] = defaultdict(int)
            for own in self._cluster.ranks_of(threads):
                mask = threads & self._cluster.mask(own)
                if not isinstance(value, tuple):
                    parts[value, own] = mask
                    continue
                for thread in range(*self._cluster.numbers(own)):
                    if mask >> thread & 1:
                        parts[value[thread], own] |= 1 << thread
            for (address, own), mask in parts.items():
                key = self._mbarrier(own, address, rank, is_paired=getattr(effect, "paired", False))
                found[key] |= mask
        self.uses[step].update(found)
        return found

    def signaled_by(self, at: IntervalState, access: StateAccess, mask: int) -> Collection[object]:
        """Returns the mbarriers that a copy of some threads signals when it is complete."""
        signals = [each for each in access.step.effects if isinstance(each, fx.MbarrierComplete)]
        return {key for each in signals for key in self.mbarriers(at, access.step, each, mask, access.target)}

    def _mbarrier(self, rank: int, address: object, target: int | None, *, is_paired: bool) -> object:
        offset = None
        if isinstance(address, int):
            offset = _WINDOW.shared_offset("generic" if address > 1 << 32 else "shared", address)
        if offset is None:
            raise UnknownOrderError("the address of an mbarrier is unknown")
        if is_paired and target is not None:
            target = target & ~1 | self._cluster.window(rank).rank_of(offset) & 1
        return "mbarrier", self._cluster.place(rank, offset, target)

    def _targets(self, at: IntervalState, step: Step, effect: fx.MbarrierEffect, mask: int) -> dict[int | None, int]:
        role = getattr(effect, "multicast", None)
        operand = step.operand(role)
        if operand is not None and not isinstance(self._values.operand(step, operand, at.values), int | tuple):
            raise UnknownOrderError("the CTAs of a multicast are unknown")
        return self._values.targets(step, effect, mask, at.values)

    def _uniform(self, value: CtaValue, group: int) -> CtaValue:
        """Returns the number that all threads of a group have."""
        if not isinstance(value, tuple):
            return value
        parts: dict[int, int] = {}
        for tid, each in enumerate(value):
            if self.groups[group] >> tid & 1:
                parts[each] = parts.get(each, 0) | 1 << tid
        if len(parts) > 1:
            raise DividedGroupError(parts.values())
        return next(iter(parts))


def _is_copy(event: Event) -> bool:
    return isinstance(event[1], AccessBatch) and event[1].group == "mbarrier"


def _is_generic(step: Step) -> bool:
    """Returns whether an asynchronous store is one of the generic proxy, whose completion is a release."""
    accesses = [each for each in step.effects if isinstance(each, fx.Access)]
    return bool(accesses) and all(each.proxy == "generic" for each in accesses)


def _commit(state: ScheduleState, group: int, name: str) -> None:
    for event, order in list(state.events.items()):
        if event[0] == "access" and event[2] == group and order.pending == name:
            state.events[event] = replace(order, commits=min(order.commits + 1, MAX_PENDING_COMMITS))


def _is_warp_barrier(step: Step | None) -> bool:
    effects = step.effects if step is not None else ()
    return any(isinstance(each, fx.Barrier) and (each.level, each.order) == ("warp", "acq_rel") for each in effects)


def _lanes_of(threads: int) -> int:
    """Returns the lanes of some threads, as a bit mask."""
    found = 0
    while threads:
        found |= threads & bit_mask(WARP_SIZE)
        threads >>= WARP_SIZE
    return found


def _units_of(threads: int, size: int) -> int:
    """Returns the warps or warpgroups of some threads, as a bit mask. size: their number of threads."""
    warps = warps_of(threads)
    if size == WARP_SIZE:
        return warps
    found, number = 0, 0
    while warps:
        if warps & 0b1111:
            found |= 1 << number
        warps >>= 4
        number += 1
    return found
