"""tcgen05 in kernels, compared with numpy: Tensor Memory, products of tiles, copies, and operations pending until a
commit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import run
from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import FORMATS
from ptxkit.emulator.tensor.tensor_memory import register_layout

B_AT = 16384

KERNEL = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 tiles, .param .u64 d, .param .u64 adesc, .param .u64 bdesc, .param .u32 idesc) {{
 .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<4>;
 .shared .align 1024 .b8 tile[32768];
 .shared .align 8 .b64 bar;
 .shared .align 4 .b32 place;
 ld.param.u64 %d0, [tiles]; ld.param.u64 %d1, [d]; ld.param.u64 %d2, [adesc]; ld.param.u64 %d3, [bdesc];
 ld.param.u32 %r1, [idesc];
 mov.u32 %r0, %tid.x; mov.u32 %r2, tile; mul.lo.u32 %r3, %r0, 16; mov.u32 %r4, 0;
next:
 add.u32 %r5, %r3, %r4; cvt.u64.u32 %d4, %r5; add.u64 %d4, %d4, %d0;
 ld.global.v4.u32 {{%r6, %r7, %r8, %r9}}, [%d4]; add.u32 %r5, %r5, %r2; st.shared.v4.u32 [%r5], {{%r6, %r7, %r8, %r9}};
 add.u32 %r4, %r4, 2048; setp.lt.u32 %p1, %r4, 32768; @%p1 bra next;
 setp.eq.u32 %p2, %r0, 0; setp.ne.u32 %p3, %r0, %r0; mov.u32 %r10, bar; mov.u32 %r11, place;
 shr.u32 %r12, %r0, 5; setp.eq.u32 %p0, %r12, 0;
 @%p2 mbarrier.init.shared::cta.b64 [%r10], 1;
 @!%p0 bra allocated;
 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r11], 64;
 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
 fence.proxy.async;
 bar.sync 0;
 tcgen05.fence::after_thread_sync;
 ld.shared.u32 %r13, [%r11];
 shr.u32 %r5, %r2, 4; cvt.u64.u32 %d5, %r5; add.u64 %d2, %d2, %d5; add.u64 %d3, %d3, %d5;
 shl.b32 %r14, %r12, 21; add.u32 %r15, %r13, %r14;
 {before}
 @!%p2 bra issued;
 {instruction}
 {commit}
issued:
 {after}
wait:
 mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r10], 0;
 @!%p1 bra wait;
 tcgen05.fence::after_thread_sync;
 tcgen05.ld.sync.aligned.32x32b.x16.b32 {{%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27,
   %r28, %r29, %r30, %r31}}, [%r15];
 tcgen05.wait::ld.sync.aligned;
 mul.wide.u32 %d4, %r0, 64; add.u64 %d4, %d4, %d1;
 st.global.v4.b32 [%d4], {{%r16, %r17, %r18, %r19}}; st.global.v4.b32 [%d4+16], {{%r20, %r21, %r22, %r23}};
 st.global.v4.b32 [%d4+32], {{%r24, %r25, %r26, %r27}}; st.global.v4.b32 [%d4+48], {{%r28, %r29, %r30, %r31}};
 tcgen05.fence::before_thread_sync;
 bar.sync 0;
 @!%p0 bra over;
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r13, 64;
over:
 ret;
}}
"""
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r10];"
N = 16


def outcome(
    instruction: str, tiles: Any, a: int = 0, b: int = 0, idesc: int = 0, policy: str = "eager", **parts: str
) -> Any:
    texts = {"before": "", "after": "", "commit": COMMIT} | parts
    text = KERNEL.format(instruction=instruction, **texts)
    arguments = [tiles, np.zeros((128, N), np.uint32), a, b, np.uint32(idesc)]
    return run(text, "k", block=128, arguments=arguments, policy=policy)


def words(*arguments: Any, **parts: Any) -> Any:
    found = outcome(*arguments, **parts)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[1]


def make_descriptor(start: int, leading: int, stride: int, mode: int) -> int:
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | mode << 61


