"""The phases of barriers and mbarrier objects in one execution: which operations belong to one phase.

The operations are put into each order that agrees with the program order of their threads, and with what each of them
waits for. The result of an order is a set of pairs: a barrier operation and one of the same phase that waits for it, or
an operation on an mbarrier object and a wait that observes the phase in which it was counted. Orders with the same
pairs are one result. Where some threads wait without end, the result has the operations at which they do.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier", "barrier.cluster",
"Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.memory_model.errors import TooManyExecutionsError
from ptxkit.memory_model.events import BarrierUse, EventKind, MbarrierUse, MemoryEvent, Placement
from ptxkit.memory_model.limits import MAX_RENDEZVOUS_STATES
from ptxkit.semantics.mbarrier_state import MbarrierState


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """The phases of one execution. synchronized: pairs of operations of one barrier of a CTA. observed: an operation of
    another barrier, or of an mbarrier object, and a wait that observes it. blocked: those that never
    end. undefined: why the behavior is not defined, or an empty text.
    """

    synchronized: frozenset[tuple[int, int]] = frozenset()
    observed: frozenset[tuple[int, int]] = frozenset()
    blocked: frozenset[int] = frozenset()
    undefined: str = ""


@dataclass(frozen=True, slots=True)
class _MbarrierRecord:
    """The state of an mbarrier object. counted: the operations of each phase, by its number."""

    state: MbarrierState
    counted: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        state = self.state
        return state.pending_arrivals, state.tx_count, state.completed_phases, state.observed_phases, self.counted


@dataclass(frozen=True, slots=True)
class _MeetingState:
    """The operations so far. done: those executed; waiting: those at barriers whose phase is not complete. barriers: by
    CTA or cluster and number, the operations of the current phase. closed: cluster barriers' complete phases.
    """

    done: int = 0
    waiting: frozenset[int] = frozenset()
    barriers: Mapping[tuple[str, int, int], tuple[int, ...]] = field(default_factory=dict)
    mbarriers: Mapping[str, _MbarrierRecord] = field(default_factory=dict)
    open_waits: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    result: Rendezvous = Rendezvous()

    @property
    def key(self) -> tuple[object, ...]:
        return (
            self.done,
            self.waiting,
            tuple(sorted(self.barriers.items())),
            tuple((name, each.key) for name, each in sorted(self.mbarriers.items())),
            self.result,
        )


def find_rendezvous(
    events: Sequence[MemoryEvent], threads: Sequence[int], issues: Sequence[int | None], places: Sequence[Placement]
) -> tuple[Rendezvous, ...]:
    """Returns the possible phases, each once.

    threads: the thread of each event, -1 for an initial write. issues: the issue of each asynchronous event.
    places: of the threads. Raises TooManyExecutionsError.
    """
    if all(event.use is None for event in events):
        return (Rendezvous(),)
    return _Explorer(events, threads, issues, places).run()


class _Explorer:
    def __init__(
        self,
        events: Sequence[MemoryEvent],
        threads: Sequence[int],
        issues: Sequence[int | None],
        places: Sequence[Placement],
    ) -> None:
        self.events, self.threads, self.issues, self.places = events, threads, issues, places
        kept = [at for at, event in enumerate(events) if event.use is not None or event.kind is EventKind.ISSUE]
        self.programs = [
            [at for at in kept if threads[at] == each and issues[at] is None] for each in range(len(places))
        ]
        self.deferred = [at for at in kept if issues[at] is not None]

    def run(self) -> tuple[Rendezvous, ...]:
        first = _MeetingState()
        seen, todo = {first.key}, [first]
        results: dict[Rendezvous, None] = {}
        while todo:
            state = todo.pop()
            following = [each for at in self._next_operations(state) if (each := self._step(state, at)) is not None]
            if not following:
                results[self._final_result(state)] = None
            for each in following:
                if each.result.undefined:
                    results[each.result] = None
                elif each.key not in seen:
                    seen.add(each.key)
                    todo.append(each)
            if len(seen) > MAX_RENDEZVOUS_STATES:
                raise TooManyExecutionsError(
                    f"barriers have more than {MAX_RENDEZVOUS_STATES} states", "write a test with fewer arrivals"
                )
        return tuple(results)

    def _final_result(self, state: _MeetingState) -> Rendezvous:
        stuck = set(state.waiting)
        for program in self.programs:
            left = [at for at in program if not state.done >> at & 1]
            stuck |= set(left[:1])
        return replace(state.result, blocked=frozenset(stuck))

    def _next_operations(self, state: _MeetingState) -> Iterable[int]:
        for program in self.programs:
            for at in program:
                if not state.done >> at & 1:
                    yield at
                    break
                if at in state.waiting:
                    break
        for at in self.deferred:
            issue = self.issues[at]
            if not state.done >> at & 1 and issue is not None and state.done >> issue & 1:
                yield at

    def _step(self, state: _MeetingState, at: int) -> _MeetingState | None:
        """Returns the state after an operation; None if it has to wait."""
        use = self.events[at].use
        done = replace(state, done=state.done | 1 << at)
        if isinstance(use, BarrierUse):
            return self._at_barrier(done, at, use)
        if isinstance(use, MbarrierUse):
            return self._at_mbarrier(done, at, use)
        return self._complete_barriers(done)

    # ------------------------------------------------------------------------------------------- barriers

    def _at_barrier(self, state: _MeetingState, at: int, use: BarrierUse) -> _MeetingState:
        key = self._barrier_key(at, use)
        if use.action == "wait":
            return self._complete_barriers(replace(state, waiting=state.waiting | {at}))
        arrived = (*state.barriers.get(key, ()), at)
        waiting = state.waiting | {at} if use.action == "sync" else state.waiting
        return self._complete_barriers(replace(state, barriers={**state.barriers, key: arrived}, waiting=waiting))

    def _barrier_key(self, at: int, use: BarrierUse) -> tuple[str, int, int]:
        place = self.places[self.threads[at]]
        return use.level, place.cluster if use.level == "cluster" else place.cta, use.number

    def _complete_barriers(self, state: _MeetingState) -> _MeetingState:
        """Lets the threads continue whose phase is complete."""
        for key, arrived in state.barriers.items():
            if not arrived or len(arrived) < self._count_awaited(state, key, arrived):
                continue
            rest = {name: each for name, each in state.barriers.items() if name != key}
            if key[0] == "cluster":
                state = self._complete_cluster_phase(replace(state, barriers=rest), arrived)
            else:
                waits = [each for each in arrived if each in state.waiting]
                pairs = {(one, other) for one in arrived for other in waits if one != other}
                result = replace(state.result, synchronized=state.result.synchronized | pairs)
                state = replace(state, barriers=rest, waiting=state.waiting - set(waits), result=result)
            return self._complete_barriers(state)
        return self._release_cluster_waits(state)

    def _count_awaited(self, state: _MeetingState, key: tuple[str, int, int], arrived: Sequence[int]) -> int:
        use = self.events[arrived[0]].use
        assert isinstance(use, BarrierUse)
        if use.awaited is not None:
            return use.awaited
        members = [
            at for at, place in enumerate(self.places) if (place.cluster, place.cta)[key[0] != "cluster"] == key[1]
        ]
        if use.only_users:
            return sum(any(self._uses(at, key) for at in self.programs[each]) for each in members)
        exited = [e for e in members if all(state.done >> at & 1 for at in self.programs[e])]
        finished = {e for e in exited if not any(at in state.waiting for at in self.programs[e])}
        mine = {self.threads[at] for at in arrived}
        return sum(each not in finished or each in mine for each in members)

    def _uses(self, at: int, key: tuple[str, int, int]) -> bool:
        use = self.events[at].use
        return isinstance(use, BarrierUse) and self._barrier_key(at, use) == key

    def _complete_cluster_phase(self, state: _MeetingState, arrived: Sequence[int]) -> _MeetingState:
        """Records for each thread of a complete phase what its next `wait` observes."""
        opened = dict(state.open_waits)
        for each in arrived:
            opened[self.threads[each]] = tuple(arrived)
        return replace(state, open_waits=opened)

    def _release_cluster_waits(self, state: _MeetingState) -> _MeetingState:
        for at in sorted(state.waiting):
            use, thread = self.events[at].use, self.threads[at]
            if isinstance(use, BarrierUse) and use.action == "wait" and thread in state.open_waits:
                pairs = {(one, at) for one in state.open_waits[thread]}
                result = replace(state.result, observed=state.result.observed | pairs)
                opened = {each: arrived for each, arrived in state.open_waits.items() if each != thread}
                state = replace(state, waiting=state.waiting - {at}, open_waits=opened, result=result)
                return self._complete_barriers(state)
        return state

    # ------------------------------------------------------------------------------------------- mbarriers

    def _at_mbarrier(self, state: _MeetingState, at: int, use: MbarrierUse) -> _MeetingState | None:
        if use.action == "init":
            if use.location in state.mbarriers:
                return self._end_undefined(state, at, "the object is in use already")
            record = _MbarrierRecord(MbarrierState(use.count))
            return self._complete_barriers(replace(state, mbarriers={**state.mbarriers, use.location: record}))
        known = state.mbarriers.get(use.location)
        if known is None:
            return (
                None if self._is_initialized_later(state, use) else self._end_undefined(state, at, "no init before it")
            )
        if use.action == "inval":
            rest = {name: each for name, each in state.mbarriers.items() if name != use.location}
            return self._complete_barriers(replace(state, mbarriers=rest))
        record = _MbarrierRecord(copy(known.state), known.counted)
        if use.action == "wait":
            return self._after_wait(state, at, use, record)
        phase = record.state.completed_phases
        outcome = None
        if use.drops:
            record.state.drop(use.count)
        if use.action == "expect" or (use.action == "arrive" and use.size):
            outcome = record.state.expect_tx(use.size, may_complete=use.action == "expect")
        if use.action == "arrive" and not (outcome is not None and outcome.is_error):
            outcome = record.state.arrive(use.count)
        elif use.action == "pend":
            outcome = record.state.add_pending(use.count)
        elif use.action == "complete":
            outcome = record.state.complete_tx(use.size)
        if outcome is not None and outcome.is_error:
            return self._end_undefined(state, at, outcome.value)
        record = replace(record, counted=(*record.counted, (phase, at)))
        return self._complete_barriers(replace(state, mbarriers={**state.mbarriers, use.location: record}))

    def _is_initialized_later(self, state: _MeetingState, use: MbarrierUse) -> bool:
        return any(
            isinstance(event.use, MbarrierUse)
            and (event.use.action, event.use.location) == ("init", use.location)
            and not state.done >> at & 1
            for at, event in enumerate(self.events)
        )

    def _end_undefined(self, state: _MeetingState, at: int, reason: str) -> _MeetingState:
        return replace(state, result=replace(state.result, undefined=f"`{self.events[at].text}`: {reason}"))

    def _after_wait(
        self, state: _MeetingState, at: int, use: MbarrierUse, record: _MbarrierRecord
    ) -> _MeetingState | None:
        last = record.state.completed_phases - 1
        if use.by_state:
            token = at - use.phase
            phases = {each: phase for phase, each in record.counted}
            is_complete = token in phases and record.state.is_phase_complete(phases[token])
        else:
            is_complete = record.state.is_parity_complete(use.phase)
        if is_complete != use.holds:
            return None
        if not use.holds:
            return state
        record.state.observe()
        pairs = {(each, at) for phase, each in record.counted if phase <= last}
        result = replace(state.result, observed=state.result.observed | pairs)
        mbarriers = {**state.mbarriers, use.location: record}
        return self._complete_barriers(replace(state, mbarriers=mbarriers, result=result))
