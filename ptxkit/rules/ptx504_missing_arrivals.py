"""PTX504: a phase of an mbarrier never ends, because too few threads arrive.

What it does
    Simulates how all threads of the CTA, or of all CTAs of its cluster, arrive at mbarriers and wait for them, and
    finds a wait that never ends: its phase needs more arrivals than the threads make before all of them wait or have
    exited. If threads wait for each other in a cycle that would be resolved by starting one wait with the other parity,
    that wait is named: in a ring whose producer and consumers start with parity 0, it is the producer's wait. If
    another thread would arrive, but is itself blocked before, both of these lines are named. Also finds a wait with a
    token that no arrival returned: nothing assigns its register before the wait.

Why it matters
    The kernel hangs.

Example
    @%p1 mbarrier.init.shared::cta.b64 [bar], 2;
    bar.sync 0;
    @%p1 mbarrier.arrive.shared::cta.b64 _, [bar];
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;

ISA section
    "Phases of the mbarrier object", "mbarrier.init", "mbarrier.arrive". Catalogue: MB7, MB9, MB12, MB20, CA10.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import dropwhile
from operator import is_not

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.missing_tokens import find_missing_tokens
from ptxkit.analysis.sync.mbarrier_location import location_of, locations_of
from ptxkit.analysis.sync.mbarrier_model import SimulatedMbarrier
from ptxkit.analysis.sync.phase_fault_localization import (
    PhaseFault,
    WrongArrival,
    WrongCount,
    WrongMbarrier,
    WrongParity,
)
from ptxkit.analysis.sync.sync_schedule import BlockedThread, ScheduleResult
from ptxkit.diagnostics import LabelLine
from ptxkit.diagnostics.catalogue import fix_titles, ptx5xx
from ptxkit.diagnostics.catalogue.ptx5xx import MbarrierPair, MisplacedArrival
from ptxkit.isa.effects import MbarrierArrive, MbarrierTrack, MbarrierWait
from ptxkit.rules.mbarrier_help import (
    count_fixes,
    format_arrival_help,
    format_count_help,
    format_mbarrier_help,
    misplaced_arrival,
    other_mbarrier,
)
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant
from ptxkit.rules.obligation_sites import is_mbarrier_operation, sites_of
from ptxkit.rules.phase_proofs import prove_phases
from ptxkit.rules.sync_evidence import (
    ScheduleFindings,
    ask_without_schedule,
    find_initialization,
    find_root_blocked_thread,
    format_cta,
    make_observations,
)


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each wait: those that succeed satisfy the rule, and those that block whatever the cause do not."""
    without_token = list(find_missing_tokens(kernel))
    for number, step, is_certain in without_token:
        finding = Finding(step, ptx5xx.TOKEN_OF_NO_ARRIVAL(), help=ptx5xx.KEEP_TOKEN())
        yield Observation((step, None), number, is_certain, finding)
    if not without_token:
        yield from ask_without_schedule(kernel, MbarrierWait)
    judge = partial(_find_deadlocks, kernel)
    for number, facts in enumerate(kernel.scenarios):
        blocked = {each.event.step for schedule in facts.schedules for each in schedule.blocked_threads}
        yield from make_observations(kernel, number, facts.simulation.steps_of(MbarrierWait) - blocked, judge)


def _find_deadlocks(kernel: KernelFacts, facts: ScenarioFacts) -> ScheduleFindings:
    """Returns the waits that block."""
    found = ScheduleFindings()
    # An excess arrival may complete a phase that no thread observes. PTX505 reports it.
    for schedule in [] if any(played.excess_arrivals for played in facts.schedules) else facts.schedules:
        blocked_wait = find_root_blocked_thread(facts, schedule)
        if facts.simulation.size == 1 and any(
            each.mbarrier is not None and each.mbarrier.state.pending_arrivals and not _has_arrivals(facts, each)
            for each in schedule.blocked_threads
        ):
            continue  # PTX503 reports a phase in which there is no arrival
        if (
            blocked_wait is not None
            and blocked_wait.mbarrier is not None
            and blocked_wait.mbarrier.state.pending_arrivals
            and _has_arrivals(facts, blocked_wait)
        ):
            fault = _fault_of(kernel, facts, schedule)
            late = _late_arrival(facts, blocked_wait, schedule)
            finding = _finding(facts, blocked_wait, blocked_wait.mbarrier, fault, late)
            found.add(finding.primary, finding, schedule.has_certain_end)
    return found