def along(tiles: Any, start: int, codes: Any, mode: int) -> int:
    """Writes rows of 32 bytes along k into the tiles; returns the descriptor.

    Without a swizzle units are 128 bytes apart.
    """
    octets = np.ascontiguousarray(codes).view(np.uint8)
    span = {0: 16, 2: 128, 4: 64, 6: 32}[mode]
    for row, line in enumerate(octets):
        for at, octet in enumerate(line):
            if mode == 0:
                place = row % 8 * 16 + row // 8 * 256 + at % 16 + at // 16 * 128
            else:
                place = row * span + at
                place ^= (place >> 7 & span // 16 - 1) << 4
            tiles[start + place] = octet
    return make_descriptor(start, 128, 256 if mode == 0 else 8 * span, mode)


def idesc_of(m: int, result: int, left: int, right: int, more: int = 0) -> int:
    return result << 4 | left << 7 | right << 10 | N >> 3 << 17 | m >> 4 << 24 | more


TYPES = {"f16": ("f16", 0, 16), "bf16": ("f16", 1, 16), "tf32": ("tf32", 2, 8), "e4m3": ("f8f6f4", 0, 32)}


def operands(word: str, m: int, mode: int) -> tuple[Any, Any, Any, int, int]:
    """Returns A and B as numbers, and the tiles with their descriptors."""
    random = np.random.default_rng(7)
    k = TYPES[word][2]
    a, b = random.integers(-4, 5, (m, k)).astype(float), random.integers(-4, 5, (N, k)).astype(float)
    tiles = np.zeros(32768, np.uint8)
    starts = (along(tiles, at, narrow(FORMATS[word], each), mode) for at, each in ((0, a), (B_AT, b)))
    return a, b, tiles, *starts


@pytest.mark.parametrize("mode", [0, 2, 4, 6])
@pytest.mark.parametrize("word", TYPES)
def test_tiles_are_multiplied(word: str, mode: int) -> None:
    a, b, tiles, *descriptors = operands(word, 128, mode)
    kind, code, _ = TYPES[word]
    found = words(
        f"tcgen05.mma.cta_group::1.kind::{kind} [%r13], %d2, %d3, %r1, %p3;",
        tiles,
        *descriptors,
        idesc_of(128, 1, code, code),
    )
    assert (found.view(np.float32) == a @ b.T).all()


def test_products_are_added_negated_and_masked_by_lane() -> None:
    a, b, tiles, *descriptors = operands("f16", 128, 2)
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1"
    negated = idesc_of(128, 1, 0, 0, 1 << 13)
    found = words(f"{mma}, %p3; {mma}, %p2; {mma}, {{0, -1, 0, 1}}, %p2;", tiles, *descriptors, negated)
    times = np.full((128, 1), 3.0)
    times[32:64] = times[96] = 2.0
    assert (found.view(np.float32) == -times * (a @ b.T)).all()


def test_sixty_four_rows_are_sixteen_lanes_of_each_warp() -> None:
    a, b, tiles, *descriptors = operands("bf16", 64, 2)
    before = "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r15], {" + ", ".join(["%r0"] * 16) + "}; "
    before += "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
    before += "tcgen05.fence::after_thread_sync;"
    found = words(
        "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;",
        tiles,
        *descriptors,
        idesc_of(64, 1, 1, 1),
        before=before,
    )
    by_warp = found.reshape(4, 32, N)
    assert (by_warp[:, :16].reshape(64, N).view(np.float32) == a @ b.T).all()
    assert (by_warp[:, 16:] == np.arange(128).reshape(4, 32, 1)[:, 16:]).all()


def test_a_may_be_in_tensor_memory() -> None:
    a, b, tiles, *descriptors = operands("f16", 128, 2)
    octets = narrow(FORMATS["f16"], a).view(np.uint32).copy()  # eight columns of two each
    held = tiles.copy()
    held[:4096] = octets.view(np.uint8).ravel()
    load = "mul.lo.u32 %r5, %r0, 32; add.u32 %r5, %r5, %r2; ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r5]; "
    load += "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r5+16]; add.u32 %r32, %r15, 32; add.u32 %r33, %r13, 32; "
    load += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r32], {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23}; "
    load += "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
    load += "tcgen05.fence::after_thread_sync;"
    found = words(
        "tcgen05.mma.cta_group::1.kind::f16 [%r13], [%r33], %d3, %r1, %p3;",
        held,
        *descriptors,
        idesc_of(128, 1, 0, 0),
        before=load,
    )
    assert (found.view(np.float32) == a @ b.T).all()


