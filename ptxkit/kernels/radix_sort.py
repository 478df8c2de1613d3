"""Sorting on the device: the host's part of the kernels `radix_histogram`, `radix_starts` and `radix_pass`.

    radix_sort(source, target)                                # ascending; u32, s32 or f32
    plan = RadixSort(1 << 26, element="f32")                  # once for a size
    plan(source, target)

A sort is six launches: two count the digits for all four passes, and then each pass sorts by one digit. A plan has the
compiled kernels, the memory for what the CTAs publish, and a second array of keys. Launches of one plan share these, so
they must be on one stream, or on streams that wait for each other.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import ArgumentError, DeviceArray, to_device, use_device
from ptxkit.device.arrays import view_device_array
from ptxkit.device.streams import current_stream
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.radix_config import DIGIT_BITS, DIGITS, PASSES, KeyName, RadixConfig
from ptxkit.kernels.radix_histogram import THREADS, radix_histogram, radix_histogram_ctas, radix_starts
from ptxkit.kernels.radix_pass import radix_pass, radix_pass_ctas, radix_pass_state

_THREADS_OF_MULTIPROCESSOR = 2048
_DTYPES: dict[KeyName, type[Any]] = {"u32": np.uint32, "s32": np.int32, "f32": np.float32}


class RadixSort:
    """Sorts arrays of `count` keys of a type: `u32`, `s32`, or `f32`, for whose order see `RadixConfig`."""

    def __init__(self, count: int, *, element: KeyName = "u32", config: RadixConfig | None = None) -> None:
        self.count = count
        self.config = RadixConfig(element) if config is None else config
        self.histogram, self.starts, self.kernel = _build_kernels(self.config)

    @cached_property
    def _memory(self) -> tuple[DeviceArray, ...]:
        """The counts of digits, the numbers of keys with smaller digits, and what the CTAs publish."""
        counts = np.zeros(PASSES * DIGITS, np.uint32)
        return tuple(to_device(each) for each in (counts, counts, *radix_pass_state(self.config, self.count)))

    @cached_property
    def _spare(self) -> DeviceArray:
        """The keys after the first and the third pass."""
        return DeviceArray((self.count,), np.dtype(_DTYPES[self.config.element]))

    @cached_property
    def _histogram_ctas(self) -> int:
        room = int(use_device().properties.multiprocessor_count) * (_THREADS_OF_MULTIPROCESSOR // THREADS)
        return radix_histogram_ctas(self.count, room)

    def __call__(self, source: Any, target: Any, *, stream: Any = None) -> None:
        """Launches the kernels and does not wait. The arrays may be the same one.

        Raises `ArgumentError` for arrays that do not have `count` keys.
        """
        for name, array in (("source", source), ("target", target)):
            found = int(np.prod(array.shape, dtype=np.int64))
            if found != self.count:
                raise ArgumentError(f"{name} has {self.count} keys, not {found}")
        if stream is None:
            stream = _KnownStream(current_stream((source, target)))
        counts, starts, *state = self._memory
        self.histogram.launch(stream, grid=self._histogram_ctas)(source, counts, self.count)
        self.starts.launch(stream, grid=PASSES)(counts, starts)
        launch = self.kernel.launch(stream, grid=radix_pass_ctas(self.config, self.count))
        keys = source
        for number in range(PASSES):
            sorted_keys = target if number % 2 else self._spare
            launch(keys, sorted_keys, starts, *state, number * DIGIT_BITS, self.count)
            keys = sorted_keys


@dataclass(frozen=True, slots=True)
class _KnownStream:
    """The stream of all launches: the current one of the caller's library, also where no argument belongs to it."""

    cuda_stream: int


def radix_sort(source: Any, target: Any, *, stream: Any = None) -> None:
    """Sorts an array of u32, s32 or f32 in ascending order: see `RadixSort`. A plan is cached for each size."""
    view = view_device_array(source, "source is an array in device memory")
    element: KeyName = "f32" if view.kind == "f" else "s32" if view.kind == "i" else "u32"
    plan = _get_plan(int(np.prod(source.shape, dtype=np.int64)), element)
    plan(source, target, stream=stream)


@cache
def _build_kernels(config: RadixConfig) -> tuple[Kernel, Kernel, Kernel]:
    return radix_histogram(config.element), radix_starts(), radix_pass(config)


@cache
def _get_plan(count: int, element: KeyName) -> RadixSort:
    return RadixSort(count, element=element)
