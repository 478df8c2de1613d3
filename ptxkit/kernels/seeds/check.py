"""The cases on which the seed programs run: small sizes and a few random ones, beside NumPy's answer.

`scripts/device_check` runs them with those of `ptxkit.kernels.check`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ptxkit.kernels.check import Case, Subject, finite_floats
from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.barrier_life import barrier_life, story
from ptxkit.kernels.seeds.folding import TILE, Floats, folded
from ptxkit.kernels.seeds.group_copy import group_copy
from ptxkit.kernels.seeds.plain_staging import plain_staging
from ptxkit.kernels.seeds.split_barrier import TILE as SMALL_TILE
from ptxkit.kernels.seeds.split_barrier import split_barrier, squares_and_opposites

Cases = Callable[[int, np.random.Generator], Iterator[Case]]


def _shared_tiles(size: int, expected: Callable[[Floats], Floats]) -> Cases:
    """Any number of tiles of `size` elements, which any number of CTAs share."""

    def cases(sizes: int, random: np.random.Generator) -> Iterator[Case]:
        for tiles in [1, 2, *(int(each) for each in random.integers(3, 2000, sizes))]:
            source = finite_floats(tiles * size, random)
            grid = int(random.integers(1, min(tiles, 300) + 2))
            yield Case(str(source.size), source, (np.uint32(tiles),), grid, expected(source))

    return cases


def _one_for_each_cta(size: int, expected: Callable[[Floats], Floats], multiple: int = 1) -> Cases:
    """`size` elements for each of any number of CTAs, which is a multiple of `multiple`."""

    def cases(sizes: int, random: np.random.Generator) -> Iterator[Case]:
        for ctas in [multiple, 2 * multiple, *(multiple * int(each) for each in random.integers(3, 500, sizes))]:
            source = finite_floats(ctas * size, random)
            yield Case(str(source.size), source, (), ctas, expected(source))

    return cases


SEEDS = (
    Subject(plain_staging, _shared_tiles(TILE, folded)),
    Subject(group_copy, _shared_tiles(TILE, folded)),
    Subject(barrier_copy, _shared_tiles(TILE, folded)),
    Subject(split_barrier, _shared_tiles(SMALL_TILE, squares_and_opposites)),
    Subject(barrier_life, _one_for_each_cta(1, story)),
)
