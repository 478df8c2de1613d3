"""Other products in Tensor Memory, compared with numpy: narrow types, scale factors, sparse A, `.ws`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import run
from ptxkit.emulator.core.numbers.float_codec import widen
from ptxkit.emulator.core.numbers.formats import FORMATS
from ptxkit.emulator.tensor.instruction_descriptor import zero_columns
from ptxkit.emulator.tensor.padded_elements import to_byte_codes, unpad
from tests.emulator.actions.test_tcgen05_memory import B_AT, COMMIT, KERNEL, N, make_descriptor

HELD_AT = 24576
"""The offset in the tiles of the words that a test writes to Tensor Memory, sixteen bytes for each lane."""
RANDOM = np.random.default_rng(20)
NARROW = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
ROWS = 128


def octets(codes: Any, width: int, padded: bool) -> Any:
    """Returns rows of codes as bytes, the lowest first; padded: sixteen elements in sixteen bytes."""
    count = codes.shape[-1]
    ones = (codes[..., None].astype(np.uint64) >> np.arange(width, dtype=np.uint64) & 1).astype(np.uint8)
    if not padded:
        return np.packbits(ones.reshape(*codes.shape[:-1], count * width), axis=-1, bitorder="little")
    units = ones.reshape(*codes.shape[:-1], count // 16, 16 * width)
    packed = np.packbits(units, axis=-1, bitorder="little")
    whole = np.zeros((*packed.shape[:-1], 16), np.uint8)
    whole[..., : packed.shape[-1]] = packed
    return whole.reshape(*codes.shape[:-1], -1)


def place_rows(tiles: Any, start: int, rows: Any) -> int:
    """Writes rows of up to 128 bytes into the tiles, swizzled; returns the descriptor."""
    for row, line in enumerate(rows):
        for at, octet in enumerate(line):
            place = row * 128 + at
            tiles[start + (place ^ (place >> 7 & 7) << 4)] = octet
    return make_descriptor(start, 128, 1024, 2)


def codes_of(word: str, shape: tuple[int, ...]) -> Any:
    """Codes whose products are exact: no NaN, no infinity."""
    width = FORMATS[word].width
    found = RANDOM.integers(0, 1 << width, shape).astype(np.uint8 if width <= 8 else np.uint16)
    bad = ~np.isfinite(widen(FORMATS[word], found))
    return np.where(bad, found.dtype.type(0), found)


def run_mma(instruction: str, tiles: Any, starts: Sequence[int], idesc: int, held: Any = None) -> Any:
    """Returns the first sixteen columns. held: (128, words) to write to Tensor Memory at column 32."""
    before = ""
    if held is not None:
        area = tiles[HELD_AT : HELD_AT + 16 * ROWS].view(np.uint32).reshape(ROWS, 4)
        area[:, : held.shape[1]] = held
        before = f"mul.lo.u32 %r5, %r0, 16; add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, {HELD_AT}; "
        before += "ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r5]; add.u32 %r32, %r15, 32; "
        before += "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r32], {%r16, %r17, %r18, %r19}; "
        before += "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
        before += "tcgen05.fence::after_thread_sync; add.u32 %r33, %r13, 32; add.u32 %r34, %r13, 34;"
    text = KERNEL.replace(".version 8.6", ".version 8.7")
    text = text.format(instruction=instruction, commit=COMMIT, before=before, after="")
    arguments = [tiles, np.zeros((ROWS, N), np.uint32), *starts, np.uint32(idesc)]
    found = run(text, "k", block=ROWS, arguments=arguments)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs[1]


def idesc_of(m: int, n: int, result: int, left: int, right: int, more: int = 0) -> int:
    return result << 4 | left << 7 | right << 10 | n >> 3 << 17 | m >> 4 << 24 | more


def exact(a: Any, b: Any) -> Any:
    return (a @ b.T).astype(np.float32)


# ------------------------------------------------------------------------------------------------- narrow types


@pytest.mark.parametrize(("left", "right"), [("e2m3", "e5m2"), ("e3m2", "e2m1"), ("e2m1", "e4m3"), ("e4m3", "e2m3")])
def test_elements_of_six_and_four_bits_are_padded_to_sixteen_bytes(left: str, right: str) -> None:
    a, b = codes_of(left, (ROWS, 32)), codes_of(right, (N, 32))
    tiles = np.zeros(32768, np.uint8)
    starts = [
        place_rows(tiles, at, octets(each, FORMATS[word].width, padded=True))
        for at, each, word in ((0, a, left), (B_AT, b, right))
    ]
    mma = "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r13], %d2, %d3, %r1, %p3;"
    found = run_mma(mma, tiles, starts, idesc_of(128, N, 1, NARROW[left], NARROW[right]))
    assert (found.view(np.float32) == exact(widen(FORMATS[left], a), widen(FORMATS[right], b))).all()


def test_padding_follows_sixteen_elements() -> None:
    unit = np.arange(16, dtype=np.uint8)
    assert (unpad(unit[None], 8) == unit).all()
    four = unpad(np.array([[0x21, 0x43, *[0] * 14]], np.uint8), 4)
    assert four[0].tolist() == [1, 2, 3, 4] + [0] * 12
    six = unpad(np.array([[0b10_000001, 0b0011_0000, 0b000100_00, *[0] * 13]], np.uint8), 6)
    assert six[0].tolist() == [1, 2, 3, 4] + [0] * 12


@pytest.mark.parametrize("left", ["e2m3", "e2m1", "e4m3"])
def test_in_tensor_memory_each_element_has_a_byte(left: str) -> None:
    a, b = codes_of(left, (ROWS, 32)), codes_of("e4m3", (N, 32))
    tiles = np.zeros(32768, np.uint8)
    right = place_rows(tiles, B_AT, b)
    contained = to_byte_codes(a, FORMATS[left].width).view(np.uint32)  # eight words a row: four before, four after
    wide = "mul.lo.u32 %r5, %r0, 32; add.u32 %r5, %r5, %r2; ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r5]; "
    wide += "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r5+16]; add.u32 %r32, %r15, 32; add.u32 %r33, %r13, 32; "
    wide += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r32], {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23}; "
    wide += "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
    wide += "tcgen05.fence::after_thread_sync;"
    tiles[:4096] = contained.view(np.uint8).ravel()
    mma = "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r13], [%r33], %d3, %r1, %p3;"
    text = KERNEL.format(instruction=mma, commit=COMMIT, before=wide, after="")
    idesc = np.uint32(idesc_of(128, N, 1, NARROW[left], 0))
    found = run(text, "k", block=ROWS, arguments=[tiles, np.zeros((ROWS, N), np.uint32), 0, right, idesc])
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings
    assert (found.outputs[1].view(np.float32) == exact(widen(FORMATS[left], a), widen(FORMATS["e4m3"], b))).all()


# ------------------------------------------------------------------------------------------------ scale factors


def factors(of_a: Any, of_b: Any, first: tuple[int, int]) -> Any:
    """Returns scale factors as words of lanes: 32 rows of A have a column, of four; B's columns are in the fifth.

    of_a: (128, vector), of_b: (16, vector), bytes; first: their first offset in the words.
    """
    words = np.zeros((ROWS, 8), np.uint32)
    for column, (each, start) in enumerate(((of_a, first[0]), (of_b, first[1]))):
        for row, line in enumerate(each):
            for at, octet in enumerate(line):
                for warp in range(4):  # each warp's lanes have a copy
                    words[warp * 32 + row % 32, 4 * column + row // 32] |= np.uint32(int(octet) << 8 * (start + at))
    return words


SCALED = {
    "mxf8f6f4": ("kind::mxf8f6f4.block_scale.scale_vec::1X", "e4m3", 32, 1, "ue8m0", (1, 3)),
    "mxf4": ("kind::mxf4.block_scale.scale_vec::2X", "e2m1", 64, 2, "ue8m0", (0, 2)),
    "mxf4nvf4": ("kind::mxf4nvf4.block_scale.scale_vec::4X", "e2m1", 64, 4, "ue4m3", (0, 0)),
}


@pytest.mark.parametrize("name", SCALED)
def test_blocks_of_rows_and_columns_have_scale_factors(name: str) -> None:
    opcode, word, k, vector, scale, ids = SCALED[name]
    a, b = codes_of(word, (ROWS, k)), codes_of(word, (N, k))
    low, high = (120, 134) if scale == "ue8m0" else (0x30, 0x48)
    of_a, of_b = (RANDOM.integers(low, high, (count, vector)).astype(np.uint8) for count in (ROWS, N))
    tiles = np.zeros(32768, np.uint8)
    starts = [
        place_rows(tiles, at, octets(each, FORMATS[word].width, padded=False)) for at, each in ((0, a), (B_AT, b))
    ]
    words = factors(of_a, of_b, ids)
    area = tiles[HELD_AT:].view(np.uint32)[: ROWS * 8].reshape(ROWS, 8)
    area[:] = words
    kind = 0 if word == "e4m3" else 1
    idesc = kind << 7 | kind << 10 | N >> 3 << 17 | (scale == "ue8m0") << 23 | 1 << 27 | ids[0] << 29 | ids[1] << 4
    load = f"mul.lo.u32 %r5, %r0, 32; add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, {HELD_AT}; "
    load += "ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r5]; ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r5+16]; "
    load += "add.u32 %r32, %r15, 32; "
    load += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r32], {%r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23}; "
    load += "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
    load += "tcgen05.fence::after_thread_sync; add.u32 %r33, %r13, 32; add.u32 %r34, %r13, 36;"
    mma = f"tcgen05.mma.cta_group::1.{opcode} [%r13], %d2, %d3, %r1, [%r33], [%r34], %p3;"
    text = KERNEL.replace(".version 8.6", ".version 8.7").format(instruction=mma, commit=COMMIT, before=load, after="")
    arguments = [tiles, np.zeros((ROWS, N), np.uint32), *starts, np.uint32(idesc)]
    found = run(text, "k", block=ROWS, arguments=arguments)
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    times = k // vector
    x = widen(FORMATS[word], a) * np.repeat(widen(FORMATS[scale], of_a), times, axis=1)
    y = widen(FORMATS[word], b) * np.repeat(widen(FORMATS[scale], of_b), times, axis=1)
    assert (found.outputs[1].view(np.float32) == exact(x, y)).all()


# ------------------------------------------------------------------------------------------------------- sparse

SPARSE = {
    "f16": ("f16", 16, 32, 4),
    "tf32": ("tf32", 32, 16, 2),
    "e4m3": ("f8f6f4", 8, 64, 4),
    "s8": ("i8", 8, 64, 4),
}


def sparse(k: int, size: int, values: Any) -> tuple[Any, Any, Any]:
    """Returns a dense matrix with half its elements zero, its stored elements, and the four bits of each chunk."""
    kept = size // 2
    stored = values((ROWS, k // 2))
    dense, nibbles = np.zeros((ROWS, k), stored.dtype), np.zeros((ROWS, k // size), np.uint32)
    for row in range(ROWS):
        for chunk in range(k // size):
            where = np.sort(RANDOM.choice(size, kept, replace=False))
            dense[row, chunk * size + where] = stored[row, chunk * kept : (chunk + 1) * kept]
            if size == 2:
                nibbles[row, chunk] = 0b1110 if where[0] else 0b0100
            else:
                nibbles[row, chunk] = where[0] | where[1] << 2
    return dense, stored, nibbles


def metadata(nibbles: Any, width: int) -> Any:
    """Returns the words of the lanes, (128, 4)."""
    words = np.zeros((ROWS, 4), np.uint32)
    for row, line in enumerate(nibbles):
        for chunk, four in enumerate(line):
            if width > 8:  # half of a row's chunks in a lane, in the lower half of its word for the first eight rows
                lane, at = row // 16 * 16 + row % 8 + chunk // 4 * 8, row // 8 % 2 * 16 + chunk % 4 * 4
                words[lane, 1] |= four << np.uint32(at)  # the second of the columns that the selector distinguishes
            else:
                words[row, chunk // 8] |= four << np.uint32(chunk % 8 * 4)
    return words


@pytest.mark.parametrize("word", SPARSE)
def test_half_of_a_sparse_matrix_is_stored_as_the_metadata_state(word: str) -> None:
    kind, width, k, size = SPARSE[word]

    def values(shape: tuple[int, ...]) -> Any:
        if word == "s8":
            return RANDOM.integers(-128, 128, shape).astype(np.int8)
        return RANDOM.integers(1, 8, shape).astype({16: np.float16, 32: np.float32, 8: np.float64}[width])

    dense, stored, nibbles = sparse(k, size, values)
    b = values((N, k))
    code = {"f16": 0, "tf32": 2, "e4m3": 0, "s8": 1}[word]
    if word == "e4m3":
        table = widen(FORMATS[word], np.arange(128, dtype=np.uint8))
        inside, outside = (np.searchsorted(table[:127], each).astype(np.uint8) for each in (stored, b))
    else:
        inside, outside = stored, b
    tiles = np.zeros(32768, np.uint8)
    starts = [place_rows(tiles, at, np.ascontiguousarray(e).view(np.uint8)) for at, e in ((0, inside), (B_AT, outside))]
    more = 4 | (width > 8)
    mma = f"tcgen05.mma.sp.cta_group::1.kind::{kind} [%r13], %d2, %d3, [%r33], %r1, %p3;"
    idesc = idesc_of(128, N, 2 if word == "s8" else 1, code, code, more)
    found = run_mma(mma, tiles, starts, idesc, held=metadata(nibbles, width))
    if word == "s8":
        assert (found.view(np.int32) == dense.astype(np.int32) @ b.T.astype(np.int32)).all()
    else:
        assert (found.view(np.float32) == exact(dense.astype(np.float64), b.astype(np.float64))).all()


# ---------------------------------------------------------------------------------------------------------- .ws


@pytest.mark.parametrize("m", [32, 64, 128])
def test_with_few_rows_the_columns_are_in_parts_one_below_the_other(m: int) -> None:
    n = 64
    a, b = RANDOM.integers(-4, 5, (m, 16)).astype(np.float16), RANDOM.integers(-4, 5, (n, 16)).astype(np.float16)
    tiles = np.zeros(32768, np.uint8)
    starts = [place_rows(tiles, at, each.view(np.uint8)) for at, each in ((0, a), (B_AT, b))]
    mma = "tcgen05.mma.ws.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    found = run_mma(mma, tiles, starts, idesc_of(m, n, 1, 0, 0)).view(np.float32)
    product, wide = exact(a.astype(np.float64), b.astype(np.float64)), n * m // 128
    for part in range(128 // m):
        expected = product[:, part * wide : part * wide + N]
        assert (found[part * m : (part + 1) * m] == expected).all()


def test_columns_may_be_masked_to_zero() -> None:
    a, b = RANDOM.integers(1, 5, (32, 16)).astype(np.float16), RANDOM.integers(1, 5, (72, 16)).astype(np.float16)
    tiles = np.zeros(32768, np.uint8)
    starts = [place_rows(tiles, at, each.view(np.uint8)) for at, each in ((0, a), (B_AT, b))]
    mask = 2 << 56 | 3 << 48 | 2 << 40 | 1 << 39 | 0b0011 << 32 | 1 << 24 | 2 << 16 | 1 << 8
    mma = f"mov.b64 %d7, {mask}; tcgen05.mma.ws.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3, %d7;"
    found = run_mma(mma, tiles, starts, idesc_of(32, 64, 1, 0, 0)).view(np.float32)
    product = exact(a.astype(np.float64), b[2:66].astype(np.float64))
    product[:, zero_columns(mask, 32, 64)] = 0.0
    assert (found == np.concatenate([product[:, at : at + 16] for at in range(0, 64, 16)])).all()


def test_masks_of_columns_are_those_of_the_manual() -> None:
    def text(mask: int, m: int, n: int) -> list[str]:
        """Returns the first columns of each part, the lowest at the right."""
        found = zero_columns(mask, m, n)
        return ["".join("1" if one else "0" for one in part[::-1]) for part in found.reshape(128 // m, -1)]

    spans = 3 << 48 | 2 << 40 | 1 << 39
    assert not zero_columns(3 << 48, 128, 64).any()
    assert text(spans, 128, 64)[0].endswith("11100001110000")
    first, second = text(spans | 1 << 32, 64, 64)
    assert first.endswith("11100001110000111")
    assert second.endswith("000011100001110000")
    four = text(spans | 0b0011 << 32 | 1 << 24 | 2 << 16 | 1 << 8, 32, 128)
    endings = ("00001110000111", "0000111000011", "111000011100", "1110000111000")
    assert all(part.endswith(ending) for part, ending in zip(four, endings, strict=True))


# ------------------------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize(("form", "width"), [("b6x16_p32", 6), ("b4x16_p64", 4)])
def test_a_copy_may_expand_each_packed_element_to_a_byte(form: str, width: int) -> None:
    codes = RANDOM.integers(0, 1 << width, (ROWS, 32)).astype(np.uint8)
    tiles = np.zeros(32768, np.uint8)
    start = place_rows(tiles, 0, octets(codes, width, padded=True))
    found = run_mma(f"tcgen05.cp.cta_group::1.128x256b.b8x16.{form} [%r13], %d2;", tiles, (start, 0), 0)
    assert (found[:, :8].copy().view(np.uint8) == to_byte_codes(codes, width)).all()


def test_tf32_rows_are_stored_in_pairs_of_units() -> None:
    a, b = RANDOM.integers(-4, 5, (ROWS, 8)).astype(np.float32), RANDOM.integers(-4, 5, (N, 8)).astype(np.float32)
    tiles = np.zeros(32768, np.uint8)
    for row in range(ROWS):
        for column in range(8):  # 32 rows are 128 bytes; four of k a pattern, then the next 32 rows, then k continues
            place = row % 32 * 4 + column % 4 * 128 + row // 32 * 512 + column // 4 * 2048
            place ^= (place >> 7 & 3) << 5
            tiles[place : place + 4] = a[row, column : column + 1].view(np.uint8)
    right = place_rows(tiles, B_AT, b.view(np.uint8))
    mma = "tcgen05.mma.cta_group::1.kind::tf32 [%r13], %d2, %d3, %r1, %p3;"
    idesc = idesc_of(128, N, 1, 2, 2, 1 << 15)
    found = run_mma(mma, tiles, (make_descriptor(0, 512, 2048, 1), right), idesc)
    assert (found.view(np.float32) == exact(a.astype(np.float64), b.astype(np.float64))).all()


def test_an_unknown_swizzle_is_rejected() -> None:
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%r13], %d2, %d3, %r1, %p3;"
    text = KERNEL.format(instruction=mma, commit=COMMIT, before="", after="")
    idesc = np.uint32(idesc_of(128, N, 1, 0, 0))
    arguments = [np.zeros(32768, np.uint8), np.zeros((ROWS, N), np.uint32), 3 << 61, 0, idesc]
    assert [each.code for each in run(text, "k", block=ROWS, arguments=arguments).findings] == ["PTX206"]
