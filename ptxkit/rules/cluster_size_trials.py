"""Analyzes kernels without a declared cluster size at the usual sizes.

A kernel that interacts with the CTAs of its cluster was executed as a cluster of one CTA, which has no other CTA to
access. What is wrong at all sizes is a warning: a launch of another size may be correct, so it is not proven. Where the
block size is not declared either, what depends on the number of threads remains a question.
At a size at which an instruction names a CTA that the cluster does not have, the kernel cannot be launched: such a size
does not count, if the kernel numbers its CTAs along one dimension, as the tried clusters do.
What some sizes violate or leave open, and a question about the size, holds on the condition that the cluster has a size
at which nothing else was found. Everything else remains a question, which names the sizes that are wrong or correct.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from ptxkit.analysis.cluster.cluster_facts import has_unknown_cluster_size
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Program
from ptxkit.diagnostics import Diagnostic, Severity, Undecided
from ptxkit.diagnostics.catalogue import notes, ptx2xx, ptx3xx
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.model.launch_contract import ClusterLimits
from ptxkit.rules.launch_trials import LaunchTrials, join_open, sizes_with_violation
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import CodeSpan, VerdictBuilder
from ptxkit.syntax.tree import operand_names

CLUSTER_SIZES = (1, 2, 4)
"""The numbers of CTAs of a cluster that are tried, until one of several CTAs is correct."""


class ClusterSizeTrials:
    """Tries cluster sizes of a kernel that interacts with the CTAs of its cluster."""

    def __init__(self, trials: LaunchTrials) -> None:
        self._trials = trials

    def resolve(self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule]) -> None:
        """Decides the questions of a kernel about its cluster size as far as the tried sizes decide them, and adds
        those that clusters of several CTAs have.

        Nothing changes if the budget is insufficient.
        """
        if not has_unknown_cluster_size(kernel):
            return
        asked = {(item.code, item.span): item for item in judge.undecided if item.missing.startswith("cluster")}
        tried = self._try_sizes(judge, kernel, [rule for rule in rules if not rule.on_request], asked)
        if tried:
            launch = kernel.explorer.launch
            is_declared = launch.is_exact or launch.is_limit
            open_codes = frozenset(rule.code for rule in rules if rule.compares_all_threads and not is_declared)
            is_linear = _has_linear_clusters(kernel.program)
            counting = [each for each in tried if not (is_linear and each.lacks_ctas)]
            _merge(judge, kernel.program.function.name, asked, tried, counting, open_codes)

    def _try_sizes(
        self, judge: VerdictBuilder, kernel: KernelFacts, rules: Sequence[Rule], asked: Iterable[CodeSpan]
    ) -> list[_Trial]:
        """Returns the trials up to the first of several CTAs without new findings; empty if the budget is insufficient.

        The threads of a cluster of one CTA were executed before, so that only the rules that ask for the size are
        checked again. Any rule may find something wrong in a larger cluster.
        """
        given = KernelFacts(kernel.explorer, kernel.policy, assumes_cluster_size=True, known=kernel.scenarios)
        codes = {code for code, _ in asked}
        asking = [rule for rule in rules if rule.code in codes]
        found = list[_Trial]()
        for size in CLUSTER_SIZES:
            facts = given if size == 1 else self._trials.explore(kernel, "reqnctapercluster", [size])
            if facts is None:
                return []
            builder = self._trials.check(facts, asking if size == 1 else rules)
            if self._trials.budget.is_exhausted:
                return []
            wrong = {
                place: item
                for place, item in builder.diagnostic_by_span.items()
                if place not in judge.diagnostic_by_span
            }
            found.append(_Trial(size, wrong, builder.undecided))
            if not wrong and size > 1:
                break
        return found


@dataclass(frozen=True, slots=True)
class _Trial:
    """The result for clusters of a size. wrong: the findings that are new."""

    size: int
    wrong: Mapping[CodeSpan, Diagnostic]
    undecided: Sequence[Undecided]

    @property
    def lacks_ctas(self) -> bool:
        """Whether clusters of the size have too few CTAs: a number is out of its limits that is not in other ones."""
        return any(code == ptx2xx.NUMBER_OUT_OF_RANGE for code, _ in self.wrong)

    def mentions(self, place: CodeSpan) -> bool:
        """Returns whether the rule found a violation in clusters of the size, or has a question at the place."""
        return any(code == place[0] for code, _ in self.wrong) or any(
            (item.code, item.span) == place for item in self.undecided
        )

    def is_decided(self, known: Set[CodeSpan]) -> bool:
        """Returns whether clusters of the size have nothing but what is known, and questions with conditions."""
        open_ = {(item.code, item.span) for item in self.undecided if not item.conditions}
        return self.wrong.keys() <= known and open_ <= known


def _merge(
    judge: VerdictBuilder,
    kernel: str,
    asked: Mapping[CodeSpan, Undecided],
    trials: Sequence[_Trial],
    counting: Sequence[_Trial],
    open_codes: Collection[str],
) -> None:
    """Replaces the questions by what the trials decide, and adds what only some sizes violate or leave open.

    A rule with a question about the size already states the condition: its other questions need not state it again.

    counting: the trials at whose sizes the kernel can be launched. A violation in all of these is a warning; without
    any, larger clusters may be correct.
    open_codes: the rules whose questions remain, whatever the size of the cluster, because the size of the block is not
    known either, and they count what all threads do.
    """
    common = set.intersection(*(set(each.wrong) for each in counting)) if counting else set[CodeSpan]()
    always = {place for place in common if place[0] not in open_codes}
    warned = {id(item): item for trial in counting[-1:] for place, item in trial.wrong.items() if place in always}
    sizes = [trial.size for trial in counting]
    judge.diagnostics.extend(_as_warning(item, sizes) for item in warned.values())
    unchanged = [item for item in judge.undecided if (item.code, item.span) not in asked]
    known = {(item.code, item.span) for item in unchanged} | always
    correct = [trial for trial in trials if set(trial.wrong) <= always]
    decided = [trial for trial in correct if trial.is_decided(known)] or correct
    failing, code = sizes_with_violation({trial.size: set(trial.wrong) - always for trial in trials})
    possible = tuple(trial.size for trial in decided)
    holds = (ClusterLimits(possible=possible, failing=failing, code=code),) if possible else ()
    open_: dict[CodeSpan, list[Undecided]] = defaultdict(list)
    for item in (item for trial in decided or trials for item in trial.undecided):
        open_[item.code, item.span].append(item)
    stated = {code for code, _ in asked} if holds else set[str]()
    elsewhere = {
        (item.code, item.span): item for trial in trials for item in trial.undecided if item.code not in stated
    }
    wrong = {place: _as_question(place, item, kernel) for trial in trials for place, item in trial.wrong.items()}
    questions = {**elsewhere, **wrong, **asked}
    judge.undecided = unchanged + [
        replace(join_open(open_[place], holds) if place in open_ else _with_sizes(item, trials, holds), kernel=kernel)
        for place, item in questions.items()
        if place not in known
    ]


def _has_linear_clusters(program: Program) -> bool:
    """Returns whether a kernel reads the position of its CTA in the cluster, if at all, along the first dimension."""
    names = {
        name
        for code in program.functions
        for step in code.steps
        for operand in step.instruction.operands
        for name in operand_names(operand)
    }
    return not any(name.startswith(("%cluster_ctaid", "%cluster_nctaid")) and not name.endswith(".x") for name in names)


def _with_sizes(item: Undecided, trials: Sequence[_Trial], holds: tuple[ClusterLimits, ...]) -> Undecided:
    """Returns a question about the cluster size with the sizes at which it is wrong, or those that are correct.

    holds: the condition under which no size is wrong; empty if every size is.
    """
    place = (item.code, item.span)
    if wrong := [trial.size for trial in trials if place in trial.wrong]:
        reason = ptx3xx.WRONG_FOR_CLUSTER_SIZES(sizes=_format_sizes(wrong))
    elif without := [trial.size for trial in trials if not trial.mentions(place)]:
        reason = ptx3xx.CORRECT_FOR_CLUSTER_SIZES(sizes=_format_sizes(without))
    else:
        return item
    missing = item.missing or "cluster=2"
    return replace(item, reason=str(reason), missing=missing, text=None, others=(), conditions=holds)


def _as_question(place: CodeSpan, item: Diagnostic, kernel: str) -> Undecided:
    """Returns the question that a violation is which only some sizes have."""
    return Undecided(place[0], item.message, item.source, place[1], missing="cluster=2", kernel=kernel)


def _as_warning(item: Diagnostic, sizes: Iterable[int]) -> Diagnostic:
    return replace(
        item,
        severity=Severity.WARNING,
        notes=(*item.notes, notes.CLUSTER_SIZE_UNKNOWN(sizes=_format_sizes(sizes))),
    )


def _format_sizes(sizes: Iterable[int]) -> str:
    """Returns sizes as `1`, `1 or 2`, or `1, 2 or 4`."""
    *first, last = map(str, sizes)
    return f"{', '.join(first)} or {last}" if first else last
