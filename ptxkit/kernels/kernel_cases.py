"""Test cases of the kernels: launches on new random data, with expected results that NumPy computes.

The sizes are random over all orders of magnitude, and sizes around the boundaries of units, tiles and stages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ptxkit.kernels.async_copy import TILE as COPY_TILE
from ptxkit.kernels.async_copy import async_copy
from ptxkit.kernels.bulk_add_one import bulk_add_one, ctas
from ptxkit.kernels.bulk_copy import bulk_copy, pieces
from ptxkit.kernels.cluster_histogram import BINS, cluster_histogram
from ptxkit.kernels.cluster_histogram import CLUSTER as HISTOGRAM_CLUSTER
from ptxkit.kernels.halo_exchange import CLUSTER as ROD_CLUSTER
from ptxkit.kernels.halo_exchange import ROD_ELEMENTS, halo_exchange
from ptxkit.kernels.kernel_check import CheckedKernel, KernelCase, draw_finite_floats
from ptxkit.kernels.layer_norm import layer_norm
from ptxkit.kernels.limits import MAX_RANDOM_ELEMENTS
from ptxkit.kernels.reduction import CHUNK as SUM_CHUNK
from ptxkit.kernels.reduction import ctas as sum_ctas
from ptxkit.kernels.reduction import reduction
from ptxkit.kernels.row_softmax import row_softmax
from ptxkit.kernels.saxpy import CHUNK as SAXPY_CHUNK
from ptxkit.kernels.saxpy import ctas as saxpy_ctas
from ptxkit.kernels.saxpy import saxpy
from ptxkit.kernels.transpose import tiles, transpose

EDGE_SIZES = (1, 3, 4, 5, 511, 512, 513, 1023, 1024, 1025, 4096)
"""Sizes at a boundary: of a copy's unit, of a tile, or of a stage."""


def _copy_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases for kernels that iterate over the array, so that any number of CTAs is valid."""
    for count in [*draw_sizes(sizes, random), *EDGE_SIZES]:
        source = draw_finite_floats(count, random)
        grid = int(random.integers(1, -(-count // COPY_TILE) + 2))
        yield KernelCase(str(count), source, (np.uint32(count),), grid, source)


def _add_one_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    for count in [*draw_sizes(sizes, random), *EDGE_SIZES]:
        source = draw_finite_floats(count, random)
        yield KernelCase(str(count), source, (np.uint32(count),), ctas(count), source + np.float32(1))


def _bulk_copy_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    for count in [*draw_sizes(sizes, random), *EDGE_SIZES]:
        source = draw_finite_floats(-(-count // 4) * 4, random)
        yield KernelCase(f"{source.size}", source, (np.uint64(source.nbytes),), pieces(source.nbytes), source)


def _transpose_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    shapes = [(4, 4), (64, 64), (68, 60), (64, 2048), (1000, 4), (260, 516)]
    shapes += [(4 * int(random.integers(1, 400)), 4 * int(random.integers(1, 400))) for _ in range(sizes)]
    for rows, columns in shapes:
        source = draw_finite_floats(rows * columns, random).reshape(rows, columns)
        yield KernelCase(f"{rows}x{columns}", source, (np.uint32(rows),), tiles(rows, columns), source.T.copy())


def _softmax_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    for rows in [1, *(int(random.integers(2, 200)) for _ in range(sizes))]:
        source = random.normal(0, random.uniform(0.1, 30), (rows, 8192)).astype(np.float32)
        powers = np.exp(source.astype(np.float64) - source.max(1, keepdims=True))
        yield KernelCase(
            f"{rows}x8192", source, (), rows, (powers / powers.sum(1, keepdims=True)).astype(np.float32), 1e-5
        )


def _layer_norm_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    for rows in [1, *(int(random.integers(2, 200)) for _ in range(sizes))]:
        source = random.normal(random.uniform(-3, 3), random.uniform(0.1, 5), (rows, 8192)).astype(np.float32)
        gain, bias = (random.standard_normal(8192, dtype=np.float32) for _ in range(2))
        exact = source.astype(np.float64)
        normal = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
        yield KernelCase(f"{rows}x8192", source, (gain, bias), rows, (normal * gain + bias).astype(np.float32), 1e-5)


def _saxpy_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases of a * x + y, rounded once."""
    for count in [*draw_sizes(sizes, random), *EDGE_SIZES, SAXPY_CHUNK - 1, SAXPY_CHUNK, SAXPY_CHUNK + 1]:
        x, y = draw_finite_floats(count, random), draw_finite_floats(count, random)
        a = np.float32(random.normal())
        wanted = fused_multiply_add(a, x, y)
        yield KernelCase(str(count), x, (a, np.uint32(count)), saxpy_ctas(count), wanted, initial_target=y)


