"""`c = a @ b` on the device: what the host does for the kernel `gemm`.

    matmul(a, b, out)                                     # bf16, fp32 sums; shapes (M, K), (K, N), (M, N)
    plan = Matmul(8192, 8192, 8192, element="e4m3")       # once for a shape
    plan(a, b, out, scale_a, scale_b)                     # tensors of float8_e4m3fn, or their bytes

A plan has the compiled kernel, the schedule in device memory, and the memory in which partial sums are published. Since
there is one such memory, launches of one plan must follow one another: on one stream, or on streams that wait.
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
"""Bytes that the L2 cache fetches at least."""


class Matmul:
    """A matrix product of one shape: (rows, depth) @ (depth, columns).

    element: of A and B, `bf16`, `e4m3` or `e5m2`; C is bf16. by_columns: B is packed along N, as a (depth, columns)
    array is; else along K, as the transpose of a (columns, depth) array is. cluster: CTAs that share B. precise: sums
    of 8-bit numbers are promoted to fp32, see `gemm`. spread: whether the last tiles are spread over all CTAs along K;
    None does it if that is faster.
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
        """The schedule for so many workers, each of `cluster` CTAs."""
        rows, columns, depth = self.shape
        down, across = -(-rows // (ROWS * self.form.cluster)), -(-columns // self.form.columns)
        return make_schedule(down, across, -(-depth // self.form.k_block_elements), workers, spread=self.spread)

    @cached_property
    def workers(self) -> int:
        """As many as the device has room for: a CTA fills a multiprocessor."""
        return int(use_device().properties.multiprocessor_count) // self.form.cluster

    @cached_property
    def _memory(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """The schedule, the room for partial sums, and the flags, which the kernel leaves as they were."""
        lists = self.rows_of(self.workers)
        warps = self.workers * self.form.cluster * CONSUMERS
        whole = all(row.kind == 0 for rows in lists for row in rows)
        parts = DeviceArray((1 if whole else warps * 32 * self.form.sums_per_thread,), _SUM)
        return to_device(encode_schedule(lists).reshape(-1)), parts, to_device(np.zeros(warps, _FLAG))

    @cached_property
    def _ones(self) -> tuple[DeviceArray, ...]:
        """The factors where none are given."""
        return (to_device(np.ones(1, _SUM)),) * 2 if self.form.is_scaled else ()

    def maps(self, a: Any, b: Any, out: Any) -> tuple[TensorMap, TensorMap, TensorMap]:
        """The tensor maps of the matrices. Errors: `ArgumentError` for other shapes and elements, `TensorMapError`."""
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
        """Launches and does not wait. `scales` are the factors of A and of B for 8-bit numbers, an array of one f32
        each; 1 by default.

        A, B and C are tensors of their types (PyTorch's `float8_e4m3fn`, `float8_e5m2` and `bfloat16`), or integers of
        the same size, whose bits they are.
        """
        self.launch(self.maps(a, b, out), *scales, stream=stream)

    def launch(self, maps: tuple[TensorMap, ...], *scales: Any, stream: Any = None) -> None:
        """The same with maps that are made already: they cost more than the launch."""
        chosen = _current_stream(maps[-1].array) if stream is None else stream
        self.kernel.launch(chosen, grid=self.workers * self.form.cluster)(*maps, *self._memory, *(scales or self._ones))


def matmul(a: Any, b: Any, out: Any, *scales: Any, precise: bool = False, stream: Any = None) -> None:
    """`out = a @ b`: see `Matmul`. A plan is kept for each shape.

    What the tensors hold decides; integers are the bits of bf16, or of e4m3 where they are bytes.
    """
    (rows, depth), (_, columns) = a.shape, b.shape
    view = view_device_array(b, "b is a matrix in device memory")
    by_columns = view.strides[1] == view.size and columns > 1
    element = view.word if view.word in ELEMENTS else "e4m3" if view.size == 1 else "bf16"
    plan = _get_plan(rows, columns, depth, element, by_columns, precise)
    plan(a, b, out, *scales, stream=stream)


def _current_stream(array: Any) -> Any:
    """The current stream of the library that an array is from; None where it has none."""
    cuda = getattr(sys.modules.get(type(array).__module__.partition(".")[0]), "cuda", None)
    find = getattr(cuda, "current_stream", None) or getattr(cuda, "get_current_stream", None)
    return None if find is None else find()


@cache
def _build_kernel(element: str, cluster: int, by_columns: bool, precise: bool) -> Kernel:
    return gemm(element, cluster=cluster, by_columns=by_columns, precise=precise)


@cache
def _get_plan(rows: int, columns: int, depth: int, element: str, by_columns: bool, precise: bool) -> Matmul:
    return Matmul(rows, columns, depth, element=element, by_columns=by_columns, precise=precise)
