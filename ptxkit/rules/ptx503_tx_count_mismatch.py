"""PTX503: the expected bytes of an mbarrier differ from the bytes of its copies, or a wait is for a phase that nothing
completes.

What it does
    Compares the bytes that threads make an mbarrier expect with the bytes of the copies that complete on it, for each
    phase if phases can be distinguished. It also finds a wait on an mbarrier at which no thread arrives (`expect_tx`
    by itself is not an arrival), bytes that are expected after the arrival or the copy that may end their phase, and
    expected bytes that exceed the limit of an mbarrier. For clusters, it simulates which bytes each CTA adds to the
    mbarriers of the others.

    Bytes that are expected in a last phase for which no thread waits are not an error: a phase may be incomplete when
    the CTA exits.

Why it matters
    If too few bytes are expected, the phase ends before the data has arrived. If too many are expected, it never ends,
    and the threads that wait for it hang.

Example
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%rd1], 4096, [bar];

Use instead
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;

ISA section
    "Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx". Catalogue: BK5, MB7 to MB10.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ptxkit.analysis.cluster.cluster_facts import has_unknown_cluster_size, may_poll_memory
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.contract.box_sizes import BoxSizes
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.mbarrier.argument_sizes import ArgumentDependence
from ptxkit.analysis.mbarrier.cluster_tx_count import find_box_copies, find_tx_events, find_tx_imbalances
from ptxkit.analysis.mbarrier.mbarrier_objects import is_ambiguous
from ptxkit.analysis.mbarrier.tx_balance import (
    TxBalance,
    TxBalanceCheck,
    UnknownBalance,
    find_late_expects,
    find_waits_and_arrivals,
)
from ptxkit.analysis.sync.late_expect_tx import LateExpectTx
from ptxkit.diagnostics.catalogue import ptx3xx, ptx5xx
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_mbarrier_operation, sites_of
from ptxkit.rules.phase_proofs import prove_bytes
from ptxkit.rules.sync_evidence import ScheduleFindings, find_root_blocked_thread, make_observations
from ptxkit.rules.tx_count_findings import (
    make_cluster_finding,
    make_inconsistency_finding,
    make_missing_arrival_finding,
    make_phase_finding,
)
from ptxkit.semantics.mbarrier_state import MAX_TX_COUNT

_UNKNOWN = {
    UnknownBalance.TENSOR_MAP: ptx5xx.BYTES_NOT_KNOWN,
    UnknownBalance.AWAITED_PHASE: ptx5xx.MORE_BYTES_THAN_COME,
    UnknownBalance.UNREACHED_ARRIVALS: ptx5xx.ARRIVALS_IN_UNREACHED_CODE,
    UnknownBalance.OTHER_MBARRIER: ptx5xx.UNKNOWN_MBARRIER_OF_BYTES,
}


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every mbarrier on which bytes are expected or copied, and every mbarrier with a wait."""
    if not any(_uses_mbarriers(facts) for facts in kernel.scenarios):
        return
    if has_unknown_cluster_size(kernel):
        yield from _ask_for_cluster_size(kernel.program)
        return
    single_checks: list[tuple[int, TxBalanceCheck]] = []
    in_clusters: list[ScenarioFacts] = []
    boxes = BoxSizes(kernel.program)
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call or is_ambiguous(facts):
            continue
        yield from _check_late_expects(kernel, number, facts)
        yield from make_observations(kernel, number, (), _find_tx_overflows)
        if facts.scenario.launch.cluster_size > 1:
            steps = {event.step for event in find_tx_events(facts.simulation)}
            yield from make_observations(kernel, number, steps, _find_imbalances)
            in_clusters.append(facts)
            continue
        if facts.is_exhaustive_for(MbarrierArrive, MbarrierTrack):
            yield from _check_missing_arrivals(kernel, number, facts)
        else:
            yield from _check_unreached_arrivals(kernel, number, facts)
        single_checks.append((number, TxBalanceCheck(facts)))
    yield from _check_balances(single_checks, boxes)
    yield from _ask_for_boxes(in_clusters, boxes)


def _ask_for_cluster_size(program: Program) -> Iterator[OpenObligation]:
    """Yields a question for each arrival, expectation and wait: which CTAs take part in the phases is unknown."""
    for step in program.effectful_steps:
        if any(isinstance(effect, MbarrierArrive | MbarrierExpect | MbarrierWait) for effect in step.effects):
            yield OpenObligation(step, ptx3xx.CLUSTER_SIZE_NOT_KNOWN(), "cluster")


def _check_balances(
    checks: Sequence[tuple[int, TxBalanceCheck]], boxes: BoxSizes
) -> Iterator[Observation | OpenObligation]:
    arguments = ArgumentDependence([check for _, check in checks])
    for number, check in checks:
        for balance in check.balances:
            if arguments.decides(balance, check.sample):
                yield OpenObligation(balance.step, ptx5xx.ARGUMENT_DECIDES_BYTES())
            else:
                yield _balance_result(number, balance, boxes)
        yield from _check_consistency(number, check)


def _balance_result(number: int, balance: TxBalance, boxes: BoxSizes) -> Observation | OpenObligation:
    if balance.unknown is not None:
        conditions = boxes.conditions_of(balance.needed)
        return OpenObligation(balance.step, _UNKNOWN[balance.unknown](), conditions=conditions)
    violation = None if balance.unbalanced is None else make_phase_finding(balance.unbalanced)
    return Observation((balance.step, None), number, balance.is_certain, violation)


