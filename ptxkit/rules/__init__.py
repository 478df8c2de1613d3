"""The rules, one per file, and `analyze`, which checks a module with them.

A rule reads facts of `ptxkit.analysis` and reports findings; it computes no facts and formats no text.

Input: the facts of a module. Output: findings and open questions. It imports `syntax`, `isa`,
`semantics` and `analysis`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from os import scandir
from typing import TYPE_CHECKING

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.diagnostics import Verdict
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.rules.model import Rule, is_note
from ptxkit.rules.runner import RuleRun
from ptxkit.syntax.tree import Module

if TYPE_CHECKING:
    from ptxkit.diagnostics.obligation import JudgedObligation

    RULES: tuple[Rule, ...]

_PREFIX = "ptx"


def load_rules(shows: Callable[[str], bool]) -> tuple[Rule, ...]:
    """Returns the rules whose codes a function selects, by code. The modules of all others are not imported.

    A module of this package whose name begins with a code has the rule of that code.
    """
    names = sorted(each.name.partition(".")[0] for each in scandir(__path__[0]) if each.name.startswith(_PREFIX))
    return tuple(import_module(f"{__name__}.{name}").RULE for name in names if shows(name.partition("_")[0].upper()))


def __getattr__(name: str) -> tuple[Rule, ...]:
    """Returns `RULES`, all rules by code."""
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_rules(lambda _: True)


def analyze(
    module: Module,
    policy: str = "isa",
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    explored: dict[str, KernelFacts] | None = None,
    judged: list[JudgedObligation] | None = None,
    effort: float = 1.0,
) -> Verdict:
    """Checks every kernel of a module with the rules.

    policy: `isa` reports what the manual forbids; `strict` adds warnings where the manual does not specify the
    behavior. notes: whether redundant synchronization is reported. shows: selects the codes to check, whatever `notes`
    is; None for the default ones. explored: receives the facts of the analyzed kernels by name, for callers that need
    more than the findings. judged: receives the obligations of all kernels with their verdicts. effort: the factor of
    the limits of the analysis.
    """
    checked = _checked_rules(notes=notes, shows=shows)
    if checked is None:
        return Verdict(())
    run = RuleRun(_with_source(module), policy, checked, AnalysisBudget.of_module(effort), explored, judged)
    for _ in run.run():
        pass
    return run.verdict()


def analyze_incrementally(
    module: Module,
    policy: str,
    first: tuple[str, str],
    *,
    notes: bool = False,
    shows: Callable[[str], bool] | None = None,
    budget: AnalysisBudget | None = None,
) -> Iterator[Verdict]:
    """Yields the verdict so far whenever a rule has added to it; the last one is complete.

    first: a function and a code: that kernel and that rule are checked first. budget: the budget of the module, which
    is reduced by what is used. The others are those of `analyze`.
    """
    checked = _checked_rules(notes=notes, shows=shows)
    if checked is None:
        yield Verdict(())
        return
    module = _with_source(module)
    budget = budget or AnalysisBudget.of_module()
    run = RuleRun(module, policy, checked, budget)
    for _ in run.run(first):
        yield run.verdict()
    if run.is_budget_exceeded:  # what the budget excludes depends on the order
        run = RuleRun(module, policy, checked, AnalysisBudget.of_module(budget.effort))
        for _ in run.run():
            yield run.verdict()
    yield run.verdict()


def _checked_rules(*, notes: bool, shows: Callable[[str], bool] | None) -> tuple[Rule, ...] | None:
    """Returns the rules to check, by what `analyze` is given; None if nothing can be reported."""
    rules = load_rules(shows or (lambda code: notes or not is_note(code)))
    return None if not rules and shows is not None and not shows(ptx3xx.NOT_REACHED) else rules


def _with_source(module: Module) -> Module:
    """Returns a module whose instructions have places in a text."""
    if module.source is not None:
        return module
    from ptxkit.syntax import parse

    return parse(str(module))


__all__ = ["RULES", "Rule", "analyze", "analyze_incrementally"]
