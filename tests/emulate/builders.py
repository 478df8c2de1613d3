"""Kernels of the builder on the machine, with cases that a GPU is checked with, too."""

from __future__ import annotations

import numpy

from ptxkit.build.kernel import Kernel
from ptxkit.emulate import Outcome
from ptxkit.kernels.check import Case, Subject, as_taken
from ptxkit.testing.repeated import small_cases

MOST_WORDS, MOST_CTAS = 50_000, 60


def smallest(subject: Subject, count: int) -> list[Case]:
    """So many cases of a subject that take the least time."""
    cases = [*subject.cases(1, numpy.random.default_rng(0)), *small_cases(subject)]
    few = [case for case in cases if case.source.size <= MOST_WORDS and numpy.prod(case.grid) <= MOST_CTAS]
    return sorted(few, key=lambda case: case.source.size * int(numpy.prod(case.grid)))[:count]


def launched(kernel: Kernel, case: Case, policy: str, seed: int = 0) -> Outcome:
    """The outcome of one case; an error where a run shows something wrong, or comes to no end."""
    before = case.before if case.before is not None else numpy.zeros(case.wanted.shape, case.wanted.dtype)
    run = kernel.emulate(case.grid, shared=case.shared, policy=policy, seed=seed)
    return run(as_taken(kernel, case.source), as_taken(kernel, before.copy()), *case.more)


def agrees(case: Case, outcome: Outcome) -> bool:
    """Whether the second argument is what NumPy says."""
    found = outcome.outputs[1]
    if not case.tolerance:
        return bool((found.view(numpy.uint8) == case.wanted.view(numpy.uint8)).all())
    return bool(numpy.allclose(found, case.wanted, rtol=case.tolerance, atol=case.tolerance))