def _has_arrivals(facts: ScenarioFacts, blocked_wait: BlockedThread) -> bool:
    """Returns whether some thread arrives at the mbarrier; PTX503 reports mbarriers at which none does."""
    place = location_of(_rank_of(facts, blocked_wait), blocked_wait.event)
    return place is not None and any(
        isinstance(e.effect, MbarrierArrive | MbarrierTrack) for e in facts.simulation.events_at(place)
    )


def _rank_of(facts: ScenarioFacts, blocked_wait: BlockedThread) -> int:
    return facts.simulation.thread_classes[blocked_wait.thread_class].rank


def _fault_of(kernel: KernelFacts, facts: ScenarioFacts, schedule: ScheduleResult) -> PhaseFault | None:
    """Returns the single fault that explains a deadlock.

    A scenario with truncated traces may locate none. Then it is the fault of another scenario, if its wait is blocked
    in this scenario as well, or it is of arrivals.
    """
    blocked = {each.event.step for each in schedule.blocked_threads}
    elsewhere = (
        fault
        for fault in (each.simulation.fault for each in kernel.scenarios)
        if isinstance(fault, WrongArrival) or (isinstance(fault, WrongParity) and fault.wait in blocked)
    )
    return facts.simulation.fault or next(elsewhere, None)


def _late_arrival(
    facts: ScenarioFacts, blocked_wait: BlockedThread, schedule: ScheduleResult
) -> tuple[Step, Step] | None:
    """Returns where another thread is blocked before it arrives at the mbarrier of a blocked wait, and that arrival."""
    classes, awaited = facts.simulation.thread_classes, location_of(_rank_of(facts, blocked_wait), blocked_wait.event)
    for other in schedule.blocked_threads:
        if other.event.step is blocked_wait.event.step:
            continue
        thread = classes[other.thread_class]
        for event in dropwhile(partial(is_not, other.event), thread.events):
            is_arrival = isinstance(event.effect, MbarrierArrive | MbarrierTrack)
            if is_arrival and awaited in (locations_of(thread.rank, event) or ()):
                return other.event.step, event.step
    return None


