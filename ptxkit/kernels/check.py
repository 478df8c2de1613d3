"""Runs the kernels on this machine's GPU and compares every byte with NumPy's answer.

Each run has fresh random bits, and a guard of other bits behind the target that must stay as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ptxkit.build import Kernel
from ptxkit.device import Loaded, load
from ptxkit.device.memory import to_device, use_device
from ptxkit.kernels.async_copy import TILE as COPY_TILE
from ptxkit.kernels.async_copy import async_copy
from ptxkit.kernels.bulk_add_one import bulk_add_one, ctas
from ptxkit.records import dataclass

_Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

GUARD = 64
"""Elements behind the target that no kernel may write."""
LARGEST = 1 << 24
EDGES = (1, 3, 4, 5, 511, 512, 513, 1023, 1024, 1025, 4096)
"""Sizes at which something ends: a copy's unit, a tile, a stage."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel, what it must compute, and the grids to run it with."""

    build: Callable[[], Kernel]
    expected: Callable[[_Floats], _Floats]
    grid: Callable[[int, np.random.Generator], int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run. wrong: how many elements differ from what they must be, those of the guard included."""

    kernel: str
    count: int
    ctas: int
    wrong: int
    first: int | None = None

    @property
    def right(self) -> bool:
        return self.wrong == 0


def _any_grid(count: int, random: np.random.Generator) -> int:
    """The copy walks over the array, so that any number of CTAs will do."""
    return int(random.integers(1, -(-count // COPY_TILE) + 2))


SUBJECTS = (
    Subject(async_copy, lambda source: source, _any_grid),
    Subject(bulk_add_one, lambda source: source + np.float32(1), lambda count, _: ctas(count)),
)


def random_sizes(sizes: int, random: np.random.Generator) -> list[int]:
    """Sizes of all orders of magnitude up to `LARGEST`."""
    return [int(size) for size in np.exp(random.uniform(0, np.log(LARGEST), sizes))]


def check(subject: Subject, counts: list[int], random: np.random.Generator) -> Iterator[Outcome]:
    """Runs one kernel for each count; `NoDeviceError` where there is no GPU."""
    device = use_device()
    stream = device.create_stream()
    kernel = load(subject.build())
    for count in counts:
        yield _run(subject, kernel, stream, count, random)


def _run(subject: Subject, kernel: Loaded, stream: Any, count: int, random: np.random.Generator) -> Outcome:
    source = _finite_floats(count, random)
    before = _finite_floats(count + GUARD, random)
    inside, outside = to_device(source), to_device(before)
    grid = subject.grid(count, random)
    kernel.launch(stream, inside, outside, count, grid=grid)
    stream.sync()
    wanted = np.concatenate([subject.expected(source), before[count:]])
    differing = np.flatnonzero(wanted.view(np.uint32) != outside.to_host().view(np.uint32))
    first = int(differing[0]) if differing.size else None
    return Outcome(kernel.signature.name, count, grid, int(differing.size), first)


def _finite_floats(count: int, random: np.random.Generator) -> _Floats:
    """Random bits that are finite numbers: the bits of a NaN after arithmetic are nobody's promise."""
    bits = random.integers(0, 1 << 32, count, dtype=np.uint32)
    bits[(bits & 0x7F800000) == 0x7F800000] &= 0x007FFFFF
    return bits.view(np.float32)
