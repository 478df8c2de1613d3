"""wgmma in kernels, compared with numpy: tiles of shared memory in every layout, and pending operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import run
from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import FORMATS

N = 16
B_AT = 16384

KERNEL = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 tiles, .param .u64 d, .param .u64 adesc, .param .u64 bdesc) {{
 .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<20>; .reg .pred %p<4>;
 .shared .align 1024 .b8 tile[32768];
 ld.param.u64 %d0, [tiles]; ld.param.u64 %d1, [d]; ld.param.u64 %d2, [adesc]; ld.param.u64 %d3, [bdesc];
 mov.u32 %r0, %tid.x; mov.u32 %r2, tile; mul.lo.u32 %r3, %r0, 16; mov.u32 %r4, 0;
next:
 add.u32 %r5, %r3, %r4; cvt.u64.u32 %d4, %r5; add.u64 %d4, %d4, %d0;
 ld.global.v4.u32 {{%r6, %r7, %r8, %r9}}, [%d4]; add.u32 %r5, %r5, %r2; st.shared.v4.u32 [%r5], {{%r6, %r7, %r8, %r9}};
 add.u32 %r4, %r4, 2048; setp.lt.u32 %p1, %r4, 32768; @%p1 bra next;
 {fence}
 bar.sync 0;
 shr.u32 %r5, %r2, 4; cvt.u64.u32 %d5, %r5; add.u64 %d2, %d2, %d5; add.u64 %d3, %d3, %d5;
 {before}
 wgmma.fence.sync.aligned;
 {instruction}
 wgmma.commit_group.sync.aligned;
 {wait}
 shr.u32 %r5, %r0, 5; and.b32 %r6, %r0, 31; shr.u32 %r7, %r6, 2; and.b32 %r8, %r6, 3;
 mad.lo.u32 %r5, %r5, 16, %r7; mul.lo.u32 %r5, %r5, 64; mad.lo.u32 %r5, %r8, 8, %r5;
 cvt.u64.u32 %d4, %r5; add.u64 %d4, %d4, %d1;
 st.global.v2.b32 [%d4], {{{d0}, {d1}}}; st.global.v2.b32 [%d4+512], {{{d2}, {d3}}};
 st.global.v2.b32 [%d4+32], {{{d4}, {d5}}}; st.global.v2.b32 [%d4+544], {{{d6}, {d7}}};
 ret;
}}
"""
FENCE = "fence.proxy.async;"
WAIT = "wgmma.wait_group.sync.aligned 0;"


def outcome(instruction: str, tiles: Any, a: int, b: int, *, to: Any = np.float32, **parts: str) -> Any:
    letter = "f" if to is np.float32 else "r"
    first = 20
    names = {f"d{at}": f"%{letter}{first + at}" for at in range(8)}
    texts = {"fence": FENCE, "wait": WAIT, "before": ""} | parts
    vector = "{" + ", ".join(names.values()) + "}"
    text = KERNEL.format(instruction=instruction.replace("D,", vector + ","), **names, **texts)
    return run(text, "k", block=128, arguments=[tiles, np.zeros((64, N), to), a, b])


def product(*arguments: Any, **parts: Any) -> Any:
    found = outcome(*arguments, **parts)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[1]


def make_descriptor(start: int, leading: int, stride: int, mode: int) -> int:
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62


def along(tiles: Any, start: int, codes: Any, mode: int) -> int:
    """Writes rows of 32 bytes along k into the tiles; returns the descriptor.

    Without a swizzle units are 128 bytes apart.
    """
    octets = np.ascontiguousarray(codes).view(np.uint8)
    span = {0: 16, 1: 128, 2: 64, 3: 32}[mode]
    for row, line in enumerate(octets):
        for at, octet in enumerate(line):
            if mode == 0:
                place = row % 8 * 16 + row // 8 * 256 + at % 16 + at // 16 * 128
            else:
                place = row * span + at
                place ^= (place >> 7 & span // 16 - 1) << 4
            tiles[start + place] = octet
    return make_descriptor(start, 128, 256 if mode == 0 else 8 * span, mode)


def random_codes(word: str, shape: tuple[int, int], seed: int) -> tuple[Any, Any]:
    """Small integers as values and as codes."""
    values = np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64)
    if word == "u8":
        values = np.abs(values)
    if word in ("s8", "u8"):
        return values, values.astype(np.int8).view(np.uint8)
    return values, narrow(FORMATS[word], values)


@pytest.mark.parametrize("mode", [0, 1, 2, 3], ids=["plain", "128 bytes", "64 bytes", "32 bytes"])
@pytest.mark.parametrize(
    ("k", "types", "word"),
    [
        (16, "f32.f16.f16", "f16"),
        (16, "f32.bf16.bf16", "bf16"),
        (8, "f32.tf32.tf32", "tf32"),
        (32, "f32.e4m3.e4m3", "e4m3"),
    ],
)
def test_tiles_along_k_are_multiplied(k: int, types: str, word: str, mode: int) -> None:
    tiles = np.zeros(32768, np.uint8)
    (x, a), (y, b) = random_codes(word, (64, k), 1), random_codes(word, (N, k), 2)
    descriptors = along(tiles, 0, a, mode), along(tiles, B_AT, b, mode)
    turns = ", 0, 0" if k == 16 else ""
    found = product(
        f"wgmma.mma_async.sync.aligned.m64n{N}k{k}.{types} D, %d2, %d3, 0, 1, -1{turns};", tiles, *descriptors
    )
    assert (found == -(x @ y.T)).all()


