"""One text through both verifiers: the static rules, then runs on the reference machine."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.analysis.pointers import pointer_parameters
from ptxkit.analysis.program import flatten
from ptxkit.analysis.tensor_constants import named_by_constants
from ptxkit.analysis.tensors import tensor_places
from ptxkit.assumptions import LaunchConflictError
from ptxkit.diagnostics import Diagnostic, Severity, Undecided, Verdict
from ptxkit.emulate import Budget, Finding, LaunchError, Outcome, run
from ptxkit.emulate.actions.tensors import NO_MAP
from ptxkit.emulate.launching import Structure, three
from ptxkit.emulate.program import Program
from ptxkit.emulate.unwritten import depends_on_unwritten, reads_that_matter
from ptxkit.emulate.unwritten_reads import UnwrittenRead
from ptxkit.linter import as_commented, assumed, broken, chosen, found, not_checked
from ptxkit.records import dataclass, field, replace
from ptxkit.results import FileResult, Run
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Function, Module
from ptxkit.verifier.choice import (
    Plan,
    Trial,
    chooses_structures,
    chooses_values,
    contents_chosen,
    plans_of,
    trials,
)
from ptxkit.verifier.evidence import evidence_of
from ptxkit.verifier.fitting import Chosen
from ptxkit.verifier.guesses import Guesses
from ptxkit.verifier.images import image_choices
from ptxkit.verifier.influence import Influence
from ptxkit.verifier.maps import Maps, is_expected, map_choices
from ptxkit.verifier.request import Request
from ptxkit.verifier.wording import ARGUMENTS, GRID, STOPPED, diagnostic, launch_text, question

if TYPE_CHECKING:
    from ptxkit.emulate.recording import Recorder
    from ptxkit.traces import Trace

UNREACHED = "PTX300"
_PROBE, _PROBES = 5.0, 0.5
"""Seconds for finding out whether a size of blocks will do; the share of all seconds that such questions may take."""

_REACHED = 0.5
"""The share of a kernel's instructions that runs with chosen arguments execute, if they are to say anything."""

_RUNS = 3
"""Runs of which each gets a part of the time that is left, where they are compared."""


def verify_source(
    source: SourceFile, request: Request, progress: Callable[[], None] = lambda: None, static: Verdict | None = None
) -> FileResult:
    """The verdict of both verifiers on one file. progress: called after each run. static: what lint says, where known.

    Raises LaunchError where a kernel that was asked for is not there, or an argument does not fit its parameter.
    """
    settings = replace(request.settings, policy=request.policy)
    try:
        module = parse(source.text, source.path)
        verdict = static or found(module, settings)
        runs: list[_Verified] = []
        if not any(each.severity == "error" and each.code < "PTX2" for each in verdict.diagnostics):
            _, launched = assumed(module, settings)
            proven = frozenset((each.code, each.span.start) for each in verdict.diagnostics)
            entries = _entries(launched, request)
            runs = [_verified(launched, source, entry, request, progress, proven) for entry in entries]
        seen = chosen(Verdict(tuple(each for run_ in runs for each in run_.diagnostics)), settings)
        both = _merged(verdict.diagnostics, seen.diagnostics)
        questions = (*verdict.undecided, *(each for run_ in runs for each in run_.undecided))
        left, hidden = as_commented(Verdict(both, questions), module, settings, ran=True)
    except PTXSyntaxError as wrong:
        return FileResult.of(source.path, Verdict(wrong.diagnostics))
    except LaunchConflictError as conflict:
        return not_checked(source.path, str(conflict), remedy="give the launch that the kernel has")
    except LaunchError:
        raise
    except Exception as error:
        return broken(source.path, error)
    result = FileResult.of(source.path, left)
    told = tuple(run_.told for run_ in runs if run_.told is not None)
    traces = _in_order([each for run_ in runs for each in run_.traces], left.diagnostics)
    return replace(result, runs=told, traces=traces, suppressed=hidden)


def _entries(module: Module, request: Request) -> list[Function]:
    kernels = {each.name: each for each in module.functions() if each.kind == "entry" and each.body is not None}
    for name in request.entries:
        if name not in kernels:
            known = ", ".join(kernels) or "none"
            raise LaunchError(f"there is no kernel {name!r}; there are: {known}")
    return [kernels[name] for name in request.entries] if request.entries else list(kernels.values())


