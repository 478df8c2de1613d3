"""Analyzes a kernel as if its directives required a launch of another geometry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.diagnostics import Undecided
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import replace
from ptxkit.model.kernel_conditions import join_conditions
from ptxkit.model.launch_contract import LaunchShape, Requirement
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import CodeSpan, VerdictBuilder
from ptxkit.syntax.tree import Function, Module

SizeT = TypeVar("SizeT", int, LaunchShape)
_Launch: TypeAlias = tuple[str, str, tuple[int, ...]]
"""The name of a kernel, a directive, and its extents."""


class LaunchTrials:
    """Tries launches of the kernels of a module.

    budget: the budget of all trials together.
    """

    def __init__(self, module: Module, policy: str, budget: AnalysisBudget) -> None:
        self._module, self._policy, self.budget = module, policy, budget
        self._explored: dict[_Launch, KernelFacts | None] = {}
        self._steps: dict[_Launch, int] = {}
        self._last: _Launch | None = None
        self._incomplete: set[_Launch] = set()

    def refill(self, given: AnalysisBudget) -> None:
        """Restores the budget for further trials; explorations are retained unless they or a check were cut short."""
        for key in self._incomplete:
            self._explored.pop(key, None)
        if self._last in self._incomplete:
            self._last = None
        self._incomplete.clear()
        self.budget.steps, self.budget.pair_checks = given.steps, given.pair_checks

    def explore(self, kernel: KernelFacts, directive: str, extents: Iterable[int]) -> KernelFacts | None:
        """Returns the facts about a kernel with one more directive; None if no such launch is possible.

        Each launch is explored once: several questions lead to the same ones. Its steps count for each of them, so that
        what one of them decides does not depend on the others.
        """
        key = (kernel.program.function.name, directive, tuple(extents))
        if key not in self._explored:
            declared = kernel.program.function.with_directive(directive, key[2])
            before = self.budget.steps
            self._explored[key] = self._explore(kernel, declared)
            self._steps[key] = before - self.budget.steps
        elif key != self._last:
            self.budget.steps -= self._steps[key]
        self._last = key
        if self.budget.is_used_up:
            self._incomplete.add(key)
        return self._explored[key]

    def _explore(self, kernel: KernelFacts, declared: Function) -> KernelFacts | None:
        explorer = Explorer(kernel.program.with_function(declared), self.budget, kernel.explorer)
        explorer.run()
        return KernelFacts(explorer, self._policy, known=kernel.scenarios) if explorer.explorations else None

    def check(
        self, kernel: KernelFacts | None, rules: Sequence[Rule], *, with_questions: bool = True
    ) -> VerdictBuilder:
        """Returns the verdict of some rules on an explored kernel; it is empty for None.

        with_questions: whether the questions of the rules are wanted, not only their findings.
        """
        assert self._module.source is not None
        builder = VerdictBuilder(self._module.source)
        if kernel is not None:
            for rule in rules:
                builder.add_observations(
                    rule, rule.observe(kernel, with_questions=with_questions), kernel.scenarios, self.budget
                )
            mark_unexplored(builder, kernel.explorer)
            if self.budget.is_used_up:
                self._incomplete.update(key for key, known in self._explored.items() if known is kernel)
        return builder


def mark_unexplored(builder: VerdictBuilder, explorer: Explorer) -> None:
    """Adds as undecided the instructions that no execution reaches, and those of loops that none repeats."""
    builder.mark_undecided(ptx3xx.NOT_REACHED, explorer.unreached_steps, ptx3xx.NO_PATH_REACHES())
    builder.mark_undecided(ptx3xx.NOT_REACHED, explorer.unrepeated_steps, ptx3xx.LOOP_NOT_REPEATED())


def join_open(items: Sequence[Undecided], holds: tuple[Requirement, ...]) -> Undecided:
    """Returns a question that trials leave open; its conditions suffice in launches that satisfy `holds`.

    items: the question in each trial. holds: what the launches of the trials satisfy.
    """
    conditions = join_conditions([each.conditions for each in items]) if holds else ()
    return replace(items[-1], conditions=tuple(dict.fromkeys((*holds, *conditions))) if conditions else ())


def sizes_with_violation(wrong: Mapping[SizeT, Collection[CodeSpan]]) -> tuple[tuple[SizeT, ...], str]:
    """Returns the sizes with which the most frequent violation was found, and its code; empty if none was found.

    wrong: the violations that were found with each size, a number or extents.
    """
    sizes: dict[str, list[SizeT]] = defaultdict(list)
    for size in sorted(wrong):
        for code in dict.fromkeys(code for code, _ in wrong[size]):
            sizes[code].append(size)
    code = max(sizes, key=lambda each: (len(sizes[each]), each), default="")
    return tuple(sizes.get(code, ())), str(code)