@pytest.mark.parametrize(("left", "right"), [("s8", "s8"), ("u8", "s8")])
def test_integers_are_added_to_the_accumulator(left: str, right: str) -> None:
    tiles = np.zeros(32768, np.uint8)
    (x, a), (y, b) = random_codes(left, (64, 32), 3), random_codes(right, (N, 32), 4)
    descriptors = along(tiles, 0, a, 1), along(tiles, B_AT, b, 1)
    before = "".join(f"mov.u32 %r{20 + at}, 7;" for at in range(8))
    text = f"wgmma.mma_async.sync.aligned.m64n{N}k32.s32.{left}.{right} D, %d2, %d3, 1;"
    found = product(text, tiles, *descriptors, to=np.int32, before=before)
    assert (found == x @ y.T + 7).all()


def test_a_may_be_in_registers() -> None:
    tiles = np.zeros(32768, np.uint8)
    y, b = random_codes("f16", (N, 16), 5)
    text = f"wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 D, {{%r30, %r30, %r30, %r30}}, %d3, 0, 1, 1, 0;"
    found = product(text, tiles, 0, along(tiles, B_AT, b, 1), before="mov.u32 %r30, 0x40003c00;")
    expected = np.tile([1.0, 2.0], 8) @ y.T
    assert (found == expected).all()


@pytest.mark.parametrize(("mode", "span"), [(0, 1), (1, 8), (2, 4), (3, 2)], ids=["plain", "128", "64", "32"])
def test_tiles_across_k_are_multiplied(mode: int, span: int) -> None:
    tiles = np.zeros(32768, np.uint8)
    (x, a), (y, b) = random_codes("f16", (64, 16), 6), random_codes("f16", (N, 16), 7)
    leading, stride = (1024, 128) if mode == 0 else (2048 * span // 8, span * 128)
    for start, codes in ((0, a), (B_AT, b)):
        for (row, column), code in np.ndenumerate(codes):
            if mode == 0:
                place = row % 8 * 2 + row // 8 * stride + column % 8 * 16 + column // 8 * leading
            else:
                place = row % (8 * span) * 2 + row // (8 * span) * leading
                place += column % 8 * 16 * span + column // 8 * stride
                place ^= (place >> 7 & span - 1) << 4
            tiles[start + place : start + place + 2] = np.array([code]).view(np.uint8)
    descriptors = (make_descriptor(start, leading, stride, mode) for start in (0, B_AT))
    text = f"wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 D, %d2, %d3, 0, 1, 1, 1, 1;"
    assert (product(text, tiles, *descriptors) == x @ y.T).all()


def test_a_sparse_tile_has_half_of_its_elements() -> None:
    tiles = np.zeros(32768, np.uint8)
    (x, a), (y, b) = random_codes("f16", (64, 16), 8), random_codes("f16", (N, 32), 9)
    wide = np.zeros((64, 8, 4))
    wide[..., [1, 3]] = x.reshape(64, 8, 2)
    first, second = along(tiles, 0, a, 3), along(tiles, B_AT, b, 2)
    text = f"wgmma.mma_async.sp.sync.aligned.m64n{N}k32.f32.f16.f16 D, %d2, %d3, %r31, 0, 0, 1, 1, 0, 0;"
    found = product(text, tiles, first, second, before="mov.u32 %r31, 0xdddddddd;")
    assert (found == wide.reshape(64, 32) @ y.T).all()


def test_operands_must_not_be_written_before_the_wait() -> None:
    tiles = np.zeros(32768, np.uint8)
    (_, a), (_, b) = random_codes("f16", (64, 16), 1), random_codes("f16", (N, 16), 2)
    descriptors = along(tiles, 0, a, 1), along(tiles, B_AT, b, 1)
    text = f"wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 D, %d2, %d3, 0, 1, 1, 0, 0;"
    overwriting = "mad.lo.u32 %r5, %r0, 16, %r2; st.shared.u32 [%r5], %r0;"
    found = outcome(text, tiles, *descriptors, wait=overwriting + WAIT)
    assert {each.code for each in found.findings} == {"PTX314"}
    assert not outcome(text, tiles, *descriptors, wait=WAIT + "bar.sync 0;" + overwriting).findings


def test_uncommitted_groups_are_found() -> None:
    tiles = np.zeros(32768, np.uint8)
    (_, a), (_, b) = random_codes("f16", (64, 16), 1), random_codes("f16", (N, 16), 2)
    descriptors = along(tiles, 0, a, 1), along(tiles, B_AT, b, 1)
    text = f"wgmma.mma_async.sync.aligned.m64n{N}k16.f32.f16.f16 D, %d2, %d3, 0, 1, 1, 0, 0;"
    found = outcome(
        text, tiles, *descriptors, wait=WAIT + text.replace("D,", "{%f30, %f31, %f32, %f33, %f34, %f35, %f36, %f37},")
    )
    assert {each.code for each in found.findings} == {"PTX301"}
