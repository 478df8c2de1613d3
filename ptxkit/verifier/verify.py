"""Verifies one source text: with the static rules, and then with runs on the reference machine."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ptxkit.analysis.contract.launch_evidence import find_launch_evidence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.memory.flag_accesses import find_flag_pointers
from ptxkit.analysis.tensor.absolute_tmem import find_absolute_tmem_steps
from ptxkit.contract_survey import depends_on_thread_count, derive_kernel_contract
from ptxkit.diagnostics import Diagnostic, Message, Undecided, Verdict
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.emulator import InvalidLaunchError, RunBudget, RunResult, Violation, run
from ptxkit.emulator.core.uninitialized_reads import UninitializedRead
from ptxkit.emulator.driver.uninitialized_dependence import (
    UninitializedDependence,
    find_significant_reads,
    find_uninitialized_dependence,
)
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.engine.launch_args import StructArgument, to_dim3
from ptxkit.fast_dataclasses import replace
from ptxkit.linter import (
    apply_overrides,
    apply_settings,
    apply_suppressions,
    crash_result,
    lint_module,
    unchecked_result,
)
from ptxkit.module_overrides import LaunchConflictError
from ptxkit.results import FileResult, KernelRun
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Function, Module
from ptxkit.verifier.assumption_filter import NO_TENSOR_MAP_TEMPLATES, LaunchAssumptions
from ptxkit.verifier.assumption_reasons import is_about_path
from ptxkit.verifier.fault_dependence import FaultDependence
from ptxkit.verifier.image_arguments import infer_images
from ptxkit.verifier.integer_guesses import MIXED_INTEGERS, IntegerGuesses, MixedIntegers
from ptxkit.verifier.kernel_result import KernelResult
from ptxkit.verifier.launch_inference import (
    NO_CONTRACT,
    LaunchPlan,
    VerifierRun,
    blocks_within,
    candidate_blocks,
    generate_runs,
    has_unspecified_structures,
    has_unspecified_values,
    infer_plans,
    unspecified_parameters,
)
from ptxkit.verifier.merged_findings import merge_diagnostics, places_of, sort_traces
from ptxkit.verifier.parameter_names import by_parameter
from ptxkit.verifier.request import VerifyRequest
from ptxkit.verifier.run_agreement import RunAgreement
from ptxkit.verifier.static_questions import conditions_of_questions, lines_of_flag_questions, offsets_of_questions
from ptxkit.verifier.suitable_launch import find_suitable
from ptxkit.verifier.tensormap_inference import InferredMaps, infer_maps, is_expected, known_boxes, map_locations
from ptxkit.verifier.violation_diagnostics import (
    ARGUMENTS_NOTE,
    GRID_NOTE,
    is_of_strict_policy,
    launch_text,
    make_diagnostic,
    make_undecided,
)

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import KernelFacts
    from ptxkit.emulator.threads.machine_observer import MachineObserver
    from ptxkit.model.trace import FindingTrace

_PROBE_SHARE = 0.5
"""The share of the total time that all probes of launches may use."""

_MIN_REACHED_SHARE = 0.5
"""The share of a kernel's instructions that runs with chosen arguments must execute to be conclusive."""

_COMPARED_RUNS = 3
"""The number of runs that are compared with each other, each of which gets an equal part of the remaining time."""


def verify_source(
    source: SourceFile,
    request: VerifyRequest,
    progress: Callable[[], None] = lambda: None,
    static: Verdict | None = None,
) -> FileResult:
    """Returns the verdict of both verifiers on one file.

    progress: is called after each run. static: the verdict of `lint`, where it is known. Raises InvalidLaunchError
    where a requested kernel does not exist, or an argument does not fit its parameter.
    """
    settings = replace(request.settings, policy=request.policy)
    try:
        module = parse(source.text, source.path)
        explored: dict[str, KernelFacts] = {}
        verdict = static or lint_module(module, request.lint_settings(), explored)
        runs: list[KernelResult] = []
        if not any(each.severity == "error" and each.code < "PTX2" for each in verdict.diagnostics):
            _, launched = apply_overrides(module, settings)
            entries = request.select_kernels(launched)
            for entry in entries:
                facts = explored.pop(entry.name, None)
                runs.append(_verify_kernel(launched, source, entry, request, progress, verdict, facts))
        seen = apply_settings(Verdict(tuple(each for run_ in runs for each in run_.diagnostics)), settings)
        both = merge_diagnostics(verdict.diagnostics, seen.diagnostics)
        questions = (*verdict.undecided, *(each for run_ in runs for each in run_.undecided))
        left, hidden = apply_suppressions(Verdict(both, questions), module, settings, ran=True)
    except PTXSyntaxError as wrong:
        return FileResult.of(source.path, Verdict(wrong.diagnostics))
    except LaunchConflictError as conflict:
        return unchecked_result(source.path, str(conflict), remedy="give the launch that the kernel has")
    except InvalidLaunchError:
        raise
    except Exception as error:
        return crash_result(source.path, error)
    result = FileResult.of(source.path, left)
    recorded = tuple(run_.run for run_ in runs if run_.run is not None)
    traces = sort_traces([each for run_ in runs for each in run_.traces], left.diagnostics)
    return replace(result, runs=recorded, traces=traces, suppressed=hidden)


