"""Gives each obligation of a kernel its verdict: violated, discharged by evidence, or open.

An obligation is open unless a diagnostic shows a violation or a proof covers every execution: rules that report nothing
about an instruction have not proven anything about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.context.execution_coverage import ExecutionCoverage
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import obligation_words, ptx3xx
from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed, ObligationVerdict
from ptxkit.fast_dataclasses import replace
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import STEP_LINES, Evidence, ProofResult, Rule, Unproven
from ptxkit.rules.obligation_sites import Site
from ptxkit.rules.verdict_builder import CodeSpan, VerdictBuilder
from ptxkit.source import SourceFile, Span
from ptxkit.syntax.printer import print_operand


class ObligationJudge:
    """The verdicts on the obligations of one kernel.

    builder: what the rules found in it. kernel: None if the kernel was not executed. proofs: those of its functions.
    """

    def __init__(
        self, source: SourceFile, program: Program, policy: str, builder: VerdictBuilder, kernel: KernelFacts | None
    ) -> None:
        self._source, self._program, self._policy, self._builder = source, program, policy, builder
        self._coverage = ExecutionCoverage(kernel) if kernel is not None else None
        self.proofs = [each.analysis(FunctionProofs) for each in program.functions]
        self._violations: dict[CodeSpan, str] = {}
        for item in builder.diagnostics:
            if item.severity is not Severity.NOTE:
                spans = (item.span, *(copy.span for copy in item.copies))
                self._violations.update(((item.code, span), item.message) for span in spans)
        self._questions = {(item.code, item.span): item.reason for item in reversed(builder.undecided)}

    def for_program(self, program: Program) -> ObligationJudge:
        """Returns the judge of the same kernel with other directives, with proofs as the only evidence."""
        return ObligationJudge(self._source, program, self._policy, self._builder, None)

    def judge(self, rules: Sequence[Rule]) -> Iterator[JudgedObligation]:
        """Yields the obligations that the rules state, rule by rule, in the order of the text."""
        for rule in rules:
            if rule.policy in ("isa", self._policy):
                for site in rule.sites(self._program):
                    yield self._judge_site(rule, site)

    def unproven(self, rule: Rule) -> Iterator[tuple[Step, str]]:
        """Yields the instructions with an obligation that needs a proof and has neither one nor a question, and why.

        Those that only conditions on the launch leave open are excluded.
        """
        needs_proof = rule.needs_proof
        for site in rule.sites(self._program):
            is_needed = needs_proof is True or (needs_proof and needs_proof(site))
            if not is_needed and (self._builder.has_violation or not isinstance(self._proof(rule, site), Unproven)):
                continue  # what settles a violation may settle what it leaves unproven
            judged = self._judge_site(rule, site)
            is_open = judged.verdict is ObligationVerdict.OPEN and not judged.needs
            if is_open and self._question_about(rule, judged.span) is None:
                yield site.step, judged.words

    def _judge_site(self, rule: Rule, site: Site) -> JudgedObligation:
        span = self._builder.span_of(site.step)
        violation = self._violations.get((rule.code, span))
        if violation is not None:
            return self._record(rule, site, span, ObligationVerdict.VIOLATED, violation)
        proof = self._proof(rule, site)
        evidence = proof if isinstance(proof, Evidence) else self._evidence(rule, site)
        if evidence is not None:
            return self._record(rule, site, span, ObligationVerdict.DISCHARGED, self._words(evidence), evidence)
        reason = self._question_about(rule, span)
        needs = proof if isinstance(proof, tuple) else ()
        if needs and reason is None:
            reason = obligation_words.NEEDS(needs=", ".join(map(_need_words, needs)))
        words = reason or (self._words(proof) if isinstance(proof, Unproven) else str(rule.unproven))
        return replace(self._record(rule, site, span, ObligationVerdict.OPEN, words), needs=needs)

    def _proof(self, rule: Rule, site: Site) -> ProofResult:
        if rule.prove is None or (self._policy == "strict" and not rule.proves_strict):
            return None
        return rule.prove(self._proofs_about(site.step), site)

    def _question_about(self, rule: Rule, span: Span) -> str | None:
        return self._questions.get((rule.code, span)) or self._questions.get((ptx3xx.NOT_REACHED, span))

    def _evidence(self, rule: Rule, site: Site) -> Evidence | None:
        coverage = self._coverage
        if coverage is None:
            return None
        if coverage.is_unreachable(site.step):
            return Evidence("unreachable", obligation_words.UNREACHABLE())
        is_satisfied = rule.covers == "paths" and (rule.code, site.step) in self._builder.satisfied
        if is_satisfied and coverage.covers_paths:
            return Evidence("executions", obligation_words.COVERED_BY_EXECUTIONS())
        return None

    def _proofs_about(self, step: Step) -> FunctionProofs:
        """Returns the proofs about the function that contains a step."""
        return next(proofs for proofs in self.proofs if proofs.program.contains(step))

    def _words(self, evidence: Evidence | Unproven) -> str:
        """Returns the words of evidence, or of what is unproven, with the lines of its steps."""
        words = evidence.words if isinstance(evidence, Evidence) else evidence.reason
        if STEP_LINES not in words:
            return words
        lines = [str(self._source.position(step.start)[0]) for step in evidence.steps]
        listed = f"lines {', '.join(lines[:-1])} and {lines[-1]}" if len(lines) > 1 else f"line {''.join(lines)}"
        return words.format(lines=listed)

    def _record(
        self,
        rule: Rule,
        site: Site,
        span: Span,
        verdict: ObligationVerdict,
        text: str,
        evidence: Evidence | None = None,
    ) -> JudgedObligation:
        operand = site.step.operand(site.subject)
        return JudgedObligation(
            str(rule.code),
            self._program.function.name,
            site.subject if operand is None else print_operand(operand),
            self._source,
            span,
            verdict,
            text,
            "" if evidence is None else evidence.kind,
            () if evidence is None else tuple(self._builder.span_of(step) for step in evidence.steps),
        )


def _need_words(need: LaunchNeed) -> str:
    subject = f"{need.subject}+{need.position}" if need.position else need.subject
    match need.demand:
        case "multiple" if subject.startswith("%"):
            return obligation_words.NEED_BLOCK_MULTIPLE(subject=subject, amount=need.amount)
        case "multiple" | "factor":
            return obligation_words.NEED_MULTIPLE(subject=subject, amount=need.amount)
        case "space":
            return obligation_words.NEED_SPACE(subject=subject, space=need.space)
        case "least":
            return obligation_words.NEED_LEAST(subject=subject, amount=need.amount)
        case "extent":
            return obligation_words.NEED_EXTENT(subject=subject, amount=need.amount)
    return obligation_words.NEED_BYTES(subject=subject, amount=need.amount)
