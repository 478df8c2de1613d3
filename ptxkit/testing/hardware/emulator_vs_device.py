"""Runs correct kernels on a GPU and on the reference machine with the same inputs, and compares the outputs.

A subject is one of `emulator_soak.task_names()`: a kernel of the builder with its cases, a matrix product, or a kernel
file with the launches of its table; or a small kernel with the forms that these do not contain (`form_kernels.py`).
Bits must be equal if the manual specifies them. If it does not (`unspecified_bits`), results may differ within its
tolerance, and a second launch uses integers, whose sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from ptxkit.build import Kernel
from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult
from ptxkit.device_runs.output_comparison import AllowedDifferences, DeviceComparison, compare_arrays
from ptxkit.device_runs.unspecified_bits import APPROXIMATE_FUNCTIONS, unspecified_bits
from ptxkit.emulator import RunBudget, RunResult, TensorMapArgument
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.kernels.kernel_check import CheckedKernel, KernelCase
from ptxkit.syntax import parse
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.testing.hardware.emulator_soak import (
    CORPUS,
    MatmulSubject,
    find_product,
    find_subject,
    small_cases,
    task_names,
)
from ptxkit.testing.hardware.form_kernels import form_kernels
from ptxkit.testing.limits import EMULATED_LAUNCH_SECONDS, MAX_LAUNCH_CASES, MAX_WHOLE_NUMBER
from ptxkit.verifier import VerifyRequest

_FORM_PREFIX, _SEEDS_PER_FORM = "forms/", 2


@dataclass(frozen=True, slots=True)
class ComparedLaunch:
    """One launch for both sides. size: a description. text: PTX. open_bits: the reason why bits may differ, or empty.

    tolerance: relative to the largest result, if the kernel's own check has one. elements: types of arrays that NumPy
    does not have, by the argument's number.
    """

    kernel: str
    size: str
    text: str
    launch: DeviceLaunch
    open_bits: str = ""
    tolerance: float = 0.0
    elements: Mapping[int, str] = {}

    @property
    def allowed_differences(self) -> AllowedDifferences:
        """How much the results of both sides may differ."""
        return AllowedDifferences(self.open_bits, self.tolerance, self.elements)

    def emulate(self, policy: str = "eager", seed: int = 0) -> RunResult:
        """Runs the launch on the machine."""
        return self.launch.emulate(
            self.text, policy=policy, seed=seed, budget=RunBudget(seconds=EMULATED_LAUNCH_SECONDS), races=False
        )


# --------------------------------------------------------------------------------------------------- the launches


def subject_names() -> list[str]:
    """Returns the names of all subjects."""
    return [*task_names(), *(f"{_FORM_PREFIX}{each.name}" for each in form_kernels())]


def compared_launches(name: str, most: int = MAX_LAUNCH_CASES, seed: int = 0) -> list[ComparedLaunch]:
    """Returns the launches of a subject, with at most `most` sizes of a builder's kernel. seed: of random choices."""
    if name.startswith(_FORM_PREFIX):
        return [
            ComparedLaunch(name, f"seed {seed + at}", each.module(), each.launch(seed + at))
            for each in form_kernels()
            if name == f"{_FORM_PREFIX}{each.name}"
            for at in range(_SEEDS_PER_FORM)
        ]
    product = find_product(name)
    if product is not None:
        return list(_product_launches(name, product))
    subject = find_subject(name)
    if subject is not None:
        return list(_subject_launches(name, subject, most, seed))
    return list(_file_launches(name, seed))


def _product_launches(name: str, product: MatmulSubject) -> Iterator[ComparedLaunch]:
    """Yields a launch with ones and zeros, whose sums are exact, and one with other numbers."""
    text, elements = str(product.kernel), {2: "bf16"}
    yield ComparedLaunch(name, "zeros and ones", text, product.launch(), elements=elements)
    yield ComparedLaunch(
        name, "any numbers", text, product.launch(exact=False), unspecified_bits(text), elements=elements
    )


def _subject_launches(name: str, subject: CheckedKernel, most: int, seed: int) -> Iterator[ComparedLaunch]:
    kernel = subject.build()
    text = str(kernel)
    chance = numpy.random.default_rng(seed)
    for case in spread_evenly(small_cases(subject), most):
        launch = _case_launch(kernel, case, chance)
        yield ComparedLaunch(name, case.size, text, launch, unspecified_bits(text), case.tolerance)


