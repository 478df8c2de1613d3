"""Packing of several values in one register, and unpacking.

`k.pack(low, high)` joins two values of 16 bits in 32, two of 32 in 64 and so on; the first is in the lowest bits.
`k.unpack(word)` is the inverse. Both are `mov` with a vector in braces, which costs nothing where ptxas assigns
neighboring registers; bytes cost shifts. `k.pack_convert(bf16x2, low, high)` converts and packs two f32 in one
instruction.

Source: PTX ISA, "Data Movement and Conversion Instructions: mov", "... cvt".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from ptxkit.build.errors import BuildTypeError
from ptxkit.build.registers import InstructionEmitter, Number, Register, load_number
from ptxkit.kernel_model.scalar_types import (
    SCALARS,
    OtherT,
    Scalar,
    ScalarT,
    SignedScalar,
    b16,
    b32,
    b64,
    b128,
    bf16,
    bf16x2,
    e4m3,
    e4m3x2,
    e5m2,
    e5m2x2,
    f16,
    f16x2,
    f32,
    f32x2,
    pred,
    u16,
)

_PAIRS: dict[type[Scalar], type[Scalar]] = {f16: f16x2, bf16: bf16x2, f32: f32x2, e4m3: e4m3x2, e5m2: e5m2x2}
_HALVES = {pair: half for half, pair in _PAIRS.items()}
_PART_COUNTS = (2, 4)
"""The numbers of values that one `mov` packs."""
_BYTE_BITS = 8
_WIDEST_PACK = 128


@overload
def pack(k: InstructionEmitter, low: Register[bf16], high: Register[bf16], /) -> Register[bf16x2]: ...


@overload
def pack(k: InstructionEmitter, low: Register[f16], high: Register[f16], /) -> Register[f16x2]: ...


@overload
def pack(k: InstructionEmitter, low: Register[f32], high: Register[f32], /) -> Register[f32x2]: ...


@overload
def pack(k: InstructionEmitter, low: Register[e4m3], high: Register[e4m3], /) -> Register[e4m3x2]: ...


@overload
def pack(k: InstructionEmitter, low: Register[e5m2], high: Register[e5m2], /) -> Register[e5m2x2]: ...


@overload
def pack(k: InstructionEmitter, /, *values: Register[ScalarT]) -> Register[Any]: ...


def pack(k: InstructionEmitter, /, *values: Register[Any]) -> Register[Any]:
    """Returns the bits of the values in one register, with the first in the lowest bits.

    Two f16 become f16x2, and so do bf16, f32, e4m3 and e5m2. Other values of one type become untyped bits: two or four
    of 16 or 32 bits, two of 64; two, four or eight bytes. Emits `mov.bM d, {low, high}`; bytes are joined in
    pairs by `and`, `shl` and `or` first. Raises `BuildTypeError` for other numbers and types of values.
    """
    types = {each.type for each in values if isinstance(each, Register)}
    if len(types) != 1 or not all(isinstance(each, Register) for each in values):
        raise BuildTypeError(f"pack joins registers of one type, not {', '.join(map(repr, values)) or 'nothing'}")
    (scalar,) = types
    if scalar is pred or scalar.bits * len(values) > _WIDEST_PACK:
        raise BuildTypeError(f"pack joins up to {_WIDEST_PACK} bits, not {len(values)} of .{scalar.word}")
    untyped = SCALARS.get(f"b{scalar.bits * len(values)}", b128)
    packed = _PAIRS.get(scalar, untyped) if len(values) == 2 else untyped
    if scalar.bits == _BYTE_BITS and len(values) in (2, 4, 8):
        halves = [_join_bytes(k, low, high) for low, high in zip(values[::2], values[1::2], strict=True)]
        return Register(k, packed, halves[0].name) if len(halves) == 1 else pack(k, *halves)
    if scalar.bits == _BYTE_BITS or len(values) not in _PART_COUNTS:
        raise BuildTypeError(f"pack joins two or four values, or two, four or eight bytes, not {len(values)}")
    place = k.register(packed)
    k.emit(f"mov.b{packed.bits}", place, tuple(values))
    return place


def _join_bytes(k: InstructionEmitter, low: Register[Any], high: Register[Any]) -> Register[b16]:
    first, second = (Register(k, b16, each.name) for each in (low, high))
    return (first & 0xFF) | (second << _BYTE_BITS)


@overload
def unpack(k: InstructionEmitter, word: Register[bf16x2]) -> tuple[Register[bf16], Register[bf16]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[f16x2]) -> tuple[Register[f16], Register[f16]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[f32x2]) -> tuple[Register[f32], Register[f32]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[e4m3x2]) -> tuple[Register[e4m3], Register[e4m3]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[e5m2x2]) -> tuple[Register[e5m2], Register[e5m2]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[b32]) -> tuple[Register[b16], Register[b16]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[b64]) -> tuple[Register[b32], Register[b32]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[b128]) -> tuple[Register[b64], Register[b64]]: ...


@overload
def unpack(k: InstructionEmitter, word: Register[Any], element: type[OtherT]) -> tuple[Register[OtherT], ...]: ...


def unpack(
    k: InstructionEmitter, word: Register[Any], element: type[Scalar] | None = None
) -> tuple[Register[Any], ...]:
    """Returns the parts of a register, with the lowest bits first.

    Without `element`, two halves: the parts of a packed type, else untyped ones. With it, as many values of that
    type as the register contains. Emits `mov.bM {low, high}, word`; bytes are separated by `and` and shifts after it.
    Raises `BuildTypeError` if the parts of the type do not fill the register.
    """
    if element is None:
        element = _HALVES.get(word.type) or SCALARS.get(f"b{word.type.bits // 2}")
    if element is None or element is pred or word.type is pred or word.type.bits % element.bits:
        raise BuildTypeError(f"{word!r} does not consist of several {'halves' if element is None else element.word}")
    count = word.type.bits // element.bits
    if element.bits == _BYTE_BITS and count > 1:
        halves = (word,) if count == 2 else unpack(k, word, b16)
        return tuple(part for half in halves for part in _split_bytes(k, half, element))
    if count not in _PART_COUNTS:
        raise BuildTypeError(f"{word!r} is unpacked to two or four values, or to bytes, not to {count}")
    parts = tuple(k.register(element) for _ in range(count))
    k.emit(f"mov.b{word.type.bits}", parts, word)
    return parts


def _split_bytes(
    k: InstructionEmitter, half: Register[Any], element: type[Scalar]
) -> tuple[Register[Any], Register[Any]]:
    """Returns the two bytes of 16 bits, extended to 16 bits as a load of their type does."""
    signed = issubclass(element, SignedScalar)
    whole = half.reinterpret(SCALARS["s16"] if signed else u16)
    low = whole << _BYTE_BITS >> _BYTE_BITS if signed else whole & 0xFF
    return Register(k, element, low.name), Register(k, element, (whole >> _BYTE_BITS).name)


def pack_convert(
    k: InstructionEmitter,
    packed: type[OtherT],
    low: Register[f32] | Number,
    high: Register[f32] | Number,
    rounding: str = "rn",
    *,
    relu: bool = False,
) -> Register[OtherT]:
    """Converts two f32 to `bf16x2`, `f16x2`, `e4m3x2` or `e5m2x2`, with `low` in the lower half.

    Emits `cvt.rn.bf16x2.f32 d, high, low`, in whose order the upper half is first. `rounding` is `rn` or `rz`; with
    `relu`, negative results become 0. Types of 8 bits have `rn` only, and numbers beyond their range become the largest
    ones (`.satfinite`). Needs sm_80, and sm_89 for 8 bits.
    """
    if packed not in (f16x2, bf16x2, e4m3x2, e5m2x2):
        raise BuildTypeError(f"pack_convert makes f16x2, bf16x2, e4m3x2 or e5m2x2, not {packed!r}")
    saturates = packed in (e4m3x2, e5m2x2)
    name = f"cvt_{rounding}{'_satfinite' * saturates}{'_relu' * relu}_{packed.word}_f32"
    place = k.register(packed)
    k.instruction(name, (high, low), into=place)
    return place


def join_words(
    k: InstructionEmitter, values: Sequence[Register[Any] | Number], element: type[Scalar], word: type[Scalar]
) -> tuple[Register[Any], ...]:
    """Returns the values, of which each is a register or a constant of the type `element`, in words of the type
    `word`.
    """
    registers = [each if isinstance(each, Register) else load_number(k, each, element) for each in values]
    size = word.bits // element.bits
    return tuple(pack(k, *registers[start : start + size]) for start in range(0, len(registers), size))
