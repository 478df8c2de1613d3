"""Correct kernels on a GPU and on the reference machine with the same inputs, and how far their outputs agree.

A subject is one of `repeated.tasks()`: a kernel of the builder with its cases, a matrix product, or a kernel file with
the launches of its table; or a small kernel with the forms that these do not reach (`form_kernels.py`). Bits must be
equal wherever the manual fixes them. Where it does not (`open_bits`), results may differ by what it allows; and a
second launch has whole numbers, whose sums are exact in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from ptxkit.build import Kernel
from ptxkit.emulate import Budget, Outcome, TensorMap
from ptxkit.emulate.tensor_maps import BYTES, decoded
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.kernels.check import Case, Subject
from ptxkit.records import dataclass, replace
from ptxkit.syntax import parse
from ptxkit.testing.coverage import instructions_of
from ptxkit.testing.device_process import Answer, DeviceLaunch
from ptxkit.testing.form_kernels import form_kernels
from ptxkit.testing.launches import load
from ptxkit.testing.repeated import CORPUS, Product, product_of, small_cases, subject_of, tasks
from ptxkit.verifier import Request

APPROXIMATE, SUMS, ATOMICS = "approximate functions", "sums of tensor cores", "floating-point sums by atomics"
"""Why bits are open; what is given with it names the instructions."""

_REASONS = {
    "approximately": APPROXIMATE,
    "divide_approximately": APPROXIMATE,
    **dict.fromkeys(("mma", "mma_sparse", "mma_scaled", "wgmma", "wgmma_sparse"), SUMS),
    **dict.fromkeys(("atomic", "bulk_reduce", "box_reduce", "reduce_async"), ATOMICS),
}
"""By the function that the table names."""

_STEPS = {"f32": 2.0**-16, "f16": 2.0**-9, "bf16": 2.0**-6, "f64": 2.0**-40}
"""What open bits may make of a result, as a part of the largest one: two steps of narrow formats; of f32, what the
alignment of addends costs over some hundred products."""

_TYPE = re.compile(r"(?P<kind>[bsu]|bf|tf|f|e\d+m)\d+(x\d+)?")
"""A word that is the type of an element; a tensor map tells its own type when the kernel runs."""

_SECONDS = 300.0
_FORMS, _SEEDS = "forms/", 2
CASES = 12


@dataclass(frozen=True, slots=True)
class Pair:
    """One launch for both sides. size: in words. text: PTX. open_bits: why bits may differ, empty where they may not.

    tolerance: relative to the largest result, where the kernel's own check has one. elements: types of arrays that
    NumPy does not know, by the argument's number.
    """

    kernel: str
    size: str
    text: str
    launch: DeviceLaunch
    open_bits: str = ""
    tolerance: float = 0.0
    elements: Mapping[int, str] = {}

    def emulate(self, policy: str = "eager", seed: int = 0) -> Outcome:
        """The machine's side."""
        return self.launch.emulate(self.text, policy=policy, seed=seed, budget=Budget(seconds=_SECONDS), races=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """kind: `equal`, `in bounds`, `different`, `refused` by the machine, `failed` on the device. words: what differs.

    share: of what the bound allows, the most that was found.
    """

    kind: str
    words: str = ""
    share: float = 0.0

    @property
    def is_right(self) -> bool:
        return self.kind in ("equal", "in bounds")


# --------------------------------------------------------------------------------------------------- the launches


def subjects() -> list[str]:
    """The names of all."""
    return [*tasks(), *(f"{_FORMS}{each.name}" for each in form_kernels())]


def pairs(name: str, most: int = CASES, seed: int = 0) -> list[Pair]:
    """The launches of a subject, at most so many sizes of a builder's kernel. seed: of what is left to chance."""
    if name.startswith(_FORMS):
        return [
            Pair(name, f"seed {seed + at}", each.module(), each.launch(seed + at))
            for each in form_kernels()
            if name == f"{_FORMS}{each.name}"
            for at in range(_SEEDS)
        ]
    product = product_of(name)
    if product is not None:
        return list(_of_product(name, product))
    subject = subject_of(name)
    if subject is not None:
        return list(_of_subject(name, subject, most, seed))
    return list(_of_file(name, seed))


def _of_product(name: str, product: Product) -> Iterator[Pair]:
    """Ones and zeros, whose sums are exact; and numbers of which they are not."""
    text, elements = str(product.kernel), {2: "bf16"}
    yield Pair(name, "zeros and ones", text, product.launch(), elements=elements)
    yield Pair(name, "any numbers", text, product.launch(exact=False), open_bits(text), elements=elements)


def _of_subject(name: str, subject: Subject, most: int, seed: int) -> Iterator[Pair]:
    kernel = subject.build()
    text = str(kernel)
    chance = numpy.random.default_rng(seed)
    for case in spread(small_cases(subject), most):
        launch = _launch_of(kernel, case, chance)
        yield Pair(name, case.size, text, launch, open_bits(text), case.tolerance)


def spread(cases: list[Case], most: int) -> list[Case]:
    """So many of the cases, from the first to the last."""
    if len(cases) <= most:
        return cases
    return [cases[round(at * (len(cases) - 1) / max(most - 1, 1))] for at in range(most)]


def _launch_of(kernel: Kernel, case: Case, chance: numpy.random.Generator) -> DeviceLaunch:
    """A case as a launch: maps are made as the kernel's parameters ask for."""
    before = case.before
    if before is None:
        before = chance.integers(0, 1 << 32, case.wanted.size, numpy.uint32).view(case.wanted.dtype)
    given = [case.source, before.reshape(case.wanted.shape).copy(), *case.more]
    forms = [each.tensor for each in kernel.parameters]
    arguments = tuple(
        each if form is None else TensorMap.tiled(each, box=form.box, swizzle=form.swizzle)
        for each, form in zip(given, forms, strict=True)
    )
    return DeviceLaunch(kernel.name, case.grid, None, arguments, shared=max(case.shared or 0, kernel.dynamic_bytes))


def _of_file(name: str, seed: int) -> Iterator[Pair]:
    text = (CORPUS.parent / f"{name}.ptx").read_text("utf-8")
    reasons = open_bits(text)
    for request in load().of(text, name):
        launch, elements = _given(request, text, numpy.random.default_rng(seed))
        yield Pair(name, _told(request), text, launch, reasons, elements=elements)
        if reasons and APPROXIMATE not in reasons:
            exact = replace(launch, arguments=tuple(map(_whole, launch.arguments)))
            yield Pair(name, f"{_told(request)}, whole numbers", text, exact, elements=elements)


def _given(request: Request, text: str, chance: numpy.random.Generator) -> tuple[DeviceLaunch, dict[int, str]]:
    (entry,) = request.entries
    function = parse(text).function(entry)
    assert function is not None
    found = []
    elements: dict[int, str] = {}
    for place, declaration in enumerate(function.parameters):
        name = declaration.declarators[0].name
        given = request.arguments.get(name) or request.arguments[f"#{place}"]
        found.append(given.made(chance))
        if given.type == "bf16":
            elements[place] = given.type
    made = DeviceLaunch(entry, request.grid or 1, request.block, tuple(found), request.cluster, request.shared or 0)
    return made, elements


def _told(request: Request) -> str:
    sizes = [each.text.partition(":")[0] for each in request.arguments.values() if each.shape]
    return " ".join(sizes)


_LARGEST = 3
_HALF_ONE, _BFLOAT16_SHIFT = 0.5, 16


def _whole(argument: Any) -> Any:
    """The same argument with small whole numbers in place of fractions."""
    if isinstance(argument, list):
        return [_whole(each) for each in argument]
    if isinstance(argument, TensorMap):
        if argument.layout.element == "bf16":
            wide = (argument.array.astype(numpy.uint32) << _BFLOAT16_SHIFT).view(numpy.float32)
            bits = numpy.rint(wide * _LARGEST).astype(numpy.float32).view(numpy.uint32) >> _BFLOAT16_SHIFT
            return replace(argument, array=bits.astype(numpy.uint16))
        return replace(argument, array=_whole(argument.array))
    if isinstance(argument, numpy.ndarray) and argument.dtype.kind == "f":
        return numpy.rint(argument * _LARGEST).astype(argument.dtype)
    return argument


# --------------------------------------------------------------------------------------------- where bits are open


def open_bits(text: str) -> str:
    """Why the manual leaves bits of a module's results open, and by which instructions; empty where it fixes all."""
    found: dict[str, set[str]] = {}
    for each in instructions_of(parse(text)):
        match = table().match(each)
        reason = _reason(match) if isinstance(match, Match) else None
        if reason is not None:
            found.setdefault(reason, set()).add(each.opcode)
    return "; ".join(f"{reason} ({', '.join(sorted(names))})" for reason, names in sorted(found.items()))


def _reason(match: Match) -> str | None:
    for meaning in table().meanings(match):
        reason = _REASONS.get(meaning.function)
        types = [_TYPE.fullmatch(str(word)) for word in meaning.words.values()]
        known = [each["kind"] for each in types if each is not None]
        if reason == APPROXIMATE or (reason is not None and (not known or set(known) - set("bsu"))):
            return reason
    return None


# ------------------------------------------------------------------------------------------------- the comparison


def judged(pair: Pair, mine: Outcome, theirs: Answer) -> Verdict:
    """How far two sides agree. mine: the machine's; theirs: the arrays of the device."""
    if not mine.is_clean:
        said = mine.failed or mine.undecided or f"{mine.findings[0].code}: {mine.findings[0].message}"
        return Verdict("refused", said)
    if isinstance(theirs, str):
        return Verdict("failed", theirs)
    verdict = Verdict("equal")
    for number, own, other in _pairs(mine.outputs, theirs):
        found = _judged_array(pair, number, own, other)
        if found.kind == "different":
            return found
        if found.kind != "equal" and found.share >= verdict.share:
            verdict = found
    return verdict


def _pairs(mine: Mapping[int, Any], theirs: Mapping[int, Any]) -> Iterator[tuple[int, Any, Any]]:
    """The arrays of both sides, with the number of the argument that each is, or stands in the table of."""
    for number, own in mine.items():
        if isinstance(own, list):
            yield from ((number, *pair) for pair in zip(own, theirs[number], strict=True))
        else:
            yield number, own, theirs[number]


def _judged_array(pair: Pair, number: int, mine: Any, theirs: Any) -> Verdict:
    own, other = _octets(mine), _octets(theirs)
    size = mine.dtype.itemsize
    differing = _without_maps(own, own != other)
    elements = numpy.flatnonzero(differing.reshape(-1, size).any(axis=1))
    if not len(elements):
        return Verdict("equal")
    first = int(elements[0])
    shown = [octets[first * size : (first + 1) * size][::-1].tobytes().hex() for octets in (own, other)]
    place = f"argument {number}: {len(elements)} of {mine.size} elements differ, the first at {first}"
    words = f"{place}: 0x{shown[0]} on the machine, 0x{shown[1]} on the GPU"
    element = pair.elements.get(number, f"{mine.dtype.kind}{8 * size}")
    if not pair.open_bits or element not in _STEPS:
        return Verdict("different", words)
    left, right = (_reals(each, element) for each in (mine, theirs))
    scale = numpy.max(numpy.abs(left[numpy.isfinite(left)]), initial=0.0)
    with numpy.errstate(all="ignore"):
        apart = numpy.where((left == right) | (numpy.isnan(left) & numpy.isnan(right)), 0.0, numpy.abs(left - right))
        share = float(numpy.nan_to_num(numpy.max(apart) / ((pair.tolerance or _STEPS[element]) * scale), nan=numpy.inf))
    return Verdict("in bounds" if share <= 1 else "different", words, share)


def _octets(array: Any) -> Any:
    return numpy.frombuffer(numpy.ascontiguousarray(array).tobytes(), numpy.uint8)


def _without_maps(own: Any, differing: Any) -> Any:
    """Tensor maps in memory have bytes of their own on each side."""
    found = differing.copy()
    for at in range(0, len(own) - BYTES + 1, BYTES):
        if decoded(own[at : at + BYTES].tobytes()) is not None:
            found[at : at + BYTES] = False
    return found


def _reals(array: Any, element: str) -> Any:
    if element == "bf16":
        return (array.astype(numpy.uint32) << _BFLOAT16_SHIFT).view(numpy.float32).astype(numpy.float64)
    return array.astype(numpy.float64)
