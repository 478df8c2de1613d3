"""Runs correct kernels on a GPU and on the reference machine with the same inputs, and compares the outputs.

A subject is one of `emulator_soak.task_names()`: a kernel of the builder with its cases, a matrix product, or a kernel
file with the launches of its table; or a small kernel with the forms that these do not contain (`form_kernels.py`).
Bits must be equal if the manual specifies them. If it does not (`unspecified_bits`), results may differ within its
tolerance, and a second launch uses integers, whose sums are exact in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from ptxkit.build import Kernel
from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult
from ptxkit.emulator import RunBudget, RunResult, TensorMapArgument
from ptxkit.emulator.state.tensor_maps import decode_map
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.kernels.kernel_check import CheckedKernel, KernelCase
from ptxkit.syntax import parse
from ptxkit.tensormap_limits import MAP_BYTES
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.testing.coverage.example_coverage import instructions_of
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

APPROXIMATE_FUNCTIONS, TENSOR_CORE_SUMS, ATOMIC_SUMS = (
    "approximate functions",
    "sums of tensor cores",
    "floating-point sums by atomics",
)
"""Reasons for unspecified bits, followed by the names of the instructions."""

_REASONS = {
    "approximately": APPROXIMATE_FUNCTIONS,
    "divide_approximately": APPROXIMATE_FUNCTIONS,
    **dict.fromkeys(("mma", "mma_sparse", "mma_scaled", "wgmma", "wgmma_sparse"), TENSOR_CORE_SUMS),
    **dict.fromkeys(("atomic", "bulk_reduce", "box_reduce", "reduce_async"), ATOMIC_SUMS),
}
"""The reasons by the semantic function of the table."""

_RELATIVE_TOLERANCES = {"f32": 2.0**-16, "f16": 2.0**-9, "bf16": 2.0**-6, "f64": 2.0**-40}
"""The tolerances for unspecified bits, relative to the largest result: two steps of narrow formats; for f32, the error
of the alignment of addends over some hundred products.
"""

_TYPE = re.compile(r"(?P<kind>[bsu]|bf|tf|f|e\d+m)\d+(x\d+)?")
"""A word that is an element type; a tensor map has a separate type when the kernel runs."""

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

    def emulate(self, policy: str = "eager", seed: int = 0) -> RunResult:
        """Runs the launch on the machine."""
        return self.launch.emulate(
            self.text, policy=policy, seed=seed, budget=RunBudget(seconds=EMULATED_LAUNCH_SECONDS), races=False
        )


@dataclass(frozen=True, slots=True)
class DeviceComparison:
    """The result of a comparison. kind: `equal`, `in bounds`, `different`, `refused` by the machine, `failed` on the
    device. words: the difference.

    share: the largest difference as a fraction of the bound.
    """

    kind: str
    description: str = ""
    bound_fraction: float = 0.0

    @property
    def is_right(self) -> bool:
        return self.kind in ("equal", "in bounds")


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
        launch, elements = _random_arguments(request, text, numpy.random.default_rng(seed))
        yield ComparedLaunch(name, _size_text(request), text, launch, reasons, elements=elements)
        if reasons and APPROXIMATE_FUNCTIONS not in reasons:
            exact = replace(launch, arguments=tuple(map(_with_integers, launch.arguments)))
            yield ComparedLaunch(name, f"{_size_text(request)}, integers", text, exact, elements=elements)


def _random_arguments(
    request: VerifyRequest, text: str, chance: numpy.random.Generator
) -> tuple[DeviceLaunch, dict[int, str]]:
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


# --------------------------------------------------------------------------------------------- unspecified bits


def unspecified_bits(text: str) -> str:
    """Returns why the manual leaves bits of a module's results unspecified, and by which instructions, or an empty
    text.
    """
    found: dict[str, set[str]] = {}
    for each in instructions_of(parse(text)):
        match = table().match(each)
        reason = _unspecified_reason(match) if isinstance(match, Match) else None
        if reason is not None:
            found.setdefault(reason, set()).add(each.opcode)
    return "; ".join(f"{reason} ({', '.join(sorted(names))})" for reason, names in sorted(found.items()))


def _unspecified_reason(match: Match) -> str | None:
    for meaning in table().semantics_of(match):
        reason = _REASONS.get(meaning.function)
        types = [_TYPE.fullmatch(str(word)) for word in meaning.named_arguments.values()]
        known = [each["kind"] for each in types if each is not None]
        if reason == APPROXIMATE_FUNCTIONS or (reason is not None and (not known or set(known) - set("bsu"))):
            return reason
    return None


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
    verdict = DeviceComparison("equal")
    for number, own, other in _array_pairs(mine.outputs, theirs):
        found = _compare_arrays(pair, number, own, other)
        if found.kind == "different":
            return found
        if found.kind != "equal" and found.bound_fraction >= verdict.bound_fraction:
            verdict = found
    return verdict


def _array_pairs(mine: Mapping[int, Any], theirs: Mapping[int, Any]) -> Iterator[tuple[int, Any, Any]]:
    """Yields the arrays of both sides, with the number of the argument that each is, or whose table contains it."""
    for number, own in mine.items():
        if isinstance(own, list):
            yield from ((number, *pair) for pair in zip(own, theirs[number], strict=True))
        else:
            yield number, own, theirs[number]


def _compare_arrays(pair: ComparedLaunch, number: int, mine: Any, theirs: Any) -> DeviceComparison:
    own, other = _as_bytes(mine), _as_bytes(theirs)
    size = mine.dtype.itemsize
    differing = _without_maps(own, own != other)
    elements = numpy.flatnonzero(differing.reshape(-1, size).any(axis=1))
    if not len(elements):
        return DeviceComparison("equal")
    first = int(elements[0])
    shown = [octets[first * size : (first + 1) * size][::-1].tobytes().hex() for octets in (own, other)]
    place = f"argument {number}: {len(elements)} of {mine.size} elements differ, the first at {first}"
    words = f"{place}: 0x{shown[0]} on the machine, 0x{shown[1]} on the GPU"
    element = pair.elements.get(number, f"{mine.dtype.kind}{8 * size}")
    if not pair.open_bits or element not in _RELATIVE_TOLERANCES:
        return DeviceComparison("different", words)
    left, right = (_as_floats(each, element) for each in (mine, theirs))
    scale = numpy.max(numpy.abs(left[numpy.isfinite(left)]), initial=0.0)
    with numpy.errstate(all="ignore"):
        apart = numpy.where((left == right) | (numpy.isnan(left) & numpy.isnan(right)), 0.0, numpy.abs(left - right))
        share = float(
            numpy.nan_to_num(
                numpy.max(apart) / ((pair.tolerance or _RELATIVE_TOLERANCES[element]) * scale), nan=numpy.inf
            )
        )
    return DeviceComparison("in bounds" if share <= 1 else "different", words, share)


def _as_bytes(array: Any) -> Any:
    return numpy.frombuffer(numpy.ascontiguousarray(array).tobytes(), numpy.uint8)


def _without_maps(own: Any, differing: Any) -> Any:
    """Replaces tensor maps in memory, whose bytes differ between the two sides."""
    found = differing.copy()
    for at in range(0, len(own) - MAP_BYTES + 1, MAP_BYTES):
        if decode_map(own[at : at + MAP_BYTES].tobytes()) is not None:
            found[at : at + MAP_BYTES] = False
    return found


def _as_floats(array: Any, element: str) -> Any:
    if element == "bf16":
        return (array.astype(numpy.uint32) << _BFLOAT16_SHIFT).view(numpy.float32).astype(numpy.float64)
    return array.astype(numpy.float64)
