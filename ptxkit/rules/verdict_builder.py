"""Builds a verdict from the observations of rules.

An error requires proof: a pair of steps is reported if the paths that violate the rule need no guess about data (an
input exists that takes them). Where only sizes decide that, it is reported if several scenarios contain the pair and
every one violates the rule. Otherwise it is undecided: the scenarios take the same sides of most guesses, and a side of
an unknown condition may be one that no input takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.contract.box_sizes import are_satisfiable
from ptxkit.analysis.dataflow.thread_numbering import count_block_axes
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.thread_axes import USUAL_BLOCKS
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.diagnostics import Diagnostic, DiagnosticTexts, Edit, Fix, Label, Message, Place, Severity, Undecided
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.model.kernel_conditions import join_conditions
from ptxkit.model.launch_contract import BoxBytes, Requirement
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule, StepEdit
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_spans


@dataclass(slots=True)
class _ScenarioObservations:
    """The observations of a pair in one scenario.

    first: the first finding. certain: the first finding without a guess. is_exact: whether one observation is proof.
    on_all_paths: the first finding that every path to its instruction has.
    """

    first: Finding | None = None
    certain: Finding | None = None
    is_exact: bool = False
    on_all_paths: Finding | None = None

    def add(self, seen: Observation, *, proves: bool) -> None:
        if seen.finding is None:
            return
        self.first = self.first or seen.finding
        self.is_exact = self.is_exact or (seen.exact and proves)
        if seen.exact or seen.by_size:
            self.certain = self.certain or seen.finding
        if seen.on_all_paths:
            self.on_all_paths = self.on_all_paths or seen.finding


CodeSpan: TypeAlias = tuple[str, Span]
"""A code, and the span of its statement."""
ObligationKey: TypeAlias = tuple[Step, Step | None]
"""The pair of steps, or the one step, that a rule checks."""


class VerdictBuilder:
    """Collects the diagnostics of one module."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.undecided: list[Undecided] = []
        self.diagnostic_by_span: dict[CodeSpan, Diagnostic] = {}
        """The errors and warnings by all their locations, also if one diagnostic reports several findings."""
        self.satisfied_in_some_scenario: set[CodeSpan] = set()
        """The pairs that are correct in at least one of the scenarios in which they were checked."""
        self.satisfied: set[tuple[str, Step]] = set()
        """The single steps, with the code of the rule, that are correct in all scenarios in which they were checked."""
        self._spans: dict[int, Span] = {}
        self.unproven: set[CodeSpan] = set()
        """The violations that depend on guesses, in all scenarios in which they were checked."""
        self._on_all_paths: dict[Rule, dict[Step, Finding]] = {}

    @property
    def has_violation(self) -> bool:
        """Whether an error or a warning is reported."""
        return any(item.severity is not Severity.NOTE for item in self.diagnostics)

    def add_observations(
        self,
        rule: Rule,
        observed: Iterable[Observation | OpenObligation],
        scenario_facts: Sequence[ScenarioFacts] = (),
        budget: AnalysisBudget | None = None,
    ) -> set[ObligationKey]:
        """Adds the observations of one rule in one kernel, within a budget; returns the checked obligations.

        scenario_facts: the scenarios that it checked.
        """
        budget = budget or AnalysisBudget()
        pairs: dict[tuple[Step, Step | None], dict[int, _ScenarioObservations]] = defaultdict(
            lambda: defaultdict(_ScenarioObservations)
        )
        open_obligations: dict[tuple[Step, str], list[OpenObligation]] = defaultdict(list)
        smaller = _smaller_blocks(scenario_facts)
        for item in observed:
            if isinstance(item, OpenObligation):
                open_obligations[(item.step, item.reason.at_lines(*self._lines_of(item.step, *item.others)))].append(
                    item
                )
            else:
                proves = item.scenario_index not in smaller
                pairs[item.key][item.scenario_index].add(item, proves=proves)
            budget.pair_checks -= 1
            if budget.is_exhausted:
                break
        proven: dict[Step, Finding] = {}
        for by_scenario in pairs.values():
            certain = [number for number, seen in by_scenario.items() if seen.certain is not None]
            scenarios = _count([facts.scenario for facts in scenario_facts], certain)
            self._decide_pair(rule, by_scenario, proven, scenarios, scenario_facts)
        self._note_satisfied(rule, pairs, open_obligations)
        for findings in _group_findings(proven.values()):
            self.diagnostics.append(self._build_diagnostic(rule, *findings))
            if self.diagnostics[-1].severity is not Severity.NOTE:
                places = ((rule.code, self.span_of(each.primary)) for each in findings)
                self.diagnostic_by_span.update(dict.fromkeys(places, self.diagnostics[-1]))
        for (step, reason), same in open_obligations.items():
            if same[-1].others:
                self._mark_open_pair(rule.code, reason, same[-1], scenario_facts)
                continue
            conditions = join_conditions([each.conditions for each in same])
            self.mark_undecided(rule.code, [step], reason, same[-1].missing, scenario_facts, conditions)
        return {*pairs, *((step, None) for step, _ in open_obligations)}

    def _note_satisfied(
        self,
        rule: Rule,
        pairs: Mapping[ObligationKey, Mapping[int, _ScenarioObservations]],
        open_obligations: Iterable[tuple[Step, str]],
    ) -> None:
        """Notes the steps that a rule checked on their own in this kernel and never found to be wrong or undecided."""
        wrong = {step for step, _ in open_obligations}
        wrong.update(key[0] for key, seen in pairs.items() if any(each.first is not None for each in seen.values()))
        self.satisfied.update((rule.code, step) for step, other in pairs if other is None and step not in wrong)

    def mark_blocked(
        self,
        rule: Rule,
        decided_keys: Collection[ObligationKey],
        supposed: Iterable[Observation | OpenObligation],
        reason: Message,
        budget: AnalysisBudget,
    ) -> None:
        """Adds as undecided the obligations that a rule checks only in an assumed kernel, within a budget."""
        asked = _obligation_keys(supposed, budget)
        places = dict.fromkeys(step for step, other in asked if (step, other) not in decided_keys)
        self.mark_undecided(rule.code, sorted(places, key=lambda step: step.start), reason)

    def mark_undecided(
        self,
        code: str,
        steps: Iterable[Step],
        reason: Message | str,
        missing: str = "",
        scenarios: Sequence[ScenarioFacts] = (),
        conditions: tuple[Requirement, ...] = (),
    ) -> None:
        """Adds as undecided the obligations of a code at the given steps.

        missing: the part of the launch that decides it (`Undecided`). conditions: those under which it holds.
        """
        places = ((code, self.span_of(step)) for step in steps)
        self._ask_at(places, reason, missing, scenarios, conditions)

    def _ask_at(
        self,
        places: Iterable[CodeSpan],
        reason: Message | str,
        missing: str,
        scenarios: Sequence[ScenarioFacts],
        conditions: tuple[Requirement, ...] = (),
    ) -> None:
        kernel = scenarios[0].program.function.name if (missing or conditions) and scenarios else ""
        missing = _example_launch(missing, scenarios[0]) if kernel and missing else ""
        self.undecided.extend(
            Undecided(code, str(reason), self.source, span, missing, kernel, conditions=conditions)
            for code, span in places
        )

    def _mark_open_pair(self, code: str, reason: str, item: OpenObligation, scenarios: Sequence[ScenarioFacts]) -> None:
        """Adds as undecided an obligation whose reason names the lines of other instructions."""
        self._ask_at([(code, self.span_of(item.step))], reason, item.missing, scenarios)
        others = tuple(Place(self.span_of(step)) for step in item.others)
        self.undecided[-1] = replace(self.undecided[-1], text=item.reason.with_open_lines(), others=others)

    def _lines_of(self, *steps: Step) -> list[int]:
        return [self.source.position(self.span_of(step).start)[0] for step in steps]

    def retract(self, retracted: Collection[Diagnostic], scenarios: Sequence[ScenarioFacts]) -> None:
        """Replaces diagnostics that depend on the block by questions, one at each of their places."""
        gone = {id(item) for item in retracted}
        places = [place for place, item in self.diagnostic_by_span.items() if id(item) in gone]
        self.diagnostics = [item for item in self.diagnostics if id(item) not in gone]
        for place in places:
            del self.diagnostic_by_span[place]
        self._ask_at(places, ptx3xx.DEPENDS_ON_LAUNCH_OR_DATA(), "block", scenarios)

    def ask_about_shape(self, places: Iterable[CodeSpan]) -> None:
        """Adds questions at places without a diagnostic or a question, which the shape of the block decides."""
        self._ask_at(self._without_answers(places), ptx3xx.DEPENDS_ON_LAUNCH_OR_DATA(), "", ())

    def ask_about_size(self, places: Iterable[CodeSpan], scenarios: Sequence[ScenarioFacts]) -> None:
        """Adds questions at such places, which the size of the block decides."""
        self._ask_at(self._without_answers(places), ptx3xx.DEPENDS_ON_LAUNCH_OR_DATA(), "block", scenarios)

    def _without_answers(self, places: Iterable[CodeSpan]) -> list[CodeSpan]:
        known = self.diagnostic_by_span.keys() | {(item.code, item.span) for item in self.undecided}
        return [place for place in places if place not in known]

    def retract_impossible_conditions(self) -> None:
        """Removes the conditions of the questions about tensor maps if no maps satisfy those of all questions."""
        wanted = [each for item in self.undecided for each in item.conditions if isinstance(each, BoxBytes)]
        if not are_satisfiable(dict.fromkeys(wanted)):
            self.undecided = [
                replace(item, conditions=()) if any(isinstance(each, BoxBytes) for each in item.conditions) else item
                for item in self.undecided
            ]

    def _decide_pair(
        self,
        rule: Rule,
        by_scenario: dict[int, _ScenarioObservations],
        findings: dict[Step, Finding],
        scenarios: int,
        scenario_facts: Sequence[ScenarioFacts],
    ) -> None:
        all_seen = by_scenario.values()
        sure = next((seen.certain for seen in all_seen if seen.certain is not None), None)
        finding = sure or next((seen.first for seen in all_seen if seen.first is not None), None)
        if finding is None:
            return
        # Where a scenario executes unknown code, its silence about the pair is no agreement.
        is_unseen = any(each.has_unknown_call and n not in by_scenario for n, each in enumerate(scenario_facts))
        always = scenarios > 1 and not is_unseen and all(seen.first is not None for seen in all_seen)
        proven = always or any(seen.is_exact for seen in all_seen)
        if not proven:
            is_satisfied = any(seen.first is None for seen in all_seen)
            kept = self.satisfied_in_some_scenario if is_satisfied else self.unproven
            kept.add((rule.code, self.span_of(finding.primary)))
            likely = next((seen.on_all_paths for seen in all_seen if seen.on_all_paths is not None), None)
            if likely is not None and not is_satisfied:
                self._on_all_paths.setdefault(rule, {}).setdefault(likely.primary, likely)
            reason = ptx3xx.DEPENDS_ON_LAUNCH_OR_DATA()
            is_open = bool(scenario_facts) and not scenario_facts[0].scenario.launch.is_exact
            self.mark_undecided(rule.code, [finding.primary], reason, "block" if is_open else "", scenario_facts)
        else:
            findings.setdefault(finding.primary, finding)

    def warn_of_all_paths(self) -> None:
        """Turns questions into warnings where each path to an instruction has the violation, if nothing shows more."""
        for rule, found in self._on_all_paths.items():
            places = {step: (rule.code, self.span_of(step)) for step in found}
            left = [found[step] for step, place in places.items() if place not in self.diagnostic_by_span]
            for findings in _group_findings(replace(each, severity=Severity.WARNING) for each in left):
                self.diagnostics.append(self._build_diagnostic(rule, *findings))
                self.diagnostic_by_span.update((places[each.primary], self.diagnostics[-1]) for each in findings)
            gone = {places[each.primary] for each in left}
            self.undecided = [item for item in self.undecided if (item.code, item.span) not in gone]

    def _build_diagnostic(self, rule: Rule, finding: Finding, *same: Finding) -> Diagnostic:
        """Returns one diagnostic for a finding and for others that the same fix settles."""
        places = [finding.primary, *(step for step, _ in finding.labels)]
        lines = self._lines_of(*places)
        texts = DiagnosticTexts(
            finding.message.with_open_lines(),
            tuple(label.with_open_lines() for _, label in finding.labels),
            None if finding.help is None else finding.help.with_open_lines(),
        )
        return Diagnostic(
            code=rule.code,
            severity=finding.severity or rule.code.severity,
            message=texts.message.at_lines(lines),
            source=self.source,
            span=self.span_of(finding.primary),
            labels=tuple(
                Label(self.span_of(step), label.at_lines(lines))
                for (step, _), label in zip(finding.labels, texts.labels, strict=True)
            ),
            help=texts.help.at_lines(lines) if texts.help is not None else None,
            isa=rule.code.sections,
            properties=finding.properties,
            payload=finding.payload,
            proposals=self._build_fixes(finding, same),
            wording=texts.message.at_lines([f"{{{number}}}" for number in range(len(places))]),
            subject=str(finding.message.fields.get("variable", "")),
            copies=tuple(Place(self.span_of(each.primary)) for each in same),
            texts=texts,
            lacks=tuple(
                tuple(Place(self.span_of(step)) for step in order)
                for order in dict.fromkeys(order for each in (finding, *same) for order in each.lacks)
            ),
        )

    def _build_fixes(self, finding: Finding, same: Sequence[Finding]) -> tuple[Fix, ...]:
        """Returns the fixes, those for all findings of one cause first, because they settle everything."""
        single_fixes = [Fix(fix.message, self._text_edits(fix.edits), fix.safe) for fix in finding.fixes]
        together = []
        for number, fix in enumerate(finding.fixes):
            others = [each.fixes[number] for each in same if number < len(each.fixes)]
            changes = dict.fromkeys(change for each in (fix, *others) for change in each.edits)
            if len(changes) > len(fix.edits):
                together.append(Fix(fix.message, self._text_edits(tuple(changes)), fix.safe))
        return (*together, *single_fixes)

    def _text_edits(self, changes: Sequence[StepEdit]) -> tuple[Edit, ...]:
        edits = []
        for change in changes:
            spans = statement_spans(self.source, change.step.start)
            if isinstance(change.position, int):
                edits.append(Edit(spans.operands[change.position], change.text))
                continue
            start, end = spans.statement.start, spans.statement.end
            indent = self._indentation_at(start)
            if change.position == "before":
                edits.append(Edit(Span(start, start), f"{change.text}\n".replace("\n", f"\n{indent}")))
            else:
                edits.append(Edit(Span(end, end), f"\n{change.text}".replace("\n", f"\n{indent}")))
        return tuple(edits)

    def _indentation_at(self, start: int) -> str:
        """Returns the indentation of a statement that begins its line; empty for any other statement."""
        begin = self.source.text.rfind("\n", 0, start) + 1
        before = self.source.text[begin:start]
        return before if not before.strip() else ""

    def span_of(self, step: Step) -> Span:
        """Returns the span of a whole statement; many obligations name the same ones."""
        span = self._spans.get(step.start)
        if span is None:
            span = self._spans[step.start] = statement_spans(self.source, step.start).statement
        return span


