"""`c = a @ b` on the device: the host's part of the kernel `gemm`.

    matmul(a, b, out)                                     # bf16, fp32 sums; shapes (M, K), (K, N), (M, N)
    plan = Matmul(8192, 8192, 8192, element="e4m3")       # once for a shape
    plan(a, b, out, scale_a, scale_b)                     # tensors of float8_e4m3fn, or their bytes

A plan has the compiled kernel, the schedule in device memory, and the memory for partial sums. Since launches of one
plan share this memory, they must not overlap: they must be on one stream, or on streams that wait for each other.
"""

from __future__ import annotations

import sys
from functools import cache, cached_property
from typing import Any

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import ArgumentError, DeviceArray, TensorMap, to_device, use_device
from ptxkit.device.arguments import has_element_type
from ptxkit.device.arrays import view_device_array
from ptxkit.kernels.gemm import gemm
from ptxkit.kernels.gemm_config import CONSUMERS, ELEMENTS, ROWS, STRIP_COLUMNS, GemmConfig
from ptxkit.kernels.gemm_schedule import ScheduleRow, encode_schedule, make_schedule

_FLAG = np.dtype(np.uint32)
_SUM = np.dtype(np.float32)
PROMOTION = 256
"""The least number of bytes that the L2 cache fetches."""


class Matmul:
    """A matrix product of one shape: (rows, depth) @ (depth, columns).

    `element` is the type of A and B, `bf16`, `e4m3` or `e5m2`; C is bf16. With `by_columns`, B is contiguous along N,
    as a (depth, columns) array is; else along K, as the transpose of a (columns, depth) array is. `cluster` is the
    number of CTAs that share B. With `precise`, sums of 8-bit types are promoted to fp32, see `gemm`. `spread`
    determines whether the last tiles are split over all CTAs along K; None splits them if that is faster.
    """

    def __init__(  # noqa: PLR0913  (all but the shape are by name, and have defaults)
        self,
        rows: int,
        columns: int,
        depth: int,
        *,
        element: str = "bf16",
        by_columns: bool = False,
        cluster: int = 2,
        precise: bool = False,
        spread: bool | None = None,
    ) -> None:
        self.shape = rows, columns, depth
        self.kernel: Kernel = _build_kernel(element, cluster, by_columns, precise)
        self.form = GemmConfig(element, cluster, by_columns, precise)
        self.spread = spread

    def rows_of(self, workers: int) -> list[list[ScheduleRow]]:
        """Returns the schedule for a number of workers, each of `cluster` CTAs."""
        rows, columns, depth = self.shape
        down, across = -(-rows // (ROWS * self.form.cluster)), -(-columns // self.form.columns)
        return make_schedule(down, across, -(-depth // self.form.k_block_elements), workers, spread=self.spread)

    @cached_property
    def workers(self) -> int:
        """The number of workers that the device can run at once; a CTA occupies a multiprocessor."""
        return int(use_device().properties.multiprocessor_count) // self.form.cluster

    @cached_property
    def _memory(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """The schedule, the memory for partial sums, and the flags, which are zero after each launch."""
        lists = self.rows_of(self.workers)
        warps = self.workers * self.form.cluster * CONSUMERS
        whole = all(row.kind == 0 for rows in lists for row in rows)
        parts = DeviceArray((1 if whole else warps * 32 * self.form.sums_per_thread,), _SUM)
        return to_device(encode_schedule(lists).reshape(-1)), parts, to_device(np.zeros(warps, _FLAG))

    @cached_property
    def _ones(self) -> tuple[DeviceArray, ...]:
        """The scale factors for launches without any."""
        return (to_device(np.ones(1, _SUM)),) * 2 if self.form.is_scaled else ()

    def maps(self, a: Any, b: Any, out: Any) -> tuple[TensorMap, TensorMap, TensorMap]:
        """Returns the tensor maps of the matrices. Raises `ArgumentError` for other shapes and types, and
        `TensorMapError`.
        """
        rows, columns, depth = self.shape
        for name, array, wanted in (("a", a, (rows, depth)), ("b", b, (depth, columns)), ("out", out, (rows, columns))):
            if tuple(array.shape) != wanted:
                raise ArgumentError(f"{name} has the shape {wanted}, not {tuple(array.shape)}")
        for name, array, element in (("a", a, self.form.element), ("b", b, self.form.element), ("out", out, "bf16")):
            view = view_device_array(array, f"{name} is a matrix in device memory")
            if not has_element_type(element, view):
                raise ArgumentError(f"{name} is a matrix of {element}, or of its bits, not of {view.elements}")
        word, along, by_columns = ELEMENTS[self.form.element].word, self.form.k_block_elements, self.form.by_columns
        boxes = (along, STRIP_COLUMNS if by_columns else self.form.multicast_columns)
        return (
            TensorMap.tiled(a, box=(along, ROWS), element=word, swizzle=128, l2_promotion=PROMOTION),
            TensorMap.tiled(b if by_columns else b.T, box=boxes, element=word, swizzle=128, l2_promotion=PROMOTION),
            TensorMap.tiled(out, box=(STRIP_COLUMNS, 16), element="bf16", swizzle=128, l2_promotion=PROMOTION),
        )

    def __call__(self, a: Any, b: Any, out: Any, *scales: Any, stream: Any = None) -> None:
        """Launches the kernel and does not wait.

        A, B and C are tensors of the plan's types (PyTorch's `float8_e4m3fn`, `float8_e5m2` and `bfloat16`), or
        integers of the same size with their bits. `scales` are the scale factors of A and B for types with 8 bits, an
        array of one f32 each, by default 1.
        """
        self.launch(self.maps(a, b, out), *scales, stream=stream)

    def launch(self, maps: tuple[TensorMap, ...], *scales: Any, stream: Any = None) -> None:
        """Launches the kernel with existing tensor maps, whose creation takes longer than the launch."""
        chosen = _current_stream(maps[-1].array) if stream is None else stream
        self.kernel.launch(chosen, grid=self.workers * self.form.cluster)(*maps, *self._memory, *(scales or self._ones))


def matmul(a: Any, b: Any, out: Any, *scales: Any, precise: bool = False, stream: Any = None) -> None:
    """Computes `out = a @ b`: see `Matmul`. A plan is cached for each shape.

    The types of the tensors determine the kernel; 16-bit integers hold bf16, and bytes hold e4m3.
    """
    (rows, depth), (_, columns) = a.shape, b.shape
    view = view_device_array(b, "b is a matrix in device memory")
    by_columns = view.strides[1] == view.size and columns > 1
    element = view.word if view.word in ELEMENTS else "e4m3" if view.size == 1 else "bf16"
    plan = _get_plan(rows, columns, depth, element, by_columns, precise)
    plan(a, b, out, *scales, stream=stream)


def _current_stream(array: Any) -> Any:
    """Returns the current stream of the library that an array belongs to, or None."""
    cuda = getattr(sys.modules.get(type(array).__module__.partition(".")[0]), "cuda", None)
    find = getattr(cuda, "current_stream", None) or getattr(cuda, "get_current_stream", None)
    return None if find is None else find()


@cache
def _build_kernel(element: str, cluster: int, by_columns: bool, precise: bool) -> Kernel:
    return gemm(element, cluster=cluster, by_columns=by_columns, precise=precise)


@cache
def _get_plan(rows: int, columns: int, depth: int, element: str, by_columns: bool, precise: bool) -> Matmul:
    return Matmul(rows, columns, depth, element=element, by_columns=by_columns, precise=precise)
