"""Determines how a transfer completes: the mechanism with its object, and the waits that observe the completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.mbarrier_waits import cta_offset, find_commit, find_phase_waits
from ptxkit.analysis.context.plain_copies import IMMEDIATE
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.inventory.operand_values import initialized_mbarriers
from ptxkit.analysis.inventory.transfer_executions import TransferExecution
from ptxkit.analysis.ir.data_movement import DataMovement
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_NAMED_WAITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.isa.effects import AsyncRegisters, WaitGroup
from ptxkit.model.transfer import Completion, Wait
from ptxkit.semantics.object_names import describe_objects

#: The mechanisms by the names that the table uses.
MECHANISMS = {
    "cp.async": "group",
    "bulk": "bulk group",
    "wgmma": "wgmma group",
    "mbarrier": "mbarrier",
    "tcgen05": "commit",
    "tcgen05.ld": "wait::ld",
    "tcgen05.st": "wait::st",
    "nothing": "nothing",
}


class CompletionMechanisms:
    """The completions of one kernel's transfers.

    line: returns the line of a step.
    """

    def __init__(self, program: Program, scenarios: Sequence[ScenarioFacts], line: Callable[[Step], int]) -> None:
        self._program = program
        self._scenarios = scenarios
        self._initialized = initialized_mbarriers(scenarios)
        self._line = line

    def completion_of(
        self, step: Step, route: DataMovement, seen: Sequence[TransferExecution]
    ) -> tuple[Completion, tuple[Wait, ...]]:
        """Returns the completion of one transfer, from its executions."""
        mechanism = MECHANISMS.get(route.completion, route.completion)
        if route.tracked_access is None and mechanism.startswith("wait::"):
            return Completion(mechanism), self._sorted_waits(self._register_waits(step))
        if route.completion == IMMEDIATE:
            return Completion(IMMEDIATE), ()
        if route.completion == "mbarrier":
            return self._mbarrier_completion(mechanism, seen)
        if route.completion == "tcgen05":
            return self._commit_completion(mechanism, seen)
        tracked = [each for each in seen if each.copy.track_position is not None]
        if tracked and not any(each.copy.completion_position is not None for each in seen):
            return self._tracked_completion(tracked)
        commits = self._lines_of(
            each.thread.trace.events[each.copy.commit_position] for each in seen if each.copy.commit_position
        )
        return Completion(mechanism, None, commits), self._sorted_waits(_group_waits(seen))

    def _mbarrier_completion(
        self, mechanism: str, seen: Sequence[TransferExecution]
    ) -> tuple[Completion, tuple[Wait, ...]]:
        places = {cta_offset(each.copy.event.barrier) for each in seen}
        steps = [
            (step, None, False)
            for each in seen
            for step in find_phase_waits(each.facts, each.thread, each.copy.position, each.copy.event.barrier)
        ]
        return Completion(mechanism, self._mbarrier_names(places)), self._sorted_waits(steps)

    def _tracked_completion(self, seen: Sequence[TransferExecution]) -> tuple[Completion, tuple[Wait, ...]]:
        """Returns the completion by `cp.async.mbarrier.arrive`."""
        steps: list[tuple[Step, int | None, bool]] = []
        places: set[int | None] = set()
        arrivals: list[TraceEvent] = []
        for each in seen:
            event = each.thread.trace.events[each.copy.track_position or 0]
            if isinstance(event, TraceEvent):
                places.add(cta_offset(event.address))
                arrivals.append(event)
                waits = find_phase_waits(each.facts, each.thread, (each.copy.track_position or 0), event.address)
                steps.extend((step, None, False) for step in waits)
        return Completion("mbarrier", self._mbarrier_names(places), self._lines_of(arrivals)), self._sorted_waits(steps)

    def _commit_completion(
        self, mechanism: str, seen: Sequence[TransferExecution]
    ) -> tuple[Completion, tuple[Wait, ...]]:
        """Returns the completion by an arrival of the tensor core after the thread's earlier operations."""
        steps: list[tuple[Step, int | None, bool]] = []
        places: set[int | None] = set()
        commits: list[TraceEvent] = []
        for each in seen:
            found = find_commit(each.thread, each.copy)
            if found is not None:
                at, event = found
                places.add(cta_offset(event.address))
                commits.append(event)
                steps.extend(
                    (step, None, False) for step in find_phase_waits(each.facts, each.thread, at, event.address)
                )
        return Completion(mechanism, self._mbarrier_names(places), self._lines_of(commits)), self._sorted_waits(steps)

    def _register_waits(self, step: Step) -> Iterator[tuple[Step, int | None, bool]]:
        for facts in self._scenarios:
            for thread in facts.threads.values():
                for at, event in thread.positions(AsyncRegisters):
                    if event.step is step and isinstance(event.effect, AsyncRegisters):
                        yield from _first_wait_after(thread, at, event.effect.group)

    def _mbarrier_names(self, places: set[int | None]) -> str | None:
        known = {place for place in places if place is not None}
        is_known = known and None not in places
        return describe_objects(self._program.variable_at, known, self._initialized) if is_known else None

    def _lines_of(self, events: Iterable[object]) -> tuple[int, ...]:
        return tuple(sorted({self._line(event.step) for event in events if isinstance(event, TraceEvent)}))

    def _sorted_waits(self, found: Iterable[tuple[Step, int | None, bool]]) -> tuple[Wait, ...]:
        waits = {
            Wait(self._line(step), pending, reads_only): None for step, pending, reads_only in dict.fromkeys(found)
        }
        return tuple(sorted(waits, key=lambda wait: (wait.line, wait.pending or 0)))[:MAX_NAMED_WAITS]


def _group_waits(seen: Iterable[TransferExecution]) -> Iterator[tuple[Step, int | None, bool]]:
    """Yields the first wait that frees the source, and the first one after which the operation is complete."""
    for each in seen:
        for position in dict.fromkeys((each.copy.source_free_position, each.copy.completion_position)):
            event = each.thread.trace.events[position] if position is not None else None
            if isinstance(event, TraceEvent) and isinstance(event.effect, WaitGroup):
                pending = event.amount if isinstance(event.amount, int) else None
                yield event.step, pending, event.effect.read_only


def _first_wait_after(thread: ThreadView, position: int, group: str) -> Iterator[tuple[Step, int | None, bool]]:
    for at, event in thread.positions(WaitGroup):
        if at > position and isinstance(event.effect, WaitGroup) and event.effect.group == group:
            yield event.step, None, False
            return