def test_integers_are_multiplied_exactly() -> None:
    random = np.random.default_rng(3)
    a, b = random.integers(-128, 128, (128, 32)).astype(np.int8), random.integers(0, 256, (N, 32)).astype(np.uint8)
    tiles = np.zeros(32768, np.uint8)
    descriptors = along(tiles, 0, a, 6), along(tiles, B_AT, b, 6)
    found = words(
        "tcgen05.mma.cta_group::1.kind::i8 [%r13], %d2, %d3, %r1, %p3;", tiles, *descriptors, idesc_of(128, 2, 1, 0)
    )
    assert (found.view(np.int32) == a.astype(np.int32) @ b.T.astype(np.int32)).all()


def test_rows_are_copied_to_lanes() -> None:
    tiles = np.random.default_rng(5).integers(0, 256, 32768).astype(np.uint8)
    rows = tiles[:4096].reshape(16, 2, 8, 16)  # eight rows of a unit, two units, sixteen times
    expected = np.moveaxis(rows, 1, 2).reshape(128, 32).view(np.uint32)
    found = words("tcgen05.cp.cta_group::1.128x256b [%r13], %d2;", tiles, make_descriptor(0, 128, 256, 0))
    assert (found[:, :8] == expected).all()
    first = np.moveaxis(tiles[:1024].reshape(4, 2, 8, 16), 1, 2).reshape(32, 32).view(np.uint32)[:, :4]
    found = words("tcgen05.cp.cta_group::1.32x128b.warpx4 [%r13], %d2;", tiles, make_descriptor(0, 128, 256, 0))
    assert (found[:, :4] == np.tile(first, (4, 1))).all()


