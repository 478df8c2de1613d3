"""Matrices in kernels: loaded, multiplied and stored by warps, compared with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import run
from ptxkit.emulator.actions.mma import transpose_register

HEAD = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {
 .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<20>; .reg .f64 %x<40>; .reg .b16 %h<10>;
 .shared .align 128 .b8 tile[2048];
 ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c]; ld.param.u64 %d3, [d];
 mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3;
"""


def launch_kernel(body: str, *arrays: Any, block: int = 32, target: str = "sm_90a") -> Any:
    """Returns the last array after the body ran with the arrays' addresses in %d0 to %d3."""
    filled = [*arrays, *(np.zeros(1, np.uint32) for _ in range(4 - len(arrays)))]
    text = HEAD.replace("sm_90a", target).replace("8.3", "8.8") + body + "\n ret;\n}\n"
    found = run(text, "k", block=block, arguments=filled)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[len(arrays) - 1]


WMMA = {
    "f16": ("m16n16k16", 16, 16, 16, "f16", "f32", 8, 8, 8, ".f32.f32"),
    "f16 wide": ("m8n32k16", 8, 32, 16, "f16", "f32", 8, 8, 8, ".f32.f32"),
    "f16 long": ("m32n8k16", 32, 8, 16, "f16", "f32", 8, 8, 8, ".f32.f32"),
    "s8": ("m16n16k16", 16, 16, 16, "s8", "s32", 2, 2, 8, ".s32.s8.s8.s32"),
    "tf32": ("m16n16k8", 16, 16, 8, "tf32", "f32", 4, 4, 8, ".f32.tf32.tf32.f32"),
    "f64": ("m8n8k4", 8, 8, 4, "f64", "f64", 1, 1, 2, ".rn.f64.f64.f64.f64"),
}
TYPES = {"f16": np.float16, "s8": np.int8, "tf32": np.float32, "f64": np.float64, "f32": np.float32, "s32": np.int32}


@pytest.mark.parametrize("layouts", [("row", "col", "row"), ("col", "row", "col")], ids=["along k", "across k"])
@pytest.mark.parametrize("case", WMMA)
def test_a_product_of_loaded_fragments_is_the_product_of_the_matrices(case: str, layouts: tuple[str, str, str]) -> None:
    shape, m, n, k, of, to, an, bn, cn, types = WMMA[case]
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-8, 8, size).astype(TYPES[of]) for size in ((m, k), (k, n)))
    c = generator.integers(-8, 8, (m, n)).astype(TYPES[to])
    file = {"f64": "x", "f32": "f"}.get(to, "r")
    word = "x" if of == "f64" else "r"
    regs = [
        ", ".join(f"%{name}{first + at}" for at in range(count))
        for name, first, count in ((word, 4, an), (word, 14, bn), (file, 24, cn))
    ]
    al, bl, cl = layouts
    body = f"""
 wmma.load.a.sync.aligned.{al}.{shape}.global.{of} {{{regs[0]}}}, [%d0];
 wmma.load.b.sync.aligned.{bl}.{shape}.global.{of} {{{regs[1]}}}, [%d1];
 wmma.load.c.sync.aligned.{cl}.{shape}.global.{to} {{{regs[2]}}}, [%d2];
 wmma.mma.sync.aligned.{al}.{bl}.{shape}{types} {{{regs[2]}}}, {{{regs[0]}}}, {{{regs[1]}}}, {{{regs[2]}}};
 wmma.store.d.sync.aligned.{cl}.{shape}.global.{to} [%d3], {{{regs[2]}}};"""

    def store_tile(matrix: Any, layout: str) -> Any:
        return np.ascontiguousarray(matrix if layout == "row" else matrix.T)

    found = launch_kernel(
        body, store_tile(a, al), store_tile(b, bl), store_tile(c, cl), np.zeros_like(store_tile(c, cl))
    )
    expected = store_tile(a.astype(np.float64) @ b.astype(np.float64) + c, cl)
    assert (found.reshape(expected.shape) == expected).all()


