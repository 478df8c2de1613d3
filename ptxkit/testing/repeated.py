"""Correct kernels on the reference machine again and again, each time otherwise: nothing should be found.

A subject is a kernel file with its launches, a kernel of the builder with its cases, or a matrix product. Its tally
tells how many runs there were, how many of them came to their ends with the right answer, and what else was seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy

from ptxkit.build import EmulationError
from ptxkit.build.errors import UnfinishedError
from ptxkit.emulate import Budget, TensorMap
from ptxkit.kernels.cases import SUBJECTS
from ptxkit.kernels.check import Case, Subject, as_taken
from ptxkit.kernels.gemm_parts import CONSUMERS
from ptxkit.kernels.gemm_schedule import table
from ptxkit.kernels.matmul import Matmul
from ptxkit.kernels.seeds.check import SEEDS
from ptxkit.linter import lint
from ptxkit.records import dataclass
from ptxkit.source import SourceFile
from ptxkit.testing.device_process import DeviceLaunch
from ptxkit.testing.launches import load
from ptxkit.verifier import Request, verify_source
from ptxkit.verifier.choice import SCHEDULES

CORPUS = Path(__file__).resolve().parent.parent.parent / "corpus"
LARGEST, MOST_CTAS, CASES = 50_000, 12, 3
"""Of a builder kernel's cases: words and CTAs at most; how many of them take turns."""

_TRIES = 60

SECONDS = 600.0
"""For the runs of a kernel file, and for one run of another."""

_PRODUCT = "builder/gemm "

PRODUCTS: tuple[dict[str, Any], ...] = (
    {"cluster": 1},
    {"cluster": 2},
    {"cluster": 1, "by_columns": True},
    {"element": "e4m3", "cluster": 2},
    {"element": "e4m3", "cluster": 1, "precise": True},
    {"element": "e5m2", "cluster": 1},
)


@dataclass(frozen=True, slots=True)
class Tally:
    """What runs of one kernel showed. whole: those that came to their ends. said: each finding or reason, once."""

    name: str
    runs: int
    whole: int
    said: tuple[str, ...]
    seconds: float

    @property
    def is_clean(self) -> bool:
        return self.whole == self.runs and not self.said


def tasks() -> list[str]:
    """The names of all subjects, those that take the longest first."""
    files = sorted([*(CORPUS / "kernels").glob("*.ptx"), *(CORPUS / "seeds").glob("*.ptx")])
    return [
        *(f"{_PRODUCT}{each}" for each in PRODUCTS),
        *(f"builder/{each.build.__name__}" for each in (*SUBJECTS, *SEEDS)),
        *(f"corpus/{each.parent.name}/{each.stem}" for each in files),
    ]


def tallies(name: str, schedules: int) -> list[Tally]:
    """Runs a subject so many times."""
    product = product_of(name)
    if product is not None:
        return [product_tally(product, name, schedules)]
    subject = subject_of(name)
    if subject is not None:
        return [subject_tally(subject, schedules)]
    return file_tallies(CORPUS.parent / f"{name}.ptx", schedules)


def product_of(name: str) -> Product | None:
    """The product of that name."""
    variant = next((each for each in PRODUCTS if name == f"{_PRODUCT}{each}"), None)
    return None if variant is None else Product(Matmul(130, 264, 208, **variant))


def subject_of(name: str) -> Subject | None:
    """The builder's kernel of that name."""
    return next((each for each in (*SUBJECTS, *SEEDS) if name == f"builder/{each.build.__name__}"), None)


def file_tallies(path: Path, schedules: int) -> list[Tally]:
    """Of the kernels of a file, launched as the table of launches says."""
    text = path.read_text("utf-8")
    found = []
    for request in load().of(text, path.name, schedules=schedules, seconds=SECONDS):
        began = time.monotonic()
        found.append(_verified(SourceFile(path.name, text), request, f"corpus/{path.parent.name}/{path.stem}", began))
    return found


def _verified(source: SourceFile, request: Request, name: str, began: float) -> Tally:
    static = lint(source.text, path=source.path)  # may leave questions open, which runs answer
    result = verify_source(source, request, static=static)
    said = [f"{each.code}: {each.message}" for each in result.diagnostics]
    said += [each.reason for each in result.undecided[len(static.undecided) :]]
    runs = sum(each.runs for each in result.runs)
    return Tally(name, runs, sum(each.whole for each in result.runs), tuple(said), time.monotonic() - began)


def small_cases(subject: Subject) -> list[Case]:
    """Cases of a builder kernel that take little time, the smallest last; where few are, of more random sizes."""
    few: list[Case] = []
    for seed in range(_TRIES):
        cases = subject.cases(2, numpy.random.default_rng(seed))
        few += [each for each in cases if each.source.size <= LARGEST and numpy.prod(each.grid) <= MOST_CTAS]
        if len(few) >= CASES:
            break
    return sorted(few, key=lambda each: -each.source.size * int(numpy.prod(each.grid)))


