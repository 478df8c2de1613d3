"""The cases on which the seed programs run: small sizes and a few random ones, beside NumPy's answer.

`scripts/device_check` runs them with those of `ptxkit.kernels.cases`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ptxkit.kernels.check import Case, Subject, finite_floats
from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.barrier_life import barrier_life, story
from ptxkit.kernels.seeds.bulk_both_ways import bulk_both_ways
from ptxkit.kernels.seeds.cluster_write import CTAS as WRITERS
from ptxkit.kernels.seeds.cluster_write import cluster_write, turned
from ptxkit.kernels.seeds.dropping_out import dropping_out, sums_by_halves
from ptxkit.kernels.seeds.folding import THREADS, TILE, Floats, folded
from ptxkit.kernels.seeds.group_copy import group_copy
from ptxkit.kernels.seeds.launch_sized import BOTH, launch_sized
from ptxkit.kernels.seeds.multicast import CTAS as LISTENERS
from ptxkit.kernels.seeds.multicast import multicast, multiples
from ptxkit.kernels.seeds.pipeline_one_stage import pipeline_one_stage
from ptxkit.kernels.seeds.pipeline_roles import pipeline_roles
from ptxkit.kernels.seeds.pipeline_two_stages import pipeline_two_stages
from ptxkit.kernels.seeds.plain_staging import plain_staging
from ptxkit.kernels.seeds.producer_consumer import producer_consumer
from ptxkit.kernels.seeds.split_barrier import TILE as SMALL_TILE
from ptxkit.kernels.seeds.split_barrier import split_barrier, squares_and_opposites
from ptxkit.kernels.seeds.tensor_tile import boxes, tensor_tile

Answer = Callable[[Floats], Floats]
Cases = Callable[[int, np.random.Generator], Iterator[Case]]


def _shared_by_all(size: int, answer: Answer) -> Cases:
    """Any number of tiles of `size` elements, which any number of CTAs share."""

    def cases(sizes: int, random: np.random.Generator) -> Iterator[Case]:
        for tiles in _numbers(2000, sizes, random):
            source = finite_floats(tiles * size, random)
            grid = int(random.integers(1, min(tiles, 300) + 2))
            yield Case(str(source.size), source, (np.uint32(tiles),), grid, answer(source))

    return cases


def _runs(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    """Tiles in a row for each CTA: one, as many as there are stages, and other numbers."""
    for tiles in _numbers(40, sizes, random):
        ctas = int(random.integers(1, 200))
        source = finite_floats(ctas * tiles * TILE, random)
        yield Case(f"{ctas}x{tiles}x{TILE}", source, (np.uint32(tiles),), ctas, folded(source))


def _each(size: int, answer: Answer, cluster: int = 1) -> Cases:
    """`size` elements for each cluster, or each CTA where there are none; its CTAs write the answer."""

    def cases(sizes: int, random: np.random.Generator) -> Iterator[Case]:
        for clusters in _numbers(400, sizes, random):
            source = finite_floats(clusters * size, random)
            yield Case(str(source.size), source, (), clusters * cluster, answer(source))

    return cases


def _sums(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    """Numbers whose sums are finite, too."""
    for ctas in _numbers(400, sizes, random):
        source = random.standard_normal(ctas * THREADS, np.float32)
        yield Case(str(source.size), source, (), ctas, sums_by_halves(source))


def _matrices(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    """Of one box, of a part of one, and with boxes that reach over both edges."""
    shapes = [(32, 32), (1, 4), (33, 68), (64, 60)]
    shapes += [(int(random.integers(1, 500)), 4 * int(random.integers(1, 200))) for _ in range(sizes)]
    for rows, columns in shapes:
        source = finite_floats(rows * columns, random).reshape(rows, columns)
        yield Case(f"{rows}x{columns}", source, (), boxes(rows, columns), _doubled(source))


def _orders(sizes: int, random: np.random.Generator) -> Iterator[Case]:
    """Less than a CTA's threads, and more than the 48 KB that need no permission."""
    for count in [1, THREADS - 1, 10_000, *(int(each) for each in random.integers(2, 30_000, sizes))]:
        ctas = int(random.integers(1, 50))
        source, order = finite_floats(ctas * count, random), random.permutation(count).astype(np.uint32)
        wanted = source.reshape(ctas, count)[:, order].ravel()
        yield Case(f"{ctas}x{count}", source, (order,), ctas, wanted, shared=BOTH * count)


def _numbers(most: int, sizes: int, random: np.random.Generator) -> list[int]:
    return [1, 2, 3, *(int(each) for each in random.integers(4, most, sizes))]


def _doubled(source: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return source * np.float32(2)


SEEDS = (
    Subject(plain_staging, _shared_by_all(TILE, folded)),
    Subject(group_copy, _shared_by_all(TILE, folded)),
    Subject(barrier_copy, _shared_by_all(TILE, folded)),
    Subject(split_barrier, _shared_by_all(SMALL_TILE, squares_and_opposites)),
    Subject(barrier_life, _each(1, story)),
    Subject(producer_consumer, _runs),
    Subject(pipeline_one_stage, _shared_by_all(TILE, folded)),
    Subject(pipeline_two_stages, _runs),
    Subject(pipeline_roles, _runs),
    Subject(bulk_both_ways, _each(TILE, _doubled)),
    Subject(tensor_tile, _matrices),
    Subject(multicast, _each(TILE, multiples, LISTENERS)),
    Subject(cluster_write, _each(WRITERS * THREADS, turned, WRITERS)),
    Subject(launch_sized, _orders),
    Subject(dropping_out, _sums),
)