def test_matrices_of_shared_memory_are_loaded_by_ldmatrix_and_multiplied() -> None:
    generator = np.random.default_rng(2)
    a, b = (generator.integers(-8, 8, size).astype(np.float16) for size in ((16, 16), (16, 8)))
    body = """
 mov.u32 %r4, tile;
 mad.lo.u32 %r5, %r1, 16, %r4;
 mul.wide.u32 %d4, %r1, 16; add.u64 %d5, %d0, %d4; add.u64 %d6, %d1, %d4;
 ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d5]; st.shared.v4.u32 [%r5], {%r10, %r11, %r12, %r13};
 setp.lt.u32 %p1, %r1, 16;
 @%p1 ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d6]; @%p1 st.shared.v4.u32 [%r5+512], {%r10, %r11, %r12, %r13};
 bar.warp.sync 0xffffffff;
 and.b32 %r6, %r1, 15; shr.u32 %r7, %r1, 4; mad.lo.u32 %r6, %r6, 32, %r4; mad.lo.u32 %r6, %r7, 16, %r6;
 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r6];
 and.b32 %r8, %r1, 15; mad.lo.u32 %r8, %r8, 16, %r4;
 ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r24, %r25}, [%r8+512];
 mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3},
   {%r20, %r21, %r22, %r23}, {%r24, %r25}, {%f0, %f1, %f2, %f3};
 mul.wide.u32 %d7, %r2, 32; add.u64 %d7, %d7, %d3; mul.wide.u32 %d8, %r3, 8; add.u64 %d7, %d7, %d8;
 st.global.v2.f32 [%d7], {%f0, %f1}; st.global.v2.f32 [%d7+256], {%f2, %f3};
"""
    text = body.replace("setp", ".reg .pred %p<2>;\n setp", 1)
    found = launch_kernel(text, a, b, np.zeros(1, np.uint32), np.zeros((16, 8), np.float32))
    assert (found == a.astype(np.float32) @ b.astype(np.float32)).all()


def test_stmatrix_writes_what_ldmatrix_reads() -> None:
    body = """
 mov.u32 %r4, tile;
 mad.lo.u32 %r5, %r1, 16, %r4;
 add.u32 %r6, %r1, 100; add.u32 %r7, %r1, 200; add.u32 %r8, %r1, 300; add.u32 %r9, %r1, 400;
 stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r5], {%r6, %r7, %r8, %r9};
 bar.warp.sync 0xffffffff;
 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];
 movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;
 movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r11;
 movmatrix.sync.aligned.m8n8.trans.b16 %r12, %r12;
 movmatrix.sync.aligned.m8n8.trans.b16 %r13, %r13;
 mul.wide.u32 %d7, %r1, 16; add.u64 %d7, %d7, %d0;
 st.global.v4.u32 [%d7], {%r10, %r11, %r12, %r13};"""
    found = launch_kernel(body, np.zeros((32, 4), np.uint32))
    assert (found == np.arange(32)[:, None] + np.array([100, 200, 300, 400])).all()


def test_each_warp_of_a_cta_multiplies_its_own_matrices() -> None:
    body = """
 shr.u32 %r4, %r0, 5; cvt.rn.f32.u32 %f0, %r4; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
 mov.u32 %r5, 0x3c003c00;
 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r5, %r5}, {%r5}, {%f0, %f1, %f2, %f3};
 mul.wide.u32 %d7, %r0, 4; add.u64 %d7, %d7, %d0; st.global.f32 [%d7], %f3;"""
    found = launch_kernel(body, np.zeros(96, np.float32), block=96)
    assert found.tolist() == [8.0] * 32 + [9.0] * 32 + [10.0] * 32


