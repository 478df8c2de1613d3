"""What instructions demand: each rule states it before anything is executed, and nothing is proven by silence."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ptxkit import lint
from ptxkit.analysis.ir.program import flatten
from ptxkit.batch.job import Job, run_job
from ptxkit.batch.result_codec import decode_result, encode_result
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.diagnostics.obligation import JudgedObligation, ObligationVerdict, count_verdicts
from ptxkit.fast_dataclasses import replace
from ptxkit.linter import lint_source
from ptxkit.results import FileResult
from ptxkit.rules import RULES, Rule
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import parse, statement_spans
from tests.rules import (
    cases_addresses,
    cases_bounds,
    cases_calls,
    cases_groups,
    cases_homes,
    cases_registers,
    cases_strict,
    cases_tails,
    cases_wgmma,
    cases_windows,
)
from tests.rules.support import Case

FIXTURES = Path(__file__).resolve().parents[2] / "corpus" / "rules"
JUDGING = [rule for rule in RULES if not rule.on_request]


def judge_text(text: str, policy: str = "isa", path: str = "case.ptx") -> FileResult:
    settings = Settings(policy="strict") if policy == "strict" else Settings()
    return lint_source(SourceFile(path, text), settings, obligations=True)


@cache
def judge_fixture(path: Path) -> FileResult:
    """Returns the verdict on a fixture under the policy `strict`, which three tests examine."""
    return judge_text(path.read_text("utf-8"), "strict", str(path))


def obligations(
    body: str, code: str, *, bounds: str = ".reqntid 128, 1, 1", before: str = ""
) -> list[JudgedObligation]:
    """Those of one code in a kernel of that body."""
    found = judge_text(Case("case", body, bounds=bounds, before=before).text).obligations
    assert found is not None
    return [each for each in found if each.code == code]


def test_there_are_rules_with_obligations() -> None:
    assert len(JUDGING) > 50


@pytest.mark.parametrize("rule", JUDGING, ids=lambda rule: rule.code)
def test_each_violation_of_a_fixture_is_at_a_stated_obligation(rule: Rule) -> None:
    violated = 0
    for path in sorted(FIXTURES.glob(f"{rule.code}_bad_*.ptx")):
        result = judge_fixture(path)
        assert result.obligations is not None
        assert count_verdicts(result.obligations)[rule.code].total() > 0, path.name
        stated = {(each.code, each.span): each.verdict for each in result.obligations}
        codes = {each.code for each in JUDGING}
        for item in result.diagnostics:
            if item.code in codes and item.severity != "note":
                assert stated.get((item.code, item.span)) is ObligationVerdict.VIOLATED, (path.name, item.message)
                violated += item.code == rule.code
    assert violated


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.on_request], ids=lambda rule: rule.code)
def test_a_rule_about_redundant_instructions_demands_nothing(rule: Rule) -> None:
    found = [judge_text(path.read_text("utf-8")).obligations for path in FIXTURES.glob(f"{rule.code}_bad_*.ptx")]
    assert found
    assert all(each.code != rule.code for some in found for each in some or ())


def test_without_the_request_nothing_is_listed() -> None:
    assert lint_source(SourceFile("k.ptx", Case("case", "bar.sync 0;").text)).obligations is None


COPY = "cp.async.cg.shared.global [%r4], [%rd1], 16;\n{commit}\ncp.async.wait_group 0;"


def test_executions_without_any_choice_prove_what_they_satisfy() -> None:
    [found] = obligations(COPY.format(commit="cp.async.commit_group;"), "PTX301")
    assert (found.verdict, found.subject) == (ObligationVerdict.DISCHARGED, "[%r4]")


def test_a_violation_is_not_proven() -> None:
    [found] = obligations(COPY.format(commit=""), "PTX301")
    assert found.verdict is ObligationVerdict.VIOLATED
    assert "never committed" in found.words


def test_silence_about_an_instruction_leaves_it_open() -> None:
    found = obligations("st.shared.u32 [%r4], %r1;\nbar.sync %r6;\nld.shared.u32 %r10, [%r2];", "PTX621")
    assert [each.verdict for each in found] == [ObligationVerdict.OPEN] * 2
    assert found[0].words.endswith("is not proven: a barrier has no known number")


def test_an_instruction_that_no_path_leads_to_satisfies_everything() -> None:
    found = obligations("bra END;\nst.shared.u32 [%r4], %r1;\nEND:", "PTX205")
    assert [(each.verdict, each.evidence) for each in found] == [(ObligationVerdict.DISCHARGED, "unreachable")]


def test_the_obligations_of_a_called_function_belong_to_its_kernel() -> None:
    callee = ".func sync(.param .b64 a)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [a];\nbar.sync 1;\nret;\n}"
    call = "{\n.param .b64 a0;\nst.param.b64 [a0], %rd1;\ncall.uni sync, (a0);\n}\nbar.sync 0;"
    found = obligations(call, "PTX601", before=callee)
    assert len(found) == 2
    assert {each.kernel for each in found} == {"kernel"}


def test_obligations_are_the_same_in_other_processes() -> None:
    source = SourceFile("k.ptx", Case("case", COPY.format(commit="cp.async.commit_group;")).text)
    answer = run_job(Job(source, Settings(), "judge"))
    assert answer.result.obligations
    assert decode_result(encode_result(answer), source).result.obligations == answer.result.obligations


PROVING = [rule for rule in RULES if rule.prove is not None]


def proven(text: str, policy: str) -> set[tuple[str, Span, str]]:
    """The obligations that have evidence about all paths, whatever the executions show."""
    module = parse(text)
    assert module.source is not None
    found: set[tuple[str, Span, str]] = set()
    for function in module.functions():
        if function.kind != "entry" or function.body is None:
            continue
        program = flatten(module, function, calls=True)
        by_step = {
            step: proofs for each in program.functions for proofs in [FunctionProofs(each)] for step in each.steps
        }
        for rule in PROVING if policy == "isa" else (each for each in PROVING if each.proves_strict):
            for site in rule.sites(program):
                if rule.prove is not None and isinstance(rule.prove(by_step[site.step], site), Evidence):
                    span = statement_spans(module.source, site.step.start).statement
                    found.add((rule.code, span, site.subject))
    return found


def test_nothing_that_is_violated_is_proven() -> None:
    modules = (cases_addresses, cases_bounds, cases_calls, cases_groups, cases_registers, cases_strict, cases_tails)
    modules = (*modules, cases_homes, cases_wgmma, cases_windows)
    cases = {case.text: case.policy for module in modules for case in module.CASES}
    fixtures = [path for rule in PROVING for path in FIXTURES.glob(f"{rule.code}_*.ptx")]
    verdicts = [
        *((text, policy, lint(text, policy=policy).diagnostics) for text, policy in cases.items()),
        *((path.read_text("utf-8"), "strict", judge_fixture(path).diagnostics) for path in fixtures),
    ]
    violations = proofs = 0
    for text, policy, diagnostics in verdicts:
        evident = proven(text, policy)
        proofs += len(evident)
        codes = {rule.code for rule in PROVING}
        for item in diagnostics:
            subjects = {subject for code, span, subject in evident if (code, span) == (item.code, item.span)}
            operand = item.properties.get("operand")
            assert operand not in subjects if operand else not subjects, item.message
            violations += item.code in codes
    assert violations > 30
    assert proofs > 100


def test_the_evidence_names_the_lines_that_carry_it() -> None:
    body = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;\n{}\nst.shared.u32 [%r8], %r1;"
    ends = "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group.read 0;"
    [first, *_] = obligations(body.format(ends), "PTX303")
    assert (first.verdict, first.evidence, len(first.steps)) == (ObligationVerdict.DISCHARGED, "waited for", 2)
    assert first.words == "on each path to an exit, the commits and waits at lines 17 and 18 complete its reads"
    [first, *_] = obligations(body.format("@%p1 cp.async.bulk.commit_group;"), "PTX303")
    assert first.verdict is not ObligationVerdict.DISCHARGED


def test_an_obligation_that_needs_a_proof_and_has_none_is_a_question() -> None:
    codes = {str(rule.code) for rule in RULES if rule.needs_proof is True}
    assert codes == {"PTX301", "PTX311", "PTX312", "PTX316", "PTX613", "PTX702"}
    asked = 0
    for path in sorted(each for code in codes for each in FIXTURES.glob(f"{code}_*.ptx")):
        result = judge_fixture(path)
        places = {item.span for item in result.undecided}
        for item in result.obligations or ():
            if item.code in codes and item.verdict is ObligationVerdict.OPEN:
                assert item.span in places, (path.name, item.words)
                asked += 1
    assert asked


def test_a_rule_without_an_answer_leaves_what_it_must_prove_open(monkeypatch: pytest.MonkeyPatch) -> None:
    commit = "cp.async.cg.shared.global [%r2], [%rd1], 16;"
    text = Case(
        "case", f"{commit} ld.global.u32 %r5, [%rd1]; setp.gt.u32 %p1, %r5, 4; @%p1 cp.async.commit_group;"
    ).text
    silent = tuple(replace(rule, check=lambda kernel: iter(())) for rule in RULES if rule.code == "PTX301")
    monkeypatch.setattr("ptxkit.rules.load_rules", lambda _: silent)
    found = judge_text(text)
    assert [(item.code, item.reason) for item in found.undecided] == [("PTX301", obligation_words.NOT_COVERED())]