def spread_evenly(cases: list[KernelCase], most: int) -> list[KernelCase]:
    """Returns `most` of the cases, evenly spread."""
    if len(cases) <= most:
        return cases
    return [cases[round(at * (len(cases) - 1) / max(most - 1, 1))] for at in range(most)]


def _case_launch(kernel: Kernel, case: KernelCase, chance: numpy.random.Generator) -> DeviceLaunch:
    """Returns a launch of a case, with tensor maps as the kernel's parameters require."""
    before = case.initial_target
    if before is None:
        before = chance.integers(0, 1 << 32, case.expected.size, numpy.uint32).view(case.expected.dtype)
    given = [case.source, before.reshape(case.expected.shape).copy(), *case.extra_arguments]
    forms = [each.tensor for each in kernel.parameters]
    arguments = tuple(
        each if form is None else TensorMapArgument.tiled(each, box=form.box, swizzle=form.swizzle)
        for each, form in zip(given, forms, strict=True)
    )
    return DeviceLaunch(kernel.name, case.grid, None, arguments, shared=max(case.shared or 0, kernel.dynamic_bytes))


def _file_launches(name: str, seed: int) -> Iterator[ComparedLaunch]:
    text = (CORPUS.parent / f"{name}.ptx").read_text("utf-8")
    reasons = unspecified_bits(text)
    for request in load_launch_table().requests_for(text, name):
        launch, elements = launch_of_request(request, text, numpy.random.default_rng(seed))
        yield ComparedLaunch(name, _size_text(request), text, launch, reasons, elements=elements)
        if reasons and APPROXIMATE_FUNCTIONS not in reasons:
            exact = replace(launch, arguments=tuple(map(_with_integers, launch.arguments)))
            yield ComparedLaunch(name, f"{_size_text(request)}, integers", text, exact, elements=elements)


def launch_of_request(
    request: VerifyRequest, text: str, chance: numpy.random.Generator
) -> tuple[DeviceLaunch, dict[int, str]]:
    """Returns the launch of a request for one kernel of a text, and the types of arrays that NumPy does not have."""
    (entry,) = request.entries
    function = parse(text).function(entry)
    assert function is not None
    found = []
    elements: dict[int, str] = {}
    for place, declaration in enumerate(function.parameters):
        name = declaration.declarators[0].name
        given = request.arguments.get(name) or request.arguments[f"#{place}"]
        found.append(given.make_value(chance))
        if given.type == "bf16":
            elements[place] = given.type
    made = DeviceLaunch(entry, request.grid or 1, request.block, tuple(found), request.cluster, request.shared or 0)
    return made, elements


def _size_text(request: VerifyRequest) -> str:
    sizes = [each.text.partition(":")[0] for each in request.arguments.values() if each.shape]
    return " ".join(sizes)


_HALF_ONE, _BFLOAT16_SHIFT = 0.5, 16


def _with_integers(argument: Any) -> Any:
    """Returns the same argument with small integers instead of fractions."""
    if isinstance(argument, list):
        return [_with_integers(each) for each in argument]
    if isinstance(argument, TensorMapArgument):
        if argument.fields.element == "bf16":
            wide = (argument.array.astype(numpy.uint32) << _BFLOAT16_SHIFT).view(numpy.float32)
            bits = numpy.rint(wide * MAX_WHOLE_NUMBER).astype(numpy.float32).view(numpy.uint32) >> _BFLOAT16_SHIFT
            return replace(argument, array=bits.astype(numpy.uint16))
        return replace(argument, array=_with_integers(argument.array))
    if isinstance(argument, numpy.ndarray) and argument.dtype.kind == "f":
        return numpy.rint(argument * MAX_WHOLE_NUMBER).astype(argument.dtype)
    return argument


# ------------------------------------------------------------------------------------------------- the comparison


def compare_outputs(pair: ComparedLaunch, mine: RunResult, theirs: DeviceResult) -> DeviceComparison:
    """Compares the outputs. mine: the machine's; theirs: the arrays of the device."""
    if not mine.is_clean:
        message = (
            mine.unsupported_reason or mine.incomplete_reason or f"{mine.findings[0].code}: {mine.findings[0].message}"
        )
        return DeviceComparison("refused", message)
    if isinstance(theirs, str):
        return DeviceComparison("failed", theirs)
    return compare_arrays(mine.outputs, theirs, pair.allowed_differences)
