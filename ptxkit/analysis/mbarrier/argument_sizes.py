"""Finds numbers of bytes that differ for the sampled integer arguments of a kernel, but match for another argument.

An execution takes a sample for each integer parameter. Where the size of a copy is a parameter and the expected bytes
are a constant, no sample needs to match, and yet the kernel is correct for the argument that its caller passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.tx_balance import TxBalance, TxBalanceCheck

#: The number of bytes of a bulk copy is a multiple of this (PTX ISA, "cp.async.bulk").
BULK_SIZE_UNIT = 16


class ArgumentDependence:
    """Decides which comparisons of bytes depend on an integer argument of the kernel, from several samples of it."""

    def __init__(self, checks: Sequence[TxBalanceCheck]) -> None:
        self._steps = steps_with_matching_argument(
            (balance.step, check.sample, balance.unbalanced.missing_bytes)
            for check in checks
            if not check.has_overrides
            for balance in check.balances
            if balance.unbalanced is not None and balance.unbalanced.missing_bytes is not None
        )
        self._invalid_sizes = steps_with_invalid_size(
            (step, check.sample, size) for check in checks for step, size in check.copy_sizes()
        )

    def decides(self, balance: TxBalance, sample: int) -> bool:
        """Returns whether the bytes that differ for a sample may match for another argument.

        They may also where the sample makes the size of a copy invalid.
        """
        phase = balance.unbalanced
        return phase is not None and (
            balance.step in self._steps
            or any((entry.event.step, sample) in self._invalid_sizes for entry in phase.entries)
        )


def steps_with_matching_argument(found: Iterable[tuple[Step, int, int]]) -> frozenset[Step]:
    """Returns the steps for which some positive argument makes the bytes match.

    found: a step, the sample, and the expected bytes minus the copied ones. The difference is taken to be linear in the
    argument. A difference that is a multiple of the argument is zero for the argument 0 only, which copies nothing.
    """
    by_step: dict[Step, dict[int, int]] = defaultdict(dict)
    for step, sample, difference in found:
        by_step[step].setdefault(sample, difference)
    return frozenset(step for step, points in by_step.items() if _crosses_zero(points))


def steps_with_invalid_size(sizes: Iterable[tuple[Step, int, int]]) -> frozenset[tuple[Step, int]]:
    """Returns the copies whose size depends on the argument and is invalid for a sample, each with that sample.

    sizes: a step, the sample, and the bytes that it copies.
    """
    by_step: dict[Step, dict[int, int]] = defaultdict(dict)
    for step, sample, size in sizes:
        by_step[step].setdefault(sample, size)
    return frozenset(
        (step, sample)
        for step, points in by_step.items()
        if len(set(points.values())) > 1
        for sample, size in points.items()
        if size % BULK_SIZE_UNIT
    )


def _crosses_zero(points: dict[int, int]) -> bool:
    for (sample, difference), (other, changed) in combinations(points.items(), 2):
        distance, change = (other - sample) * difference, difference - changed
        if difference and changed and change and distance % change == 0 and sample + distance // change > 0:
            return True
    return False
