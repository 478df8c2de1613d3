"""Kernels of the builder on the machine, with cases that are also checked on a GPU."""

from __future__ import annotations

import numpy

from ptxkit.build.kernel import Kernel
from ptxkit.emulator import RunResult
from ptxkit.kernels.kernel_check import CheckedKernel, KernelCase, as_first_argument
from ptxkit.testing.hardware.emulator_soak import small_cases

MOST_WORDS, MOST_CTAS = 50_000, 60


def smallest(subject: CheckedKernel, count: int) -> list[KernelCase]:
    """The number of cases of a subject that run, those with the least time."""
    cases = [*subject.cases(1, numpy.random.default_rng(0)), *small_cases(subject)]
    few = [case for case in cases if case.source.size <= MOST_WORDS and numpy.prod(case.grid) <= MOST_CTAS]
    return sorted(few, key=lambda case: case.source.size * int(numpy.prod(case.grid)))[:count]


def launch_kernel(kernel: Kernel, case: KernelCase, policy: str, seed: int = 0) -> RunResult:
    """Returns the outcome of one case; raises where a run has a finding, or does not end."""
    before = (
        case.initial_target
        if case.initial_target is not None
        else numpy.zeros(case.expected.shape, case.expected.dtype)
    )
    run = kernel.emulate(case.grid, shared=case.shared, policy=policy, seed=seed)
    return run(as_first_argument(kernel, case.source), as_first_argument(kernel, before.copy()), *case.extra_arguments)


def agrees(case: KernelCase, outcome: RunResult) -> bool:
    """Returns whether the second argument is NumPy's result."""
    found = outcome.outputs[1]
    if not case.tolerance:
        return bool((found.view(numpy.uint8) == case.expected.view(numpy.uint8)).all())
    return bool(numpy.allclose(found, case.expected, rtol=case.tolerance, atol=case.tolerance))