def test_single_bits_and_small_integers_are_counted_exactly() -> None:
    body = """
 mov.u32 %r5, 0xffffffff; mov.u32 %r6, 0x0f0f0f0f; mov.u32 %r7, 5;
 mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r10, %r11, %r12, %r13},
   {%r5, %r5, %r5, %r5}, {%r6, %r6}, {%r7, %r7, %r7, %r7};
 mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%r14, %r15, %r16, %r17},
   {%r5, %r5, %r5, %r5}, {%r6, %r6}, {%r7, %r7, %r7, %r7};
 mul.wide.u32 %d7, %r1, 8; add.u64 %d7, %d7, %d0; st.global.v2.u32 [%d7], {%r10, %r14};"""
    found = launch_kernel(body, np.zeros((32, 2), np.int32))
    assert found[:, 0].tolist() == [128 + 5] * 32
    assert found[:, 1].tolist() == [-32 * 15 + 5] * 32


def test_a_sparse_product_places_elements_by_the_metadata() -> None:
    body = """
 mov.u32 %r5, 0x40003c00; mov.u32 %r6, 0x44444444; mov.u32 %r9, 0;
 shl.b32 %r8, %r2, 0; cvt.rn.f16.u32 %h1, %r3; mov.b32 %r7, {%h1, %h1};
 mov.f32 %f0, 0f00000000;
 mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3},
   {%r5, %r5}, {%r7, %r7}, {%f0, %f0, %f0, %f0}, %r6, 0x0;
 mul.wide.u32 %d7, %r1, 4; add.u64 %d7, %d7, %d0; st.global.f32 [%d7], %f2;"""
    found = launch_kernel(body, np.zeros(32, np.float32))
    # In each chunk of four along k the first is 1.0 and the second 2.0; B is thread t in the rows 2t, 2t+1, 2t+8, 2t+9.
    assert found.tolist() == [2 * (3.0 * 0 + 3.0 * 2)] * 32


@pytest.mark.parametrize(
    ("forms", "source", "wanted"),
    [
        ("b8x16.b4x16_p64", np.arange(8, dtype=np.uint8) * 34 + 16, [at << 2 for at in range(16)]),
        ("b8x16.b6x16_p32", np.array([0x40, 0x20, 0x0C] * 4, np.uint8), [0, 1, 2, 3] * 4),
    ],
)
def test_narrow_elements_are_expanded_to_bytes(forms: str, source: Any, wanted: list[int]) -> None:
    rows = np.zeros((8, 16), np.uint8)
    rows[:, : len(source)] = source
    body = f"""
 mov.u32 %r4, tile; and.b32 %r5, %r1, 7; mad.lo.u32 %r5, %r5, 16, %r4;
 mul.wide.u32 %d4, %r1, 4; add.u64 %d5, %d0, %d4; ld.global.u32 %r6, [%d5];
 mad.lo.u32 %r7, %r1, 4, %r4; st.shared.u32 [%r7], %r6; bar.warp.sync 0xffffffff;
 ldmatrix.sync.aligned.m8n16.x1.shared.{forms} {{%r8}}, [%r5];
 add.u64 %d5, %d1, %d4; st.global.u32 [%d5], %r8;"""
    found = launch_kernel(body, rows, np.zeros((8, 16), np.uint8), target="sm_100a")
    assert (found == wanted).all()