@dataclass(slots=True)
class _Verified:
    """What the runs of one kernel showed."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    told: Run | None = None
    traces: list[Trace] = field(default_factory=list)


def _verified(
    module: Module,
    source: SourceFile,
    entry: Function,
    request: Request,
    progress: Callable[[], None],
    proven: frozenset[tuple[str, int]],
) -> _Verified:
    """Runs one kernel, each time otherwise; a fault is told once. proven: codes and offsets of what the rules say."""
    program = Program(module, entry.name, request.shared or 0)
    program.code(entry.name)  # places the parameters
    flat = flatten(module, entry)
    images = image_choices(flat)
    laneless = named_by_constants(flat)
    sizes = {symbol.name: symbol.size for _, symbol in program.parameters}
    pointers = {
        (name, offset)
        for name, offset in pointer_parameters(flat)
        if name not in images and offset + program.address_size // 8 <= sizes[name]  # others are offsets
    }
    chosen = chooses_values(program, pointers, request)
    ways = map_choices(flat) if chosen else [{}]
    deadline = time.thread_time() + request.seconds

    evidence = evidence_of(flat)
    plans = plans_of(entry, program, request, [step.instruction for step in flat.steps], evidence)
    wide: list[Plan] = []
    if request.grid is None and ways[0] and not evidence.shares:
        # With boxes of another size, CTAs may be in each other's way: then one cluster is run alone.
        wide = plans if evidence.axes else []
        plans = [replace(each, grid=each.cluster) for each in plans]

    has_cluster = request.cluster is not None or entry.directive("reqnctapercluster") is not None
    has_block = request.block is not None or entry.directive("reqntid") is not None
    unsaid = contents_chosen(program, request)
    whole = [name for name, (value, _) in ways[0].items() if not isinstance(value, Structure)]
    influence = Influence(
        flat,
        has_block=has_block,
        has_cluster=has_cluster or request.grid is not None,
        chosen=[name for name in unsaid if name not in images and name not in whole],
        pointers=pointers,
        structures=[e.name for _, e in program.parameters if e.size > e.element and e.name in {*unsaid} - {*whole}],
    )

    def session_of(plan: Plan, maps: Maps, *, exhausted: bool = False) -> _Session:
        fit = Chosen(
            values=chosen or not plan.is_given,
            contents=bool(contents_chosen(program, request)),
            boxes=bool(maps),
            structures=chooses_structures(program, request, whole),
            images=not images.keys().isdisjoint(contents_chosen(program, request)),
            grid=request.grid is None,
            block=len(plans) > 1,
            cluster=not has_cluster,
            proven=proven,
            laneless=laneless,
            influence=influence,
            evidence=evidence,
            exhausted=exhausted,
        )
        return _Session(module, source, entry.name, plan, fit, traces=request.trace, strict=request.policy == "strict")

    candidates = [(plan, maps) for plan in (*wide, *plans) for maps in ways]

    def first_of(maps: Maps) -> Trial:
        return next(trials(program, pointers, request, {**images, **maps}, Guesses()))

    found = None
    if len(candidates) > 1:
        enough = deadline - (1 - _PROBES) * request.seconds
        found = _fitting(candidates, session_of, first_of, enough, exact=is_expected(flat))
    maps = found[1] if found else ways[0]
    session = found[0] if found else session_of(plans[0], maps, exhausted=len(candidates) > 1)
    guesses, left = Guesses(), request.schedules
    for trial in trials(program, pointers, request, {**images, **maps}, guesses):
        if time.thread_time() >= deadline:
            session.ask("the time for this kernel is used up (--seconds)")
            break
        if not session.run(trial, deadline) and guesses.drop(trial.number):
            continue  # another number takes this one's turn
        if left == request.schedules:
            session.ask_for_unwritten(trial, deadline - time.thread_time())
        progress()
        left -= 1
        if not left:
            break
    return session.end(
        Counter(name for name, _ in tensor_places(flat) if name in unsaid), frozenset(step.start for step in flat.steps)
    )


def _fitting(
    candidates: Sequence[tuple[Plan, Maps]],
    session_of: Callable[[Plan, Maps], _Session],
    first_of: Callable[[Maps], Trial],
    end: float,
    *,
    exact: bool,
) -> tuple[_Session, Maps] | None:
    """The first blocks and boxes that fit; None where none do, or the time is up. exact: boxes of one size only do."""
    crowded: Plan | None = None
    for plan, maps in candidates:
        if plan is crowded:
            continue
        left = end - time.thread_time()
        if left <= 0:
            return None
        session = session_of(plan, maps)
        if session.fits(first_of(maps), min(_PROBE, left)):
            return session, maps
        if session.is_crowded and exact:
            crowded = plan  # the box is the one that is expected, and another one can only be wrong
    return None


class _Session:
    """The runs of one kernel."""

    def __init__(
        self,
        module: Module,
        source: SourceFile,
        kernel: str,
        plan: Plan,
        fit: Chosen,
        *,
        traces: bool,
        strict: bool = False,
    ) -> None:
        self._strict = strict
        self._module, self._source, self._kernel, self._plan, self._fit = module, source, kernel, plan, fit
        self._sure, self._wants_traces = not fit.values, traces
        self._traces: list[Trace] = []
        self._found: dict[tuple[str, int], Diagnostic] = {}
        self._questions: dict[str, Undecided] = {}
        self._doubted: dict[tuple[str, int], Undecided] = {}
        self._unfit: list[str] = []
        self._told: dict[str, None] = {}
        self._whole = self._runs = self._steps = 0
        self._reached: set[int] = set()
        self._asked: set[str] = set()
        self._first: Outcome | None = None
        self.is_crowded = False
        """Whether a run came to its end, and did not fit only because CTAs are in each other's way."""

    def run(self, trial: Trial, deadline: float) -> bool:
        """One run; whether its arguments fit."""
        outcome, self._first = self._first or self._outcome(trial, deadline - time.thread_time()), None
        self._runs += 1
        self._steps += outcome.steps
        self._told.update(dict.fromkeys(trial.told))
        unfit = len(self._unfit)
        new = self._hear(outcome, trial)
        if outcome.is_clean:
            self._ask_for_registers(outcome.unwritten, trial, deadline - time.thread_time())
        if new and self._wants_traces:
            self._trace(new, trial, deadline - time.thread_time())
        return len(self._unfit) == unfit

    def ask_for_unwritten(self, trial: Trial, seconds: float) -> None:
        """Whether results of a run depend on what nobody wrote, where the launch is one that the kernel must stand."""
        if self._found or not self._sure or not self._whole or seconds <= 0:
            return
        launch = self._launch(trial, seconds / _RUNS)
        for each in depends_on_unwritten(self._module, self._kernel, **launch):
            key = (each.code, each.offset)
            self._found[key] = diagnostic(each, self._source, self._kernel, self._plan, trial)

    def _ask_for_registers(self, reads: Sequence[UnwrittenRead], trial: Trial, seconds: float) -> None:
        """Whether results of a run depend on registers that it read unwritten. Where arguments were chosen, that is a
        question: a host may never pass what leaves them unwritten."""
        new = [each for each in reads if each.register not in self._asked]
        if not new or seconds <= 0:
            return
        self._asked.update(each.register for each in new)
        for each in reads_that_matter(self._module, self._kernel, new, **self._launch(trial, seconds / _RUNS)):
            if self._sure:
                found = diagnostic(each, self._source, self._kernel, self._plan, trial)
                self._found.setdefault((each.code, each.offset), found)
                continue
            text = f"{self._kernel}: {each.message}, where {', '.join(trial.told)}, which were chosen: give --arg"
            span = self._source.statement_span(each.offset)
            self._questions.setdefault(f"{each.code} {each.offset}", Undecided(each.code, text, self._source, span))

    def fits(self, trial: Trial, seconds: float) -> bool:
        """Whether a run shows that the kernel is not meant for other blocks or boxes. It is the session's first run
        then, unless its time was up: the same again would show the same.
        """
        outcome = self._outcome(trial, seconds)
        unfit = [each for each in outcome.findings if self._fit.wants_others(each)]
        if not unfit:
            self._first = None if outcome.undecided else outcome
            return True
        is_whole = not (outcome.failed or outcome.undecided)
        self.is_crowded = is_whole and all(self._fit.depends_on_grid(each) for each in unfit)
        return False

    def _outcome(self, trial: Trial, seconds: float, order: Recorder | None = None) -> Outcome:
        return run(self._module, self._kernel, order=order, **self._launch(trial, seconds))

    def _launch(self, trial: Trial, seconds: float) -> dict[str, Any]:
        """How the kernel is run."""
        plan = self._plan
        return {
            "grid": plan.grid,
            "block": plan.block,
            "cluster": plan.cluster,
            "shared": plan.shared,
            "arguments": trial.arguments,
            "policy": trial.policy,
            "seed": trial.seed,
            "budget": Budget(seconds=seconds),
            "strict": self._strict,
            "laneless": self._fit.laneless,
        }

    def _trace(self, findings: Sequence[Finding], trial: Trial, seconds: float) -> None:
        """Run once more, by the same chance, and keep what led to findings."""
        from ptxkit.emulate.recording import Recorder
        from ptxkit.verifier.picture import trace_of

        recorder = Recorder([(each.code, each.offset) for each in findings], strict=self._strict)
        self._outcome(trial, seconds, recorder)
        recorder.look()
        kept = {(each.finding.code, each.finding.offset): each for each in recorder.recordings}
        block = three(self._plan.block, "block")
        told = (launch_text(self._plan), *trial.told, f"policy {trial.policy}", f"seed {trial.seed}")
        for each in findings:
            key = (each.code, each.offset)
            self._traces.append(trace_of(self._found[key], each, kept.get(key), block, told))

    def _hear(self, outcome: Outcome, trial: Trial) -> list[Finding]:
        """Keep what a run showed; the findings that are new."""
        if outcome.failed:
            self.ask(f"the machine cannot run it: {outcome.failed}")
        elif outcome.undecided:
            self.ask(outcome.undecided)
        unfit = [each.message for each in outcome.findings if self._fit.misfits(each)]
        self._unfit += unfit
        if unfit:
            return []  # what comes of it is the fault of the arguments
        self._whole += not (outcome.failed or outcome.undecided)
        self._reached |= outcome.reached
        new = []
        for finding in outcome.findings:
            key = (finding.code, finding.offset)
            if key in self._found:
                continue
            reason = self._fit.doubts(finding, trial.contents, is_degenerate=trial.is_degenerate)
            if reason:
                asked = question(finding, self._source, self._kernel, self._plan, trial, reason)
                self._doubted.setdefault(key, asked)
                continue
            new.append(finding)
            chosen = "" if self._sure or self._fit.is_certain(finding) else ARGUMENTS
            if not chosen and self._fit.depends_on_grid(finding):
                chosen = GRID
            self._found[key] = diagnostic(finding, self._source, self._kernel, self._plan, trial, chosen=chosen)
        return new

    def ask(self, reason: str) -> None:
        """A question that is left open."""
        text = f"{self._kernel}: {reason}"
        self._questions.setdefault(text, Undecided(UNREACHED, text, self._source, self._place()))

    def end(self, maps: Mapping[str, int], places: frozenset[int]) -> _Verified:
        """What all runs showed. maps: parameters that hold tensor maps of which nobody said anything, and how many.

        places: where the instructions of the kernel stand.
        """
        reached = len(self._reached & places)
        if self._unfit and not self._whole and not self._found:
            why = self._unfit[0]
            wanted = " ".join(
                f"--arg '{name}={f'{count}*' * (count > 1)}f16[256,256]:box=64x64'" for name, count in maps.items()
            )
            wanted = wanted or "--arg"
            if why.startswith(NO_MAP) and maps:
                why = f"{', '.join(maps)}: tensor maps, of which only the host knows what they describe"
            self.ask(f"no run came to its end with the arguments that were chosen ({why}): give {wanted}")
        elif self._fit.values and reached < _REACHED * len(places) and not (self._questions or self._doubted):
            count = f"{reached} of {len(places)} instructions"
            self.ask(f"the arguments that were chosen lead to {count} only: give --arg")
        launch, arguments = launch_text(self._plan), tuple(self._told)
        told = Run(self._kernel, launch, arguments, self._runs, self._whole, self._steps, reached, len(places))
        doubted = [each for key, each in self._doubted.items() if key not in self._found]
        return _Verified(list(self._found.values()), [*self._questions.values(), *doubted], told, self._traces)

    def _place(self) -> Span:
        at = max(self._source.text.find(self._kernel), 0)
        return Span(at, at + len(self._kernel))


def _in_order(traces: Sequence[Trace], found: Sequence[Diagnostic]) -> tuple[Trace, ...]:
    """Pictures of what is found, as severe as what is said of their line, errors first."""
    severities = {(each.code, each.source.position(each.span.start)[0]): each.severity for each in found}
    known = [
        replace(each, severity=str(severities[each.code, each.line]))
        for each in traces
        if (each.code, each.line) in severities
    ]
    return tuple(sorted(known, key=lambda each: (each.severity != Severity.ERROR, each.line, each.code)))


def _merged(static: Sequence[Diagnostic], seen: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of both; where both say the same of one instruction, the static one with the witness."""
    shown = {(each.code, each.span.start): each for each in seen}
    found = []
    for each in static:
        run_ = shown.pop((each.code, each.span.start), None)
        properties = {**each.properties, **run_.properties} if run_ is not None else each.properties
        found.append(replace(each, properties=properties) if run_ is not None else each)
    return tuple(sorted([*found, *shown.values()], key=lambda each: (each.span.start, each.code)))


__all__ = ["STOPPED", "verify_source"]
