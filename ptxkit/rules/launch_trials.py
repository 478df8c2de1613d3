"""Analyzes a kernel as if its directives required a launch of another geometry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import ModuleContext, flatten
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.fast_dataclasses import replace
from ptxkit.rules.model import Rule
from ptxkit.rules.verdict_builder import VerdictBuilder
from ptxkit.syntax.tree import Directive, Function, Module


class LaunchTrials:
    """Tries launches of the kernels of a module.

    budget: the budget of all trials together.
    """

    def __init__(self, module: Module, policy: str, outside: ModuleContext, budget: AnalysisBudget) -> None:
        self._module, self._policy, self._context, self.budget = module, policy, outside, budget

    def explore(self, function: Function, directive: str, extents: Iterable[int]) -> KernelFacts | None:
        """Returns the facts about a kernel with one more directive; None if no such launch is possible."""
        added = Directive(directive, tuple(map(str, extents)))
        declared = replace(function, directives=(*function.directives, added))
        explorer = Explorer(flatten(self._module, declared, self._context, calls=True), self.budget)
        explorer.run()
        return KernelFacts(explorer, self._policy) if explorer.explorations else None

    def check(self, kernel: KernelFacts | None, rules: Sequence[Rule]) -> VerdictBuilder:
        """Returns the verdict of some rules on an explored kernel; it is empty for None."""
        assert self._module.source is not None
        builder = VerdictBuilder(self._module.source)
        if kernel is not None:
            for rule in rules:
                builder.add_observations(rule, rule.check(kernel), kernel.scenarios, self.budget)
        return builder
