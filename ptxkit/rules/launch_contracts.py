"""Derives the contract of a kernel, including the numbers of threads with which the rules find errors.

The rules about barriers and phases decide which numbers of threads are wrong, where the kernel states how many threads
use a barrier or an mbarrier and declares no block size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.derive_contract import ContractDerivation
from ptxkit.analysis.contract.derived_condition import DerivedCondition
from ptxkit.analysis.ir.async_steps import names_thread_counts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx5xx, ptx6xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.launch_contract import BlockLimits, ConditionScope, LaunchContract
from ptxkit.rules.block_size_trials import BlockSizeTrials
from ptxkit.rules.launch_trials import LaunchTrials
from ptxkit.rules.model import Rule
from ptxkit.syntax.tree import Module

#: The codes of violations that occur because a block has too few or too many threads.
THREAD_COUNT_CODES = frozenset(
    {
        ptx5xx.MBARRIER_MISSING_ARRIVALS,
        ptx5xx.MBARRIER_EXCESS_ARRIVALS,
        ptx6xx.BARRIER_DEADLOCK,
        ptx6xx.BARRIER_COUNT_MISMATCH,
    }
)


def derive_contract(
    module: Module, kernel: KernelFacts, rules: Sequence[Rule], sizes: Sequence[int] | None = None
) -> LaunchContract:
    """Returns all conditions of a kernel; other numbers of threads are tried where they decide its barriers.

    sizes: the numbers of threads to try first, where one that is possible suffices; all usual ones are tried for None,
    and none for an empty sequence.
    """
    skips_trials = sizes is not None and not sizes
    return ContractDerivation(kernel).contract(() if skips_trials else _failing_sizes(module, kernel, rules, sizes))


@dataclass(frozen=True, slots=True)
class _SizeFailure:
    code: str
    start: int
    covers_launches: bool


def _failing_sizes(
    module: Module, kernel: KernelFacts, rules: Sequence[Rule], sizes: Sequence[int] | None
) -> Iterator[DerivedCondition]:
    """Yields a condition for each violation, with the numbers of threads with which it occurs."""
    if kernel.explorer.launch.is_exact or not names_thread_counts(kernel.program):
        return
    launches = LaunchTrials(module, kernel.policy, AnalysisBudget.of_module(kernel.program.effort).for_kernel())
    failing: dict[_SizeFailure, list[int]] = defaultdict(list)
    possible: list[int] = []
    for size, trial in BlockSizeTrials(launches).trials(
        kernel, [rule for rule in rules if rule.code in THREAD_COUNT_CODES], sizes or ()
    ):
        if trial is None:
            break
        errors = [each for each in trial.builder.diagnostics if each.severity is Severity.ERROR]
        if errors:
            failing[_SizeFailure(errors[0].code, errors[0].span.start, trial.covers_launches)].append(size)
        elif trial.is_launchable:
            possible.append(size)
            if sizes:
                break
    steps = {step.start: step for code in kernel.program.functions for step in code.steps}
    for failure, tried in failing.items():
        scope = ConditionScope.LAUNCH if failure.covers_launches else ConditionScope.SOME
        wanted = BlockLimits(failing=tuple(sorted(tried)), possible=tuple(sorted(possible)), code=failure.code)
        yield DerivedCondition(wanted, steps.get(failure.start), scope)
