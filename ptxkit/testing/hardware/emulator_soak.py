"""Runs correct kernels on the reference machine many times with different schedules, which must yield no findings.

A subject is a kernel file with its launches, a kernel of the builder with its cases, or a matrix product. Its result
has the number of runs, how many of them ended with the expected output, and all other observations.
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
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator import RunBudget, TensorMapArgument
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.gemm_config import CONSUMERS
from ptxkit.kernels.gemm_schedule import encode_schedule
from ptxkit.kernels.kernel_cases import CHECKED_KERNELS
from ptxkit.kernels.kernel_check import CheckedKernel, KernelCase, as_first_argument
from ptxkit.kernels.matmul import Matmul
from ptxkit.kernels.seeds.seed_cases import CHECKED_SEEDS
from ptxkit.linter import lint
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.testing.limits import MAX_SEEDS, MAX_SOAK_CASES, MAX_SOAK_CTAS, MAX_SOAK_WORDS, SOAK_EFFORT, SOAK_SECONDS
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.argument_choice import SCHEDULES

CORPUS = Path(__file__).resolve().parent.parent.parent.parent / "corpus"


_PRODUCT_PREFIX = "builder/gemm "

PRODUCTS: tuple[dict[str, Any], ...] = (
    {"cluster": 1},
    {"cluster": 2},
    {"cluster": 1, "by_columns": True},
    {"element": "e4m3", "cluster": 2},
    {"element": "e4m3", "cluster": 1, "precise": True},
    {"element": "e5m2", "cluster": 1},
)


@dataclass(frozen=True, slots=True)
class SoakResult:
    """The results of the runs of one kernel. completed_runs: those that ended. messages: each finding or reason,
    once.
    """

    name: str
    runs: int
    completed_runs: int
    messages: tuple[str, ...]
    seconds: float

    @property
    def is_clean(self) -> bool:
        return self.completed_runs == self.runs and not self.messages


def task_names() -> list[str]:
    """Returns the names of all subjects, with the slowest first."""
    files = sorted([*(CORPUS / "kernels").glob("*.ptx"), *(CORPUS / "seeds").glob("*.ptx")])
    return [
        *(f"{_PRODUCT_PREFIX}{each}" for each in PRODUCTS),
        *(f"builder/{each.build.__name__}" for each in (*CHECKED_KERNELS, *CHECKED_SEEDS)),
        *(f"corpus/{each.parent.name}/{each.stem}" for each in files),
    ]


def run_subject(name: str, schedules: int) -> list[SoakResult]:
    """Runs a subject with that many schedules."""
    product = find_product(name)
    if product is not None:
        return [run_product(product, name, schedules)]
    subject = find_subject(name)
    if subject is not None:
        return [run_builder_kernel(subject, schedules)]
    return run_file(CORPUS.parent / f"{name}.ptx", schedules)


def find_product(name: str) -> MatmulSubject | None:
    """Returns the product of that name, or None."""
    variant = next((each for each in PRODUCTS if name == f"{_PRODUCT_PREFIX}{each}"), None)
    return None if variant is None else MatmulSubject(Matmul(130, 264, 208, **variant))


def find_subject(name: str) -> CheckedKernel | None:
    """Returns the builder's kernel of that name, or None."""
    return next((each for each in (*CHECKED_KERNELS, *CHECKED_SEEDS) if name == f"builder/{each.build.__name__}"), None)


def run_file(path: Path, schedules: int) -> list[SoakResult]:
    """Runs the kernels of a file with the launches of the table."""
    text = path.read_text("utf-8")
    found = []
    for request in load_launch_table().requests_for(
        text, path.name, schedules=schedules, settings=Settings(effort=SOAK_EFFORT)
    ):
        began = time.monotonic()
        found.append(
            _verify_kernel(SourceFile(path.name, text), request, f"corpus/{path.parent.name}/{path.stem}", began)
        )
    return found


def _verify_kernel(source: SourceFile, request: VerifyRequest, name: str, began: float) -> SoakResult:
    static = lint(source.text, path=source.path)  # may leave questions undecided, which the runs decide
    result = verify_source(source, request, static=static)
    messages = [f"{each.code}: {each.message}" for each in result.diagnostics]
    messages += [each.reason for each in result.undecided[len(static.undecided) :]]
    runs = sum(each.runs for each in result.runs)
    return SoakResult(name, runs, sum(each.whole for each in result.runs), tuple(messages), time.monotonic() - began)


def small_cases(subject: CheckedKernel) -> list[KernelCase]:
    """Returns cases of a builder kernel that take little time, the smallest last; if there are few, of more random
    sizes.
    """
    few: list[KernelCase] = []
    for seed in range(MAX_SEEDS):
        cases = subject.cases(2, numpy.random.default_rng(seed))
        few += [each for each in cases if each.source.size <= MAX_SOAK_WORDS and numpy.prod(each.grid) <= MAX_SOAK_CTAS]
        if len(few) >= MAX_SOAK_CASES:
            break
    return sorted(few, key=lambda each: -each.source.size * int(numpy.prod(each.grid)))


def run_builder_kernel(subject: CheckedKernel, schedules: int) -> SoakResult:
    """Runs a builder kernel; its small cases take turns, the larger ones first."""
    kernel = subject.build()
    cases = small_cases(subject)[:MAX_SOAK_CASES]

    def one(case: KernelCase, policy: str, seed: int) -> bool:
        before = (
            case.initial_target
            if case.initial_target is not None
            else numpy.zeros(case.expected.shape, case.expected.dtype)
        )
        emulation = kernel.emulate(case.grid, shared=case.shared, policy=policy, seed=seed, seconds=SOAK_SECONDS)
        first, second = as_first_argument(kernel, case.source), as_first_argument(kernel, before.copy())
        return matches_reference(
            case, emulation(first, second, *(_private_copy(each) for each in case.extra_arguments)).outputs[1]
        )

    turns = islice(zip(cycle(cases), cycle(SCHEDULES), strict=False), schedules)
    return _run_all(f"builder/{kernel.name}", [partial(one, *each, seed) for seed, each in enumerate(turns)])