def fused_multiply_add(a: np.float32, x: Any, y: Any) -> Any:
    """Returns a * x + y in fp32 with one rounding, as `fma.rn.f32` does.

    The product is exact in fp64, but the sum may not be. If bits of the sum are lost, its last bit is made odd, toward
    the lost bits, so that the rounding to fp32 does not treat it as a tie.
    """
    product, addend = np.float64(a) * x.astype(np.float64), y.astype(np.float64)
    total = product + addend
    other = total - product
    lost = (product - (total - other)) + (addend - other)
    bits = total.view(np.int64)
    inexact = (lost != 0) & (bits & 1 == 0)
    odd = bits + np.where((lost > 0) == (total > 0), 1, -1)
    with np.errstate(over="ignore"):
        return np.where(inexact, odd, bits).view(np.float64).astype(np.float32)


def _reduction_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases of small integers, whose sums are exact in any order, and of other numbers."""
    for count in [*draw_sizes(sizes, random), *EDGE_SIZES, SUM_CHUNK - 1, SUM_CHUNK, SUM_CHUNK + 1, 37 * SUM_CHUNK]:
        grid = sum_ctas(count)
        more = np.zeros(-(-grid // 4) * 4, np.float32), np.zeros(1, np.uint32), np.uint32(count)
        whole = random.integers(-8, 9, count).astype(np.float32)
        parts = random.uniform(0, 1, count).astype(np.float32)
        for source, tolerance in ((whole, 0.0), (parts, 1e-6)):
            total = np.array([source.sum(dtype=np.float64)], np.float32)
            yield KernelCase(str(count), source, more, grid, total, tolerance)


def _halo_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    counts = [(1, 0), (1, 1), (2, 2), (3, 3), (1, 200)]
    counts += [(int(random.integers(1, 100)), int(random.integers(0, 60))) for _ in range(sizes)]
    for rods, steps in counts:
        source = random.standard_normal((rods, ROD_ELEMENTS), dtype=np.float32)
        warm = source
        for _ in range(steps):
            beyond = np.pad(warm, ((0, 0), (1, 1)), mode="edge")
            warm = (beyond[:, :-2] + beyond[:, 2:]) * np.float32(0.25) + warm * np.float32(0.5)
        yield KernelCase(f"{rods}, {steps} steps", source, (np.uint32(steps),), rods * ROD_CLUSTER, warm)


def _histogram_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases of keys that are spread over the bins, some outside of all bins, and of keys that are mostly
    equal.
    """
    for count in [*draw_sizes(sizes, random), *EDGE_SIZES]:
        for least, most in ((0, BINS + BINS // 16), (BINS // 2 - 1, BINS // 2 + 1)):
            keys = random.integers(least, most, count, dtype=np.uint32)
            before = random.integers(0, 1 << 32, BINS, dtype=np.uint32)
            counts = np.bincount(keys, minlength=BINS)[:BINS].astype(np.uint32)
            grid = int(random.integers(1, 40)) * HISTOGRAM_CLUSTER
            yield KernelCase(str(count), keys, (np.uint32(count),), grid, before + counts, initial_target=before)


CHECKED_KERNELS = (
    CheckedKernel(async_copy, _copy_cases),
    CheckedKernel(bulk_add_one, _add_one_cases),
    CheckedKernel(bulk_copy, _bulk_copy_cases),
    CheckedKernel(transpose, _transpose_cases),
    CheckedKernel(row_softmax, _softmax_cases),
    CheckedKernel(layer_norm, _layer_norm_cases),
    CheckedKernel(saxpy, _saxpy_cases),
    CheckedKernel(reduction, _reduction_cases),
    CheckedKernel(halo_exchange, _halo_cases),
    CheckedKernel(cluster_histogram, _histogram_cases),
)


def draw_sizes(sizes: int, random: np.random.Generator) -> list[int]:
    """Returns sizes of all orders of magnitude up to `MAX_RANDOM_ELEMENTS`."""
    return [int(size) for size in np.exp(random.uniform(0, np.log(MAX_RANDOM_ELEMENTS), sizes))]