def _verify_kernel(
    module: Module,
    source: SourceFile,
    entry: Function,
    request: VerifyRequest,
    progress: Callable[[], None],
    static: Verdict,
    explored: KernelFacts | None = None,
) -> KernelResult:
    """Runs one kernel, each time with other inputs; a fault is reported once.

    static: the verdict of the rules on the module. explored: the kernel, if it was explored before.
    """
    request = replace(request, arguments=by_parameter(request.arguments, entry))
    program = Executable(module, entry.name, request.shared or 0)
    program.decode_function(entry.name)  # decoding assigns offsets to the parameters
    flat = flatten(module, entry)
    images = infer_images(flat)
    laneless = find_absolute_tmem_steps(flat)
    sizes = {symbol.name: symbol.size for _, symbol in program.parameters}
    pointers = {
        (name, offset)
        for name, offset in pointer_parameters(flat)
        if name not in images and offset + program.address_size // 8 <= sizes[name]  # the others are offsets
    }
    chosen, unsaid = has_unspecified_values(program, pointers, request), unspecified_parameters(program, request)
    has_block = request.block is not None or entry.directive("reqntid") is not None
    evidence = find_launch_evidence(flat)
    blocks = candidate_blocks(entry, request, [step.instruction for step in flat.steps], evidence)
    proven = frozenset(place for each in static.diagnostics for place in places_of(each))
    sizes_to_try = [block[0] for block in blocks if len(block) == 1] if depends_on_thread_count(static) else []
    is_known = has_block and not chosen
    contract = NO_CONTRACT if is_known else derive_kernel_contract(module, entry, explored, sizes_to_try)
    choices = infer_maps(flat, unsaid, known_boxes(contract)) if chosen else [{}]
    deadline = time.thread_time() + request.seconds

    known = (*(each.requirement for each in contract.conditions), *conditions_of_questions(static, entry.name))
    plans = infer_plans(entry, program, request, blocks_within(blocks, known), evidence)
    wide: list[LaunchPlan] = []
    if request.grid is None and choices[0] and not evidence.shares_global_memory:
        # With boxes of another size, CTAs may interfere with each other. Then only one cluster is run.
        wide = [replace(each, other_grid=each.cluster) for each in plans] if evidence.axes else []
        plans = [replace(each, grid=each.cluster) for each in plans]

    has_cluster = request.cluster is not None or entry.directive("reqnctapercluster") is not None
    whole = [name for name, (value, _) in choices[0].items() if not isinstance(value, StructArgument)]
    influence = FaultDependence(
        flat,
        has_block=has_block,
        has_cluster=has_cluster or request.grid is not None,
        chosen=[name for name in unsaid if name not in images and name not in whole],
        pointers=pointers,
        structures=[e.name for _, e in program.parameters if e.is_aggregate and e.name in {*unsaid} - {*whole}],
    )

    def session_of(plan: LaunchPlan, maps: InferredMaps, *, exhausted: bool = False) -> _Session:
        fit = LaunchAssumptions(
            values=chosen or not plan.is_specified,
            contents=bool(unsaid),
            boxes=bool(maps),
            structures=has_unspecified_structures(program, request, whole),
            images=not images.keys().isdisjoint(unsaid),
            grid=request.grid is None,
            block=len(plans) > 1,
            cluster=not has_cluster,
            proven_violations=proven,
            laneless=laneless,
            fault_dependence=influence,
            evidence=evidence,
            exhausted=exhausted,
            unordered_lines=frozenset(lines_of_flag_questions(static, source)),
        )
        return _Session(module, source, entry.name, plan, fit, traces=request.trace, strict=request.policy == "strict")

    candidates = [(plan, maps) for plan in (*wide, *plans) for maps in choices]

    def runs_of(maps: InferredMaps, guesses: IntegerGuesses) -> Iterator[VerifierRun]:
        given, flags = {**images, **maps}, find_flag_pointers(flat)
        return generate_runs(program, pointers, request, given, guesses, contract, flags)

    def first_of(maps: InferredMaps) -> VerifierRun:
        return next(runs_of(maps, IntegerGuesses()))

    found, tries_all = None, False
    if len(candidates) > 1:
        enough = deadline - (1 - _PROBE_SHARE) * request.seconds
        found = find_suitable(candidates, session_of, first_of, enough, exact=is_expected(flat))
        tries_all = time.thread_time() < enough
    maps = found[1] if found else choices[0]
    session = found[0] if found else session_of(plans[0], maps, exhausted=tries_all)
    guesses = IntegerGuesses()
    session.run_all(runs_of(maps, guesses), guesses, request.schedules, deadline, progress)
    asked = offsets_of_questions(static) if chosen else frozenset[int]()
    for trial in islice(runs_of(maps, MixedIntegers()), len(MIXED_INTEGERS)):
        if time.thread_time() < deadline and session.misses(asked):
            session.run(trial, deadline)
            progress()
    return session.result(
        Counter(name for name, _ in map_locations(flat) if name in unsaid),
        frozenset(step.start for step in flat.steps),
    )