@pytest.mark.parametrize(("form", "width"), [("b8", 8), ("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)])
def test_square_matrices_are_transposed_into_two_registers_each(form: str, width: int) -> None:
    codes = np.random.default_rng(width).integers(0, 1 << width, (16, 16)).astype(np.uint8)
    rows = np.zeros((16, 16), np.uint8)
    for row in range(16):
        packed = sum(int(code) << width * at for at, code in enumerate(codes[row]))
        rows[row] = np.frombuffer(packed.to_bytes(16, "little"), np.uint8)
    body = f"""
 mov.u32 %r4, tile; and.b32 %r5, %r1, 15; mad.lo.u32 %r5, %r5, 16, %r4;
 mul.wide.u32 %d4, %r1, 8; add.u64 %d5, %d0, %d4; ld.global.v2.u32 {{%r6, %r7}}, [%d5];
 mad.lo.u32 %r8, %r1, 8, %r4; st.shared.v2.u32 [%r8], {{%r6, %r7}}; bar.warp.sync 0xffffffff;
 ldmatrix.sync.aligned.m16n16.x1.trans.shared.{form} {{%r8, %r9}}, [%r5];
 add.u64 %d5, %d1, %d4; st.global.v2.u32 [%d5], {{%r8, %r9}};"""
    found = launch_kernel(body, rows, np.zeros((32, 2, 4), np.uint8), target="sm_100a")
    lane = np.arange(32)[:, None, None]
    column, row = lane // 4 + np.arange(2)[:, None] * 8, lane % 4 * 4 + np.arange(4)
    assert (found == codes[row, column] << (2 if width == 4 else 0)).all()


def test_tall_matrices_are_stored_transposed() -> None:
    body = """
 mov.u32 %r4, tile; and.b32 %r5, %r1, 15; mad.lo.u32 %r5, %r5, 16, %r4;
 mul.wide.u32 %d4, %r1, 8; add.u64 %d5, %d0, %d4; ld.global.v2.u32 {%r6, %r7}, [%d5];
 stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r5], {%r6, %r7}; bar.warp.sync 0xffffffff;
 mad.lo.u32 %r8, %r1, 8, %r4; ld.shared.v2.u32 {%r6, %r7}, [%r8]; add.u64 %d5, %d1, %d4;
 st.global.v2.u32 [%d5], {%r6, %r7};"""
    given = np.random.default_rng(1).integers(0, 256, (32, 2, 4)).astype(np.uint8)
    found = launch_kernel(body, given, np.zeros((2, 8, 16), np.uint8), target="sm_100a")
    wanted = np.zeros_like(found)
    for lane in range(32):
        for one in range(4):  # two rows, eight matrices' rows of memory; then eight bytes further
            wanted[:, lane % 4 * 2 + one % 2, lane // 4 + one // 2 * 8] = given[lane, :, one]
    assert (found == wanted).all()


def test_volta_shapes_are_four_products() -> None:
    body = """
 cvt.rn.f32.u32 %f0, %r0; mov.f32 %f10, 0f00000000; shr.u32 %r4, %r1, 2; and.b32 %r4, %r4, 3;
 cvt.rn.f16.u32 %h1, %r4; mov.b32 %r5, {%h1, %h1}; mov.u32 %r6, 0x3c003c00;
 mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r5, %r5}, {%r6, %r6},
   {%f10, %f10, %f10, %f10, %f10, %f10, %f10, %f10};
 mul.wide.u32 %d7, %r1, 4; add.u64 %d7, %d7, %d0; st.global.f32 [%d7], %f5;"""
    found = launch_kernel(body, np.zeros(32, np.float32))
    assert found.tolist() == [4.0 * (lane % 16 // 4) for lane in range(32)]


def test_blocks_are_scaled() -> None:
    # e2m1 1.0 times 1.0 everywhere; A's rows g have the scale 2, g + 8 the scale 4, B's columns all 1/2.
    body = """
 mov.u32 %r5, 0x22222222; mov.u32 %r6, 0x8080; and.b32 %r7, %r1, 1; setp.eq.u32 %p1, %r7, 0;
 @!%p1 mov.u32 %r6, 0x8181; mov.u32 %r8, 0x7e7e; mov.f32 %f10, 0f3f800000;
 mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
   {%f0, %f1, %f2, %f3}, {%r5, %r5, %r5, %r5}, {%r5, %r5}, {%f10, %f10, %f10, %f10}, %r6, {0, 0}, %r8, {0, 0};
 mul.wide.u32 %d7, %r1, 8; add.u64 %d7, %d7, %d0; st.global.v2.f32 [%d7], {%f1, %f2};"""
    text = ".reg .pred %p<2>;" + body
    found = launch_kernel(text, np.zeros((32, 2), np.float32), target="sm_120a")
    assert found.tolist() == [[64.0 + 1, 128.0 + 1]] * 32


def test_a_transposed_register_contains_two_neighbors_of_a_column() -> None:
    rows = np.arange(64, dtype=np.uint16).reshape(8, 8)
    register = rows.view(np.uint32).reshape(1, 32)
    transposed = transpose_register(register)
    assert transposed[0, 5] == 16 + 1 | (24 + 1) << 16
    assert (transpose_register(transposed) == register).all()
