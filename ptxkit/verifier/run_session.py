"""Runs one kernel with one launch, several times with other inputs, and collects what the runs show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.analysis.values.scenario import Arguments, ParameterKey
from ptxkit.diagnostics import Diagnostic, Undecided
from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx
from ptxkit.emulator import RunResult, Violation, run
from ptxkit.emulator.core.uninitialized_reads import UninitializedRead
from ptxkit.emulator.driver.uninitialized_dependence import (
    UninitializedDependence,
    find_significant_reads,
    find_uninitialized_dependence,
)
from ptxkit.emulator.engine.launch_args import to_dim3
from ptxkit.fast_dataclasses import replace
from ptxkit.results import KernelRun
from ptxkit.source import Span
from ptxkit.syntax.tree import Module
from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.assumption_filter import NO_TENSOR_MAP_TEMPLATES, LaunchAssumptions
from ptxkit.verifier.assumption_reasons import is_about_path
from ptxkit.verifier.integer_guesses import IntegerGuesses
from ptxkit.verifier.kernel_result import KernelResult
from ptxkit.verifier.launch_inference import LaunchPlan
from ptxkit.verifier.limits import MAX_FURTHER_RUN_SHARE, MAX_RUN_SHARE, USUAL_SHARED_ALIGNMENT
from ptxkit.verifier.path_variation import vary_numbers
from ptxkit.verifier.run_agreement import FindingKey, RunAgreement
from ptxkit.verifier.step_budget import StepBudget
from ptxkit.verifier.violation_diagnostics import (
    ARGUMENTS_NOTE,
    GRID_NOTE,
    is_of_strict_policy,
    launch_text,
    make_diagnostic,
    make_undecided,
)

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_observer import MachineObserver
    from ptxkit.model.trace import FindingTrace

_MIN_REACHED_SHARE = 0.5
"""The share of a kernel's instructions that runs with chosen arguments must execute to be conclusive."""

_WRONG_BOXES = "another run does not fit the boxes of tensor maps, which were chosen (--arg)"
"""The reason of a question about a copy of a box, where the chosen boxes are wrong."""


