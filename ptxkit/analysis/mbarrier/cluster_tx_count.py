"""Compares the bytes that the CTAs of a cluster expect and copy on their mbarriers in a simulated schedule.

Source: PTX ISA, "Tracking asynchronous operations by the mbarrier object", "Data Movement and Conversion Instructions:
cp.async.bulk.tensor" (`.multicast::cluster`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, location_of, locations_of
from ptxkit.analysis.sync.mbarrier_model import BoxEquation, SimulatedMbarrier
from ptxkit.analysis.sync.sync_schedule import BlockedThread, ScheduleResult
from ptxkit.analysis.sync.sync_simulation import SyncSimulation
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait


@dataclass(frozen=True, slots=True)
class TxImbalance:
    """An mbarrier whose expected bytes differ from the copied ones.

    wait: the event that deadlocks. expected_bytes, copied_bytes: those of the awaited phase, or of the whole kernel
    where no thread deadlocks. has_arrivals: whether any thread arrives at the mbarrier.
    """

    location: MbarrierLocation
    expected_bytes: int
    copied_bytes: int
    expects: tuple[TraceEvent, ...]
    copies: tuple[TraceEvent, ...]
    wait: TraceEvent | None = None
    has_arrivals: bool = True

    @property
    def expect_steps(self) -> list[Step]:
        """The instructions that expect bytes, each once."""
        return list(dict.fromkeys(event.step for event in self.expects))

    @property
    def copy_steps(self) -> list[Step]:
        """The instructions that copy bytes, each once."""
        return list(dict.fromkeys(event.step for event in self.copies))


_TX_KINDS = (MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierWait)


def find_tx_events(cast: SyncSimulation) -> list[TraceEvent]:
    """Returns the events of a cluster that affect the bytes of phases, or wait for phases."""
    return [event for actor in cast.thread_classes for event in actor.events if isinstance(event.effect, _TX_KINDS)]


def find_box_copies(scenarios: Iterable[ScenarioFacts]) -> tuple[dict[Step, bool], list[BoxEquation]]:
    """Returns the copies of unknown size, and what their boxes must transfer in the phases that schedules complete.

    For each copy, the result has whether a phase counts it. An execution that a limit ends before such a phase is
    complete adds no equation.
    """
    known = list(scenarios)
    equations = list(
        dict.fromkeys(each for facts in known for schedule in facts.schedules for each in schedule.box_equations)
    )
    counted = {step for boxes, _ in equations for step, _ in boxes}
    copies = [
        event.step
        for facts in known
        for event in find_tx_events(facts.simulation)
        if isinstance(event.effect, MbarrierComplete) and not isinstance(event.size, int)
    ]
    return {step: step in counted for step in copies}, equations


def find_tx_imbalances(cast: SyncSimulation, schedule: ScheduleResult) -> Iterator[TxImbalance]:
    """Yields the mbarriers whose bytes do not match, once all actors wait or have ended."""
    if schedule.excess_arrivals or schedule.count_mismatches:
        return
    blocked = [
        (waiting, location_of(cast.thread_classes[waiting.thread_class].rank, waiting.event))
        for waiting in schedule.blocked_threads
    ]
    waiting = {each.thread_class for each in schedule.blocked_threads}
    cut = any(actor.end_reason != "exit" and number not in waiting for number, actor in enumerate(cast.thread_classes))
    if cut:
        return
    if blocked:
        for each, place in blocked:
            found = (
                None if place is None or each.mbarrier is None else _phase_imbalance(cast, each, each.mbarrier, place)
            )
            if found is not None:
                yield found
    else:
        for place in schedule.tx_mismatches:
            found = _kernel_imbalance(cast, place)
            if found is not None:
                yield found


def _phase_imbalance(
    cast: SyncSimulation, blocked: BlockedThread, known: SimulatedMbarrier, place: MbarrierLocation
) -> TxImbalance | None:
    """Returns what keeps a phase from completion: the bytes, after all arrivals, or the absence of any arrival."""
    state, kinds = known.state, (MbarrierArrive, MbarrierTrack)
    if state.pending_arrivals:
        if any(isinstance(event.effect, kinds) for event in cast.events_at(place)):
            return None
    elif not state.tx_count:
        return None
    events = list(dict.fromkeys(cast.events_at(place)))
    expects = tuple(event for event in events if isinstance(event.effect, MbarrierExpect))
    copies = tuple(event for event in events if isinstance(event.effect, MbarrierComplete))
    has_arrivals = not state.pending_arrivals
    if has_arrivals:
        expects = tuple(dict.fromkeys(known.expect_events))
    came = state.expected_bytes - state.tx_count
    return TxImbalance(place, state.expected_bytes, came, expects, copies, blocked.event, has_arrivals=has_arrivals)


def _kernel_imbalance(cast: SyncSimulation, place: MbarrierLocation) -> TxImbalance | None:
    """Returns the mismatch in a whole kernel in which no wait is blocked.

    The result is None where the size of a copy is not known, and where more bytes are expected than copied: no thread
    waits for that phase.
    """
    expected = brought = 0
    expects: dict[TraceEvent, None] = {}
    copies: dict[TraceEvent, None] = {}
    for actor in cast.thread_classes:
        for event in actor.events:
            size = _expected_bytes_of(event)
            if size is None and not isinstance(event.effect, MbarrierComplete):
                continue
            if place not in (locations_of(actor.rank, event) or ()):
                continue
            if size is not None:
                expected += size * len(actor.tids)
                expects[event] = None
            elif isinstance(event.size, int):
                brought += event.size * len(actor.tids)
                copies[event] = None
            else:
                return None
    if expected >= brought:
        return None
    return TxImbalance(place, expected, brought, tuple(expects), tuple(copies))


def _expected_bytes_of(event: TraceEvent) -> int | None:
    effect = event.effect
    if isinstance(effect, MbarrierExpect):
        size = event.size
    elif isinstance(effect, MbarrierArrive) and effect.expect is not None:
        size = event.expect
    else:
        return None
    return size if isinstance(size, int) else None
