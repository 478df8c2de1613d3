"""Kernels of the builder on the machine: their cases, which a GPU is checked with, too, in small sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from ptxkit.build.kernel import Kernel
from ptxkit.emulate import Outcome
from ptxkit.kernels.check import Case, Subject

MOST_WORDS, MOST_CTAS = 200_000, 200


def small(subject: Subject, seed: int = 0) -> Iterator[Case]:
    """The cases of a subject that take no long time, the shortest first."""
    cases = list(subject.cases(1, numpy.random.default_rng(seed)))
    yield from sorted(
        (case for case in cases if case.source.size <= MOST_WORDS and numpy.prod(case.grid) <= MOST_CTAS),
        key=lambda case: case.source.size * int(numpy.prod(case.grid)),
    )


def launched(kernel: Kernel, case: Case, policy: str, seed: int = 0) -> Outcome:
    """The outcome of one case; an error where a run shows something wrong, or comes to no end."""
    before = case.before if case.before is not None else numpy.zeros(case.wanted.shape, case.wanted.dtype)
    run = kernel.emulate(case.grid, shared=case.shared, policy=policy, seed=seed)
    return run(case.source, before.copy(), *case.more)


def agrees(case: Case, outcome: Outcome) -> bool:
    """Whether the second argument is what NumPy says."""
    found = outcome.outputs[1]
    if not case.tolerance:
        return bool((found.view(numpy.uint8) == case.wanted.view(numpy.uint8)).all())
    return bool(numpy.allclose(found, case.wanted, rtol=case.tolerance, atol=case.tolerance))
