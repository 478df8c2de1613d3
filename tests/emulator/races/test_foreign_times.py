"""The knowledge of single threads about other CTAs does not depend on whether they share arrays."""

from typing import Any

import numpy

from ptxkit.emulator.races.foreign_times import ForeignTimes
from ptxkit.emulator.races.vector_clocks import COMPLETED, CtaClocks

_THREADS, _OTHERS = 8, 8


class _Neighbor:
    """The part of a CTA that its knowledge requires."""

    threads = _OTHERS

    class cluster:  # noqa: N801
        size = 2


def _neighbor() -> CtaClocks:
    cta: Any = _Neighbor()
    return CtaClocks(cta, 1)


def test_threads_know_the_same_whether_they_share_arrays_or_not() -> None:
    chance = numpy.random.default_rng(0)
    others = [_neighbor() for _ in range(2)]
    found = ForeignTimes(_THREADS)
    expected: dict[tuple[int, int], Any] = {}
    shape = others[0].common_times.shape
    reported = [chance.integers(0, 50, shape) for _ in range(4)]
    asked = 0
    for _ in range(200):
        index = numpy.flatnonzero(chance.random(_THREADS) < 0.5)
        number = int(chance.integers(2))
        if chance.random() < 0.8:
            times = reported[int(chance.integers(4))] if chance.random() < 0.5 else chance.integers(0, 50, shape)
            found.learn(index, others[number], times)
            for thread in index.tolist():
                expected[thread, number] = numpy.maximum(expected.get((thread, number), 0), times)
        else:
            common = chance.integers(0, 50, shape)
            found.change(index, {others[number]: common}, lambda times: times // 2)
            for thread in index.tolist():
                both = {number: common, **{n: e for (t, n), e in expected.items() if t == thread}}
                for each, times in both.items():
                    expected[thread, each] = (numpy.maximum(times, common) if each == number else times) // 2
        everyone = numpy.arange(_THREADS)
        for each, other in enumerate(others):
            threads, times = chance.integers(0, _OTHERS, _THREADS), chance.integers(1, 50, _THREADS)
            known = found.knows(everyone, other, threads, times, COMPLETED)
            held = [expected.get((thread, each)) for thread in range(_THREADS)]
            wanted = [e is not None and e[COMPLETED, a] >= b for e, a, b in zip(held, threads, times, strict=True)]
            assert known.tolist() == wanted
            assert found.has(everyone, other) == all(e is not None for e in held)
            asked += 1
    assert asked == 400
    found.clear()
    assert not found
    assert not found.has(numpy.arange(1), others[0])
