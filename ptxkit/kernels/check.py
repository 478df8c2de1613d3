"""Runs the kernels on this machine's GPU and compares every element with NumPy's answer.

Each run has fresh random data, and a guard of other bits around the target that must stay as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import Loaded, load
from ptxkit.device.memory import DeviceArray, to_device, use_device
from ptxkit.records import dataclass

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Words: TypeAlias = np.ndarray[Any, Any]
"""An array of any type of 32 bits."""

GUARD = 64
"""Elements on either side of the target that no kernel may write; a multiple of any alignment."""


@dataclass(frozen=True, slots=True)
class Case:
    """One launch. size: in words. source: what the kernel reads first. more: the arguments behind source and target.

    wanted: the target. tolerance: relative to the largest value of a row; 0 where each bit must be right. shared: bytes
    of launch-sized shared memory, where it is more than the kernel asks for. before: what is in the target at first,
    where that matters.
    """

    size: str
    source: Words
    more: tuple[Any, ...]
    grid: int | tuple[int, ...]
    wanted: Words
    tolerance: float = 0.0
    shared: int | None = None
    before: Words | None = None


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
    grid: int | tuple[int, ...]
    wrong: int
    first: int | None = None

    @property
    def right(self) -> bool:
        return self.wrong == 0


def check(subject: Subject, sizes: int, random: np.random.Generator) -> Iterator[Outcome]:
    """Runs one kernel on all its cases; `NoDeviceError` where there is no GPU."""
    device = use_device()
    stream = device.create_stream()
    kernel = load(subject.build())
    for case in subject.cases(sizes, random):
        before = _surroundings(case, random)
        outside = to_device(before)
        inside = [to_device(each) if isinstance(each, np.ndarray) else each for each in (case.source, *case.more)]
        target = _inner(outside, case.wanted.shape)
        arguments = _bytes(kernel, inside[0]), _bytes(kernel, target), *inside[1:]
        kernel.launch(stream, *arguments, grid=case.grid, shared=case.shared)
        stream.sync()
        wrong = _differing(case, before, outside.to_host())
        first = int(wrong[0]) - GUARD if wrong.size else None
        yield Outcome(kernel.signature.name, case.size, case.grid, int(wrong.size), first)


def as_taken(kernel: Kernel, array: Words) -> Words:
    """An array of NumPy as the kernel's first parameter takes it: its words, or bytes."""
    first = kernel.parameters[0]
    return array.view(np.uint8) if first.tensor is None and first.type.word == "b8" else array


class _Part:
    """Some elements of a device array, or its elements seen as others: an array, which keeps the whole one alive."""

    def __init__(self, whole: DeviceArray | _Part, **other: Any) -> None:
        self._whole = whole
        self._interface = {**whole.__cuda_array_interface__, **other}

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return self._interface


def _inner(whole: DeviceArray, shape: tuple[int, ...]) -> _Part:
    """The target between its guards."""
    return _Part(whole, shape=shape, data=(whole.address + GUARD * whole.dtype.itemsize, False))


def _bytes(kernel: Loaded, array: DeviceArray | _Part) -> DeviceArray | _Part:
    """The array as the kernel's first parameter takes it: its words, or bytes."""
    if kernel.signature.arguments[0].element != "b8":
        return array
    shape: Any = array.__cuda_array_interface__["shape"]
    return _Part(array, shape=(4 * int(np.prod(shape, dtype=np.int64)),), typestr="|u1")


def _surroundings(case: Case, random: np.random.Generator) -> Words:
    """What is in the target, and around it, before the launch."""
    words: Words = finite_floats(case.wanted.size + 2 * GUARD, random).view(case.wanted.dtype)
    if case.before is not None:
        words[GUARD : len(words) - GUARD] = case.before.ravel()
    return words


def _differing(case: Case, before: Words, after: Words) -> np.ndarray[Any, Any]:
    """The indices, from that of the first guard on, of elements that are not as they must be."""
    wanted = np.concatenate([before[:GUARD], case.wanted.ravel(), before[len(before) - GUARD :]])
    differs = wanted.view(np.uint32) != after.view(np.uint32)
    if case.tolerance:
        got = after[GUARD : len(after) - GUARD].reshape(case.wanted.shape)
        scale = np.abs(case.wanted).max(-1, keepdims=True)
        inner = ~(np.abs(got.astype(np.float64) - case.wanted) <= case.tolerance * scale)
        differs[GUARD : len(after) - GUARD] = inner.ravel()
    return np.flatnonzero(differs)


def finite_floats(count: int, random: np.random.Generator) -> Floats:
    """Random bits that are finite numbers: the bits of a NaN after arithmetic are nobody's promise."""
    bits = random.integers(0, 1 << 32, count, dtype=np.uint32)
    bits[(bits & 0x7F800000) == 0x7F800000] &= 0x007FFFFF
    return bits.view(np.float32)
