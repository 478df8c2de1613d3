"""Runs the kernels on this machine's GPU and compares every element with the result of NumPy.

Each run has new random data, and guard elements around the target that the kernel must not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import Loaded, load
from ptxkit.device.device_memory import DeviceArray, to_device, use_device
from ptxkit.fast_dataclasses import dataclass

FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
WordArray: TypeAlias = np.ndarray[Any, Any]
"""An array of any type of 32 bits."""

GUARD_ELEMENTS = 64
"""The number of elements before and after the target that no kernel may write; a multiple of all alignments."""


@dataclass(frozen=True, slots=True)
class KernelCase:
    """One launch.

    `size` is a description of its size. `source` is the first input, and `more` are the arguments after source and
    target. `wanted` is the expected target, and `tolerance` is relative to the largest value of a row, or 0 if all bits
    must be equal. `shared` is the launch-sized shared memory in bytes, if it is more than the kernel declares. `before`
    is the initial target, if it matters.
    """

    size: str
    source: WordArray
    extra_arguments: tuple[Any, ...]
    grid: int | tuple[int, ...]
    expected: WordArray
    tolerance: float = 0.0
    shared: int | None = None
    initial_target: WordArray | None = None


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """A kernel, and a generator of cases for a number of random sizes and all boundary sizes."""

    build: Callable[[], Kernel]
    cases: Callable[[int, np.random.Generator], Iterator[KernelCase]]


@dataclass(frozen=True, slots=True)
class KernelCheckResult:
    """The result of a run: `wrong` elements differ, and `first` is the index of the first one, where guards begin at
    -GUARD_ELEMENTS.
    """

    kernel: str
    size: str
    grid: int | tuple[int, ...]
    wrong_count: int
    first_wrong: int | None = None

    @property
    def is_correct(self) -> bool:
        return self.wrong_count == 0


def check_kernel(subject: CheckedKernel, sizes: int, random: np.random.Generator) -> Iterator[KernelCheckResult]:
    """Runs a kernel on all its cases and yields the results. Raises `NoDeviceError` if there is no GPU."""
    device = use_device()
    stream = device.create_stream()
    kernel = load(subject.build())
    for case in subject.cases(sizes, random):
        before = _make_initial_memory(case, random)
        outside = to_device(before)
        inside = [
            to_device(each) if isinstance(each, np.ndarray) else each for each in (case.source, *case.extra_arguments)
        ]
        target = _target_between_guards(outside, case.expected.shape)
        arguments = _as_parameter_elements(kernel, inside[0]), _as_parameter_elements(kernel, target), *inside[1:]
        kernel.launch(stream, *arguments, grid=case.grid, shared=case.shared)
        stream.sync()
        wrong = _find_differences(case, before, outside.to_host())
        first = int(wrong[0]) - GUARD_ELEMENTS if wrong.size else None
        yield KernelCheckResult(kernel.signature.name, case.size, case.grid, int(wrong.size), first)


def as_first_argument(kernel: Kernel, array: WordArray) -> WordArray:
    """Returns a NumPy array with the element type of the kernel's first parameter: its words, or its bytes."""
    first = kernel.parameters[0]
    return array.view(np.uint8) if first.tensor is None and first.type.word == "b8" else array


class _SubArray:
    """A part of a device array, or its elements with another type. It keeps the whole array alive."""

    def __init__(self, whole: DeviceArray | _SubArray, **other: Any) -> None:
        self._whole = whole
        self._interface = {**whole.__cuda_array_interface__, **other}

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return self._interface


def _target_between_guards(whole: DeviceArray, shape: tuple[int, ...]) -> _SubArray:
    return _SubArray(whole, shape=shape, data=(whole.address + GUARD_ELEMENTS * whole.dtype.itemsize, False))


def _as_parameter_elements(kernel: Loaded, array: DeviceArray | _SubArray) -> DeviceArray | _SubArray:
    """Returns a device array with the element type of the kernel's first parameter: its words, or its bytes."""
    if kernel.signature.arguments[0].element != "b8":
        return array
    shape: Any = array.__cuda_array_interface__["shape"]
    return _SubArray(array, shape=(4 * int(np.prod(shape, dtype=np.int64)),), typestr="|u1")


def _make_initial_memory(case: KernelCase, random: np.random.Generator) -> WordArray:
    """Returns the contents of the target and its guards before the launch."""
    words: WordArray = draw_finite_floats(case.expected.size + 2 * GUARD_ELEMENTS, random).view(case.expected.dtype)
    if case.initial_target is not None:
        words[GUARD_ELEMENTS : len(words) - GUARD_ELEMENTS] = case.initial_target.ravel()
    return words


def _find_differences(case: KernelCase, before: WordArray, after: WordArray) -> np.ndarray[Any, Any]:
    """Returns the indices of the wrong elements, counted from the first guard."""
    wanted = np.concatenate([before[:GUARD_ELEMENTS], case.expected.ravel(), before[len(before) - GUARD_ELEMENTS :]])
    differs = wanted.view(np.uint32) != after.view(np.uint32)
    if case.tolerance:
        got = after[GUARD_ELEMENTS : len(after) - GUARD_ELEMENTS].reshape(case.expected.shape)
        scale = np.abs(case.expected).max(-1, keepdims=True)
        inner = ~(np.abs(got.astype(np.float64) - case.expected) <= case.tolerance * scale)
        differs[GUARD_ELEMENTS : len(after) - GUARD_ELEMENTS] = inner.ravel()
    return np.flatnonzero(differs)


def draw_finite_floats(count: int, random: np.random.Generator) -> FloatArray:
    """Returns random finite numbers. NaN is excluded, because the bits of a NaN after arithmetic are unspecified."""
    bits = random.integers(0, 1 << 32, count, dtype=np.uint32)
    bits[(bits & 0x7F800000) == 0x7F800000] &= 0x007FFFFF
    return bits.view(np.float32)
