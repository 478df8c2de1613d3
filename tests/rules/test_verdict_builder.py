"""From observations to a verdict: proofs, and the merging of findings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import DiagnosticCode, Message, MessageTemplate, Severity
from ptxkit.rules import analyze
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.verdict_builder import VerdictBuilder
from ptxkit.syntax import parse
from tests.analysis.support import module_of, program_of

MODULE = module_of("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;")
RULE = Rule(DiagnosticCode("PTX999", "a-rule", sections=("A Section",)), lambda kernel: iter(()))


def steps() -> tuple[Step, ...]:
    return program_of(MODULE).steps


FIRST, SECOND, THIRD, _ = steps()


def text(words: str) -> Message:
    return MessageTemplate(RULE.code, words)()


def broken_finding(step: Step = SECOND, other: Step | None = FIRST) -> Finding:
    labels = ((other, text("the other place")),) if other is not None else ()
    return Finding(step, text("line {0} after line {1}" if other else "line {0}"), labels, text("fix line {0}"))


def judge_text(observed: Iterable[Observation | OpenObligation]) -> VerdictBuilder:
    source = MODULE.source
    assert source is not None
    judge = VerdictBuilder(source)
    judge.add_observations(RULE, observed)
    return judge


def observation_of(facts: int, exact: bool, finding: Finding | None, *, by_size: bool = False) -> Observation:
    return Observation((SECOND, FIRST), facts, exact, finding, by_size)


def outcome(*observed: Observation | OpenObligation) -> tuple[int, int]:
    """Returns the number of findings, and the number of questions."""
    judge = judge_text(observed)
    return len(judge.diagnostics), len(judge.undecided)


def test_one_exact_violation_is_proof_regardless_of_other_scenarios() -> None:
    assert outcome(observation_of(0, True, broken_finding())) == (1, 0)
    assert outcome(
        observation_of(0, True, broken_finding()), observation_of(1, True, None), observation_of(2, False, None)
    ) == (1, 0)


def test_an_observed_rule_has_no_finding() -> None:
    assert outcome(observation_of(0, True, None)) == (0, 0)
    assert outcome() == (0, 0)


def test_a_guessed_violation_in_one_scenario_is_undecided() -> None:
    assert outcome(observation_of(0, False, broken_finding())) == (0, 1)


def test_guessed_violations_in_all_of_several_scenarios_prove_nothing() -> None:
    assert outcome(observation_of(0, False, broken_finding()), observation_of(1, False, broken_finding())) == (0, 1)


def test_violations_in_all_of_several_scenarios_are_proof_where_only_sizes_decide() -> None:
    first, second = (observation_of(number, False, broken_finding(), by_size=True) for number in range(2))
    assert outcome(first) == (0, 1)
    assert outcome(first, second) == (1, 0)
    assert outcome(first, second, observation_of(2, False, broken_finding())) == (1, 0)
    assert outcome(first, second, observation_of(2, False, None, by_size=True)) == (0, 1)
    assert outcome(first, observation_of(1, False, broken_finding())) == (0, 1)


def test_scenarios_that_contradict_each_other_on_a_guess_leave_it_undecided() -> None:
    assert outcome(observation_of(0, False, broken_finding()), observation_of(1, False, None)) == (0, 1)
    assert outcome(observation_of(0, False, broken_finding()), observation_of(1, True, None)) == (0, 1)


def test_a_correct_execution_does_not_excuse_another_in_the_same_scenario() -> None:
    assert outcome(observation_of(0, True, None), observation_of(0, True, broken_finding())) == (1, 0)


def test_one_location_is_reported_once_and_two_locations_twice() -> None:
    one = Observation((SECOND, FIRST), 0, True, broken_finding())
    again = Observation((SECOND, THIRD), 0, True, broken_finding(SECOND, THIRD))
    elsewhere = Observation((THIRD, FIRST), 0, True, broken_finding(THIRD))
    assert outcome(one, again) == (1, 0)
    assert outcome(one, elsewhere) == (2, 0)


def test_findings_of_one_cause_are_one_report_that_names_the_other_lines() -> None:
    findings = [replace(broken_finding(step), group_key="the missing fence") for step in (THIRD, SECOND)]
    observed = [Observation((finding.primary, FIRST), 0, True, finding) for finding in findings]
    (found,) = judge_text(observed).diagnostics
    line = found.source.position(found.span.start)[0]
    assert found.source.text[found.span.start : found.span.end] == "mov.u32 %r2, 0;"
    assert fault_notes(found) == (f"the same holds at line {line + 1}",)


def test_findings_of_different_causes_are_reported_separately_in_the_order_of_the_text() -> None:
    observed = [
        Observation((step, FIRST), 0, True, replace(broken_finding(step), group_key=step)) for step in (THIRD, SECOND)
    ]
    found = judge_text(observed).diagnostics
    assert [diagnostic.notes for diagnostic in found] == [(), ()]
    assert found[0].span.start < found[1].span.start


def test_a_question_is_counted_once_for_each_location_and_reason() -> None:
    assert outcome(
        OpenObligation(FIRST, text("why")),
        OpenObligation(FIRST, text("why")),
        OpenObligation(FIRST, text("else")),
        OpenObligation(SECOND, text("why")),
    ) == (0, 3)


def test_a_finding_becomes_a_diagnostic_with_lines_in_its_message() -> None:
    (found,) = judge_text([observation_of(0, True, broken_finding())]).diagnostics
    source = found.source
    line = source.position(found.span.start)[0]
    (label,) = found.labels
    assert found.message == f"line {line} after line {line - 1}"
    assert found.help == f"fix line {line}"
    assert source.position(label.span.start)[0] == line - 1
    assert (found.code, found.isa, found.severity) == ("PTX999", ("A Section",), Severity.ERROR)
    assert source.text[found.span.start : found.span.end] == "mov.u32 %r2, 0;"


def test_a_question_names_its_rule_and_location() -> None:
    (doubt,) = judge_text([OpenObligation(THIRD, text("the address comes from a call"))]).undecided
    assert (doubt.code, doubt.reason) == ("PTX999", "the address comes from a call")
    assert doubt.source.text[doubt.span.start : doubt.span.end] == "mov.u32 %r3, 0;"


# ------------------------------------------------------------------------------------------------ analyze

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
WRONG = "{ .shared .b8 a[4]; .reg .b64 %rd<3>; .reg .b32 %r<3>; mov.u64 %rd1, a; ld.u32 %r1, [%rd1]; ret; }\n"


def test_every_kernel_of_a_module_is_checked_and_nothing_else() -> None:
    kernels = f".visible .entry one() {WRONG}.visible .entry two() {WRONG}"
    assert [found.code for found in analyze(parse(HEAD + kernels)).diagnostics] == ["PTX202", "PTX202"]
    assert analyze(parse(f"{HEAD}.func one() {WRONG}.extern .func two;")).diagnostics == ()


def test_a_kernel_without_instructions_has_no_findings() -> None:
    verdict = analyze(parse(HEAD + ".visible .entry one() { }\n.visible .entry two() { .reg .b32 %r1; }"))
    assert (verdict.diagnostics, verdict.undecided) == ((), ())


def test_code_that_no_execution_reaches_is_undecided() -> None:
    square = "mov.u32 %r1, %ctaid.y; mul.lo.u32 %r1, %r1, %r1; setp.eq.u32 %p1, %r1, 3;"
    body = f"{square} @!%p1 bra end; cp.async.wait_group 0; end: nanosleep.u32 0;"
    verdict = analyze(module_of(body))
    assert [doubt.code for doubt in verdict.undecided] == ["PTX300"]
    assert analyze(module_of(body.replace("@!%p1 bra end;", ""))).undecided == ()
    assert analyze(module_of(body.replace(square, "setp.gt.u32 %p1, 1, 2;"))).undecided == ()


def test_an_unknown_instruction_suppresses_findings_that_it_may_prevent() -> None:
    body = """.shared .align 16 .b8 tile[64]; mov.u32 %r2, tile; cp.async.cg.shared.global [%r2], [%rd1], 16;
    cp.async.commit_group; nanosleep.u32 0; ld.shared.u32 %r1, [%r2];"""
    assert [found.code for found in analyze(module_of(body)).diagnostics] == ["PTX302"]
    assert analyze(module_of(body.replace("nanosleep.u32 0", "frobnicate.u32 %r9"))).diagnostics == ()


def test_a_built_module_is_analyzed_by_its_text() -> None:
    parsed = parse(f"{HEAD}.visible .entry one() {WRONG}")
    built = type(parsed)(parsed.items)
    assert built.source is None
    assert [found.code for found in analyze(built).diagnostics] == ["PTX202"]


def test_the_number_of_observations_is_limited() -> None:
    """A rule may have an observation of each pair among thousands."""
    source = MODULE.source
    assert source is not None
    budget = AnalysisBudget(pair_checks=3)
    observed = (observation_of(facts, True, broken_finding()) for facts in itertools.count())
    VerdictBuilder(source).add_observations(RULE, observed, (), budget)
    assert budget.is_exhausted
