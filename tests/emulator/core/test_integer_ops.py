"""Integer operations on bit patterns, compared with Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from ptxkit.emulator import run
from ptxkit.semantics.value_ops import bitwise_function
from tests.emulator.support import HEAD, REGISTERS

EDGES = [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000]
EDGES += [0xFFFFFFFF, 0x123456789ABCDEF0, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF]
RANDOM = numpy.random.default_rng(5).integers(0, 1 << 64, 8, dtype=numpy.uint64).tolist()
VALUES = [*EDGES, *RANDOM]
PAIRS = [(a, b) for a in VALUES for b in VALUES][:1024]


def as_signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def results(opcode: str, width: int, count: int, result: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Returns the results of an opcode with `count` operands of a width for each pair (the third operand is the first
    xor 0x55)."""
    type_ = {16: "h", 32: "r", 64: "d"}
    a, b, c = (f"%{type_[width]}{10 + at}" for at in range(3))
    out = f"%{type_[result]}2"
    convert = {16: "cvt.u16.u64 {}, {};", 32: "cvt.u32.u64 {}, {};", 64: "mov.b64 {}, {};"}[width]
    names = ", ".join([*(a, b, c)[:count], *["0xCA"][: opcode == "lop3.b32"]])
    body = f"""
 ld.param.u64 %d20, [in]; ld.param.u64 %d21, [out]; mov.u32 %r31, %tid.x; mov.u32 %r30, %ntid.x;
 mul.wide.u32 %d22, %r31, 16; add.u64 %d20, %d20, %d22; ld.global.v2.u64 {{%d23, %d24}}, [%d20];
 {convert.format(a, "%d23")} {convert.format(b, "%d24")} xor.b{width} {c}, {a}, 0x55;
 {opcode} {out}, {names};
 mul.wide.u32 %d22, %r31, 8; add.u64 %d21, %d21, %d22; st.global.u{result} [%d21], {out};
"""
    text = f"{HEAD}.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n{REGISTERS}{body} ret;\n}}\n"
    given = numpy.array(pairs, numpy.uint64)
    found = run(text, "k", block=len(pairs), arguments=[given, numpy.zeros(len(pairs), numpy.uint64)])
    assert found.is_clean, found
    return found.outputs[1].tolist()