@pytest.mark.parametrize(("shape", "registers"), [("32x32b", 1), ("16x64b", 1), ("16x128b", 2), ("16x256b", 4)])
def test_every_shape_is_its_own_inverse_and_accesses_each_word_once(shape: str, registers: int) -> None:
    lanes, columns = register_layout(shape, 2)
    assert len(lanes) == 2 * registers
    height = 32 if shape == "32x32b" else 16
    places = set(zip(lanes.ravel().tolist(), columns.ravel().tolist(), strict=True))
    assert places == {(lane, column) for lane in range(height) for column in range(2 * registers * 32 // height)}


def test_a_tile_may_not_be_overwritten_before_a_wait_for_its_commit() -> None:
    _, _, tiles, *descriptors = operands("f16", 128, 2)
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    how = idesc_of(128, 1, 0, 0)
    wrong = outcome(mma, tiles, *descriptors, how, policy="late", after="@%p2 st.shared.u32 [%r2], %r0;")
    assert [each.code for each in wrong.findings] == ["PTX303"]
    assert not outcome(mma, tiles, *descriptors, how, policy="late").findings


def test_without_a_commit_no_thread_observes_the_completion() -> None:
    _, _, tiles, *descriptors = operands("f16", 128, 2)
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    found = outcome(mma, tiles, *descriptors, idesc_of(128, 1, 0, 0), commit="")
    assert found.findings


def test_unallocated_columns_and_lanes_of_another_warp_are_found() -> None:
    tiles = np.zeros(32768, np.uint8)
    beyond = outcome("", tiles, before="add.u32 %r15, %r15, 56;", commit=COMMIT)
    assert [each.code for each in beyond.findings] == ["PTX701"]
    other = outcome("", tiles, before="mov.u32 %r15, %r13;", commit=COMMIT)
    assert [each.code for each in other.findings] == ["PTX707"]


def test_a_descriptor_of_memory_that_does_not_exist_is_rejected() -> None:
    _, _, tiles, *descriptors = operands("f16", 128, 2)
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    found = outcome(mma, tiles, *descriptors, idesc_of(128, 1, 5, 5))
    assert [each.code for each in found.findings] == ["PTX206"]


@pytest.mark.parametrize("policy", ["eager", "late", "torn", "random"])
def test_a_tile_may_be_overwritten_by_any_thread_that_observed_the_commit(policy: str) -> None:
    _, _, tiles, *descriptors = operands("f16", 128, 2)
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    wait = "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r10], 0; @!%p1 bra again; "
    wait += "mul.lo.u32 %r5, %r0, 4; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r0;"
    found = outcome(mma, tiles, *descriptors, idesc_of(128, 1, 0, 0), policy=policy, after=wait)
    assert not found.unsupported_reason
    assert not found.findings


def pair_kernel(kernel: str) -> str:
    """Returns the kernel for pairs of CTAs: each has its own tiles and results, and the first one multiplies for
    both."""
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    changes = {
        "cta_group::1": "cta_group::2",
        ".reg .pred %p<4>;": ".reg .pred %p<5>; .reg .b16 %h0;",
        " mov.u32 %r0, %tid.x;": " mov.u32 %r0, %tid.x; mov.u32 %r34, %ctaid.x; mov.u16 %h0, 3;\n"
        " mul.wide.u32 %d6, %r34, 32768; add.u64 %d0, %d0, %d6; mul.wide.u32 %d6, %r34, 8192; add.u64 %d1, %d1, %d6;",
        " fence.proxy.async;\n bar.sync 0;": f" fence.proxy.async;\n fence.mbarrier_init.release.cluster;\n {meet}",
        " @!%p2 bra issued;": " setp.eq.and.u32 %p4, %r34, 0, %p2;\n @!%p4 bra issued;",
        "bar.sync 0;\n @!%p0 bra over;": f"{meet}\n @!%p0 bra over;",
    }
    for old, new in changes.items():
        assert old in kernel
        kernel = kernel.replace(old, new)
    return kernel


COMMIT_TO_BOTH = COMMIT.replace("cta_group::1", "cta_group::2").replace(
    ".b64 [%r10]", ".multicast::cluster.b64 [%r10], %h0"
)


@pytest.mark.parametrize("m", [128, 256])
def test_a_pair_of_ctas_multiplies_the_tiles_of_both(m: int) -> None:
    random = np.random.default_rng(9)
    a, b = random.integers(-4, 5, (m, 16)).astype(float), random.integers(-4, 5, (2 * N, 16)).astype(float)
    tiles = np.zeros((2, 32768), np.uint8)
    for at in range(2):
        left = along(tiles[at], 0, narrow(FORMATS["f16"], a[at * m // 2 : (at + 1) * m // 2]), 2)
        right = along(tiles[at], B_AT, narrow(FORMATS["f16"], b[at * N : (at + 1) * N]), 2)
    # Of 256 rows each CTA has 128 lanes of 32 columns, of which the kernel shows 16; of 128 it has both halves in 16.
    idesc = 1 << 4 | 2 * N >> 3 << 17 | m >> 4 << 24
    mma = "tcgen05.mma.cta_group::2.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    text = pair_kernel(KERNEL).format(instruction=mma, commit=COMMIT_TO_BOTH, before="", after="")
    arguments = [tiles, np.zeros((2, 128, N), np.uint32), left, right, np.uint32(idesc)]
    found = run(text, "k", grid=2, block=128, cluster=2, arguments=arguments)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    shown, product = found.outputs[1].view(np.float32), a @ b.T
    if m == 256:
        assert (shown.reshape(256, N) == product[:, :N]).all()
    else:
        halves = np.stack([product[:, :N].reshape(2, 64, N), product[:, N:].reshape(2, 64, N)], axis=1)
        assert (shown == halves.reshape(2, 128, N)).all()


@pytest.mark.parametrize(
    ("form", "expected"),
    [("max.f32", 7.0), ("min.f32", -9.0), ("max.abs.f32", 9.0), ("max.NaN.f32", float("nan")), ("min.s32", None)],
)
def test_a_load_may_return_the_extreme_of_its_elements(form: str, expected: float | None) -> None:
    values = np.array([1.0, -9.0, float("nan"), 7.0], np.float32).view(np.uint32)
    moves = "".join(f"mov.b32 %r{16 + at}, {value}; " for at, value in enumerate(values))
    before = (
        moves
        + "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r15], {%r16, %r17, %r18, %r19}; tcgen05.wait::st.sync.aligned; "
    )
    before += f"tcgen05.ld.red.sync.aligned.32x32b.x4.{form} {{%r20, %r21, %r22, %r23}}, {{%r24}}, [%r15]; "
    before += "tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r15], {%r24};"
    text = KERNEL.replace("sm_100a", "sm_103a").replace(".version 8.6", ".version 8.8")
    text = text.format(instruction="", commit=COMMIT, before=before, after="")
    arguments = [np.zeros(32768, np.uint8), np.zeros((128, N), np.uint32), 0, 0, np.uint32(0)]
    found = run(text, "k", block=128, arguments=arguments)
    assert not found.unsupported_reason, found.unsupported_reason
    shown = found.outputs[1][:, 0]
    if expected is None:
        assert (shown.view(np.int32) == values.view(np.int32).min()).all()
    else:
        np.testing.assert_array_equal(shown.view(np.float32), np.full(128, expected, np.float32))
