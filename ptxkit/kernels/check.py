"""Runs the kernels on this machine's GPU and compares every element with NumPy's answer.

Each run has fresh random data, and a guard of other bits around the target that must stay as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import load
from ptxkit.device.memory import DeviceArray, to_device, use_device
from ptxkit.kernels.async_copy import TILE as COPY_TILE
from ptxkit.kernels.async_copy import async_copy
from ptxkit.kernels.bulk_add_one import bulk_add_one, ctas
from ptxkit.kernels.bulk_copy import bulk_copy, pieces
from ptxkit.kernels.layer_norm import layer_norm
from ptxkit.kernels.row_softmax import row_softmax
from ptxkit.kernels.transpose import tiles, transpose
from ptxkit.records import dataclass

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

GUARD = 64
"""Elements on either side of the target that no kernel may write; a multiple of any alignment."""
LARGEST = 1 << 24
EDGES = (1, 3, 4, 5, 511, 512, 513, 1023, 1024, 1025, 4096)
"""Sizes at which something ends: a copy's unit, a tile, a stage."""


@dataclass(frozen=True, slots=True)
class Case:
    """One launch. size: in words. source: what the kernel reads first. more: the arguments behind source and target.

    wanted: the target. tolerance: relative to the largest value of a row; 0 where each bit must be right.
    """

    size: str
    source: _Floats
    more: tuple[Any, ...]
    grid: int
    wanted: _Floats
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel, and its cases: for so many random sizes, and at every edge."""

    build: Callable[[], Kernel]
    cases: Callable[[int, np.random.Generator], Iterator[Case]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run. wrong: elements that differ; first: the index of the first one, the guard's from -GUARD."""

    kernel: str
    size: str
    grid: int
    wrong: int
    first: int | None = None

    @property
    def right(self) -> bool:
        return self.wrong == 0


# -------------------------------------------------------------------------------------------------- cases


def _copies(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    """The copy walks over the array, so that any number of CTAs will do."""
    for count in [*random_sizes(sizes, random), *EDGES]:
        source = _finite_floats(count, random)
        grid = int(random.integers(1, -(-count // COPY_TILE) + 2))
        yield Case(str(count), source, (np.uint32(count),), grid, source)


def _sums(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    for count in [*random_sizes(sizes, random), *EDGES]:
        source = _finite_floats(count, random)
        yield Case(str(count), source, (np.uint32(count),), ctas(count), source + np.float32(1))


def _blocks(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    for count in [*random_sizes(sizes, random), *EDGES]:
        source = _finite_floats(-(-count // 4) * 4, random)
        yield Case(f"{source.size}", source, (np.uint64(source.nbytes),), pieces(source.nbytes), source)


def _matrices(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    shapes = [(4, 4), (64, 64), (68, 60), (64, 2048), (1000, 4), (260, 516)]
    shapes += [(4 * int(random.integers(1, 400)), 4 * int(random.integers(1, 400))) for _ in range(sizes)]
    for rows, columns in shapes:
        source = _finite_floats(rows * columns, random).reshape(rows, columns)
        yield Case(f"{rows}x{columns}", source, (np.uint32(rows),), tiles(rows, columns), source.T.copy())


def _softmaxes(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    for rows in [1, *(int(random.integers(2, 200)) for _ in range(sizes))]:
        source = random.normal(0, random.uniform(0.1, 30), (rows, 8192)).astype(np.float32)
        powers = np.exp(source.astype(np.float64) - source.max(1, keepdims=True))
        yield Case(f"{rows}x8192", source, (), rows, (powers / powers.sum(1, keepdims=True)).astype(np.float32), 1e-5)


def _norms(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    for rows in [1, *(int(random.integers(2, 200)) for _ in range(sizes))]:
        source = random.normal(random.uniform(-3, 3), random.uniform(0.1, 5), (rows, 8192)).astype(np.float32)
        gain, bias = (random.standard_normal(8192, dtype=np.float32) for _ in range(2))
        exact = source.astype(np.float64)
        normal = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
        yield Case(f"{rows}x8192", source, (gain, bias), rows, (normal * gain + bias).astype(np.float32), 1e-5)


SUBJECTS = (
    Subject(async_copy, _copies),
    Subject(bulk_add_one, _sums),
    Subject(bulk_copy, _blocks),
    Subject(transpose, _matrices),
    Subject(row_softmax, _softmaxes),
    Subject(layer_norm, _norms),
)


def random_sizes(sizes: int, random: np.random.Generator) -> list[int]:
    """Sizes of all orders of magnitude up to `LARGEST`."""
    return [int(size) for size in np.exp(random.uniform(0, np.log(LARGEST), sizes))]


# --------------------------------------------------------------------------------------------------- runs


def check(subject: Subject, sizes: int, random: np.random.Generator) -> Iterator[Outcome]:
    """Runs one kernel on all its cases; `NoDeviceError` where there is no GPU."""
    device = use_device()
    stream = device.create_stream()
    kernel = load(subject.build())
    for case in subject.cases(sizes, random):
        before = _finite_floats(case.wanted.size + 2 * GUARD, random)
        outside = to_device(before)
        inside = [to_device(each) if isinstance(each, np.ndarray) else each for each in (case.source, *case.more)]
        target = _Inner(outside, case.wanted.shape)
        kernel.launch(stream, _bytes(kernel, inside[0]), _bytes(kernel, target), *inside[1:], grid=case.grid)
        stream.sync()
        wrong = _differing(case, before, outside.to_host())
        first = int(wrong[0]) - GUARD if wrong.size else None
        yield Outcome(kernel.signature.name, case.size, case.grid, int(wrong.size), first)


class _Inner:
    """The target between its guards, as an array."""

    def __init__(self, whole: DeviceArray, shape: tuple[int, ...]) -> None:
        self._whole = whole  # which it keeps alive
        address = whole.address + GUARD * whole.dtype.itemsize
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": whole.dtype.str,
            "data": (address, False),
            "strides": None,
            "version": 3,
        }


class _Bytes:
    """An array of words seen as bytes."""

    def __init__(self, array: Any) -> None:
        self._array = array
        seen = array.__cuda_array_interface__
        words = int(np.prod(seen["shape"], dtype=np.int64))
        self.__cuda_array_interface__ = {**seen, "shape": (words * 4,), "typestr": "|u1"}


def _bytes(kernel: Any, array: Any) -> Any:
    """The array as the kernel's first parameter takes it."""
    return _Bytes(array) if kernel.signature.arguments[0].element == "b8" else array


def _differing(case: Case, before: _Floats, after: _Floats) -> np.ndarray[Any, Any]:
    """The indices, from that of the first guard on, of elements that are not as they must be."""
    wanted = np.concatenate([before[:GUARD], case.wanted.ravel(), before[len(before) - GUARD :]])
    differs = wanted.view(np.uint32) != after.view(np.uint32)
    if case.tolerance:
        got = after[GUARD : len(after) - GUARD].reshape(case.wanted.shape)
        scale = np.abs(case.wanted).max(-1, keepdims=True)
        inner = ~(np.abs(got.astype(np.float64) - case.wanted) <= case.tolerance * scale)
        differs[GUARD : len(after) - GUARD] = inner.ravel()
    return np.flatnonzero(differs)


def _finite_floats(count: int, random: np.random.Generator) -> _Floats:
    """Random bits that are finite numbers: the bits of a NaN after arithmetic are nobody's promise."""
    bits = random.integers(0, 1 << 32, count, dtype=np.uint32)
    bits[(bits & 0x7F800000) == 0x7F800000] &= 0x007FFFFF
    return bits.view(np.float32)