def truncate_division(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


Reference = Callable[[int, int, int, int], int]
"""Of a, b, c and the width."""

UNSIGNED: dict[str, tuple[int, int, Reference]] = {
    "add.u{w}": (2, 1, lambda a, b, c, w: a + b),
    "sub.u{w}": (2, 1, lambda a, b, c, w: a - b),
    "mul.lo.u{w}": (2, 1, lambda a, b, c, w: a * b),
    "mul.hi.u{w}": (2, 1, lambda a, b, c, w: a * b >> w),
    "mad.lo.u{w}": (3, 1, lambda a, b, c, w: a * b + c),
    "mad.hi.u{w}": (3, 1, lambda a, b, c, w: (a * b >> w) + c),
    "div.u{w}": (2, 1, lambda a, b, c, w: a // b if b else -1),
    "rem.u{w}": (2, 1, lambda a, b, c, w: a % b if b else -1),
    "min.u{w}": (2, 1, lambda a, b, c, w: min(a, b)),
    "max.u{w}": (2, 1, lambda a, b, c, w: max(a, b)),
    "sad.u{w}": (3, 1, lambda a, b, c, w: c + abs(a - b)),
    "and.b{w}": (2, 1, lambda a, b, c, w: a & b),
    "or.b{w}": (2, 1, lambda a, b, c, w: a | b),
    "xor.b{w}": (2, 1, lambda a, b, c, w: a ^ b),
    "not.b{w}": (1, 1, lambda a, b, c, w: ~a),
    "cnot.b{w}": (1, 1, lambda a, b, c, w: int(a == 0)),
}
SIGNED: dict[str, tuple[int, int, Reference]] = {
    "mul.hi.s{w}": (2, 1, lambda a, b, c, w: a * b >> w),
    "mad.hi.s{w}": (3, 1, lambda a, b, c, w: (a * b >> w) + c),
    "div.s{w}": (2, 1, lambda a, b, c, w: truncate_division(a, b) if b else -1),
    "rem.s{w}": (2, 1, lambda a, b, c, w: a - b * truncate_division(a, b) if b else -1),
    "min.s{w}": (2, 1, lambda a, b, c, w: min(a, b)),
    "max.s{w}": (2, 1, lambda a, b, c, w: max(a, b)),
    "abs.s{w}": (1, 1, lambda a, b, c, w: abs(a)),
    "neg.s{w}": (1, 1, lambda a, b, c, w: -a),
    "sad.s{w}": (3, 1, lambda a, b, c, w: c + abs(a - b)),
}


def compare(opcode: str, width: int, rule: tuple[int, int, Reference], read: Callable[[int, int], int]) -> None:
    count, times, reference = rule
    mask = (1 << width * times) - 1
    found = results(opcode, width, count, width * times, PAIRS)
    for (a, b), got in zip(PAIRS, found, strict=True):
        low, other = read(a, width), read(b, width)
        wanted = reference(low, other, read((a ^ 0x55), width), width) & mask
        assert got == wanted, f"{opcode} {a:#x}, {b:#x}: {got:#x}, not {wanted:#x}"


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("opcode", UNSIGNED)
def test_unsigned_operations_agree_with_python(opcode: str, width: int) -> None:
    compare(opcode.format(w=width), width, UNSIGNED[opcode], lambda value, w: value & ((1 << w) - 1))


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("opcode", SIGNED)
def test_signed_operations_agree_with_python(opcode: str, width: int) -> None:
    compare(opcode.format(w=width), width, SIGNED[opcode], as_signed)


@pytest.mark.parametrize("width", [16, 32])
def test_wide_products_agree_with_python(width: int) -> None:
    compare(f"mul.wide.u{width}", width, (2, 2, lambda a, b, c, w: a * b), lambda value, w: value & ((1 << w) - 1))
    compare(f"mul.wide.s{width}", width, (2, 2, lambda a, b, c, w: a * b), as_signed)


def reverse(value: int, width: int) -> int:
    return int(f"{value:0{width}b}"[::-1], 2)


def field(a: int, position: int, length: int, width: int, is_signed: bool) -> int:
    position, length, top = position & 255, length & 255, width - 1
    sign = 0 if not is_signed or length == 0 else a >> min(position + length - 1, top) & 1
    bits = [a >> (position + i) & 1 if i < length and position + i <= top else sign for i in range(width)]
    return sum(bit << i for i, bit in enumerate(bits))


WORDS: dict[str, tuple[int, int, int, Reference]] = {
    "popc.b32": (32, 32, 1, lambda a, b, c, w: bin(a).count("1")),
    "popc.b64": (64, 32, 1, lambda a, b, c, w: bin(a).count("1")),
    "clz.b32": (32, 32, 1, lambda a, b, c, w: 32 - a.bit_length()),
    "clz.b64": (64, 32, 1, lambda a, b, c, w: 64 - a.bit_length()),
    "brev.b32": (32, 32, 1, lambda a, b, c, w: reverse(a, 32)),
    "brev.b64": (64, 64, 1, lambda a, b, c, w: reverse(a, 64)),
    "bfind.u32": (32, 32, 1, lambda a, b, c, w: a.bit_length() - 1),
    "bfind.shiftamt.u64": (64, 32, 1, lambda a, b, c, w: 64 - a.bit_length() if a else -1),
    "bfind.s32": (
        32,
        32,
        1,
        lambda a, b, c, w: (as_signed(a, 32) if a < 1 << 31 else ~as_signed(a, 32)).bit_length() - 1,
    ),
    "bmsk.clamp.b32": (32, 32, 2, lambda a, b, c, w: ((1 << min(b, 32)) - 1) << min(a, 32)),
    "bmsk.wrap.b32": (32, 32, 2, lambda a, b, c, w: ((1 << (b & 31)) - 1) << (a & 31)),
    "szext.clamp.u32": (32, 32, 2, lambda a, b, c, w: a & ((1 << min(b, 32)) - 1)),
    "szext.wrap.s32": (32, 32, 2, lambda a, b, c, w: as_signed(a, b & 31) if b & 31 else 0),
    "shl.b32": (32, 32, 2, lambda a, b, c, w: a << min(b, 32)),
    "shr.u32": (32, 32, 2, lambda a, b, c, w: a >> min(b, 32)),
    "shr.s32": (32, 32, 2, lambda a, b, c, w: as_signed(a, 32) >> min(b, 32)),
    "bfe.u32": (32, 32, 3, lambda a, b, c, w: field(a, b, c, 32, is_signed=False)),
    "bfe.s32": (32, 32, 3, lambda a, b, c, w: field(a, b, c, 32, is_signed=True)),
    "lop3.b32": (32, 32, 3, lambda a, b, c, w: (a & b) | (~a & c)),
    "shf.l.wrap.b32": (32, 32, 3, lambda a, b, c, w: (b << 32 | a) << (c & 31) >> 32),
    "shf.r.clamp.b32": (32, 32, 3, lambda a, b, c, w: (b << 32 | a) >> min(c, 32)),
    "add.sat.s32": (
        32,
        32,
        2,
        lambda a, b, c, w: max(-1 << 31, min((1 << 31) - 1, as_signed(a, 32) + as_signed(b, 32))),
    ),
    "sub.sat.s32": (
        32,
        32,
        2,
        lambda a, b, c, w: max(-1 << 31, min((1 << 31) - 1, as_signed(a, 32) - as_signed(b, 32))),
    ),
    "mul24.lo.u32": (32, 32, 2, lambda a, b, c, w: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    "mul24.hi.s32": (32, 32, 2, lambda a, b, c, w: as_signed(a, 24) * as_signed(b, 24) >> 16),
    "mad24.lo.s32": (32, 32, 3, lambda a, b, c, w: as_signed(a, 24) * as_signed(b, 24) + c),
    "prmt.b32": (32, 32, 3, lambda a, b, c, w: permute_bytes(a, b, c)),
    "dp4a.s32.u32": (
        32,
        32,
        3,
        lambda a, b, c, w: c + sum(as_signed(a >> 8 * i, 8) * (b >> 8 * i & 255) for i in range(4)),
    ),
    "dp2a.hi.u32.s32": (
        32,
        32,
        3,
        lambda a, b, c, w: c + sum((a >> 16 * i & 0xFFFF) * as_signed(b >> 16 + 8 * i, 8) for i in range(2)),
    ),
}


def permute_bytes(a: int, b: int, c: int) -> int:
    octets = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    found = 0
    for i in range(4):
        nibble = c >> 4 * i & 15
        octet = octets[nibble & 7]
        found |= ((255 if octet & 128 else 0) if nibble & 8 else octet) << 8 * i
    return found


@pytest.mark.parametrize("opcode", WORDS)
def test_bit_operations_agree_with_python(opcode: str) -> None:
    width, result, count, reference = WORDS[opcode]
    mask = (1 << width) - 1
    found = results(opcode, width, count, result, PAIRS)
    for (a, b), got in zip(PAIRS, found, strict=True):
        wanted = reference(a & mask, b & mask, (a ^ 0x55) & mask, width) & ((1 << result) - 1)
        assert got == wanted, f"{opcode} {a:#x}, {b:#x}: {got:#x}, not {wanted:#x}"


@pytest.mark.parametrize("table", range(256))
def test_every_table_of_a_bitwise_function_is_computed(table: int) -> None:
    a, b, c = (numpy.array([each], numpy.uint32) for each in (0xF0, 0xCC, 0xAA))
    assert int(bitwise_function(table)(a, b, c)[0]) & 0xFF == table


def test_sums_over_several_registers_carry() -> None:
    values: list[tuple[int, int]] = PAIRS[:256]
    body = """
 ld.param.u64 %d20, [in]; ld.param.u64 %d21, [out]; mov.u32 %r31, %tid.x; mul.wide.u32 %d22, %r31, 16;
 add.u64 %d20, %d20, %d22; add.u64 %d21, %d21, %d22; ld.global.v2.u32 {%r1, %r2}, [%d20];
 ld.global.v2.u32 {%r3, %r4}, [%d20+8];
 add.cc.u32 %r5, %r1, %r3; addc.u32 %r6, %r2, %r4; sub.cc.u32 %r7, %r1, %r3; subc.u32 %r8, %r2, %r4;
 st.global.v4.u32 [%d21], {%r5, %r6, %r7, %r8};
"""
    text = f"{HEAD}.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n{REGISTERS}{body} ret;\n}}\n"
    given: Any = numpy.array(values, numpy.uint64)
    found = run(text, "k", block=256, arguments=[given, numpy.zeros((256, 2), numpy.uint64)])
    assert found.is_clean, found
    mask = (1 << 64) - 1
    assert found.outputs[1].tolist() == [[a + b & mask, a - b & mask] for a, b in values]
