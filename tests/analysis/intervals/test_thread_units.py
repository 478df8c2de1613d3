"""The units of memory that the threads of a CTA use, against a search of all pairs of threads."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.analysis.intervals.thread_units import ThreadUnits, UsedUnits
from ptxkit.analysis.values.uniform_terms import Numbers

THREADS = 4
ADDRESS = st.integers(0, 6).map(lambda number: 4 * number)
USES = st.tuples(
    st.one_of(ADDRESS, st.tuples(*[ADDRESS] * THREADS)), st.sampled_from((4, 8)), st.integers(1, (1 << THREADS) - 1)
)
Use = tuple[Numbers, int, int]


def _pairs(use: Use) -> list[tuple[int, int]]:
    """Returns each thread with each unit of 4 bytes that it uses."""
    lows, size, threads = use
    each = (lows,) * THREADS if isinstance(lows, int) else lows
    tids = [tid for tid in range(THREADS) if threads >> tid & 1]
    return [(tid, at) for tid in tids for at in range(each[tid], each[tid] + size, 4)]


@given(st.lists(USES, min_size=1, max_size=5), USES)
def test_accesses_overlap_where_two_threads_use_the_same_unit(uses: list[Use], use: Use) -> None:
    used, own = UsedUnits(), ThreadUnits(*use, THREADS, 4)
    units = [ThreadUnits(*each, THREADS, 4) for each in uses]
    for each in units:
        used.add(each)
    found = set(used.overlapping(own))
    for each, made in zip(uses, units, strict=True):
        same = any(at == there and tid != other for (tid, at), (other, there) in product(_pairs(each), _pairs(use)))
        assert (made in found) == same
    assert own.is_shared == any(
        tid < other and at == there for (tid, at), (other, there) in product(_pairs(use), repeat=2)
    )
