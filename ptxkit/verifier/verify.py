"""Verifies one source text: with the static rules, and then with runs on the reference machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.contract.launch_evidence import find_launch_evidence
from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.tensor.absolute_tmem import find_absolute_tmem_steps
from ptxkit.contract_survey import depends_on_thread_count, derive_kernel_contract
from ptxkit.diagnostics import Verdict
from ptxkit.emulator import InvalidLaunchError
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.engine.launch_args import StructArgument
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
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Function, Module
from ptxkit.verifier.argument_choice import NO_CONTRACT, VerifierRun, find_parameter_uses, generate_runs
from ptxkit.verifier.assumption_filter import LaunchAssumptions
from ptxkit.verifier.box_guesses import guess_boxes
from ptxkit.verifier.directed_runs import DirectedRuns
from ptxkit.verifier.fault_dependence import FaultDependence
from ptxkit.verifier.image_arguments import infer_images
from ptxkit.verifier.integer_guesses import IntegerGuesses
from ptxkit.verifier.kernel_result import KernelResult
from ptxkit.verifier.launch_inference import (
    LaunchPlan,
    blocks_within,
    candidate_blocks,
    has_unspecified_structures,
    has_unspecified_values,
    infer_plans,
    unspecified_parameters,
)
from ptxkit.verifier.limits import DIRECTED_SHARE
from ptxkit.verifier.merged_findings import merge_diagnostics, places_of, sort_traces
from ptxkit.verifier.parameter_names import by_parameter
from ptxkit.verifier.question_runs import with_runs
from ptxkit.verifier.request import VerifyRequest
from ptxkit.verifier.run_session import RunSession
from ptxkit.verifier.static_questions import (
    arguments_of_questions,
    conditions_of_questions,
    lines_of_flag_questions,
    offsets_of_questions,
)
from ptxkit.verifier.step_budget import StepBudget
from ptxkit.verifier.suitable_launch import are_probes_over, find_suitable
from ptxkit.verifier.tensormap_inference import InferredMaps, infer_maps, is_expected, known_boxes, map_locations

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import KernelFacts


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
        questions = (*with_runs(verdict.undecided, runs), *(each for run_ in runs for each in run_.undecided))
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
    uses = find_parameter_uses(flat, program, images)
    chosen, unsaid = has_unspecified_values(program, uses.pointers, request), unspecified_parameters(program, request)
    has_block = request.block is not None or entry.directive("reqntid") is not None
    evidence = find_launch_evidence(flat)
    blocks = candidate_blocks(entry, request, [step.instruction for step in flat.steps], evidence)
    proven = frozenset(place for each in static.diagnostics for place in places_of(each))
    sizes_to_try = [block[0] for block in blocks if len(block) == 1] if depends_on_thread_count(static) else []
    is_known = has_block and not chosen
    contract = NO_CONTRACT if is_known else derive_kernel_contract(module, entry, explored, sizes_to_try)
    known = (*(each.requirement for each in contract.conditions), *conditions_of_questions(static, entry.name))
    boxes = known_boxes(contract)
    guessed = guess_boxes(explored, known, boxes) if chosen and explored is not None else []
    choices = [each for some in guessed or [boxes] for each in infer_maps(flat, unsaid, some)] if chosen else [{}]
    budget = StepBudget(request.settings.effort, request.seconds)

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
        pointers=uses.pointers,
        structures=[e.name for _, e in program.parameters if e.is_aggregate and e.name in {*unsaid} - {*whole}],
    )

    def session_of(plan: LaunchPlan, maps: InferredMaps, *, exhausted: bool = False) -> RunSession:
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
        return RunSession(
            module, entry.name, plan, fit, budget, traces=request.trace, strict=request.policy == "strict"
        )

    candidates = [(plan, maps) for plan in (*wide, *plans) for maps in choices]

    def runs_of(maps: InferredMaps, guesses: IntegerGuesses, first: int = 0) -> Iterator[VerifierRun]:
        return generate_runs(program, uses, request, {**images, **maps}, guesses, contract, first=first)

    def first_of(maps: InferredMaps) -> VerifierRun:
        return next(runs_of(maps, IntegerGuesses()))

    found, tries_all = None, False
    if len(candidates) > 1:
        found = find_suitable(candidates, session_of, first_of, budget, exact=is_expected(flat))
        tries_all = not are_probes_over(budget)
    session, maps = found or (session_of(plans[0], choices[0], exhausted=tries_all), choices[0])
    guesses = IntegerGuesses(buffers=uses.buffers)
    kept = int(budget.left * DIRECTED_SHARE) if chosen else 0
    session.run_all(runs_of(maps, guesses), guesses, request.schedules, kept, progress)
    places = frozenset(step.start for step in flat.steps)
    asked = offsets_of_questions(static) & places
    missed = asked - session.significant_offsets if chosen else frozenset[int]()
    followed = arguments_of_questions(explored, missed) if explored is not None and missed else []
    directed = DirectedRuns(session, partial(runs_of, maps), guesses.buffer_bytes, budget, progress)
    directed.run_all(followed, missed, differ=uses.count_integers({*images, *whole, *request.arguments}) > 1)
    return session.result(
        Counter(name for name, _ in map_locations(flat) if name in unsaid),
        places,
        asked,
    )


__all__ = ["verify_source"]
