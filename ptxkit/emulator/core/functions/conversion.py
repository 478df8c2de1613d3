"""Conversions between integers and floating-point values of every width.

Manual: cvt. The first operand of a packed result is in its upper part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import magnitudes, widen
from ptxkit.emulator.core.numbers.formats import DTYPES, F16, F32, F64, Bits, Reals
from ptxkit.emulator.core.numbers.int_float_convert import ROUND_TO_INTEGER, from_integer, to_integer
from ptxkit.emulator.core.numbers.nan_rules import canonicalize, convert_payload, flush_subnormals, saturate_codes
from ptxkit.emulator.core.numbers.packing import packing_of
from ptxkit.emulator.core.numbers.result_modifiers import ResultModifiers
from ptxkit.emulator.core.semantics_registry import Function, value_semantics
from ptxkit.isa.functions import bits, kind


@value_semantics
def convert_integer(*, type: str, source: str, saturate: bool = False) -> Function:  # noqa: A002
    """Returns an integer that is truncated, extended, or saturated to the type."""
    signed, wanted = kind(source) == "s", DTYPES[bits(type)]
    if not saturate:
        return lambda a: _as_integers(a, signed).astype(wanted)
    low, high = _integer_range(type)
    if not signed:
        return lambda a: np.minimum(a, a.dtype.type(min(high, np.iinfo(a.dtype).max))).astype(wanted)

    def clip(a: Bits) -> Bits:
        values = _as_integers(a, True).astype(np.int64)
        limits = max(low, -(2**63)), min(high, 2**63 - 1)
        return np.clip(values, *limits).astype(np.uint64).astype(wanted)

    return clip


def _as_integers(values: Bits, signed: bool) -> Bits:
    return values.view(f"i{values.dtype.itemsize}") if signed else values


def _integer_range(word: str) -> tuple[int, int]:
    width = bits(word)
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind(word) == "s" else (0, (1 << width) - 1)


@value_semantics
def pack_integers(*, type: str) -> Function:  # noqa: A002
    """Returns two signed integers, saturated and packed with the first one above; the bits of a third are above
    both.
    """
    width, (low, high) = bits(type), _integer_range(type)
    mask = np.uint32((1 << width) - 1)

    def clip(values: Bits) -> Bits:
        return np.clip(values.view(np.int32).astype(np.int64), low, high).astype(np.uint32) & mask

    def function(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
        pair: Bits = clip(a) << np.uint32(width) | clip(b)
        return pair if c is None else pair | c << np.uint32(2 * width)

    return function


@value_semantics
def float_to_integer(*, type: str, source: str, rounding: str, ftz: bool = False) -> Function:  # noqa: A002
    """Returns a value that is rounded to an integer and saturated to the type. NaNs become zero, or the highest bit for
    64 bits.
    """
    fmt, width = packing_of(source).format, bits(type)
    nan = 1 << (width - 1) if fmt is F64 or width == 64 else 0

    def function(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            values = widen(fmt, flush_subnormals(fmt, a) if ftz else a)
            return to_integer(values, width, signed=kind(type) == "s", rounding=rounding, nan=nan)

    return function


@value_semantics
def integer_to_float(*, type: str, source: str, rounding: str, saturate: bool = False) -> Function:  # noqa: A002
    """Returns the nearest value to an integer, which is never subnormal."""
    fmt, signed = packing_of(type).format, kind(source) == "s"

    def function(a: Bits) -> Bits:
        codes = from_integer(fmt, a, signed=signed, rounding=rounding)
        return saturate_codes(fmt, codes) if saturate else codes

    return function


@value_semantics
def convert_float(*, type: str, source: str, rounding: str | None = None, ftz: bool = False, **how: bool) -> Function:  # noqa: A002
    """Converts a value to another format, or rounds it to an integer (`rni`, ...). `ftz` concerns operands and results
    of f32.

    Conversions to f16 flush nothing. A NaN that is converted from or to f64 keeps its payload, as on hardware.
    """
    fmt, given = packing_of(type).format, packing_of(source).format
    whole = ROUND_TO_INTEGER.get(rounding or "")
    if whole is None and not ftz and not how.get("saturate") and (source, type) in _BIT_MOVES:
        return _BIT_MOVES[source, type]
    if type == "tf32" and rounding == "rna":
        return _round_to_tf32(how.get("satfinite", False))
    finish = ResultModifiers(None if whole else rounding, ftz=ftz and fmt is F32, **how)
    flushes = ftz and given is F32 and fmt is not F16
    keeps = (fmt is F64 or given is F64) and not finish.saturate

    def function(a: Bits) -> Bits:
        with np.errstate(all="ignore"):
            if flushes:
                a = canonicalize(F32, flush_subnormals(F32, a))
            values = widen(given, a)
            if whole is not None:
                values = whole(values)
            codes = finish.encode(fmt, values)
            return convert_payload(codes, fmt, given, a) if keeps else codes

    return function


_BIT_MOVES: dict[tuple[str, str], Function] = {
    ("f32", "f32"): lambda a: a,
    ("f64", "f64"): lambda a: a,
    ("bf16", "f32"): lambda a: a.astype(np.uint32) << np.uint32(16),
}
"""Conversions (from, to) that only move bits, so that NaNs are unchanged."""


def _round_to_tf32(satfinite: bool) -> Function:
    """Rounds to nearest, ties away from zero, as ptxas does. Codes that are not finite are truncated, and so have
    another payload.

    With `satfinite`, the code below an infinity is the greatest number; the code below a NaN is another NaN, or that
    number.
    """
    infinity, kept, half = np.uint32(0x7F80_0000), np.uint32(0xFFFF_E000), np.uint32(0x1000)

    def function(a: Bits) -> Bits:
        finite = magnitudes(F32, a) < infinity
        rounded: Bits = np.where(finite, a + half, a) & kept
        if satfinite:
            rounded = np.where(magnitudes(F32, rounded) >= infinity, rounded - np.uint32(0x2000), rounded)
        return rounded

    return function


@value_semantics
def convert_pair(*, type: str, source: str, **how: Any) -> Function:  # noqa: A002
    """Returns two values converted and packed, the first one above. A scale, or one for each, divides before the
    rounding.
    """
    elements = _convert_codes(type, source, ResultModifiers(**how))
    return lambda a, b, scale=None: elements(np.stack(np.broadcast_arrays(b, a), axis=-1), scale)


@value_semantics
def convert_elements(*, type: str, source: str, **how: Any) -> Function:  # noqa: A002
    """Converts the elements of a pair, each in its position, as `convert_pair` does."""
    elements, given = _convert_codes(type, source, ResultModifiers(**how)), packing_of(source)
    return lambda a, scale=None: elements(given.unpack(a), scale)


def _convert_codes(word: str, source: str, finish: ResultModifiers) -> Function:
    """Returns a function from codes of shape (threads, elements) and scales to registers."""
    given = packing_of(source).format
    to_codes = _to_fixed_point if word == "s2f6x2" else _to_floating_point

    def function(codes: Bits, scale: Bits | None) -> Bits:
        with np.errstate(all="ignore"):
            if scale is None:
                return to_codes(word, widen(given, codes), finish)
            codes = flush_subnormals(given, codes) if scale.dtype == np.uint8 else codes
            return to_codes(word, widen(given, codes) / _scale_values(scale), finish)

    return function


def _to_floating_point(word: str, values: Reals, finish: ResultModifiers) -> Bits:
    whole = packing_of(word)
    return whole.pack(finish.encode(whole.format, values))


def _to_fixed_point(word: str, values: Reals, finish: ResultModifiers) -> Bits:  # noqa: ARG001
    """Returns values of type `s2f6x2`: they saturate, and NaN becomes the greatest value."""
    steps = ROUND_TO_INTEGER["rni" if finish.rounding == "rn" else "rzi"](values * _S2F6_SCALE)
    steps = np.clip(steps, 0.0 if finish.relu else -128.0, 127.0)
    steps = np.where(np.isnan(values), 127.0, steps)
    return np.ascontiguousarray(steps.astype(np.int8)).view(np.uint16)[..., 0]


_S2F6_SCALE = 64.0
"""The scale of fixed-point values of type `s2f6`, whose unit is 1/64."""


@value_semantics
def convert_randomly(*, type: str, **how: bool) -> Function:  # noqa: A002
    """Returns two or four values of f32 that are rounded with random bits and packed, the first one above."""
    whole, finish = packing_of(type), ResultModifiers("rs", **how)

    def function(*operands: Bits) -> Bits:
        *values, random = operands
        if len(values) == 1:
            values = list(values[0])  # a vector
        with np.errstate(all="ignore"):
            found = [
                finish.encode(whole.format, widen(F32, codes), _random_bits(type, random, place))
                for place, codes in enumerate(reversed(values))
            ]
        return whole.pack(np.stack(np.broadcast_arrays(*found), axis=-1))

    return function


def _random_bits(word: str, random: Bits, place: int) -> tuple[Bits, int]:
    """Returns the random bits for element `place`, counted from the lowest, and their number.

    An element of a pair uses 13 or 16 bits of the half in its position. Of four elements of 8 or 6 bits, the lower two
    use the 16 bits of the lower half. Those of 4 bits use 8 bits of both halves, the lower two the lower ones.
    """
    words = random.astype(np.uint64)
    if word == "f16x2":
        return (words >> np.uint64(16 * place)) & np.uint64(0x1FFF), 13
    if word == "e2m1x4":
        return (words >> np.uint64(16 * (place % 2) + 8 * (place // 2))) & np.uint64(0xFF), 8
    half = place if word == "bf16x2" else place // 2
    return (words >> np.uint64(16 * half)) & np.uint64(0xFFFF), 16


@value_semantics
def unpack_narrow(*, type: str, source: str, **how: Any) -> Function:  # noqa: A002
    """Returns two narrow floats, or fixed-point values, as a pair of half precision, multiplied by their scales if
    there are any.
    """
    whole, finish = packing_of(type), ResultModifiers("rn", **how)

    def values_of(a: Bits) -> Reals:
        if source == "s2f6x2":
            return np.ascontiguousarray(a)[..., np.newaxis].view(np.int8) / _S2F6_SCALE
        given = packing_of(source)
        return widen(given.format, given.unpack(a))

    def function(a: Bits, scale: Bits | None = None) -> Bits:
        with np.errstate(all="ignore"):
            values = values_of(a)
            if scale is not None:
                values = values * _scale_values(scale)
            return whole.pack(finish.encode(whole.format, values))

    return function


def _scale_values(scale: Bits) -> Reals:
    """Returns scale factors as values of shape (threads, 2): one of 8 bits for both elements, or two in 16 bits."""
    one, two = packing_of("ue8m0"), packing_of("ue8m0x2")
    if scale.dtype == np.uint8:
        return widen(one.format, np.asarray(scale)[..., np.newaxis])
    return widen(two.format, two.unpack(scale))
