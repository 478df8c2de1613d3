"""Matrices in shared memory, compared with the manual's examples and tiles laid out manually."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.emulator.tensor.descriptors import decode_matrix_descriptor, element_addresses, swizzle_address


def make_descriptor(start: int, leading: int, stride: int, mode: int, base: int = 0) -> int:
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | mode << 62


def test_fields_of_a_descriptor_are_decoded() -> None:
    found = decode_matrix_descriptor(make_descriptor(0x4400, 512, 1024, 1, base=3))
    assert (found.start, found.leading, found.stride, found.base, found.span) == (0x4400, 512, 1024, 3, 8)
    assert decode_matrix_descriptor(make_descriptor(0, 16, 16, 0)).span == 1


def test_rows_without_a_swizzle_are_the_example_of_the_manual() -> None:
    # tf32, Swizzle<0,4,3> o ((8,2),(4,4)):((4,32),(1,64)), in elements
    found = element_addresses(decode_matrix_descriptor(make_descriptor(0, 64 * 4, 32 * 4, 0)), 16, 16, 4) // 4
    row, column = np.arange(16)[:, None], np.arange(16)[None]
    assert (found == row % 8 * 4 + row // 8 * 32 + column % 4 + column // 4 * 64).all()


def test_rows_with_a_swizzle_of_32_bytes_are_the_example_of_the_manual() -> None:
    # tf32, Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))
    found = element_addresses(decode_matrix_descriptor(make_descriptor(0, 16, 64 * 4, 3)), 16, 8, 4)
    row, column = np.arange(16)[:, None], np.arange(8)[None]
    plain = 4 * (row % 8 * 8 + row // 8 * 64 + column % 4 + column // 4 * 4)
    assert (found == plain ^ (plain >> 7 & 1) << 4).all()


def test_rows_that_continue_beyond_their_swizzle_do_so_at_the_leading_offset() -> None:
    found = element_addresses(decode_matrix_descriptor(make_descriptor(0, 2048, 256, 3)), 8, 32, 2)
    assert (found[:, 16:] == 2048 + found[:, :16]).all()
    assert (element_addresses(decode_matrix_descriptor(make_descriptor(0, 2048, 512, 2)), 8, 32, 2) < 512).all()


@pytest.mark.parametrize(("mode", "span", "leading", "stride"), [(3, 2, 128, 256), (2, 4, 256, 512)])
def test_columns_with_a_swizzle_are_the_examples_of_the_manual(mode: int, span: int, leading: int, stride: int) -> None:
    # bf16, Swizzle o ((8,span,2),(8,2)):((1,8,leading),(8*span,stride))
    found = element_addresses(
        decode_matrix_descriptor(make_descriptor(0, leading * 2, stride * 2, mode)), 16 * span, 16, 2, transposed=True
    )
    row, column = np.arange(16 * span)[:, None], np.arange(16)[None]
    across = row % 8 + row // 8 % span * 8 + row // (8 * span) * leading
    plain = 2 * (across + column % 8 * 8 * span + column // 8 * stride)
    assert (found == plain ^ (plain >> 7 & span - 1) << 4).all()


def test_columns_without_a_swizzle_are_the_example_of_the_manual() -> None:
    # bf16, Swizzle<0,4,3> o ((8,1,2),(8,2)):((1,8,64),(8,128))
    found = element_addresses(
        decode_matrix_descriptor(make_descriptor(0, 128 * 2, 64 * 2, 0)), 16, 16, 2, transposed=True
    )
    row, column = np.arange(16)[:, None], np.arange(16)[None]
    assert (found == 2 * (row % 8 + row // 8 * 64 + column % 8 * 8 + column // 8 * 128)).all()


def test_a_tile_of_128_bytes_a_row_has_the_layout_of_a_tensor_copy() -> None:
    rows, columns = 64, 64
    values = np.arange(rows * columns, dtype=np.uint16).reshape(rows, columns)
    memory = np.zeros(1024 + rows * columns * 2, np.uint8)
    plain = 1024 + np.arange(rows)[:, None] * 128 + np.arange(columns)[None] * 2
    place = swizzle_address(plain, 8)
    for byte in range(2):
        memory[place + byte] = values >> (8 * byte) & 255
    for step in range(4):  # k of 16 elements, 32 bytes further each time
        found = element_addresses(decode_matrix_descriptor(make_descriptor(1024 + 32 * step, 16, 1024, 1)), rows, 16, 2)
        read = memory[found].astype(np.uint16) | memory[found + 1].astype(np.uint16) << 8
        assert (read == values[:, 16 * step : 16 * step + 16]).all()
