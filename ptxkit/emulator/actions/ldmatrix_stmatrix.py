"""Transfers of matrices between shared memory and the registers of a warp.

Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix", "Warp-level matrix store instruction: stmatrix",
"Warp-level Matrix Load Instruction: wmma.load", "Warp-level Matrix Store Instruction: wmma.store".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.actions.load_store import load, store
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.sync.warp_rendezvous import gather_operands
from ptxkit.emulator.tensor.fragments import (
    FragmentLayout,
    accumulator_layout,
    elements_per_register,
    multiplicand_layout,
)
from ptxkit.emulator.tensor.multiplication import shape_of
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup
from ptxkit.isa.functions import bits

FULL_MASK = numpy.uint32(0xFFFF_FFFF)
_WORD = 4
_HALF = 2
_ROW = 16
"""The bytes of a row, and the rows of a square matrix."""


def _for_whole_warps(name: str, access: Function) -> Function:
    """Returns an access that waits for all lanes of a warp.

    `access` is called with the group, a function that returns the address of a row and a byte in it for each thread,
    the threads' lanes, and the values.
    """

    def run(group: ThreadGroup, address: Any, *values: Any) -> Any:
        found = gather_operands(group, name, numpy.full(group.lanes.count, FULL_MASK), (address,))
        if isinstance(found, BlockSignal):
            return found
        rows, thread = found.values[0][found.warp], numpy.arange(group.lanes.count)

        def in_row(number: Any, byte: Any) -> Any:
            return rows[thread, number] + byte.astype(address.dtype)

        return access(group, in_row, found.lane.astype(numpy.int64), *values)

    return run


@effect_semantics
def load_matrix(*, space: str, count: int, transposed: bool = False) -> Function:
    """Loads 8x8 matrices of 16 bits; lane 8i + j provides the address of row j of matrix i."""
    words, halves = load(type="b32", space=space), load(type="b16", space=space)

    def read(group: ThreadGroup, in_row: Any, lane: Any) -> Any:
        results = []
        for at in range(count):
            if not transposed:
                results.append(words(group, in_row(8 * at + lane // 4, lane % 4 * _WORD)))
                continue
            low, high = (halves(group, in_row(8 * at + lane % 4 * 2 + one, lane // 4 * _HALF)) for one in range(2))
            results.append(low.astype(numpy.uint32) | high.astype(numpy.uint32) << numpy.uint32(16))
        return tuple(results)

    return _for_whole_warps("ldmatrix", read)


@effect_semantics
def load_narrow_matrix(*, space: str, count: int, source: str) -> Function:
    """Loads 8x16 matrices of 4 or 6 bits, each of whose elements becomes a byte; lane 8i + j provides the address of
    row j.

    Elements of the source `b6x16_p32` are put into the lower bits of the byte, those of `b4x16_p64` into the middle
    ones, and those of `s4` are sign-extended.
    """
    octets = load(type="b8", space=space)
    width = 6 if source.startswith("b6") else 4

    def read(group: ThreadGroup, in_row: Any, lane: Any) -> Any:
        results = []
        for at in range(count):
            first = lane % 4 * (width // 2)  # four elements are 2 or 3 bytes
            whole = numpy.zeros(group.lanes.count, numpy.uint32)
            for one in range(width // 2):
                part = octets(group, in_row(8 * at + lane // 4, first + one))
                whole |= part.astype(numpy.uint32) << numpy.uint32(8 * one)
            results.append(_expand_elements(whole, width, source))
        return tuple(results)

    return _for_whole_warps("ldmatrix", read)


@effect_semantics
def load_square_matrix(*, space: str, count: int, source: str | None = None) -> Function:
    """Loads 16x16 matrices of 8 bits, transposed: a register holds four neighbors of a column, and the next one those
    eight rows further.

    Lane 16i + j provides the address of row j. `source` is that of `load_narrow_matrix`; its elements are packed at the
    start of a row.
    """
    octets = load(type="b8", space=space)
    width = 8 if source is None else int(source[1])

    def read(group: ThreadGroup, in_row: Any, lane: Any) -> Any:

        def element(row: Any, column: Any) -> Any:
            first, shift = column * width // 8, (column * width % 8).astype(numpy.uint32)
            pair = octets(group, in_row(row, first)).astype(numpy.uint32)
            if width < 8:
                last = numpy.minimum(first + 1, _ROW - 1)
                pair |= octets(group, in_row(row, last)).astype(numpy.uint32) << numpy.uint32(8)
            code = pair >> shift & numpy.uint32((1 << width) - 1)
            return code << numpy.uint32(2) if width == 4 else code

        results = []
        for at in range(2 * count):
            whole = numpy.zeros(group.lanes.count, numpy.uint32)
            for one in range(4):
                row = _ROW * (at // 2) + lane % 4 * 4 + one
                whole |= element(row, lane // 4 + at % 2 * 8) << numpy.uint32(8 * one)
            results.append(whole)
        return tuple(results)

    return _for_whole_warps("ldmatrix", read)


@effect_semantics
def store_tall_matrix(*, space: str, count: int) -> Function:
    """Stores 16x8 matrices of 8 bits, transposed; lane 8i + j provides the address of row j in memory.

    A register holds the bytes of two rows in one column, and of these rows eight columns further.
    """
    octets = store(type="b8", space=space)

    def write(group: ThreadGroup, in_row: Any, lane: Any, values: Any) -> None:
        for at, value in zip(range(count), values, strict=True):
            for one in range(4):
                octet = (value >> numpy.uint32(8 * one)).astype(numpy.uint8)
                octets(group, in_row(8 * at + lane % 4 * 2 + one % 2, lane // 4 + one // 2 * 8), octet)

    return _for_whole_warps("stmatrix", write)


def _expand_elements(packed: Any, width: int, source: str) -> Any:
    """Returns four elements, each in a separate byte."""
    found = numpy.zeros_like(packed)
    for at in range(4):
        element = packed >> numpy.uint32(width * at) & numpy.uint32((1 << width) - 1)
        if source == "s4":
            element = (element ^ numpy.uint32(8)) - numpy.uint32(8) & numpy.uint32(255)
        elif width == 4:
            element = element << numpy.uint32(2)
        found |= element << numpy.uint32(8 * at)
    return found


@effect_semantics
def store_matrix(*, space: str, count: int, transposed: bool = False) -> Function:
    """Stores 8x8 matrices of 16 bits, as `load_matrix` loads them."""
    words, halves = store(type="b32", space=space), store(type="b16", space=space)

    def write(group: ThreadGroup, in_row: Any, lane: Any, values: Any) -> None:
        for at, value in zip(range(count), values, strict=True):
            if not transposed:
                words(group, in_row(8 * at + lane // 4, lane % 4 * _WORD), value)
                continue
            for one in range(2):
                half = (value >> numpy.uint32(16 * one)).astype(numpy.uint16)
                halves(group, in_row(8 * at + lane % 4 * 2 + one, lane // 4 * _HALF), half)

    return _for_whole_warps("stmatrix", write)


# ------------------------------------------------------------------------------------------------------- wmma


@effect_semantics
def load_fragment(*, space: str, shape: str, matrix: str, type: str, layout: str, count: int) -> Function:  # noqa: A002
    """Loads A, B or C from memory, whose rows (`row`) or columns (`col`) are `stride` elements apart.

    The manual does not specify which element a register holds. The machine uses the layout of mma, repeated if there
    are more registers than that needs. Elements of less than 8 bits are in the order of the registers.
    """
    held, along, width = _fragment_layout(shape, matrix, type, layout)
    together = load(type=f"b{max(32, width)}", space=space)
    single = load(type=f"b{max(8, width)}", space=space)

    def read(group: ThreadGroup, address: Any, stride: Any = None) -> Any:
        lane = (group.lanes.index & 31).astype(numpy.int64)
        steps = _row_stride(stride, held, layout, matrix)
        found = []
        for at in range(held.registers):
            places = [_element_number(held, at, one, lane, steps, layout, matrix) for one in range(held.row.shape[2])]
            if along or len(places) == 1:
                found.append(together(group, address + _byte_addresses(places[0], width, address)))
                continue
            whole = numpy.zeros(group.lanes.count, numpy.uint32)
            for one, place in enumerate(places):
                part = single(group, address + _byte_addresses(place, width, address))
                whole |= part.astype(numpy.uint32) << numpy.uint32(one * width)
            found.append(whole)
        return tuple(found[at % len(found)] for at in range(count))

    return read


@effect_semantics
def store_fragment(*, space: str, shape: str, type: str, layout: str) -> Function:  # noqa: A002
    """Stores D to memory, as `load_fragment` loads C."""
    held, along, width = _fragment_layout(shape, "c", type, layout)
    together = store(type=f"b{max(32, width)}", space=space)
    single = store(type=f"b{max(8, width)}", space=space)

    def write(group: ThreadGroup, address: Any, values: Any, stride: Any = None) -> None:
        lane = (group.lanes.index & 31).astype(numpy.int64)
        steps = _row_stride(stride, held, layout, "c")
        for at, value in zip(range(held.registers), values, strict=True):
            places = [_element_number(held, at, one, lane, steps, layout, "c") for one in range(held.row.shape[2])]
            if along or len(places) == 1:
                together(group, address + _byte_addresses(places[0], width, address), value)
                continue
            for one, place in enumerate(places):
                part = (value >> numpy.uint32(one * width)).astype(f"u{width // 8}")
                single(group, address + _byte_addresses(place, width, address), part)

    return write


def _fragment_layout(shape: str, matrix: str, word: str, layout: str) -> tuple[FragmentLayout, bool, int]:
    """Returns the elements that the registers hold, whether those of one register are contiguous in memory, and their
    width in bits.
    """
    found, width = shape_of(shape), bits(word)
    if matrix == "c":
        return accumulator_layout(found.m, found.n, width), layout == "row" and elements_per_register(width) > 1, width
    rows = found.m if matrix == "a" else found.n
    along = (matrix == "a") == (layout == "row") and width < 32
    return multiplicand_layout(rows, found.k, width), along, width


def _row_stride(stride: Any, held: FragmentLayout, layout: str, matrix: str) -> int | Any:
    """Returns the number of elements from one row, or column, to the next; without a stride they are contiguous."""
    if stride is not None:
        return numpy.asarray(stride).astype(numpy.int64)
    is_row = (layout == "row") != (matrix == "b")
    return held.columns if is_row else held.rows


def _element_number(held: FragmentLayout, at: int, one: int, lane: Any, stride: Any, layout: str, matrix: str) -> Any:
    """Returns the index of an element in memory. The registers of B are those of its transpose."""
    row, column = held.row[at, lane, one], held.column[at, lane, one]
    if matrix == "b":
        row, column = column, row
    return row * stride + column if layout == "row" else column * stride + row


def _byte_addresses(place: Any, width: int, address: Any) -> Any:
    return (place * width // 8).astype(address.dtype)
