"""Declared memory: arrays of known size, slices of them, and accesses beyond their bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import BuildError, BuildTypeError, BuildValueError, Global, Kernel, f16, f32, s32, u8, u32
from tests.build.support import assert_ptxas_accepts, marked_line


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32)


def test_a_slice_is_a_part_of_the_array(k: Kernel) -> None:
    tile = k.shared(f32, 64, align=64, name="tile")
    part = tile[16:32]
    assert (part.offset, part.count, part.alignment) == (64, 16, 64)
    assert part[4:].count == 12
    assert tile[k.tid.x :].count is None


def test_a_constant_index_must_be_in_bounds(k: Kernel) -> None:
    tile = k.shared(f32, 64)
    assert tile[64].count == 0  # the end of the array is an address, too
    with pytest.raises(BuildValueError, match=r"index 65 leaves .* which has 64 elements") as caught:
        tile[65]  # after it
    assert caught.value.location == marked_line("after it")
    with pytest.raises(BuildValueError, match="index -1 leaves"):
        tile[0:8][-1]
    with pytest.raises(BuildValueError, match="index 9 leaves"):
        tile[8:16][9]


def test_the_end_of_an_array_cannot_be_loaded_or_stored(k: Kernel) -> None:
    tile = k.shared(f32, 64)
    tile[63].store(1.0)
    with pytest.raises(BuildValueError, match="is where its array ends: no element is there") as caught:
        tile[64].store(1.0)  # after the last
    assert caught.value.location == marked_line("after the last")
    with pytest.raises(BuildValueError, match="is where its array ends"):
        tile[0:8][8].load()


def test_an_array_of_unknown_size_accepts_any_index(k: Kernel) -> None:
    data, dynamic = k.param(Global[f32], "data"), k.dynamic_shared(u8)
    assert data[1 << 20].offset == 4 << 20
    assert dynamic[100_000].count is None


def test_a_slice_has_no_step_and_is_ascending(k: Kernel) -> None:
    tile = k.shared(f32, 64)
    with pytest.raises(BuildTypeError, match="no step"):
        tile[0:8:2]
    with pytest.raises(BuildValueError, match="is ascending, not from 8 to 4"):
        tile[8:4]
    with pytest.raises(BuildTypeError, match="ends at a constant"):
        tile[k.tid.x : 4]


def test_constants_have_their_values_in_the_text(k: Kernel, tmp_path: Path) -> None:
    weights = k.constant(f32, [1, -2.5], name="weights")
    signs = k.constant(s32, [-1, 1], name="signs", align=16)
    with k.if_(signs[1].load() > signs[0].load()):
        k.shared(f32, 1).store(weights[k.tid.x & 1].load())
    text = str(k)
    assert ".const .align 4 .f32 weights[2] = {0f3F800000, 0fC0200000};" in text
    assert ".const .align 16 .s32 signs[2] = {-1, 1};" in text
    assert_ptxas_accepts(text, tmp_path)


def test_a_constant_must_be_in_range_of_its_type(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match=r"256 does not fit in .u8 \(0..255\)"):
        k.constant(u8, [256])
    with pytest.raises(BuildTypeError, match=r"1.0 is not a number of type \.u8"):
        k.constant(u8, [1.0])
    with pytest.raises(BuildValueError, match=r"70000 is beyond the largest number of \.f16"):
        k.constant(f16, [70000])
    k.constant(f16, [1.0, -2], name="halves")
    assert ".const .align 2 .b16 halves[2] = {15360, 49152};" in str(k)
    with pytest.raises(BuildValueError, match="at least one"):
        k.constant(u32, [])


def test_local_memory_is_the_threads_own(k: Kernel, tmp_path: Path) -> None:
    stack, out = k.local(u32, 4, name="stack"), k.param(Global[u32], "out")
    stack[k.tid.x & 3].store(7)
    out.store(stack[0].load())
    text = str(k)
    assert ".local .align 4 .u32 stack[4];" in text
    assert "ld.local.u32" in text
    assert_ptxas_accepts(text, tmp_path)


def test_a_name_is_used_once(k: Kernel) -> None:
    k.shared(f32, 4, name="tile")
    with pytest.raises(BuildError, match="the name 'tile' is taken"):
        k.constant(f32, [1.0], name="tile")
    with pytest.raises(BuildError, match="the name 'k' is taken"):
        k.local(f32, 4, name="k")
