"""Vectors of which half of the elements are kept, compared with an implementation of the manual for each element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import run
from ptxkit.emulator.core.numbers.formats import FORMATS
from ptxkit.emulator.tensor.sparsity_patterns import compress_groups, decompress_groups, select_elements

HEAD = """.version 9.4
.target sm_107a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out) {{
 .reg .b64 %d<6>; .reg .b32 %r<24>; .reg .pred %p<4>;
 .shared .align 4 .b32 place;
 ld.param.u64 %d0, [x]; ld.param.u64 %d1, [out];
 mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 32; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
 ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%d0]; ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%d0+16];
 mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0; mov.b32 %r14, 0;
 {body}
 st.global.v4.u32 [%d1], {{%r9, %r10, %r11, %r12}}; st.global.v2.u32 [%d1+16], {{%r13, %r14}};
 ret;
}}
"""


def outcome(body: str, words: Any) -> Any:
    given = np.zeros((32, 8), np.uint32)
    given[: len(words), : words.shape[1]] = words
    return run(HEAD.format(body=body), "k", block=32, arguments=[given, np.zeros((32, 8), np.uint32)])


def result(body: str, words: Any) -> Any:
    found = outcome(body, words)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[1]


OPERATIONS = {0: "greatest", 1: "greatest magnitudes", 2: "smallest", 3: "smallest magnitudes"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=OPERATIONS.get)
def test_two_of_four_bytes_are_kept_with_their_positions(operation: int) -> None:
    values = np.random.default_rng(operation).permuted(np.tile(np.arange(-16, 16, dtype=np.int8), (32, 1)), axis=1)[
        :, :16
    ]
    body = f"mov.b32 %r15, {operation | 1 << 2}; "
    body += "spcompress.b8.b2.sp::2:4.x2 {%r9}, {%r10, %r11}, {%r1, %r2, %r3, %r4}, %r15;"
    found = result(body, np.ascontiguousarray(values).view(np.uint32))
    kept = np.ascontiguousarray(found[:, 1:3]).view(np.int8)
    for lane in range(32):
        for group in range(4):
            four = values[lane, 4 * group : 4 * group + 4].astype(int)
            key = (lambda at, n=four: abs(n[at])) if operation & 1 else (lambda at, n=four: n[at])
            ordered = sorted(range(4), key=lambda at: (-key(at) if operation < 2 else key(at), at))
            places = sorted(ordered[:2])
            assert kept[lane, 2 * group : 2 * group + 2].tolist() == [four[at] for at in places]
            code = found[lane, 0] >> 4 * group & 15
            assert [code & 3, code >> 2] == places


def test_halves_may_have_positions_of_four_bits() -> None:
    values = np.array([[1, -3, 2, 0.5], [np.nan, 5, 6, 7], [-0.0, 0.0, -1, -2]], np.float16)
    body = "mov.b32 %r15, 0; spcompress.b16.b4.sp::2:4.x1 {%r9}, {%r10}, {%r1, %r2}, %r15;"
    found = result(body, values.view(np.uint32))
    kept = np.ascontiguousarray(found[:, 1:2]).view(np.float16)
    assert found[:3, 0].tolist() == [0x20, 0x30, 0x10]
    np.testing.assert_array_equal(kept[:3], np.array([[1, 2], [np.nan, 7], [-0.0, 0.0]], np.float16))


def test_zeros_differ_and_a_nan_is_kept_before_others() -> None:
    codes = np.array([[0x8000, 0x0000, 0xC000, 0x7E01]], np.uint16)
    assert select_elements(codes, "f16", greatest=True, magnitude=False).tolist() == [[1, 3]]
    assert select_elements(codes, "f16", greatest=False, magnitude=False).tolist() == [[2, 3]]
    assert select_elements(codes[:, [1, 0, 1, 0]], "f16", greatest=False, magnitude=False).tolist() == [[1, 3]]
    assert FORMATS["f16"].sign == 0x8000


def test_a_descriptor_of_another_size_is_found() -> None:
    body = "mov.b32 %r15, 8; spcompress.b16.b2.sp::2:4.x1 {%r9}, {%r10}, {%r1, %r2}, %r15;"
    assert [each.code for each in outcome(body, np.zeros((1, 2), np.uint32)).findings] == ["PTX206"]


@pytest.mark.parametrize(("taken", "given", "index"), [(1, 2, 2), (1, 8, 4), (2, 4, 2), (2, 16, 4), (4, 8, 4)])
def test_kept_elements_are_restored_to_their_positions(taken: int, given: int, index: int) -> None:
    random = np.random.default_rng(given)
    count = max(32 // (8 * given), 1) * (2 if given == 2 else 1)
    kept = random.integers(1, 256, (32, taken * count)).astype(np.uint8)
    places = np.stack([np.sort(random.choice(given, taken, replace=False)) for _ in range(32 * count)])
    places = places.reshape(32, count * taken)
    meta = np.zeros(32, np.uint32)
    for at in range(count * taken):
        meta |= (places[:, at] << index * at).astype(np.uint32)
    dense = np.zeros((32, count, given), np.uint8)
    for at in range(taken):
        np.put_along_axis(
            dense,
            places.reshape(32, count, taken)[..., at : at + 1],
            kept.reshape(32, count, taken)[..., at : at + 1],
            -1,
        )
    words = np.zeros((32, 2), np.uint32)
    words[:, 0] = meta
    words[:, 1:].view(np.uint8)[:, : kept.shape[1]] = kept
    registers = ", ".join(f"%r{9 + at}" for at in range(dense[0].size // 4))
    body = f"spdecompress.b8.b{index}.sp::{taken}:{given}.x{count} {{{registers}}}, {{%r1}}, {{%r2}};"
    found = result(body, words)[:, : dense[0].size // 4]
    assert (np.ascontiguousarray(found).view(np.uint8) == dense.reshape(32, -1)).all()


def test_compressed_data_is_expanded_with_zeros() -> None:
    values = np.random.default_rng(0).integers(0, 256, (5, 16)).astype(np.uint8)
    kept, places = compress_groups(values, "u8", greatest=True, magnitude=False)
    back = decompress_groups(kept, places, 2, 4)
    assert ((back == values) | (back == 0)).all()
    assert np.count_nonzero(back, axis=1).max() <= 8


@pytest.mark.parametrize("red", [False, True])
def test_a_load_of_tensor_memory_may_keep_half_of_its_elements(red: bool) -> None:
    values = np.random.default_rng(4).normal(size=(32, 4)).astype(np.float32)
    body = "mov.u32 %r16, place; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r16], 32; "
    body += "ld.shared.u32 %r17, [%r16]; tcgen05.st.sync.aligned.32x32b.x4.b32 [%r17], {%r1, %r2, %r3, %r4}; "
    body += "tcgen05.wait::st.sync.aligned; "
    load = "tcgen05.ld{}.spcompress.sync.aligned.32x32b.x4.max.sp::2:4.abs.f32.b2 {{%r9}}, {{%r10, %r11}}, {}[%r17]; "
    body += load.format(".red" if red else "", "%r12, " if red else "")
    body += "tcgen05.wait::ld.sync.aligned; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r17, 32;"
    found = result(body, values.view(np.uint32))
    order = np.sort(np.argsort(-np.abs(values), axis=1)[:, :2], axis=1)
    assert (found[:, 0] == order[:, 0] | order[:, 1] << 2).all()
    assert (np.ascontiguousarray(found[:, 1:3]).view(np.float32) == np.take_along_axis(values, order, 1)).all()
    if red:
        assert (np.ascontiguousarray(found[:, 3:4]).view(np.float32)[:, 0] == np.abs(values).max(axis=1)).all()
