"""PTX505: more threads arrive at an mbarrier than its phase expects.

What it does
    Simulates how all threads of the CTA, or of all CTAs of its cluster, arrive at mbarriers and wait for them, and
    finds an arrival in a phase that already has all of its arrivals, or in a phase that began before any thread had
    observed the end of the previous one.

Why it matters
    An excess arrival counts for the next phase, which then ends too early: its data is read before it has arrived. If
    the pending count leaves its range, the behavior is undefined.

Example
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [bar];      // by every thread

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [bar], 128;

ISA section
    "Phases of the mbarrier object", "mbarrier.init", "mbarrier.arrive". Catalogue: MB7, MB13, CA10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.missing_waits import find_missing_waits
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.sync.mbarrier_model import ExcessArrival
from ptxkit.analysis.sync.phase_fault_localization import WrongCount, WrongMbarrier, WrongParity
from ptxkit.diagnostics import LabelLine
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.diagnostics.catalogue.ptx5xx import MbarrierPair, MisplacedArrival
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import MbarrierArrive, MbarrierTrack
from ptxkit.rules.mbarrier_help import (
    count_fixes,
    find_wrong_arrival,
    format_arrival_help,
    format_count_help,
    format_mbarrier_help,
    misplaced_arrival,
    other_mbarrier,
)
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.phase_proofs import prove_phases
from ptxkit.rules.sync_evidence import ScheduleFindings, find_initialization, format_cta, make_observations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each arrival: those within the count of their phase satisfy the rule."""
    judge = partial(_find_excess_arrivals, kernel, cache(partial(find_missing_waits, kernel)))
    for number, facts in enumerate(kernel.scenarios):
        arrivals = facts.simulation.steps_of(MbarrierArrive, MbarrierTrack)
        yield from make_observations(kernel, number, arrivals, judge)


def _find_excess_arrivals(
    kernel: KernelFacts, find_unawaited: Callable[[], tuple[Step, ...]], facts: ScenarioFacts
) -> ScheduleFindings:
    """Returns the first excess arrival at each mbarrier, or those that a wrong count explains."""
    by_object: dict[object, ExcessArrival] = {}
    certain: set[Step] = set()
    simulation = facts.simulation
    for played in (*facts.schedules, *simulation.eager_async_schedules, *simulation.interrupted_schedules):
        if played.first_excess_arrival is not None:
            excess = _last_in_text(played.first_excess_arrival)
            by_object.setdefault(excess.location, excess)
            if played.is_certain_at(excess.clock):
                certain.add(excess.event.step)
    found = ScheduleFindings()
    if by_object:
        fault = facts.simulation.fault
        blamed = [
            each for each in by_object.values() if isinstance(fault, WrongCount) and each.location in fault.locations
        ]
        unawaited = find_unawaited() if fault is None else ()
        for excess in blamed or by_object.values():
            step = excess.event.step
            found.add(step, _finding(kernel, facts, excess, unawaited), step in certain)
    return found


def _last_in_text(excess: ExcessArrival) -> ExcessArrival:
    """Returns the excess arrival with the last arrival in the text as the event.

    Which arrival is in excess depends on the order of the threads.
    """
    last = max((excess.event, *excess.earlier_arrivals), key=lambda event: event.step.start)
    if excess.is_unobserved or last is excess.event:
        return excess
    return replace(
        excess,
        event=last,
        earlier_arrivals=(excess.event, *(event for event in excess.earlier_arrivals if event is not last)),
    )


def _finding(kernel: KernelFacts, facts: ScenarioFacts, excess: ExcessArrival, unawaited: Sequence[Step]) -> Finding:
    others = dict.fromkeys(event.step for event in excess.earlier_arrivals if event.step is not excess.event.step)
    labels = [
        (step, ptx5xx.ARRIVES_IN_PHASE_BEFORE() if excess.is_unobserved else ptx5xx.ARRIVES_TOO()) for step in others
    ]
    initialized = find_initialization(facts, excess.location)
    if initialized is not None:
        labels.append((initialized, ptx5xx.HAS_ROOM_FOR(count=excess.count)))
    where = format_cta(facts, excess.location[0])
    phase = ptx5xx.PHASE_NUMBER(phase=excess.phase, mbarrier=ptx5xx.OF_AN_MBARRIER(where=where) if where else "")
    if excess.is_unobserved:
        message = ptx5xx.ARRIVAL_BEFORE_PHASE_END_OBSERVED(phase=phase, previous=excess.phase - 1)
        fix = ptx5xx.WAIT_BEFORE_NEXT_ARRIVAL()
    else:
        message = ptx5xx.ARRIVAL_IN_FULL_PHASE(phase=phase, count=excess.count)
        fix = ptx5xx.WAIT_BEFORE_ARRIVING_AGAIN()
    fault = facts.simulation.fault
    fixes: tuple[FixCandidate, ...] = ()
    properties: dict[str, int] = {}
    payload: MbarrierPair | MisplacedArrival | None = None
    if isinstance(fault, WrongCount) and excess.location in fault.locations and excess.event.amount in (None, 1):
        fix, fixes = format_count_help(fault), count_fixes(fault)
    elif isinstance(fault, WrongParity):
        labels.append((fault.wait, ptx5xx.WAITS_FOR_PARITY_FIRST(parity=1 - fault.parity)))
        fix, properties = (
            ptx5xx.BEGIN_WITH_PARITY(parity=fault.parity, line=LabelLine(len(labels))),
            {"parity": fault.parity},
        )
    elif isinstance(fault, WrongMbarrier):
        labels.append((fault.wait, ptx5xx.WAITS_FOR_WRONG_MBARRIER()))
        fix, payload = format_mbarrier_help(facts.program, fault, len(labels)), other_mbarrier(facts.program, fault)
    elif (misplaced := find_wrong_arrival(kernel, facts)) is not None:
        is_here = misplaced.arrival is excess.event.step
        labels = [(step, text) for step, text in labels if step is not misplaced.arrival]
        labels += () if is_here else [(misplaced.arrival, ptx5xx.ARRIVES_AT_WRONG_MBARRIER())]
        fix = format_arrival_help(facts.program, misplaced, 0 if is_here else len(labels))
        payload = misplaced_arrival(facts.program, misplaced)
    return Finding(
        primary=excess.event.step,
        message=message,
        labels=tuple(labels),
        help=fix,
        properties={"count": excess.count, "phase": excess.phase, "observed": not excess.is_unobserved, **properties},
        lacks=tuple((copy,) for copy in unawaited) if fault is None else (),
        payload=payload,
        fixes=fixes,
    )


RULE = Rule(
    ptx5xx.MBARRIER_EXCESS_ARRIVALS,
    check,
    asynchronous=True,
    sites=sites_of(is_a(MbarrierArrive, MbarrierTrack)),
    prove=prove_phases,
    compares_all_threads=True,
)