def _check_consistency(number: int, check: TxBalanceCheck) -> Iterator[Observation]:
    whole = check.consistency()
    for result in (*check.consistency_by_thread(), *(() if whole is None else (whole,))):
        for phase, usual in result.inconsistent:
            finding = make_inconsistency_finding(phase, usual)
            yield Observation((finding.primary, None), number, result.is_certain, finding)
        if not result.inconsistent:
            for step in result.expects:
                yield Observation((step, None), number, result.is_certain)


def _uses_mbarriers(facts: ScenarioFacts) -> bool:
    """Returns whether threads of the CTA expect bytes on mbarriers, copy bytes on them, or wait for them."""
    return any(thread.positions(MbarrierExpect, MbarrierComplete, MbarrierWait) for thread in facts.threads.values())


def _ask_for_boxes(clusters: Sequence[ScenarioFacts], boxes: BoxSizes) -> Iterator[OpenObligation]:
    """Yields a question for each copy of unknown size in a cluster; copies of one CTA may complete in another."""
    copies, equations = find_box_copies(clusters)
    conditions = boxes.conditions_of(equations)
    for step, is_counted in copies.items():
        holds = conditions if is_counted else ()
        yield OpenObligation(step, _UNKNOWN[UnknownBalance.TENSOR_MAP](), conditions=holds)


def _find_imbalances(facts: ScenarioFacts) -> ScheduleFindings:
    found = ScheduleFindings()
    for schedule in facts.schedules:
        for imbalance in find_tx_imbalances(facts.simulation, schedule):
            finding = make_cluster_finding(facts, imbalance)
            found.add(finding.primary, finding, schedule.has_certain_end)
    return found


def _find_tx_overflows(facts: ScenarioFacts) -> ScheduleFindings:
    """Checks how many bytes an mbarrier expects at once: all copies may be in flight at the last expect-tx."""
    found = ScheduleFindings()
    for schedule in (each for each in facts.schedules if each.tx_overflows):
        event, due = schedule.tx_overflows[0]
        finding = Finding(
            primary=event.step,
            message=ptx5xx.TX_COUNT_BEYOND_LIMIT(due=due, limit=MAX_TX_COUNT),
            help=ptx5xx.EXPECT_FEWER_BYTES(),
            properties={"due": due, "most": MAX_TX_COUNT},
        )
        found.add(event.step, finding, schedule.has_certain_end)
    return found


def _check_late_expects(
    kernel: KernelFacts, number: int, facts: ScenarioFacts
) -> Iterator[Observation | OpenObligation]:
    """Checks expect-tx operations after an arrival at an mbarrier whose phases one arrival completes."""
    for thread, late in find_late_expects(facts):
        if may_poll_memory(kernel.program):
            yield OpenObligation(late.expect.step, ptx5xx.FLAG_MAY_DECIDE_PHASE())
            continue
        key = (late.expect.step, late.phase_end.step)
        yield Observation(key, number, thread.trace.is_certain(late.position), _late_expect(late))


def _late_expect(late: LateExpectTx) -> Finding:
    if isinstance(late.phase_end.effect, MbarrierComplete):
        what, label = "copy", ptx5xx.BRINGS_LAST_BYTES()
        fix = ptx5xx.EXPECT_BEFORE_COPY()
    else:
        what, label = "arrival", ptx5xx.ONLY_ARRIVAL_OF_PHASE()
        fix = ptx5xx.EXPECT_BEFORE_ARRIVAL()
    return Finding(
        primary=late.expect.step,
        message=ptx5xx.EXPECT_AFTER_END_OF_PHASE(what=what),
        labels=((late.phase_end.step, label),),
        help=fix,
    )


def _check_missing_arrivals(kernel: KernelFacts, number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    found: dict[Step, Finding] = {}
    for wait, is_arrived, is_certain in find_waits_and_arrivals(facts):
        if not is_arrived and wait.step not in found:
            found[wait.step] = make_missing_arrival_finding(kernel, facts, wait)
        yield Observation((wait.step, None), number, is_certain, None if is_arrived else found[wait.step])


def _check_unreached_arrivals(
    kernel: KernelFacts, number: int, facts: ScenarioFacts
) -> Iterator[Observation | OpenObligation]:
    """Checks each wait for an mbarrier at which only code may arrive that was not executed.

    If all threads wait at the end of a schedule, nothing else is executed; otherwise it is a question.
    """
    judge = partial(_find_waits_of_all, kernel)
    stuck = judge(facts).broken
    for wait, is_arrived, _ in find_waits_and_arrivals(facts):
        if not is_arrived and wait.step not in stuck:
            missing = "" if facts.scenario.launch.is_exact else "block"
            yield OpenObligation(wait.step, ptx5xx.ARRIVALS_IN_UNREACHED_CODE(), missing)
    if stuck:
        yield from make_observations(kernel, number, (), judge)


def _find_waits_of_all(kernel: KernelFacts, facts: ScenarioFacts) -> ScheduleFindings:
    """Returns the waits at which threads stay for an mbarrier without an arrival, in schedules in which all stay."""
    found = ScheduleFindings()
    waits = {wait.step: wait for wait, is_arrived, _ in find_waits_and_arrivals(facts) if not is_arrived}
    for schedule in facts.schedules if waits else ():
        if find_root_blocked_thread(facts, schedule) is not None:
            for step in {blocked.event.step for blocked in schedule.blocked_threads} & waits.keys():
                finding = make_missing_arrival_finding(kernel, facts, waits[step])
                found.add(step, finding, schedule.has_certain_end)
    return found


RULE = Rule(
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    check,
    asynchronous=True,
    sites=sites_of(is_mbarrier_operation),
    prove=prove_bytes,
    compares_all_threads=True,
)
