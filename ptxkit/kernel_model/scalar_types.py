# ruff: noqa: N801  (the classes are PTX's type words)
"""PTX's fundamental types as Python classes: `u32`, `f32`, `pred`, ...

They are never instantiated: the class itself denotes the type (`k.param(u32, "n")`) and parametrizes values and
addresses (`Register[u32]`, `Shared[f32]`), so that a type checker and the builder interpret them in the same manner.

Source: PTX ISA, "Fundamental Types", "Packed Floating Point Data Types", "Alternate Floating-Point Data Formats".
"""

from __future__ import annotations

from typing import ClassVar, TypeVar


class Scalar:
    """The base class of all types of a register or a memory element.

    word: the PTX spelling, without the dot. bits: the width. family: `u`, `s`, `f`, `b` or `p` (predicate).
    """

    word: ClassVar[str]
    bits: ClassVar[int]
    family: ClassVar[str]

    @classmethod
    def size(cls) -> int:
        """Returns the size in bytes of one element in memory.

        Raises TypeError for `pred`, which has no memory form.
        """
        if cls.bits < 8:
            raise TypeError(f".{cls.word} has no form in memory")
        return cls.bits // 8


class IntegerScalar(Scalar):
    """Integers, signed and unsigned."""


class UnsignedScalar(IntegerScalar):
    """`.u8` to `.u64`."""

    family = "u"


class SignedScalar(IntegerScalar):
    """`.s8` to `.s64`."""

    family = "s"


class FloatScalar(Scalar):
    """Floating point."""

    family = "f"


class BitsScalar(Scalar):
    """Untyped bits: compatible with every type of the same width."""

    family = "b"


class pred(Scalar):
    """A predicate: a truth value in a predicate register."""

    word, bits, family = "pred", 1, "p"


class u8(UnsignedScalar):
    """8-bit unsigned; a register that holds it is 16 bits wide."""

    word, bits = "u8", 8


class u16(UnsignedScalar):
    """16-bit unsigned."""

    word, bits = "u16", 16


class u32(UnsignedScalar):
    """32-bit unsigned."""

    word, bits = "u32", 32


class u64(UnsignedScalar):
    """64-bit unsigned."""

    word, bits = "u64", 64


class s8(SignedScalar):
    """8-bit signed; a register that holds it is 16 bits wide."""

    word, bits = "s8", 8


class s16(SignedScalar):
    """16-bit signed."""

    word, bits = "s16", 16


class s32(SignedScalar):
    """32-bit signed."""

    word, bits = "s32", 32


class s64(SignedScalar):
    """64-bit signed."""

    word, bits = "s64", 64


class f16(FloatScalar):
    """IEEE half precision."""

    word, bits = "f16", 16


class bf16(FloatScalar):
    """The upper half of an IEEE single."""

    word, bits = "bf16", 16


class f32(FloatScalar):
    """IEEE single precision."""

    word, bits = "f32", 32


class f64(FloatScalar):
    """IEEE double precision."""

    word, bits = "f64", 64


class f16x2(FloatScalar):
    """Two halves in one 32-bit register."""

    word, bits = "f16x2", 32


class bf16x2(FloatScalar):
    """Two bfloat16 in one 32-bit register."""

    word, bits = "bf16x2", 32


class f32x2(FloatScalar):
    """Two singles in one 64-bit register."""

    word, bits = "f32x2", 64


class e4m3(FloatScalar):
    """8 bits with 4 of exponent and 3 of fraction; a register that holds it is 16 bits wide."""

    word, bits = "e4m3", 8


class e5m2(FloatScalar):
    """8 bits with 5 of exponent and 2 of fraction; a register that holds it is 16 bits wide."""

    word, bits = "e5m2", 8


class e4m3x2(FloatScalar):
    """Two e4m3 in one 16-bit register."""

    word, bits = "e4m3x2", 16


class e5m2x2(FloatScalar):
    """Two e5m2 in one 16-bit register."""

    word, bits = "e5m2x2", 16


class b8(BitsScalar):
    """8 bits; a register that holds them is 16 bits wide."""

    word, bits = "b8", 8


class b16(BitsScalar):
    """16 bits."""

    word, bits = "b16", 16


class b32(BitsScalar):
    """32 bits."""

    word, bits = "b32", 32


class b64(BitsScalar):
    """64 bits."""

    word, bits = "b64", 64


class b128(BitsScalar):
    """128 bits."""

    word, bits = "b128", 128


ScalarT = TypeVar("ScalarT", bound=Scalar)
OtherT = TypeVar("OtherT", bound=Scalar)

SCALARS: dict[str, type[Scalar]] = {
    scalar.word: scalar
    for scalar in (
        (
            *(pred, u8, u16, u32, u64, s8, s16, s32, s64),
            *(f16, bf16, f32, f64, f16x2, bf16x2, f32x2),
            *(e4m3, e5m2, e4m3x2, e5m2x2),
            *(b8, b16, b32, b64, b128),
        )
    )
}
"""The types by their PTX word."""

_PREFIXES = {16: "%rs", 32: "%r", 64: "%rd", 128: "%rq"}


def memory_word(scalar: type[Scalar]) -> str:
    """Returns the type of a value in loads and stores: `ld` and `st` accept half-precision types only as bits."""
    return f"b{scalar.bits}" if scalar.family == "f" and scalar not in (f32, f64) else scalar.word


def register_class(scalar: type[Scalar]) -> tuple[str, str]:
    """Returns the (declared type, name prefix) of registers for `scalar`: `("b32", "%r")` for u32, s32 and b32.

    Integers and bits of one width share registers, so that a reinterpretation costs no instruction.
    """
    if scalar is pred:
        return "pred", "%p"
    if scalar is f32:
        return "f32", "%f"
    if scalar is f64:
        return "f64", "%fd"
    width = max(scalar.bits, 16)
    return f"b{width}", _PREFIXES[width]