def _private_copy(value: Any) -> Any:
    """Returns a copy of an argument, so that runs do not share it."""
    return value.copy() if isinstance(value, numpy.ndarray) else value


def matches_reference(case: KernelCase, found: Any) -> bool:
    """Returns whether the target has the expected contents."""
    if not case.tolerance:
        return bool((found.view(numpy.uint8) == case.expected.view(numpy.uint8)).all())
    scale = numpy.abs(case.expected).max(-1, keepdims=True)
    return bool((numpy.abs(found.astype(numpy.float64) - case.expected) <= case.tolerance * scale).all())


def _run_all(name: str, actions: Sequence[Callable[[], bool]]) -> SoakResult:
    began, whole, messages = time.monotonic(), 0, dict[str, None]()
    for action in actions:
        try:
            if action():
                whole += 1
            else:
                messages["a wrong answer"] = None
        except (EmulationError, UnfinishedError) as error:
            messages[str(error)] = None
    return SoakResult(name, len(actions), whole, tuple(messages), time.monotonic() - began)


# ----------------------------------------------------------------------------------------------------- products


def run_product(product: MatmulSubject, name: str, schedules: int) -> SoakResult:
    """Runs a matrix product, whose tiles are assigned to two workers."""
    turns = islice(cycle(SCHEDULES), schedules)
    return _run_all(name, [partial(product.run_once, each, seed) for seed, each in enumerate(turns)])


_WORKERS = 2
_ONE_BITS = {"bf16": 0x3F80, "e4m3": 0x38, "e5m2": 0x3C}
"""The bits of 1.0. A and B hold 0 and 1, whose sums are exact in any order."""

_SIGNED_PATTERNS = {"bf16": (0x8000, 0x3000, 0x1000), "e4m3": (0x80, 0x20, 0x20), "e5m2": (0x80, 0x30, 0x10)}
"""The sign bit, the bits of the smallest number that is used, and the number of patterns after it: numbers of either
sign.
"""


class MatmulSubject:
    """The arguments of a product, and the expected result if A and B hold 0 and 1."""

    def __init__(self, plan: Matmul) -> None:
        self.matmul, (rows, columns, depth) = plan, plan.shape
        form, self.kernel = plan.form, plan.kernel
        chance = numpy.random.default_rng(5)
        a, b = chance.integers(0, 2, (rows, depth)), chance.integers(0, 2, (depth, columns))
        self._ones = [self._memory_layout(each * _ONE_BITS[form.element], which) for which, each in enumerate((a, b))]
        sign, least, count = _SIGNED_PATTERNS[form.element]
        self._arbitrary = [
            self._memory_layout(
                chance.integers(0, 2, each.shape) * sign + least + chance.integers(0, count, each.shape), which
            )
            for which, each in enumerate((a, b))
        ]
        self.expected = (a @ b).astype(numpy.float32)
        self.schedule = encode_schedule(plan.rows_of(_WORKERS)).reshape(-1)

    def _memory_layout(self, bits: Any, which: int) -> Any:
        """Returns a matrix in its layout in memory. which: A or B."""
        by_rows = bits if which == 0 or self.matmul.form.by_columns else bits.T
        return numpy.ascontiguousarray(by_rows).astype(
            numpy.uint16 if self.matmul.form.element == "bf16" else numpy.uint8
        )

    def launch(self, *, exact: bool = True) -> DeviceLaunch:
        """Returns a launch with its own memory for outputs. exact: A and B hold 0 and 1, else random numbers."""
        rows, columns, _ = self.matmul.shape
        form = self.matmul.form
        matrices = [*(self._ones if exact else self._arbitrary), numpy.zeros((rows, columns), numpy.uint16)]
        forms = [each.tensor for each in self.kernel.parameters[:3]]
        maps = [
            TensorMapArgument.tiled(array, box=each.box, swizzle=each.swizzle)
            for array, each in zip(matrices, forms, strict=True)
            if each is not None
        ]
        warps = _WORKERS * form.cluster * CONSUMERS
        room, flags = numpy.zeros(warps * 32 * form.sums_per_thread, numpy.float32), numpy.zeros(warps, numpy.uint32)
        factors = [numpy.ones(1, numpy.float32)] * 2 if form.is_scaled else []
        arguments = (*maps, self.schedule, room, flags, *factors)
        grid = _WORKERS * form.cluster
        return DeviceLaunch(self.kernel.name, grid, None, arguments, shared=self.kernel.dynamic_bytes)

    def run_once(self, policy: str, seed: int) -> bool:
        """Runs the product once, and returns whether the result is correct."""
        found = self.launch().emulate(
            str(self.kernel), policy=policy, seed=seed, budget=RunBudget(seconds=SOAK_SECONDS)
        )
        if not found.is_clean:
            raise UnfinishedError(
                "; ".join([*map(_finding_text, found.findings), found.incomplete_reason, found.unsupported_reason])
            )
        return bool(((found.outputs[2].astype(numpy.uint32) << 16).view(numpy.float32) == self.expected).all())


def _finding_text(finding: Any) -> str:
    return f"{finding.code}: {finding.message}"