class RunSession:
    """The runs of one kernel."""

    def __init__(
        self,
        module: Module,
        kernel: str,
        plan: LaunchPlan,
        fit: LaunchAssumptions,
        budget: StepBudget,
        *,
        traces: bool,
        strict: bool = False,
    ) -> None:
        self._strict, self._budget = strict, budget
        assert module.source is not None
        self._module, self._source, self._kernel, self._plan = module, module.source, kernel, plan
        self._assumptions = fit
        self._is_specified, self._wants_traces = not fit.values, traces
        self._traces: list[FindingTrace] = []
        self._diagnostics: dict[tuple[str, int], Diagnostic] = {}
        self._open_questions: dict[str, Undecided] = {}
        self._undecided: dict[tuple[str, int], Undecided] = {}
        self._agreement = RunAgreement()
        self._if_runs_agree: dict[tuple[str, int], Diagnostic] = {}
        self._doubted: dict[tuple[str, int], Violation] = {}
        self._wrong_arguments: list[Violation] = []
        self._assumption_texts: dict[str, None] = {}
        self._completed_runs = self._runs = self._steps = 0
        self._executions: Counter[int] = Counter()
        self._significant_offsets: set[int] = set()
        self._checked_registers: set[str] = set()
        self._first: RunResult | None = None
        self._least_alignment: int | None = None
        self._has_wrong_boxes = False
        self._cut_short: RunResult | None = None
        self._if_boxes_wrong: dict[FindingKey, Undecided] = {}
        self.is_crowded = False
        """Whether a run ended and was unsuitable only because CTAs interfere with each other."""

    def run_all(
        self,
        trials: Iterator[VerifierRun],
        guesses: IntegerGuesses,
        schedules: int,
        kept: int,
        progress: Callable[[], None],
    ) -> None:
        """Runs the kernel for a number of schedules, until no more than some steps are kept.

        Numbers that do not fit are replaced, and those with which a run takes many of the steps by smaller ones.
        """
        left, budget = schedules, self._budget
        given = budget.left - kept
        share = given if self._is_specified else int(given * MAX_RUN_SHARE)
        while left:
            trial = next(trials)
            if budget.is_used_up(kept):
                spent = given + kept - budget.left
                self.add_question(budget.question_of_runs(schedules - left, schedules, spent, given))
                return
            fits = self.run(trial, min(budget.left - kept, share))
            if self._cut_short is not None and left < schedules and budget.is_used_up(kept):
                continue  # what was left was too little for another run
            if self._cut_short is not None:
                share *= 2  # constants may decide the length of runs, and one that ends shows more than several
                if not guesses.lower(trial.number):
                    self.add_question(budget.question_of_run(self._cut_short))
            if not fits and ((self._leaves_buffer and guesses.grow_buffers()) or guesses.replace(trial.number)):
                continue  # larger buffers, or another number, may fit
            if left == schedules:
                self.check_uninitialized_memory(trial)
            progress()
            left -= 1

    def run(self, trial: VerifierRun, steps: int) -> bool:
        """Runs the kernel once, with at most some steps; returns whether the arguments fit."""
        trial = self._with_alignment(trial)
        outcome, self._first = self._first or self._run_trial(trial, steps), None
        self._runs += 1
        self._steps += outcome.steps
        self._cut_short = outcome if outcome.exceeded_limit else None
        self._assumption_texts.update(dict.fromkeys(trial.assumptions))
        unfit = len(self._wrong_arguments)
        new = self._add_result(outcome, trial)
        if outcome.is_clean:
            self._check_uninitialized_registers(outcome.uninitialized_reads, trial)
        if new and self._wants_traces:
            self._record_traces(new, trial)
        if self._aligns_after(outcome):
            return self.run(trial, steps)
        return len(self._wrong_arguments) == unfit

    @property
    def _leaves_buffer(self) -> bool:
        """Whether the arguments of the last unsuitable run did not fit because a thread left global memory."""
        last = self._wrong_arguments[-1]
        spaces = {each.space for each in last.witnesses[:1]}
        return last.code == ptx2xx.OUT_OF_BOUNDS and bool(spaces & {"global", "generic"})

    def _aligns_after(self, outcome: RunResult) -> bool:
        """Aligns the variables of all other runs where one relied on more alignment than is declared.

        The fault hides everything after it. Returns whether the variables were not aligned before.
        """
        found = (each for each in outcome.findings if each.code == ptx2xx.MISALIGNED_ADDRESS and each.witnesses)
        relies = any(each.witnesses[0].space.startswith("shared") for each in found)
        if self._least_alignment is not None or not relies:
            return False
        self._least_alignment = USUAL_SHARED_ALIGNMENT
        return True

    def _with_alignment(self, trial: VerifierRun) -> VerifierRun:
        """Returns a run with the words about the alignment of variables, where that is not as declared."""
        if self._least_alignment is None:
            return trial
        words = f"variables in shared memory at multiples of {self._least_alignment} bytes"
        return replace(trial, assumptions=tuple(dict.fromkeys((*trial.assumptions, words))))

    def run_further(
        self,
        trials: Iterable[VerifierRun],
        count: int,
        progress: Callable[[], None],
    ) -> None:
        """Runs the kernel with other inputs. count: of the trials."""
        budget = self._budget
        given = budget.left
        for done, trial in enumerate(trials):
            if budget.is_used_up():
                self.add_question(budget.question_of_runs(done, count, given - budget.left, given))
                return
            self.run(trial, int(budget.left * MAX_FURTHER_RUN_SHARE) + 1)
            if self._cut_short is not None:
                self.add_question(budget.question_of_run(self._cut_short))
            progress()

    def probe(self, trial: VerifierRun, steps: int) -> tuple[frozenset[int], int]:
        """Returns what a run without checks of races reaches, and its steps; nothing if its inputs do not fit."""
        launch = self._launch_arguments(self._with_alignment(trial), 0)
        launch["budget"] = replace(launch["budget"], steps=steps)
        outcome = run(self._module, self._kernel, races=False, **launch)
        fits = not any(self._assumptions.shows_wrong_arguments(each) for each in outcome.findings)
        return outcome.reached_offsets if fits else frozenset(), outcome.group_steps

    @property
    def significant_offsets(self) -> frozenset[int]:
        """The offsets of the instructions that runs with numbers above 1 have reached."""
        return frozenset(self._significant_offsets)

    def variations(self) -> list[Arguments]:
        """Returns numbers with which runs may show again what may depend on the numbers that were chosen.

        Each doubted finding adds some, first those that decide the path to another instruction.
        """
        found: dict[Arguments, None] = {}
        for key in self._doubted:
            if not self._is_shown_whatever_number(key):
                shown = self._agreement.numbers_showing(key)
                found.update(dict.fromkeys(vary_numbers(shown, self._deciding_numbers(key))))
        return list(found)

    def _is_shown_whatever_number(self, key: FindingKey) -> bool:
        in_global_memory = self._assumptions.meets_in_global_memory(self._doubted[key])
        deciding = self._deciding_numbers(key)
        return self._agreement.is_shown_whatever_number(key, deciding, in_global_memory=in_global_memory)

    def _deciding_numbers(self, key: FindingKey) -> list[ParameterKey]:
        """Returns the places of the chosen numbers that decide whether the instruction of a finding is executed."""
        influence = self._assumptions.fault_dependence
        sources = influence.path_sources(self._doubted[key]) if influence is not None else ()
        return [place for place in self._agreement.places if any(leaf.covers(place) for leaf in sources)]

    def check_uninitialized_memory(self, trial: VerifierRun) -> None:
        """Checks whether results depend on uninitialized memory."""
        if self._diagnostics or not self._completed_runs:
            return
        launch = self._launch_arguments(trial, self._budget.left)
        found = find_uninitialized_dependence(self._module, self._kernel, **launch)
        self._budget.spend(found.group_steps)
        self._add_dependences(found, trial)
        for question in found.open_questions("memory") if self._is_specified else ():
            self.add_question(question)

    def _check_uninitialized_registers(self, reads: Sequence[UninitializedRead], trial: VerifierRun) -> None:
        """Checks whether results of a run depend on registers that it read before it wrote them."""
        new = [each for each in reads if each.register not in self._checked_registers]
        self._checked_registers.update(each.register for each in new)
        launch = self._launch_arguments(trial, self._budget.left)
        found = find_significant_reads(self._module, self._kernel, new, **launch)
        self._budget.spend(found.group_steps)
        for question in found.open_questions("registers"):
            self.add_question(question)
        self._add_dependences(found, trial)

    def _add_dependences(self, found: UninitializedDependence, trial: VerifierRun) -> None:
        """Adds the results that depend on what was never written.

        Where arguments were chosen, such a dependence is an open question: a host may never pass arguments that leave
        it unwritten.
        """
        for each in found.violations:
            if self._is_specified:
                self._diagnostics.setdefault((each.code, each.offset), self._make_diagnostic(each, trial))
                continue
            text = (
                f"{self._kernel}: {each.message}, where {', '.join(trial.assumptions)}, which were chosen: give --arg"
            )
            span = self._source.statement_span(each.offset)
            self._open_questions.setdefault(
                f"{each.code} {each.offset}", Undecided(each.code, text, self._source, span)
            )

    def is_suitable(self, trial: VerifierRun, steps: int) -> bool:
        """Returns whether no finding of a run shows that the kernel requires other blocks or boxes.

        The run becomes the session's first run unless it exceeded its steps, because a repetition would have the same
        result.
        """
        outcome = self._run_trial(trial, steps)
        if self._aligns_after(outcome):
            outcome = self._run_trial(trial, steps)
        unfit = [each for each in outcome.findings if self._assumptions.shows_wrong_launch(each)]
        if not unfit:
            self._first = None if outcome.incomplete_reason else outcome
            return True
        is_whole = not (outcome.unsupported_reason or outcome.incomplete_reason)
        self.is_crowded = is_whole and all(self._assumptions.requires_several_ctas(each) for each in unfit)
        return False

    def _run_trial(
        self, trial: VerifierRun, steps: int, observers: Sequence[MachineObserver] | None = None
    ) -> RunResult:
        outcome = run(self._module, self._kernel, observers=observers, **self._launch_arguments(trial, steps))
        self._budget.spend(outcome.group_steps)
        return outcome

    def _launch_arguments(self, trial: VerifierRun, steps: int) -> dict[str, Any]:
        """Returns the launch arguments of a run."""
        plan = self._plan.of_run(trial.number)
        return {
            "grid": plan.grid,
            "block": plan.block,
            "cluster": plan.cluster,
            "shared": plan.shared,
            "arguments": trial.arguments,
            "policy": trial.policy,
            "seed": trial.seed,
            "budget": self._budget.for_run(steps),
            "strict": self._strict,
            "laneless": self._assumptions.laneless,
            "least_alignment": self._least_alignment,
        }

    def _record_traces(self, findings: Sequence[Violation], trial: VerifierRun) -> None:
        """Runs once more with the same seed, and records what led to findings."""
        from ptxkit.emulator.races.event_recorder import EventRecorder
        from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
        from ptxkit.verifier.trace_builder import build_trace
        from ptxkit.verifier.trace_places import TracePlaces

        recorder = EventRecorder([(each.code, each.offset) for each in findings])
        self._run_trial(trial, self._budget.left, recorder.around(HappensBeforeMonitor(strict=self._strict).observers))
        recorder.capture()
        kept = {(each.finding.code, each.finding.offset): each for each in recorder.recordings}
        block = to_dim3(self._plan.block, "block")
        recorded = (
            launch_text(self._plan.of_run(trial.number)),
            *trial.assumptions,
            f"policy {trial.policy}",
            f"seed {trial.seed}",
        )
        assert recorder.machine is not None
        places = TracePlaces(recorder.machine.program, self._module)
        for each in findings:
            key = (each.code, each.offset)
            self._traces.append(build_trace(self._diagnostics[key], each, kept.get(key), block, recorded, places))

    def _add_result(self, outcome: RunResult, trial: VerifierRun) -> list[Violation]:
        """Records the results of a run; returns the findings that are new."""
        if outcome.unsupported_reason:
            self.add_question(f"the machine cannot run it: {outcome.unsupported_reason}")
        elif outcome.incomplete_reason and not outcome.exceeded_limit:
            self.add_question(outcome.incomplete_reason)
        for each in outcome.unchecked_reasons:
            self.add_question(each)
        unfit = [each for each in outcome.findings if self._assumptions.shows_wrong_arguments(each)]
        self._wrong_arguments += unfit
        self._has_wrong_boxes |= any(map(self._assumptions.refutes_boxes, unfit))
        if unfit:
            return []  # everything else may result from the arguments
        self._completed_runs += not (outcome.unsupported_reason or outcome.incomplete_reason)
        self._executions.update(outcome.reached_offsets)
        self._significant_offsets |= outcome.reached_offsets if not trial.is_degenerate else frozenset()
        self._agreement.note_run(trial.integers, outcome.reached_offsets)
        new = []
        for finding in outcome.findings:
            key = (finding.code, finding.offset)
            if key in self._diagnostics or (not self._strict and is_of_strict_policy(finding)):
                continue
            if self._assumptions.rests_on_boxes(finding):
                self._if_boxes_wrong.setdefault(key, self._make_undecided(finding, trial, _WRONG_BOXES))
            reason = self._assumptions.undecided_reason(finding, trial.contents, is_degenerate=trial.is_degenerate)
            if reason:
                self._undecided.setdefault(key, self._make_undecided(finding, trial, reason))
                if is_about_path(self._assumptions.undecided_reason(finding, trial.contents)):
                    self._agreement.note_finding(trial.integers, key)
                    self._doubted.setdefault(key, finding)
                    self._if_runs_agree.setdefault(key, self._make_diagnostic(finding, trial, ARGUMENTS_NOTE))
                continue
            new.append(finding)
            chosen = "" if self._is_specified or self._assumptions.is_certain(finding) else ARGUMENTS_NOTE
            if not chosen and self._assumptions.requires_several_ctas(finding):
                chosen = GRID_NOTE
            self._diagnostics[key] = self._make_diagnostic(finding, trial, chosen)
        return new

    def _make_diagnostic(self, finding: Violation, trial: VerifierRun, chosen: str = "") -> Diagnostic:
        plan = self._plan.of_run(trial.number)
        return make_diagnostic(finding, self._source, self._kernel, plan, trial, chosen=chosen)

    def _make_undecided(self, finding: Violation, trial: VerifierRun, reason: str) -> Undecided:
        plan = self._plan.of_run(trial.number)
        return make_undecided(finding, self._source, self._kernel, plan, trial, reason)

    def add_question(self, reason: str) -> None:
        """Records an open question."""
        text = f"{self._kernel}: {reason}"
        self._open_questions.setdefault(text, Undecided(ptx3xx.NOT_REACHED, text, self._source, self._kernel_span()))

    def result(self, maps: Mapping[str, int], places: frozenset[int], asked: frozenset[int]) -> KernelResult:
        """Returns the results of all runs.

        maps: the parameters that hold unspecified tensor maps, with their number. places: the offsets of the kernel's
        instructions. asked: those about which the rules have an open question.
        """
        for key, diagnostic in self._if_runs_agree.items():
            if self._is_shown_whatever_number(key):
                self._diagnostics.setdefault(key, diagnostic)
        if self._has_wrong_boxes:
            for key in self._if_boxes_wrong.keys() & self._diagnostics:
                del self._diagnostics[key]
                self._undecided[key] = self._if_boxes_wrong[key]
        reached = len(self._executions.keys() & places)
        if self._wrong_arguments and not self._completed_runs and not self._diagnostics:
            why = self._wrong_arguments[0].message
            wanted = " ".join(
                f"--arg '{name}={f'{count}*' * (count > 1)}f16[256,256]:box=64x64'" for name, count in maps.items()
            )
            wanted = wanted or ("--arg or --block" if self._assumptions.block else "--arg")
            if self._wrong_arguments[0].content.template in NO_TENSOR_MAP_TEMPLATES and maps:
                why = f"{', '.join(maps)}: tensor maps, of which only the host knows what they describe"
            self.add_question(f"no run completed with the chosen arguments ({why}): give {wanted}")
        elif (
            self._assumptions.values
            and reached < _MIN_REACHED_SHARE * len(places)
            and not (self._open_questions or self._undecided)
        ):
            count = f"{reached} of {len(places)} instructions"
            self.add_question(f"the chosen arguments lead to {count} only: give --arg")
        launch, arguments = launch_text(self._plan), tuple(self._assumption_texts)
        recorded = KernelRun(
            self._kernel,
            launch,
            arguments,
            self._runs,
            self._completed_runs,
            self._steps,
            reached,
            len(places),
            len(asked),
            len(self._executions.keys() & asked),
            self._budget.limits_text,
        )
        doubted = [each for key, each in self._undecided.items() if key not in self._diagnostics]
        return KernelResult(
            list(self._diagnostics.values()),
            [*self._open_questions.values(), *doubted],
            recorded,
            self._traces,
            self._executions,
            places,
        )

    def _kernel_span(self) -> Span:
        at = max(self._source.text.find(self._kernel), 0)
        return Span(at, at + len(self._kernel))
