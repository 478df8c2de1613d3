"""The findings about expected bytes that differ from the copied ones, and about waits at which no thread arrives."""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.missing_release import find_missing_release
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.cluster_tx_count import TxImbalance
from ptxkit.analysis.mbarrier.tx_balance import find_expects_at
from ptxkit.analysis.mbarrier.tx_count import PhaseTx
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.diagnostics.catalogue import fix_titles, ptx5xx
from ptxkit.rules.mbarrier_help import (
    find_wrong_arrival,
    format_arrival_help,
    format_release_help,
    misplaced_arrival,
    missing_arrival,
)
from ptxkit.rules.model import Finding, FixCandidate, replace_constant
from ptxkit.rules.sync_evidence import format_cta
from ptxkit.syntax.tree import Integer


def make_phase_finding(phase: PhaseTx) -> Finding:
    """Returns the finding about a phase of an mbarrier whose expected bytes differ from the copied ones."""
    expects = phase.expect_steps
    copies = phase.copy_steps
    expected, started = phase.expected_bytes, phase.copied_bytes
    properties = {"expected": expected, "copied": started}
    if not expected and copies:
        amount = "" if started is None else f" {started}"
        plain = tuple((step, ptx5xx.ARRIVAL_EXPECTS_NOTHING()) for step in expects[:1])
        primary = expects[-1] if expects else copies[0]
        return Finding(
            primary=primary,
            message=ptx5xx.COPY_NOT_EXPECTED(amount=amount),
            labels=(*plain, *((step, ptx5xx.COMPLETES_HERE()) for step in copies if step is not primary)),
            help=ptx5xx.EXPECT_BYTES_OF_COPY(amount=amount),
            properties=properties,
        )
    if not copies:
        return Finding(
            primary=expects[-1],
            message=ptx5xx.EXPECTED_WITHOUT_COPY(expected=expected),
            help=ptx5xx.EXPECT_NOTHING(),
            properties=properties,
        )
    assert expected is not None
    assert started is not None
    effect = ptx5xx.PHASE_NEVER_ENDS() if expected > started else ptx5xx.PHASE_ENDS_TOO_EARLY()
    return Finding(
        primary=expects[-1],
        message=ptx5xx.STARTED_BYTES_DIFFER(expected=expected, started=started, effect=effect),
        labels=tuple((step, ptx5xx.COMPLETES_HERE()) for step in copies),
        help=ptx5xx.EXPECT_STARTED_BYTES(started=started),
        properties=properties,
        fixes=_byte_count_fixes(expects[-1], expected, started),
    )


def make_inconsistency_finding(phase: PhaseTx, usual: int | None) -> Finding:
    """Returns the finding about a phase that expects other bytes than others for the same boxes.

    usual: the bytes that the others expect, if known.
    """
    expects = phase.expect_steps
    return Finding(
        primary=expects[-1],
        message=(
            ptx5xx.EXPECTED_BYTES_DIFFER_BETWEEN_COPIES(
                expected=phase.expected_bytes, usual="others" if usual is None else usual
            )
        ),
        labels=tuple((step, ptx5xx.COMPLETES_HERE()) for step in phase.copy_steps),
        help=(ptx5xx.EXPECT_ALL_BOXES() if usual is None else ptx5xx.EXPECT_USUAL_BYTES(usual=usual)),
        properties={"expected": phase.expected_bytes, "usual": usual},
        fixes=_byte_count_fixes(expects[-1], phase.expected_bytes, usual) if len(expects) == 1 else (),
    )


