"""Prefix sums on the device: the host's part of the kernel `prefix_sum`.

    cumulative_sum(source, target)                            # target[i] = source[0] + ... + source[i]
    plan = CumulativeSum(1 << 26, exclusive=True)             # once for a size
    plan(source, target)

A plan has the compiled kernel and the memory for what the CTAs publish. Launches of one plan share it, so they must be
on one stream, or on streams that wait for each other. A captured CUDA graph may contain launches of a plan.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import ArgumentError, DeviceArray, to_device
from ptxkit.device.arrays import view_device_array
from ptxkit.kernels.prefix_sum import ElementName, PrefixSumConfig, prefix_sum, prefix_sum_ctas, prefix_sum_state


class CumulativeSum:
    """The prefix sums of arrays of `count` elements of a type, `f32` or `s32`. With `exclusive`, the sum for an element
    is that of the elements before it, and the first one is zero.
    """

    def __init__(
        self,
        count: int,
        *,
        element: ElementName = "f32",
        exclusive: bool = False,
        config: PrefixSumConfig | None = None,
    ) -> None:
        self.count = count
        self.config = PrefixSumConfig(element, exclusive) if config is None else config
        self.kernel: Kernel = _build_kernel(self.config)
        self.grid = prefix_sum_ctas(self.config, count)

    @cached_property
    def _state(self) -> tuple[DeviceArray, ...]:
        """What the CTAs publish."""
        return tuple(to_device(each) for each in prefix_sum_state(self.config, self.count))

    def __call__(self, source: Any, target: Any, *, stream: Any = None) -> None:
        """Launches the kernel and does not wait. The arrays may be the same one.

        Raises `ArgumentError` for arrays that do not have `count` elements.
        """
        for name, array in (("source", source), ("target", target)):
            found = int(np.prod(array.shape, dtype=np.int64))
            if found != self.count:
                raise ArgumentError(f"{name} has {self.count} elements, not {found}")
        self.kernel.launch(stream, grid=self.grid)(source, target, *self._state, self.count)


def cumulative_sum(source: Any, target: Any, *, exclusive: bool = False, stream: Any = None) -> None:
    """Computes the prefix sums of an array of f32 or s32: see `CumulativeSum`. A plan is cached for each size."""
    view = view_device_array(source, "source is an array in device memory")
    plan = _get_plan(int(np.prod(source.shape, dtype=np.int64)), "f32" if view.kind == "f" else "s32", exclusive)
    plan(source, target, stream=stream)


@cache
def _build_kernel(config: PrefixSumConfig) -> Kernel:
    return prefix_sum(config)


@cache
def _get_plan(count: int, element: ElementName, exclusive: bool) -> CumulativeSum:
    return CumulativeSum(count, element=element, exclusive=exclusive)
