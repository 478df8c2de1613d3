"""Analyzes kernels without a declared block size at each usual size if the size decides a question.

A violation at all sizes is a warning: a launch of another size may be correct, so it is not proven. So is a violation
at all sizes above some small one, if the kernel has branches for the threads that only larger blocks have. A question
that is decided as correct at one size, at which no rule finds a violation, holds on the condition that the block has
that size. Where the barriers of a kernel count its threads, a violation at each size that has as many is a warning,
too: smaller and larger blocks are wrong for another reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ptxkit.analysis.abstract_interpretation.block_size_guards import (
    last_distinguished_block,
    strides_over_threads,
)
from ptxkit.analysis.context.execution_coverage import ExecutionCoverage
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.dataflow.thread_numbering import count_block_axes
from ptxkit.analysis.ir.async_steps import names_thread_counts
from ptxkit.analysis.ir.thread_axes import ONE_WARP_BLOCKS, USUAL_BLOCKS
from ptxkit.analysis.symexec.unmodeled_code import find_unmodeled_code
from ptxkit.analysis.sync.block_sizes import alternative_launches
from ptxkit.analysis.values.scenario import LaunchConfig, declared_extents
from ptxkit.diagnostics import Diagnostic, Severity, Undecided
from ptxkit.diagnostics.catalogue import notes, ptx6xx
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.model.launch_contract import BlockLimits, LaunchShape
from ptxkit.rules.block_shape_trials import blocks_with_rows
from ptxkit.rules.launch_trials import LaunchTrials, join_open, sizes_with_violation
from ptxkit.rules.limits import MAX_HOLDING_SIZES
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import CodeSpan, VerdictBuilder
from ptxkit.source import Span
from ptxkit.syntax.constants import WARP_SIZE

COMMON_BLOCK_SIZES = (256, 128, 512, 1024, 64, 32)
"""The numbers of threads of a block, the most frequent first; no further size is tried after a correct one."""

LARGEST_SMALL_BLOCK = 128
"""The largest number of threads with which a kernel may be correct that is wrong with all larger numbers."""
MIN_LARGER_SIZES = 2

FURTHER_BLOCKS = ((16, 8), (8, 16))
"""Blocks of two dimensions with which a kernel may be correct that is not with the usual ones."""


class BlockSizeTrials:
    """Tries other block sizes of a kernel than the analyzed one."""

    def __init__(self, trials: LaunchTrials) -> None:
        self._trials = trials
        self._written_for_larger: dict[tuple[str, tuple[int, int, int], tuple[int, int, int]], bool] = {}

    def resolve(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Turns undecided questions that depend on the block size into warnings if every size has the same result.

        The others have the condition that the block has a size at which no rule finds a violation, if one was tried. No
        size is tried for a question that a scenario of the first analysis decides as correct: at that size it remains
        undecided.
        """
        self._ask_about_further_threads(judge, kernel, rules)
        asked = [
            item
            for item in judge.undecided
            if item.missing.startswith("block") and (item.code, item.span) not in judge.diagnostic_by_span
        ]
        if not asked or kernel.explorer.launch.is_exact:
            return
        codes, places = {item.code for item in asked}, {(item.code, item.span) for item in asked}
        chosen = [rule for rule in rules if rule.code in codes]
        tried = self._try_sizes(kernel, chosen, places)
        if not tried:
            return
        failing = dict(self._find_failing(kernel, tried, places))
        warned = {id(item): item for item in failing.values()}
        judge.diagnostics.extend(warned.values())
        judge.undecided = [item for item in judge.undecided if (item.code, item.span) not in failing]
        found = judge.diagnostic_by_span.keys() | failing.keys()
        wrong = {each.launch.block: each.builder.diagnostic_by_span.keys() - found for each in tried}
        correct = [each for each in tried if _finds_nothing_new(each.builder, judge)]
        if correct and (kernel.program.analysis(count_block_axes) == 1 or _has_guessed_rows(kernel)):
            first = min(correct, key=lambda each: not places.isdisjoint(_open_places(each.builder)))
            correct = (
                correct if self._add_conditions(judge, kernel, first.launch, rules, sizes_with_violation(wrong)) else []
            )
        if not correct:
            self._add_violations_where_counts_hold(judge, kernel, rules)
        open_ = set[CodeSpan]().union(*(_open_places(each.builder) for each in tried))
        judge.undecided = [
            replace(item, missing="") if (item.code, item.span) in open_ and not item.conditions else item
            for item in judge.undecided
        ]

    def _ask_about_further_threads(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Adds questions about races of threads that only larger blocks have, if the kernel has branches for these."""
        given, chosen = kernel.explorer.launch, [rule for rule in rules if rule.code == ptx6xx.SHARED_MEMORY_RACE]
        may_be_larger = bool(chosen) and not (given.is_exact or given.is_limit)
        if not may_be_larger or kernel.program.analysis(count_block_axes) > 1:
            return
        blocks = [(size, 1, 1) for size in sorted(COMMON_BLOCK_SIZES) if size >= given.threads]
        number = _last_distinguished(kernel, blocks)
        if number is not None and not strides_over_threads(kernel.program, given.threads):
            launch = LaunchConfig(blocks[number], given.cluster, is_exact=True)
            trial = self._check_at_size(kernel, launch, chosen, with_questions=False)
            judge.ask_about_size(_errors_of(trial) if trial is not None else (), kernel.scenarios)

    def _try_sizes(self, kernel: KernelFacts, rules: Sequence[Rule], asked: Collection[CodeSpan]) -> list[SizeTrial]:
        """Returns the results up to the first size at which no question is a violation that is one at all sizes before.

        Small sizes end nothing, nor do blocks of some shape that leave a question open. The result is empty if not all
        sizes could be analyzed.
        """
        found: list[SizeTrial] = []
        failing = set(asked)
        has_rows = _has_guessed_rows(kernel)
        for launch in _launches_to_try(kernel):
            trial = self._check_at_size(kernel, launch, rules)
            if trial is None:
                return []
            if trial.is_launchable:
                found.append(trial)
                failing_or_open = trial.builder.diagnostic_by_span.keys() | _open_places(trial.builder)
                failing &= set(trial.builder.diagnostic_by_span) if launch.threads > LARGEST_SMALL_BLOCK else failing
                if not failing and not (has_rows and not failing_or_open.isdisjoint(asked)):
                    break
        return found

    def _find_failing(
        self, kernel: KernelFacts, tried: Sequence[SizeTrial], places: Collection[CodeSpan]
    ) -> Iterator[tuple[CodeSpan, Diagnostic]]:
        """Yields warnings about the violations at all sizes, or at all for which the kernel is written.

        A block of one warp that does not execute the instruction is no exception.
        """
        as_warning: dict[int, Diagnostic] = {}
        for place in places:
            others = [each for each in tried if place not in each.builder.diagnostic_by_span]
            correct = [each for each in others if each.launch.threads > WARP_SIZE or place[1] in each.reached]
            limit = max((each.launch for each in correct or others), key=lambda each: each.threads, default=None)
            larger = [each for each in tried if limit is None or each.launch.threads > limit.threads]
            if limit is not None and len(larger) < MIN_LARGER_SIZES:
                continue
            if limit is not None and correct and not self._is_written_for_larger(kernel, limit, larger):
                continue
            largest = max(larger, key=lambda each: each.launch.threads)  # where most threads are in other warps
            item = largest.builder.diagnostic_by_span[place]
            sizes = _list_sizes(larger)
            note = (
                notes.BLOCK_SIZE_UNKNOWN(sizes=sizes)
                if limit is None
                else notes.LARGER_BLOCKS(sizes=sizes, limit=limit.threads)
                if correct
                else notes.MORE_THAN_ONE_WARP(sizes=sizes)
            )
            warning = replace(item, severity=Severity.WARNING, notes=(*item.notes, note))
            yield place, as_warning.setdefault(id(item), warning)

    def _add_violations_where_counts_hold(
        self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]
    ) -> None:
        """Adds warnings about what is wrong at the first size with which barriers count the threads that use them.

        Nothing is added if smaller and larger blocks do not violate a count, or a size has neither violation.
        """
        holding: list[LaunchConfig] = []
        failing: list[int] = []
        for launch in _candidate_launches(kernel, ()) if names_thread_counts(kernel.program) else ():
            counting = [rule for rule in rules if rule.compares_all_threads]
            trial = self._check_at_size(kernel, launch, counting, with_questions=False)
            if trial is None or len(holding) > MAX_HOLDING_SIZES:
                return
            if trial.is_launchable and _errors_of(trial):
                failing.append(launch.threads)
            elif trial.is_launchable:
                holding.append(launch)
        sizes = [launch.threads for launch in holding]
        if (
            not sizes
            or not any(each < min(sizes) for each in failing)
            or not any(each > max(sizes) for each in failing)
        ):
            return
        chosen = [rule for rule in rules if not rule.on_request]
        found: dict[CodeSpan, Diagnostic] = {}
        for launch in reversed(holding):
            trial = self._check_at_size(kernel, launch, chosen, with_questions=False)
            found = {} if trial is None else _errors_of(trial)
            if not found.keys() - judge.diagnostic_by_span.keys():
                return
        note = notes.COUNTED_BLOCK_SIZE(threads=sizes[0])
        new = {id(item): item for place, item in found.items() if place not in judge.diagnostic_by_span}
        judge.diagnostics.extend(
            replace(item, severity=Severity.WARNING, notes=(*item.notes, note)) for item in new.values()
        )
        judge.undecided = [item for item in judge.undecided if (item.code, item.span) not in found]

    def _is_written_for_larger(self, kernel: KernelFacts, limit: LaunchConfig, larger: Sequence[SizeTrial]) -> bool:
        """Returns whether the kernel has branches for the threads that blocks above a limit have."""
        if limit.threads > LARGEST_SMALL_BLOCK:
            return False
        large = min((each.launch for each in larger), key=lambda each: each.threads)
        key = (kernel.program.function.name, limit.block, large.block)
        if key not in self._written_for_larger:
            distinguishes = _last_distinguished(kernel, (limit.block, large.block)) is not None
            self._written_for_larger[key] = distinguishes and not strides_over_threads(kernel.program, limit.threads)
        return self._written_for_larger[key]

    def _add_conditions(
        self,
        judge: VerdictBuilder,
        kernel: KernelFacts,
        launch: LaunchConfig,
        rules: Sequence[Rule],
        violation: tuple[tuple[LaunchShape, ...], str],
    ) -> bool:
        """Adds the condition of a size to the questions that it decides, and returns whether no rule finds more.

        It decides all that it does not leave open, also what the first analysis did not reach. Only questions about
        code that is not known, or that is called, are not asked again.

        violation: other sizes and the violation that was found with them.
        """
        decides_all = not kernel.program.callees and not find_unmodeled_code(kernel.explorer)
        trial = self._check_at_size(kernel, launch, [rule for rule in rules if not rule.on_request])
        if trial is None or not _finds_nothing_new(trial.builder, judge):
            return False
        holds = (block_condition(launch.block, *violation),)
        open_ = {(item.code, item.span): item for item in trial.builder.undecided}
        decided: list[Undecided] = []
        asked = {(item.code, item.span) for item in judge.undecided}  # an instruction may have several questions
        for item in judge.undecided:
            left = open_.get((item.code, item.span))
            if item.conditions or not (decides_all or item.missing.startswith("block")):
                decided.append(item)
            else:
                decided.append(replace(item, conditions=holds) if left is None else join_open([item, left], holds))
        decided += (join_open([item], holds) for key, item in open_.items() if key not in asked)
        name = kernel.program.function.name
        judge.undecided = [replace(item, kernel=name) if item.conditions else item for item in decided]
        return True

    def trials(
        self, kernel: KernelFacts, rules: Sequence[Rule], preferred: Sequence[int] = ()
    ) -> Iterator[tuple[int, SizeTrial | None]]:
        """Yields each number of threads to try, with the result; None where the analysis was incomplete.

        preferred: the numbers of threads that come first.
        """
        rank = {size: number for number, size in enumerate(preferred)}
        launches = _candidate_launches(kernel, preferred)
        for launch in sorted(launches, key=lambda each: rank.get(each.threads, len(rank))):
            yield launch.threads, self._check_at_size(kernel, launch, rules, with_questions=False)

    def _check_at_size(
        self, kernel: KernelFacts, launch: LaunchConfig, rules: Sequence[Rule], *, with_questions: bool = True
    ) -> SizeTrial | None:
        """Returns the verdict on the kernel with a block size; None if the analysis was incomplete.

        with_questions: whether the questions of the rules are wanted, not only their findings.
        """
        facts = self._trials.explore(kernel, "reqntid", launch.block)
        judge = self._trials.check(facts, rules, with_questions=with_questions)
        if self._trials.budget.is_used_up:
            return None
        is_covered = facts is not None and bool(judge.diagnostics) and ExecutionCoverage(facts).is_same_in_all_launches
        executed = facts.explorer.covered_steps() if facts is not None and launch.threads <= WARP_SIZE else ()
        reached = frozenset(map(judge.span_of, executed))
        return SizeTrial(launch, judge, facts is not None, is_covered, reached)


@dataclass(frozen=True, slots=True)
class SizeTrial:
    """The result with one size of the block.

    is_launchable: whether the shared memory of a CTA of that size is within the limit. covers_launches: whether all
    launches with that number of threads have the diagnostics. reached: the instructions that a block of one warp
    executes; empty for larger blocks.
    """

    launch: LaunchConfig
    builder: VerdictBuilder
    is_launchable: bool
    covers_launches: bool
    reached: frozenset[Span]


def _candidate_launches(kernel: KernelFacts, further: Sequence[int]) -> Iterator[LaunchConfig]:
    """Yields the launches of usual and further sizes that the kernel allows, and of sizes that barrier counts suggest.

    The result is empty if the kernel uses several thread axes without declaring their lengths.
    """
    given = kernel.explorer.launch
    if not given.is_limit and kernel.program.analysis(count_block_axes) > 1:
        return
    _, y, z = declared_extents(kernel.program)
    most = given.threads if given.is_limit else max(COMMON_BLOCK_SIZES)
    first = (*((most,) if given.is_limit else ()), *COMMON_BLOCK_SIZES, *further)
    for size in dict.fromkeys(first):
        if size <= most and not size % (y * z):
            yield LaunchConfig((size // (y * z), y, z), given.cluster, is_exact=True)
    yield from alternative_launches(given, kernel.scenarios[0].thread_classes, first)


def _launches_to_try(kernel: KernelFacts) -> Iterator[LaunchConfig]:
    """Yields the launches with which a question may be decided, first those with a shape as the kernel is written for.

    Blocks along several axes are tried if the kernel declares no lengths; the last one has one warp.
    """
    axes, given = kernel.program.analysis(count_block_axes), kernel.explorer.launch
    has_rows = _has_guessed_rows(kernel)
    sizes = list(_candidate_launches(kernel, ()))
    yield from () if has_rows else sizes
    if axes > 1:
        row = [(given.threads, 1, 1)] if has_rows else []
        first = (*USUAL_BLOCKS[axes], *FURTHER_BLOCKS) if has_rows else USUAL_BLOCKS[axes][:MIN_LARGER_SIZES]
        usual = (*first, *row, ONE_WARP_BLOCKS[axes])
        for block in (*blocks_with_rows(kernel), *row) if given.is_limit else usual:
            x, y, z = (*block, 1, 1)[:3]
            yield LaunchConfig((x, y, z), given.cluster, is_exact=True)
    yield from sizes if has_rows else ()


def _has_guessed_rows(kernel: KernelFacts) -> bool:
    """Returns whether the analyzed block has several rows that no directive declares."""
    return kernel.explorer.launch.block != declared_extents(kernel.program)


def _errors_of(trial: SizeTrial) -> dict[CodeSpan, Diagnostic]:
    found = trial.builder.diagnostic_by_span.items()
    return {place: item for place, item in found if item.severity is Severity.ERROR}


def _open_places(builder: VerdictBuilder) -> set[CodeSpan]:
    return {(item.code, item.span) for item in builder.undecided}


def _last_distinguished(kernel: KernelFacts, blocks: Sequence[LaunchShape]) -> int | None:
    """Returns the number of the last block for whose further threads a kernel has branches."""
    declared = [kernel.program.function.with_directive("reqntid", block) for block in blocks]
    return last_distinguished_block(kernel.program, declared)


def block_condition(block: LaunchShape, failing: Sequence[LaunchShape] = (), code: str = "") -> BlockLimits:
    """Returns the condition that the block has a shape. failing: the shapes with which a violation was found."""
    numbers, shapes = (tuple(each for each in failing if (each[1:] == (1, 1)) is row) for row in (True, False))
    found = BlockLimits(failing=tuple(x for x, _, _ in numbers), failing_shapes=shapes, code=code)
    return replace(found, possible=block[:1]) if block[1:] == (1, 1) else replace(found, shapes=(block,))


def _list_sizes(tried: Sequence[SizeTrial]) -> str:
    launches = sorted((each.launch for each in tried), key=lambda each: (each.threads, each.block))
    return ", ".join("x".join(map(str, each.block)).removesuffix("x1").removesuffix("x1") for each in launches)


def _finds_nothing_new(builder: VerdictBuilder, judge: VerdictBuilder) -> bool:
    return not builder.diagnostic_by_span.keys() - judge.diagnostic_by_span.keys()