def _finding(
    facts: ScenarioFacts,
    blocked_wait: BlockedThread,
    known: SimulatedMbarrier,
    fault: PhaseFault | None,
    late_arrival: tuple[Step, Step] | None,
) -> Finding:
    """late_arrival: where another thread is blocked before its arrival at this mbarrier, and the arrival."""
    if isinstance(fault, WrongParity) and fault.parity:
        return _wrong_first_parity(facts, fault)
    state = known.state
    arrived = state.count - state.pending_arrivals
    labels = [(step, ptx5xx.ARRIVES()) for step in dict.fromkeys(event.step for event in known.arrivals)]
    place = location_of(_rank_of(facts, blocked_wait), blocked_wait.event)
    initialized = find_initialization(facts, place)
    if initialized is not None:
        labels.append((initialized, ptx5xx.NEEDS_ARRIVALS(count=state.count)))
    late = blocked_wait.event.amount if isinstance(blocked_wait.event.amount, int) else None
    others = ptx5xx.NO_ARRIVAL_IS() if not arrived else ptx5xx.SOME_ARRIVALS_ARE(arrived=arrived, count=state.count)
    where = format_cta(facts, _rank_of(facts, blocked_wait))
    message = ptx5xx.WAIT_FOR_INCOMPLETE_PHASE(where=where, arrivals=others, phase=state.completed_phases + 1)
    fix = ptx5xx.CORRECT_INIT_COUNT(arrived=arrived)
    if not arrived:
        fix = ptx5xx.LET_OTHER_THREAD_ARRIVE()
    if late is not None and state.completed_phases and not arrived:
        message = ptx5xx.WAIT_FOR_PARITY_OF_NO_PHASE(where=where, parity=late, last=state.completed_phases)
        fix = ptx5xx.WAIT_FOR_PHASE_THAT_ENDS()
    properties: dict[str, object] = {"count": state.count, "arrived": arrived, "phase": state.completed_phases + 1}
    fixes = tuple(
        FixCandidate(fix_titles.MAKE_COUNT(count=arrived), (change,), safe=False)
        for change in (replace_constant(initialized, state.count, arrived) if initialized and arrived else ())
    )
    payload: MbarrierPair | MisplacedArrival | None = None
    if isinstance(fault, WrongCount) and place in fault.locations:
        fix, fixes = format_count_help(fault), count_fixes(fault)
    elif isinstance(fault, WrongParity):
        properties["parity"] = fault.parity
        if fault.wait is not blocked_wait.event.step:
            labels.append((fault.wait, ptx5xx.WAITS_FOR_PARITY_FIRST(parity=1)))
            fix = ptx5xx.BEGIN_WITH_PARITY(parity=0, line=LabelLine(len(labels)))
        else:
            fix = ptx5xx.WAIT_FOR_PARITY_0()
    elif isinstance(fault, WrongMbarrier):
        if fault.wait is not blocked_wait.event.step:
            labels.append((fault.wait, ptx5xx.WAITS_FOR_WRONG_MBARRIER()))
        fix = format_mbarrier_help(facts.program, fault, 0 if fault.wait is blocked_wait.event.step else len(labels))
        payload = other_mbarrier(facts.program, fault)
    elif isinstance(fault, WrongArrival):
        labels = [(step, text) for step, text in labels if step is not fault.arrival]
        labels.append((fault.arrival, ptx5xx.ARRIVES_AT_WRONG_MBARRIER()))
        fix, payload = format_arrival_help(facts.program, fault, len(labels)), misplaced_arrival(facts.program, fault)
    elif late_arrival is not None and not arrived:
        blocked, arrival = late_arrival
        labels.append((blocked, ptx5xx.WAITS_SINCE()))
        line = LabelLine(len(labels))
        labels.append((arrival, ptx5xx.ARRIVES_TOO_LATE(line=line)))
        fix = ptx5xx.ARRIVE_BEFORE_BLOCKED_WAIT(line=line)
    return Finding(
        primary=blocked_wait.event.step,
        message=message,
        labels=tuple(labels),
        help=fix,
        properties=properties,
        payload=payload,
        fixes=fixes,
    )


def _wrong_first_parity(facts: ScenarioFacts, fault: WrongParity) -> Finding:
    """Returns the finding about a wait for the first phase of a fresh mbarrier that blocks all other waits."""
    blocked_wait = [
        each for played in facts.schedules for each in played.blocked_threads if each.event.step is not fault.wait
    ]
    return Finding(
        primary=fault.wait,
        message=ptx5xx.WAIT_PASSES_BEFORE_FIRST_PHASE(),
        labels=tuple((step, ptx5xx.WAITS_SINCE()) for step in dict.fromkeys(each.event.step for each in blocked_wait)),
        help=ptx5xx.BEGIN_WITH_PARITY_1(),
        properties={"parity": fault.parity},
    )


RULE = Rule(
    ptx5xx.MBARRIER_MISSING_ARRIVALS,
    check,
    asynchronous=True,
    sites=sites_of(is_mbarrier_operation),
    prove=prove_phases,
    compares_all_threads=True,
)
