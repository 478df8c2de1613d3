"""Kernels of the builder on the machine: their cases, which a GPU is checked with, too, in small sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ptxkit.build.kernel import Kernel
from ptxkit.emulate import Budget, Outcome, TensorMap, run
from ptxkit.kernels.check import Case, Subject
from ptxkit.syntax.tree import Module

MOST_WORDS, MOST_CTAS = 200_000, 200


def small(subject: Subject, seed: int = 0) -> Iterator[Case]:
    """The cases of a subject that take no long time, the shortest first."""
    cases = list(subject.cases(1, numpy.random.default_rng(seed)))
    yield from sorted(
        (case for case in cases if case.source.size <= MOST_WORDS and numpy.prod(case.grid) <= MOST_CTAS),
        key=lambda case: case.source.size * int(numpy.prod(case.grid)),
    )


def arguments_of(kernel: Kernel, case: Case) -> list[Any]:
    """What a launch passes: arrays, numbers, and maps of arrays where the kernel takes maps."""
    before = case.before if case.before is not None else numpy.zeros(case.wanted.shape, case.wanted.dtype)
    found: list[Any] = []
    for parameter, value in zip(kernel.parameters, [case.source, before, *case.more], strict=True):
        form = parameter.tensor
        found.append(value if form is None else TensorMap.tiled(value, box=form.box, swizzle=form.swizzle))
    return found


def launched(kernel: Kernel, module: Module, case: Case, policy: str, seed: int = 0, seconds: float = 60) -> Outcome:
    """The outcome of one case."""
    shared = case.shared if case.shared is not None else 0
    return run(
        module,
        kernel.name,
        grid=case.grid,
        shared=shared,
        arguments=arguments_of(kernel, case),
        policy=policy,
        seed=seed,
        budget=Budget(seconds=seconds),
    )


def agrees(case: Case, outcome: Outcome) -> bool:
    """Whether the second argument is what NumPy says."""
    found = outcome.outputs[1]
    if not case.tolerance:
        return bool((found.view(numpy.uint8) == case.wanted.view(numpy.uint8)).all())
    return bool(numpy.allclose(found, case.wanted, rtol=case.tolerance, atol=case.tolerance))
