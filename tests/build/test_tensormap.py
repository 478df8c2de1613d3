"""Tensor maps as parameters: the copies' text, and impossible boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import lint
from ptxkit.build import BuildTypeError, BuildValueError, Global, Kernel, VerificationError, b16, bf16, f32, u32
from tests.build.support import assert_ptxas_accepts, marked_line


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32)


def last(k: Kernel) -> str:
    return str(k).splitlines()[-3].strip()


def test_a_map_is_passed_by_value_and_used_as_a_generic_address(k: Kernel, tmp_path: Path) -> None:
    source, bar = k.tensor_map("source", bf16, box=(64, 32), swizzle=128), k.mbarrier("bar")
    tile = k.shared(bf16, 64 * 32, align=1024, name="tile")
    source.prefetch_map()
    source.load(tile, (k.tid.x, 0), bar)
    text = str(k)
    assert ".param .align 64 .b8 source[128]" in text
    assert "mov.u64 %rd0, source;\n\tcvta.param.u64 %rd1, %rd0;" in text
    assert last(k) == (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {%r0, 0}], [bar];"
    )
    assert source.bytes == 64 * 32 * 2
    assert_ptxas_accepts(text, tmp_path)


def test_every_direction_and_kind_is_emitted(k: Kernel, tmp_path: Path) -> None:
    source, bar = k.tensor_map("source", f32, box=(32, 4, 2)), k.mbarrier("bar")
    tile, policy = k.shared(f32, 256, align=128, name="tile"), k.createpolicy_fractional_L2_evict_first(1.0)
    source.load(tile, (0, 0, 0), bar, multicast=3, policy=policy)
    assert ".multicast::cluster.L2::cache_hint [tile], [%rd1, {0, 0, 0}], [bar], 3, %rd2;" in last(k)
    source.store((0, 0, 0), tile)
    assert last(k) == "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%rd1, {0, 0, 0}], [tile];"
    source.reduce("add", (0, 0, 0), tile)
    assert last(k) == "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group [%rd1, {0, 0, 0}], [tile];"
    source.prefetch((0, 0, 0))
    assert last(k) == "cp.async.bulk.prefetch.tensor.3d.L2.global [%rd1, {0, 0, 0}];"
    assert_ptxas_accepts(str(k), tmp_path)


def test_im2col_accepts_the_offsets_of_the_filter(k: Kernel, tmp_path: Path) -> None:
    image, bar = k.tensor_map("image", f32, box=(32, 64), rank=4, mode="im2col"), k.mbarrier("bar")
    tile = k.shared(f32, 32 * 64, align=128, name="tile")
    assert image.bytes == 32 * 64 * 4
    image.load(tile, (0, 1, 2, 3), bar, offsets=(1, 2))
    assert ".im2col.mbarrier::complete_tx::bytes [tile], [%rd1, {0, 1, 2, 3}], [bar], {1, 2};" in last(k)
    image.store((0, 1, 2, 3), tile)
    assert ".im2col_no_offs.bulk_group [%rd1, {0, 1, 2, 3}], [tile];" in last(k)
    image.prefetch((0, 1, 2, 3), offsets=(0, 0))
    assert_ptxas_accepts(str(k), tmp_path)
    with pytest.raises(BuildTypeError, match="the filter has 2 dimensions; got 1 offsets"):
        image.load(tile, (0, 1, 2, 3), bar, offsets=(1,))


def test_rows_are_gathered_and_scattered(k: Kernel, tmp_path: Path) -> None:
    rows, bar = k.tensor_map("rows", f32, box=(32, 4)), k.mbarrier("bar")
    tile = k.shared(f32, 128, align=128, name="tile")
    rows.gather4(tile, 0, (1, 5, 3, k.tid.x), bar)
    assert ".tile::gather4.mbarrier::complete_tx::bytes [tile], [%rd1, {0, 1, 5, 3, %r0}], [bar];" in last(k)
    rows.scatter4(0, (1, 5, 3, 4), tile)
    assert ".tile::scatter4.bulk_group [%rd1, {0, 1, 5, 3, 4}], [tile];" in last(k)
    assert_ptxas_accepts(str(k), tmp_path, "sm_100a")
    with pytest.raises(BuildTypeError, match="four rows"):
        rows.gather4(tile, 0, (1, 2), bar)


def test_a_box_must_fit_its_destination(k: Kernel) -> None:
    source, bar = k.tensor_map("source", f32, box=(32, 4), swizzle=128), k.mbarrier("bar")
    with pytest.raises(BuildTypeError, match=r"aligned to 1024 bytes, and not .*declare the array with align=1024"):
        source.load(k.shared(f32, 128, align=128), (0, 0), bar)
    with pytest.raises(BuildValueError, match=r"a box has 512 bytes, and .* has 256") as caught:
        source.load(k.shared(f32, 64, align=1024), (0, 0), bar)  # too small
    assert caught.value.location == marked_line("too small")
    with pytest.raises(BuildTypeError, match="has 2 dimensions; got 3 coordinates"):
        source.store((0, 0, 0), k.shared(f32, 128, align=1024))
    with pytest.raises(BuildValueError, match="a reduction is one of add"):
        source.reduce("mul", (0, 0), k.shared(f32, 128, align=1024))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"box": (3, 4)}, "multiple of 16 bytes, and not 12"),
        ({"box": (64, 4), "swizzle": 128}, "rows of at most as many, and not 256"),
        ({"box": (32, 257)}, "1 to 256 elements in a dimension, not 257"),
        ({"box": (4,) * 6}, "1 to 5, not 6"),
        ({"box": (32, 4), "swizzle": 96}, "0, 32, 64, 128 bytes, not 96"),
        ({"box": (32, 4), "mode": "im2col"}, "requires its tensor's rank"),
        ({"box": (32, 4), "mode": "tile"}, "tiled or im2col, not 'tile'"),
    ],
)
def test_impossible_boxes_are_rejected(k: Kernel, options: dict[str, object], message: str) -> None:
    with pytest.raises(BuildValueError, match=message):
        k.tensor_map("source", f32, **options)  # type: ignore[arg-type]


def test_an_element_must_be_a_memory_type(k: Kernel) -> None:
    with pytest.raises(BuildTypeError, match="elements have a type that memory holds"):
        k.tensor_map("source", float, box=(32,))  # type: ignore[arg-type]
    assert k.param(u32, "source").type is u32  # the name was not used


def expecting(size: int, *, debug: bool = False) -> Kernel:
    """A kernel that loads a box of 2048 bytes, and expects some number of bytes."""
    k = Kernel("k", threads=32, debug=debug)
    source, out = k.tensor_map("source", bf16, box=(64, 16), swizzle=128), k.param(Global[b16], "out")
    tile, bar = k.shared(b16, 64 * 16, align=1024), k.mbarrier("bar")
    with k.thread_is(0):
        bar.init(1)
        k.fence_barrier_init()
    k.cta_sync()
    with k.thread_is(0):
        bar.arrive_expect_tx(size)  # expected
        source.load(tile, (0, 0), bar)
    bar.wait(0)
    out[k.tid.x].store(tile[k.tid.x].load())
    return k


@pytest.mark.parametrize("debug", [False, True])
def test_the_verifier_knows_the_bytes_of_a_box(debug: bool) -> None:
    verdict = expecting(2048, debug=debug).verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())
    for size, what in ((2064, "the phase never ends"), (1024, "the phase ends before all the data has arrived")):
        with pytest.raises(VerificationError, match=f"the copies complete 2048: {what}") as caught:
            expecting(size, debug=debug).verify()
        (blame,) = caught.value.blames
        assert (blame.diagnostic.code, blame.location) == ("PTX503", marked_line("expected"))


def test_without_the_builder_the_bytes_of_a_box_are_unknown() -> None:
    verdict = lint(str(expecting(1024)))
    assert verdict.diagnostics == ()
    assert [each.code for each in verdict.undecided] == ["PTX503"]