def subject_tally(subject: Subject, schedules: int) -> Tally:
    """Of a builder kernel; its cases take turns, the larger ones of those that are small."""
    kernel = subject.build()
    cases = small_cases(subject)[:CASES]

    def one(case: Case, policy: str, seed: int) -> bool:
        before = case.before if case.before is not None else numpy.zeros(case.wanted.shape, case.wanted.dtype)
        emulation = kernel.emulate(case.grid, shared=case.shared, policy=policy, seed=seed, seconds=SECONDS)
        first, second = as_taken(kernel, case.source), as_taken(kernel, before.copy())
        return agrees(case, emulation(first, second, *(_own(each) for each in case.more)).outputs[1])

    turns = islice(zip(cycle(cases), cycle(SCHEDULES), strict=False), schedules)
    return _tally(f"builder/{kernel.name}", [partial(one, *each, seed) for seed, each in enumerate(turns)])


def _own(value: Any) -> Any:
    """An argument that no other run has changed."""
    return value.copy() if isinstance(value, numpy.ndarray) else value


def agrees(case: Case, found: Any) -> bool:
    """Whether the target is what NumPy says."""
    if not case.tolerance:
        return bool((found.view(numpy.uint8) == case.wanted.view(numpy.uint8)).all())
    scale = numpy.abs(case.wanted).max(-1, keepdims=True)
    return bool((numpy.abs(found.astype(numpy.float64) - case.wanted) <= case.tolerance * scale).all())


def _tally(name: str, actions: Sequence[Callable[[], bool]]) -> Tally:
    began, whole, said = time.monotonic(), 0, dict[str, None]()
    for action in actions:
        try:
            if action():
                whole += 1
            else:
                said["a wrong answer"] = None
        except (EmulationError, UnfinishedError) as error:
            said[str(error)] = None
    return Tally(name, len(actions), whole, tuple(said), time.monotonic() - began)


# ----------------------------------------------------------------------------------------------------- products


def product_tally(product: Product, name: str, schedules: int) -> Tally:
    """Of a matrix product, its tiles dealt to two workers."""
    turns = islice(cycle(SCHEDULES), schedules)
    return _tally(name, [partial(product.one, each, seed) for seed, each in enumerate(turns)])


_WORKERS = 2
_ONES = {"bf16": 0x3F80, "e4m3": 0x38, "e5m2": 0x3C}
"""The bits of 1.0; A and B hold 0 and 1, whose sums are exact in any order."""

_SIGNS = {"bf16": (0x8000, 0x3000, 0x1000), "e4m3": (0x80, 0x20, 0x20), "e5m2": (0x80, 0x30, 0x10)}
"""The bit of the sign, the bits of the least number that is taken, and how many follow it: numbers of either sign."""


class Product:
    """The arguments of a product, and its answer where A and B hold 0 and 1."""

    def __init__(self, plan: Matmul) -> None:
        self.plan, (rows, columns, depth) = plan, plan.shape
        form, self.kernel = plan.form, plan.kernel
        chance = numpy.random.default_rng(5)
        a, b = chance.integers(0, 2, (rows, depth)), chance.integers(0, 2, (depth, columns))
        self._ones = [self._laid(each * _ONES[form.element], which) for which, each in enumerate((a, b))]
        sign, least, count = _SIGNS[form.element]
        self._any = [
            self._laid(chance.integers(0, 2, each.shape) * sign + least + chance.integers(0, count, each.shape), which)
            for which, each in enumerate((a, b))
        ]
        self.wanted = (a @ b).astype(numpy.float32)
        self.schedule = table(plan.rows_of(_WORKERS)).reshape(-1)

    def _laid(self, bits: Any, which: int) -> Any:
        """A matrix as it lies in memory. which: A or B."""
        by_rows = bits if which == 0 or self.plan.form.by_columns else bits.T
        return numpy.ascontiguousarray(by_rows).astype(
            numpy.uint16 if self.plan.form.element == "bf16" else numpy.uint8
        )

    def launch(self, *, exact: bool = True) -> DeviceLaunch:
        """With memory of its own for what is written. exact: A and B hold 0 and 1, else any numbers."""
        rows, columns, _ = self.plan.shape
        form = self.plan.form
        matrices = [*(self._ones if exact else self._any), numpy.zeros((rows, columns), numpy.uint16)]
        forms = [each.tensor for each in self.kernel.parameters[:3]]
        maps = [
            TensorMap.tiled(array, box=each.box, swizzle=each.swizzle)
            for array, each in zip(matrices, forms, strict=True)
            if each is not None
        ]
        warps = _WORKERS * form.cluster * CONSUMERS
        room, flags = numpy.zeros(warps * 32 * form.sums, numpy.float32), numpy.zeros(warps, numpy.uint32)
        factors = [numpy.ones(1, numpy.float32)] * 2 if form.scaled else []
        arguments = (*maps, self.schedule, room, flags, *factors)
        grid = _WORKERS * form.cluster
        return DeviceLaunch(self.kernel.name, grid, None, arguments, shared=self.kernel.dynamic_bytes)

    def one(self, policy: str, seed: int) -> bool:
        """One run, and whether all is right in it."""
        found = self.launch().emulate(str(self.kernel), policy=policy, seed=seed, budget=Budget(seconds=SECONDS))
        if not found.is_clean:
            raise UnfinishedError("; ".join([*map(_said, found.findings), found.undecided, found.failed]))
        return bool(((found.outputs[2].astype(numpy.uint32) << 16).view(numpy.float32) == self.wanted).all())


def _said(finding: Any) -> str:
    return f"{finding.code}: {finding.message}"