def make_cluster_finding(facts: ScenarioFacts, found: TxImbalance) -> Finding:
    """Returns the finding about an mbarrier of a cluster whose expected bytes differ from the copied ones."""
    where = format_cta(facts, found.location[0])
    copies = found.copy_steps
    expects = found.expect_steps
    labels = [(step, ptx5xx.COMPLETES_THERE()) for step in copies]
    if found.wait is not None:
        labels.append((found.wait.step, ptx5xx.WAITS_FOR_PHASE()))
    properties = {"expected": found.expected_bytes, "copied": found.copied_bytes, "cta": found.location[0]}
    primary, *others = expects or copies or [step for step, _ in labels]
    if not found.has_arrivals and not expects:
        message = ptx5xx.WAIT_WITHOUT_ARRIVALS(where=where)
        fix = ptx5xx.ARRIVE_AT_MBARRIER()
        primary = found.wait.step if found.wait is not None else primary
    elif not found.has_arrivals:
        message = ptx5xx.EXPECT_WITHOUT_ARRIVALS(where=where)
        fix = ptx5xx.MAKE_EXPECT_AN_ARRIVAL()
    elif not expects:
        message = ptx5xx.COPIES_NOT_EXPECTED(copied=found.copied_bytes, where=where)
        fix = ptx5xx.EXPECT_BYTES_OF_COPIES(copied=found.copied_bytes)
    else:
        total = ptx5xx.IN_ALL() if found.wait is None else ""
        message = ptx5xx.EXPECTED_BYTES_DIFFER(
            expected=found.expected_bytes, total=total, where=where, copied=found.copied_bytes
        )
        fix = ptx5xx.EXPECT_OR_COPY(copied=found.copied_bytes, expected=found.expected_bytes)
    labels = [*((step, ptx5xx.EXPECTS_TOO()) for step in others), *labels]
    return Finding(
        primary=primary,
        message=message,
        labels=tuple((step, words) for step, words in labels if step is not primary),
        help=fix,
        properties=properties,
        fixes=_byte_count_fixes(primary, found.expected_bytes, found.copied_bytes)
        if found.has_arrivals and expects
        else (),
    )


def _byte_count_fixes(step: Step, expected: int | None, brought: int | None) -> tuple[FixCandidate, ...]:
    """Returns fixes with another number of expected bytes: all, or the share of this part."""
    operands = step.instruction.operands
    own = next((each.value for each in reversed(operands) if isinstance(each, Integer)), expected)
    if not expected or not brought or own is None:
        return ()
    numbers = [brought] if own == expected else []
    numbers += [own * brought // expected] if not own * brought % expected else []
    numbers += [own + brought - expected] if own + brought > expected else []
    return tuple(
        FixCandidate(fix_titles.EXPECT_BYTES(size=number), (change,), safe=False)
        for number in dict.fromkeys(numbers)
        for change in replace_constant(step, own, number)
    )


def make_missing_arrival_finding(kernel: KernelFacts, facts: ScenarioFacts, wait: TraceEvent) -> Finding:
    """Returns the finding about a wait for an mbarrier at which no thread arrives."""
    expect = next(find_expects_at(facts, wait.address), None)
    if expect is not None:
        return Finding(
            primary=expect,
            message=ptx5xx.EXPECT_ONLY_AND_WAIT(),
            labels=((wait.step, ptx5xx.WAITS_FOR_PHASE()),),
            help=ptx5xx.MAKE_EXPECT_AN_ARRIVAL(),
        )
    fault = find_wrong_arrival(kernel, facts)
    missing = find_missing_release(kernel, wait.step)
    if fault is not None:
        return Finding(
            primary=wait.step,
            message=ptx5xx.WAIT_WITHOUT_ANY_ARRIVAL(),
            labels=((fault.arrival, ptx5xx.ARRIVES_AT_WRONG_MBARRIER()),),
            help=format_arrival_help(facts.program, fault, 1),
            payload=misplaced_arrival(facts.program, fault),
            lacks=() if missing is None else missing.unordered,
        )
    return Finding(
        primary=wait.step,
        message=ptx5xx.WAIT_WITHOUT_ANY_ARRIVAL(),
        labels=() if missing is None else ((missing.last_read, ptx5xx.LAST_READ_OF_SLOT()),),
        help=ptx5xx.ARRIVE_AT_MBARRIER() if missing is None else format_release_help(missing, 1),
        payload=None if missing is None else missing_arrival(kernel.program, missing),
        lacks=() if missing is None else missing.unordered,
    )
