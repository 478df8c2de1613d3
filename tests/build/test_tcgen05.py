"""The tensor core of sm_100: descriptors in the manual's layout, a product that compiles without findings, and rejected
arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import (
    BuildError,
    BuildTypeError,
    BuildValueError,
    Global,
    Kernel,
    NeverWaitedWarning,
    VerificationError,
    b32,
    bf16,
    f16,
    f32,
    f64,
    instruction_descriptor,
    s32,
)
from tests.build.support import assert_ptxas_accepts, marked_line, opcodes


def product(
    *,
    wait: bool = True,
    fence: bool = True,
    free: bool = True,
    element: str = "bf16",
    shape: tuple[int, int] = (128, 128),
) -> Kernel:
    """Multiplies 128 x 64 by 64 x 128, and stores the 128 x 128 results."""
    rows, columns = shape
    k = Kernel("product", threads=128)
    out = k.param(Global[f32], "out", align=16)
    left = k.tensor_map("left", bf16, box=(64, rows), swizzle=128)
    right = k.tensor_map("right", bf16, box=(64, columns), swizzle=128)
    tile_a, tile_b = k.shared(bf16, rows * 64, align=1024), k.shared(bf16, columns * 64, align=1024)
    full, done = k.mbarrier("full"), k.mbarrier("done")
    tensor = k.tensor_memory(columns)
    with k.thread_is(0):
        full.init(1)
        done.init(1)
        k.fence_barrier_init()
    k.cta_sync()
    a, b = k.tensor_matrix(tile_a), k.tensor_matrix(tile_b)
    with k.thread_is(0):
        full.arrive_expect_tx(left.bytes + right.bytes)
        left.load(tile_a, (0, 0), full)
        right.load(tile_b, (0, 0), full)
        full.wait(0)
        for step in k.unroll(4):
            tensor.multiply(a.moved(32 * step), b.moved(32 * step), element, shape, accumulate=step > 0)
        tensor.commit(done)
    if wait:
        done.wait(0)
    if fence:
        k.tcgen05_fence_after_thread_sync()
    for column in range(0, columns, 32):
        values = tensor.load(32, column)  # the results
        for at in range(0, 32, 4):
            k.st_v4(out[k.tid.x * columns][column + at], values[at : at + 4])
    if free:
        tensor.free()
    return k


def test_a_product_is_correct_and_compiles(tmp_path: Path) -> None:
    k = product()
    verdict = k.verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())
    found = [each for each in opcodes(k.module()) if each.startswith("tcgen05")]
    assert found == [
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
        "tcgen05.fence::before_thread_sync",
        "tcgen05.fence::after_thread_sync",
        *["tcgen05.mma.cta_group::1.kind::f16"] * 4,
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
        "tcgen05.fence::after_thread_sync",
        *["tcgen05.ld.sync.aligned.32x32b.x32.b32", "tcgen05.wait::ld.sync.aligned"] * 4,
        "tcgen05.fence::before_thread_sync",
        "tcgen05.fence::after_thread_sync",
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
    ]
    text = str(k)
    assert "cvta.shared" not in text
    for target in ("sm_100a", "sm_103a"):
        assert_ptxas_accepts(text, tmp_path, target)


def test_the_verifier_checks_tensor_memory() -> None:
    with pytest.raises(VerificationError) as caught:
        product(fence=False).verify()
    assert "PTX705" in {each.code for each in caught.value.diagnostics}
    with pytest.raises(VerificationError) as caught, pytest.warns(NeverWaitedWarning, match="`done`"):
        product(wait=False).verify()
    codes = {blame.diagnostic.code for blame in caught.value.blames if blame.location == marked_line("the results")}
    assert "PTX704" in codes
    with pytest.raises(VerificationError) as caught:
        product(free=False).verify()
    assert "PTX701" in {each.code for each in caught.value.diagnostics}


# ------------------------------------------------------------------------------------------- descriptors


def test_a_matrix_descriptor_has_its_generation_and_swizzle_in_their_fields() -> None:
    k = Kernel("k", threads=128)
    tile = k.shared(bf16, 64 * 64, align=1024)
    high = k.tensor_matrix(tile).high
    assert high == (1024 >> 4) | 1 << 14 | 2 << 29
    assert k.tensor_matrix(tile, swizzle=64).high == (512 >> 4) | 1 << 14 | 4 << 29
    assert k.tensor_matrix(tile, swizzle=32).high == (256 >> 4) | 1 << 14 | 6 << 29
    assert k.tensor_matrix(tile, swizzle=0, stride=128).high == (128 >> 4) | 1 << 14
    assert k.tensor_matrix(tile, leading=8192, transposed=True).transposed
    with pytest.raises(BuildValueError, match="0, 32, 64, 128 bytes, not 96"):
        k.tensor_matrix(tile, swizzle=96)


DESCRIPTORS: list[tuple[int, tuple[int, int], str, dict[str, object]]] = [
    (0x08200010, (128, 128), "f16", {}),  # as another compiler writes them for its products
    (0x08210010, (128, 128), "f16", {"transposed": (False, True)}),
    (0x08100010, (128, 64), "f16", {}),
    (0x08200490, (128, 128), "bf16", {}),
    (0x08400000, (128, 256), "f16", {"result": f16}),
    (0x04020910, (64, 8), "tf32", {}),
    (0x10400010, (256, 256), "e4m3", {"ctas": 2}),
    (0x08200410, (128, 128), "e4m3", {"b_element": "e5m2"}),
    (0x08208490, (128, 128), "bf16", {"transposed": (True, False)}),
    (0x08202490, (128, 128), "bf16", {"negated": (True, False)}),
    (0x082000A0, (128, 128), "s8", {"b_element": "u8", "result": s32}),
]


@pytest.mark.parametrize(("expected", "shape", "element", "more"), DESCRIPTORS)
def test_an_instruction_descriptor_has_types_and_shape_in_their_fields(
    expected: int, shape: tuple[int, int], element: str, more: dict[str, object]
) -> None:
    assert hex(instruction_descriptor(shape, element, **more)) == hex(expected)  # type: ignore[arg-type]


REFUSED: list[tuple[tuple[int, int], str, dict[str, object], type[BuildError], str]] = [
    ((96, 64), "bf16", {}, BuildValueError, "1 CTA multiply 64 or 128 rows, not 96"),
    ((64, 64), "bf16", {"ctas": 2}, BuildValueError, "2 CTAs multiply 128 or 256 rows, not 64"),
    ((128, 24), "bf16", {}, BuildValueError, "there are 16 to 256 columns by 16s, not 24"),
    ((64, 264), "bf16", {}, BuildValueError, "there are 8 to 256 columns by 8s, not 264"),
    ((256, 48), "s8", {"ctas": 2, "result": s32}, BuildValueError, "32 to 256 columns by 32s, not 48"),
    ((128, 64), "bf16", {"b_element": "e4m3"}, BuildTypeError, "no instruction multiplies bf16 by e4m3"),
    ((128, 64), "s8", {}, BuildTypeError, "products of s8 are added up as s32, not f32"),
    ((128, 64), "tf32", {"result": f16}, BuildTypeError, "products of tf32 are added up as f32, not f16"),
    ((128, 64), "s8", {"result": s32, "negated": (True, False)}, BuildTypeError, "integers are not negated"),
    ((128, 64), "f64", {}, BuildTypeError, "tcgen05 multiplies f16, bf16, tf32"),
]


@pytest.mark.parametrize(("shape", "element", "more", "error", "message"), REFUSED)
def test_impossible_products_are_rejected(
    shape: tuple[int, int], element: str, more: dict[str, object], error: type[BuildError], message: str
) -> None:
    with pytest.raises(error, match=message):
        instruction_descriptor(shape, element, **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------- allocation, loads, stores


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=128)


def test_each_warp_reads_and_writes_its_own_lanes(k: Kernel, tmp_path: Path) -> None:
    tensor = k.tensor_memory(64)
    values = tensor.load(16, 8, s32)
    assert {each.type for each in values} == {s32}
    tensor.store(values, 40)
    tensor.store(tensor.load(1, k.tid.x & 0, b32, wait=False), wait=False)
    k.tcgen05_wait_st_sync_aligned()
    text = str(k)
    assert text.count(", 21;") == 4  # 32 lanes a warp, in the upper half of the address
    assert "tcgen05.st.sync.aligned.32x32b.x16.b32 [" in text
    assert text.count("tcgen05.wait::st.sync.aligned;") == 2
    assert text.count("tcgen05.wait::ld.sync.aligned;") == 1
    assert_ptxas_accepts(text, tmp_path, "sm_100a")


def test_the_left_matrix_may_be_in_tensor_memory(k: Kernel, tmp_path: Path) -> None:
    tensor, done = k.tensor_memory(256), k.mbarrier("done")
    b = k.tensor_matrix(k.shared(bf16, 64 * 128, align=1024), transposed=True)
    with k.thread_is(0):
        tensor.multiply(tensor.at(128), b, bf16, (128, 128), column=0, accumulate=k.tid.x > 0)
        tensor.commit(done)
    assert "tcgen05.mma.cta_group::1.kind::f16 [%r" in str(k)
    assert "], [%r" in str(k)
    assert_ptxas_accepts(str(k), tmp_path, "sm_100a")


def test_pairs_of_ctas_multiply_together(tmp_path: Path) -> None:
    k = Kernel("k", threads=128, cluster=2)
    tensor, done = k.tensor_memory(256, warp=1, ctas=2), k.mbarrier("done")
    a, b = (k.tensor_matrix(k.shared(bf16, 64 * 128, align=1024)) for _ in range(2))
    with k.thread_is(0):
        tensor.multiply(a, b, bf16, (256, 256))
        tensor.commit(done, multicast=3)
    tensor.free()
    found = opcodes(k.module())
    assert "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32" in found
    assert "tcgen05.mma.cta_group::2.kind::f16" in found
    assert "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64" in found
    assert_ptxas_accepts(str(k), tmp_path, "sm_100a")


def test_impossible_tensor_memory_is_rejected(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match="32, 64, 128, 256, 512 columns are allocated at once, not 96"):
        k.tensor_memory(96)
    with pytest.raises(BuildValueError, match="one CTA multiplies, or a pair, not 4"):
        k.tensor_memory(64, ctas=4)
    with pytest.raises(BuildError, match="threads="):
        Kernel("open").tensor_memory(64)
    tensor = k.tensor_memory(64)
    with pytest.raises(BuildValueError, match="columns 0 to 63, and no column 64"):
        tensor.at(64)
    with pytest.raises(BuildValueError, match="64 columns, and 72 are named"):
        tensor.load(16, 56)
    with pytest.raises(BuildValueError, match="columns are moved at once, not 12"):
        tensor.load(12)
    with pytest.raises(BuildTypeError, match=r"a column holds 32 bits, and not .f64"):
        tensor.load(4, 0, f64)
    b = k.tensor_matrix(k.shared(bf16, 64 * 64, align=1024))
    with pytest.raises(BuildTypeError, match=r"a matrix is one of k.tensor_matrix\(...\)"):
        tensor.multiply(b, k.shared(bf16, 64, align=1024), bf16, (128, 64))  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match="needs an address"):
        k.ld(tensor.at(0))  # type: ignore[call-overload]