class _Session:
    """The runs of one kernel."""

    def __init__(
        self,
        module: Module,
        source: SourceFile,
        kernel: str,
        plan: LaunchPlan,
        fit: LaunchAssumptions,
        *,
        traces: bool,
        strict: bool = False,
    ) -> None:
        self._strict = strict
        self._module, self._source, self._kernel, self._plan, self._assumptions = module, source, kernel, plan, fit
        self._is_specified, self._wants_traces = not fit.values, traces
        self._traces: list[FindingTrace] = []
        self._diagnostics: dict[tuple[str, int], Diagnostic] = {}
        self._open_questions: dict[str, Undecided] = {}
        self._undecided: dict[tuple[str, int], Undecided] = {}
        self._agreement = RunAgreement()
        self._if_runs_agree: dict[tuple[str, int], Diagnostic] = {}
        self._wrong_arguments: list[Message] = []
        self._assumption_texts: dict[str, None] = {}
        self._completed_runs = self._runs = self._steps = 0
        self._reached_offsets: set[int] = set()
        self._significant_offsets: set[int] = set()
        self._checked_registers: set[str] = set()
        self._first: RunResult | None = None
        self.is_crowded = False
        """Whether a run ended and was unsuitable only because CTAs interfere with each other."""

    def run_all(
        self,
        trials: Iterator[VerifierRun],
        guesses: IntegerGuesses,
        schedules: int,
        deadline: float,
        progress: Callable[[], None],
    ) -> None:
        """Runs the kernel for a number of schedules, until a deadline; numbers that do not fit are replaced."""
        left = schedules
        while left:
            trial = next(trials)
            if time.thread_time() >= deadline:
                self.add_question("the time for this kernel is used up (--seconds)")
                return
            if not self.run(trial, deadline) and guesses.replace(trial.number):
                continue  # another number replaces this one
            if left == schedules:
                self.check_uninitialized_memory(trial, deadline - time.thread_time())
            progress()
            left -= 1

    def run(self, trial: VerifierRun, deadline: float) -> bool:
        """Runs the kernel once; returns whether the arguments fit."""
        outcome, self._first = self._first or self._run_trial(trial, deadline - time.thread_time()), None
        self._runs += 1
        self._steps += outcome.steps
        self._assumption_texts.update(dict.fromkeys(trial.assumptions))
        unfit = len(self._wrong_arguments)
        new = self._add_result(outcome, trial)
        if outcome.is_clean:
            self._check_uninitialized_registers(outcome.uninitialized_reads, trial, deadline - time.thread_time())
        if new and self._wants_traces:
            self._record_traces(new, trial, deadline - time.thread_time())
        return len(self._wrong_arguments) == unfit

    def misses(self, asked: frozenset[int]) -> bool:
        """Returns whether no run with numbers above 1 has led to one of some instructions, by their offsets."""
        return not asked <= self._significant_offsets

    def check_uninitialized_memory(self, trial: VerifierRun, seconds: float) -> None:
        """Checks whether results depend on uninitialized memory."""
        if self._diagnostics or not self._completed_runs:
            return
        launch = self._launch_arguments(trial, seconds / _COMPARED_RUNS)
        found = find_uninitialized_dependence(self._module, self._kernel, **launch)
        self._add_dependences(found, trial)
        for question in found.open_questions("memory") if self._is_specified else ():
            self.add_question(question)

    def _check_uninitialized_registers(
        self, reads: Sequence[UninitializedRead], trial: VerifierRun, seconds: float
    ) -> None:
        """Checks whether results of a run depend on registers that it read before it wrote them."""
        new = [each for each in reads if each.register not in self._checked_registers]
        self._checked_registers.update(each.register for each in new)
        found = find_significant_reads(
            self._module, self._kernel, new, **self._launch_arguments(trial, seconds / _COMPARED_RUNS)
        )
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

    def is_suitable(self, trial: VerifierRun, seconds: float) -> bool:
        """Returns whether no finding of a run shows that the kernel requires other blocks or boxes.

        The run becomes the session's first run unless it exceeded its time, because a repetition would have the same
        result.
        """
        outcome = self._run_trial(trial, seconds)
        unfit = [each for each in outcome.findings if self._assumptions.shows_wrong_launch(each)]
        if not unfit:
            self._first = None if outcome.incomplete_reason else outcome
            return True
        is_whole = not (outcome.unsupported_reason or outcome.incomplete_reason)
        self.is_crowded = is_whole and all(self._assumptions.requires_several_ctas(each) for each in unfit)
        return False

    def _run_trial(
        self, trial: VerifierRun, seconds: float, observers: Sequence[MachineObserver] | None = None
    ) -> RunResult:
        return run(self._module, self._kernel, observers=observers, **self._launch_arguments(trial, seconds))

    def _launch_arguments(self, trial: VerifierRun, seconds: float) -> dict[str, Any]:
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
            "budget": RunBudget(seconds=seconds),
            "strict": self._strict,
            "laneless": self._assumptions.laneless,
        }

    def _record_traces(self, findings: Sequence[Violation], trial: VerifierRun, seconds: float) -> None:
        """Runs once more with the same seed, and records what led to findings."""
        from ptxkit.emulator.races.event_recorder import EventRecorder
        from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
        from ptxkit.verifier.trace_builder import build_trace
        from ptxkit.verifier.trace_places import TracePlaces

        recorder = EventRecorder([(each.code, each.offset) for each in findings])
        self._run_trial(trial, seconds, recorder.around(HappensBeforeMonitor(strict=self._strict).observers))
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
        elif outcome.incomplete_reason:
            self.add_question(outcome.incomplete_reason)
        for each in outcome.unchecked_reasons:
            self.add_question(each)
        unfit = [each.content for each in outcome.findings if self._assumptions.shows_wrong_arguments(each)]
        self._wrong_arguments += unfit
        if unfit:
            return []  # everything else may result from the arguments
        self._completed_runs += not (outcome.unsupported_reason or outcome.incomplete_reason)
        self._reached_offsets |= outcome.reached_offsets
        self._significant_offsets |= outcome.reached_offsets if not trial.is_degenerate else frozenset()
        self._agreement.note_run(trial.integer, outcome.reached_offsets)
        new = []
        for finding in outcome.findings:
            key = (finding.code, finding.offset)
            if key in self._diagnostics or (not self._strict and is_of_strict_policy(finding)):
                continue
            reason = self._assumptions.undecided_reason(finding, trial.contents, is_degenerate=trial.is_degenerate)
            if reason:
                plan = self._plan.of_run(trial.number)
                asked = make_undecided(finding, self._source, self._kernel, plan, trial, reason)
                self._undecided.setdefault(key, asked)
                if is_about_path(reason):
                    self._agreement.note_finding(trial.integer, key)
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

    def add_question(self, reason: str) -> None:
        """Records an open question."""
        text = f"{self._kernel}: {reason}"
        self._open_questions.setdefault(text, Undecided(ptx3xx.NOT_REACHED, text, self._source, self._kernel_span()))

    def result(self, maps: Mapping[str, int], places: frozenset[int]) -> KernelResult:
        """Returns the results of all runs.

        maps: the parameters that hold unspecified tensor maps, with their number. places: the offsets of the kernel's
        instructions.
        """
        for key, diagnostic in self._if_runs_agree.items():
            if self._agreement.is_shown_whatever_number(key):
                self._diagnostics.setdefault(key, diagnostic)
        reached = len(self._reached_offsets & places)
        if self._wrong_arguments and not self._completed_runs and not self._diagnostics:
            why: object = self._wrong_arguments[0]
            wanted = " ".join(
                f"--arg '{name}={f'{count}*' * (count > 1)}f16[256,256]:box=64x64'" for name, count in maps.items()
            )
            wanted = wanted or ("--arg or --block" if self._assumptions.block else "--arg")
            if self._wrong_arguments[0].template in NO_TENSOR_MAP_TEMPLATES and maps:
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
            self._kernel, launch, arguments, self._runs, self._completed_runs, self._steps, reached, len(places)
        )
        doubted = [each for key, each in self._undecided.items() if key not in self._diagnostics]
        return KernelResult(
            list(self._diagnostics.values()), [*self._open_questions.values(), *doubted], recorded, self._traces
        )

    def _kernel_span(self) -> Span:
        at = max(self._source.text.find(self._kernel), 0)
        return Span(at, at + len(self._kernel))


__all__ = ["verify_source"]