def _smaller_blocks(scenario_facts: Sequence[ScenarioFacts]) -> set[int]:
    """Returns the scenarios with fewer threads than the kernel declares at most, so that roles may be missing.

    They prove a violation only together with the others.
    """
    launch = scenario_facts[0].scenario.launch if scenario_facts else None
    if launch is None or not launch.is_limit:
        return set()
    return {number for number, facts in enumerate(scenario_facts) if facts.scenario.launch != launch}


def _count(scenarios: Sequence[Scenario], numbers: Collection[int]) -> int:
    """Returns for how many scenarios those with some numbers count as proof; a choice of data counts once."""
    if not scenarios:
        return len(numbers)
    weights = {
        number if (data := scenarios[number].data) is None else ("data", data.scale): _weight_of(scenarios[number])
        for number in numbers
    }
    return sum(weights.values())


def _weight_of(scenario: Scenario) -> int:
    return 0 if scenario.is_flipped else scenario.sample_count


def _example_launch(what: str, facts: ScenarioFacts) -> str:
    """Returns a launch that the kernel allows: `block=256`, `block=16x16` where it reads positions along two axes, or
    its maximum number of threads; `cluster=2`.
    """
    if what == "cluster":
        return "cluster=2"
    launch = facts.scenario.launch
    block = launch.block if launch.is_limit else USUAL_BLOCKS[facts.program.analysis(count_block_axes)][0]
    return f"block={'x'.join(map(str, block)).removesuffix('x1').removesuffix('x1')}"


def _obligation_keys(
    observed: Iterable[Observation | OpenObligation], budget: AnalysisBudget
) -> dict[ObligationKey, None]:
    """Returns the obligations that a rule checks."""
    found: dict[ObligationKey, None] = {}
    for item in observed:
        found[(item.step, None) if isinstance(item, OpenObligation) else item.key] = None
        budget.pair_checks -= 1
        if budget.is_exhausted:
            break
    return found


def _group_findings(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Returns the findings in the order of the text; those of one cause are adjacent."""
    groups: dict[Hashable, list[Finding]] = {}
    for finding in sorted(findings, key=lambda found: found.primary.start):
        own_group = ("single", finding.primary)
        groups.setdefault(own_group if finding.group_key is None else ("cause", finding.group_key), []).append(finding)
    return list(groups.values())
