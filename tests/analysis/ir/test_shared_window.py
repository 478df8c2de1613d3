"""The model of shared memory: windows that distinguish addresses, and ranks of a cluster."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS, SharedWindow

offsets = st.integers(0, (1 << 18) - 1)


@given(st.sampled_from(["shared", "shared::cta", "shared::cluster", "local", "const", "param"]), offsets)
def test_an_address_is_converted_to_a_window_and_back(space: str, offset: int) -> None:
    window = SharedWindow()
    generic = window.to_generic(space, offset)
    assert window.from_generic(space, generic) == offset
    assert window.space_of_generic(generic) == space.partition("::")[0]


@given(offsets)
def test_global_addresses_are_their_own_generic_addresses(address: int) -> None:
    window = SharedWindow()
    assert window.to_generic("global", address) == window.from_generic("global", address) == address
    assert window.space_of_generic(address) == "global"


@given(offsets)
def test_a_truncated_generic_address_is_recognized_and_an_offset_is_not_one(offset: int) -> None:
    window = SharedWindow()
    assert window.truncated_offset(window.to_generic("shared", offset) & 0xFFFF_FFFF) == offset
    assert window.truncated_offset(offset) is None


def test_a_shared_offset_is_read_from_either_kind_of_address() -> None:
    window = SharedWindow()
    assert window.shared_offset("shared::cta", 1040) == 1040
    assert window.shared_offset("generic", window.to_generic("shared", 1040)) == 1040
    assert window.shared_offset("generic", 1040) is None
    assert window.shared_offset("global", 1040) is None


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_each_rank_of_a_cluster_has_a_separate_range(rank: int) -> None:
    window = SharedWindow(rank)
    places = [window.map_to_rank(1040, other) for other in range(4)]
    assert len(set(places)) == 4
    assert places[rank] == 1040
    assert [window.rank_of(place) for place in places] == [0, 1, 2, 3]
    assert [window.map_to_rank(place, rank) for place in places] == [1040] * 4


def test_the_first_offsets_of_two_spaces_are_far_apart() -> None:
    starts = sorted(FIRST_ADDRESS.values())
    assert starts[0] > 0
    assert all(after - before >= 1 << 18 for before, after in pairwise(starts))


@pytest.mark.parametrize(("own", "other"), [(0, 0), (1, 0), (2, 2), (3, 2), (1, 3), (2, 1)])
def test_a_mask_without_the_lowest_bit_of_the_rank_leads_to_the_even_cta_of_a_pair(own: int, other: int) -> None:
    window = SharedWindow(own)
    address = window.map_to_rank(1040, other)
    even = window.map_to_even_cta(address, 0xFEFFFFF0)
    assert (window.rank_of(even), even & 0xFFFFFF) == (other & ~1, 1040)
    assert even == window.map_to_rank(1040, other & ~1)


def test_such_a_mask_does_not_change_other_numbers() -> None:
    assert SharedWindow(1).map_to_even_cta(0x0123_4567, 0xFEFF_FFFF) == 0x0023_4567
    assert SharedWindow(1).map_to_even_cta(7, 0xFEFF_FFFF) == 7
