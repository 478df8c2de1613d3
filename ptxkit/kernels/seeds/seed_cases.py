"""Test cases of the example programs: small sizes and a few random ones, with the results of NumPy.

`scripts/device_check` runs them with those of `ptxkit.kernels.kernel_cases`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ptxkit.kernels.kernel_check import CheckedKernel, KernelCase, draw_finite_floats
from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.barrier_life import barrier_life, expected_trace
from ptxkit.kernels.seeds.bulk_both_ways import bulk_both_ways
from ptxkit.kernels.seeds.cluster_write import CTAS as WRITERS
from ptxkit.kernels.seeds.cluster_write import cluster_write, rotate_ctas
from ptxkit.kernels.seeds.dropping_out import dropping_out, sum_by_halves
from ptxkit.kernels.seeds.group_copy import group_copy
from ptxkit.kernels.seeds.launch_sized import BOTH, launch_sized
from ptxkit.kernels.seeds.multicast import CTAS as LISTENERS
from ptxkit.kernels.seeds.multicast import expected_multiples, multicast
from ptxkit.kernels.seeds.pipeline_one_stage import pipeline_one_stage
from ptxkit.kernels.seeds.pipeline_roles import pipeline_roles
from ptxkit.kernels.seeds.pipeline_two_stages import pipeline_two_stages
from ptxkit.kernels.seeds.plain_staging import plain_staging
from ptxkit.kernels.seeds.producer_consumer import producer_consumer
from ptxkit.kernels.seeds.split_barrier import TILE as SMALL_TILE
from ptxkit.kernels.seeds.split_barrier import expected_sums, split_barrier
from ptxkit.kernels.seeds.tensor_tile import boxes, tensor_tile
from ptxkit.kernels.seeds.tile_folding import THREADS, TILE, FloatArray, fold_tiles

ExpectedFunction = Callable[[FloatArray], FloatArray]
CaseGenerator = Callable[[int, np.random.Generator], Iterator[KernelCase]]


def _tile_cases(size: int, answer: ExpectedFunction) -> CaseGenerator:
    """Returns a generator of cases with any number of tiles of `size` elements, which any number of CTAs share."""

    def cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
        for tiles in _draw_counts(2000, sizes, random):
            source = draw_finite_floats(tiles * size, random)
            grid = int(random.integers(1, min(tiles, 300) + 2))
            yield KernelCase(str(source.size), source, (np.uint32(tiles),), grid, answer(source))

    return cases


def _run_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases with consecutive tiles for each CTA: one, as many as there are stages, and other numbers."""
    for tiles in _draw_counts(40, sizes, random):
        ctas = int(random.integers(1, 200))
        source = draw_finite_floats(ctas * tiles * TILE, random)
        yield KernelCase(f"{ctas}x{tiles}x{TILE}", source, (np.uint32(tiles),), ctas, fold_tiles(source))


def _per_cluster_cases(size: int, answer: ExpectedFunction, cluster: int = 1) -> CaseGenerator:
    """Returns a generator of cases with `size` elements for each cluster, or for each CTA without clusters."""

    def cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
        for clusters in _draw_counts(400, sizes, random):
            source = draw_finite_floats(clusters * size, random)
            yield KernelCase(str(source.size), source, (), clusters * cluster, answer(source))

    return cases


def _sum_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases of normally distributed numbers, whose sums are finite."""
    for ctas in _draw_counts(400, sizes, random):
        source = random.standard_normal(ctas * THREADS, np.float32)
        yield KernelCase(str(source.size), source, (), ctas, sum_by_halves(source))


def _matrix_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases of one box, of a part of a box, and of boxes that extend beyond both edges."""
    shapes = [(32, 32), (1, 4), (33, 68), (64, 60)]
    shapes += [(int(random.integers(1, 500)), 4 * int(random.integers(1, 200))) for _ in range(sizes)]
    for rows, columns in shapes:
        source = draw_finite_floats(rows * columns, random).reshape(rows, columns)
        yield KernelCase(f"{rows}x{columns}", source, (), boxes(rows, columns), _double(source))


def _gather_cases(sizes: int, random: np.random.Generator) -> Iterator[KernelCase]:
    """Yields cases with fewer elements than threads, and with more than the 48 KB that are available by default."""
    for count in [1, THREADS - 1, 10_000, *(int(each) for each in random.integers(2, 30_000, sizes))]:
        ctas = int(random.integers(1, 50))
        source, order = draw_finite_floats(ctas * count, random), random.permutation(count).astype(np.uint32)
        wanted = source.reshape(ctas, count)[:, order].ravel()
        yield KernelCase(f"{ctas}x{count}", source, (order,), ctas, wanted, shared=BOTH * count)


def _draw_counts(most: int, sizes: int, random: np.random.Generator) -> list[int]:
    return [1, 2, 3, *(int(each) for each in random.integers(4, most, sizes))]


def _double(source: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return source * np.float32(2)


CHECKED_SEEDS = (
    CheckedKernel(plain_staging, _tile_cases(TILE, fold_tiles)),
    CheckedKernel(group_copy, _tile_cases(TILE, fold_tiles)),
    CheckedKernel(barrier_copy, _tile_cases(TILE, fold_tiles)),
    CheckedKernel(split_barrier, _tile_cases(SMALL_TILE, expected_sums)),
    CheckedKernel(barrier_life, _per_cluster_cases(1, expected_trace)),
    CheckedKernel(producer_consumer, _run_cases),
    CheckedKernel(pipeline_one_stage, _tile_cases(TILE, fold_tiles)),
    CheckedKernel(pipeline_two_stages, _run_cases),
    CheckedKernel(pipeline_roles, _run_cases),
    CheckedKernel(bulk_both_ways, _per_cluster_cases(TILE, _double)),
    CheckedKernel(tensor_tile, _matrix_cases),
    CheckedKernel(multicast, _per_cluster_cases(TILE, expected_multiples, LISTENERS)),
    CheckedKernel(cluster_write, _per_cluster_cases(WRITERS * THREADS, rotate_ctas, WRITERS)),
    CheckedKernel(launch_sized, _gather_cases),
    CheckedKernel(dropping_out, _sum_cases),
)
