"""Comparisons whose results are predicates or values, and selections by them.

Manual: Comparison and Selection Instructions; Half Precision Comparison Instructions; Integer and Bit-Size Comparisons.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptxkit.emulator.core.numbers.float_compare import comparison
from ptxkit.emulator.core.numbers.formats import DTYPES, F32, FORMATS, Bits
from ptxkit.emulator.core.numbers.nan_rules import flush_subnormals
from ptxkit.emulator.core.numbers.packing import packing_of
from ptxkit.emulator.core.semantics_registry import Function, value_semantics
from ptxkit.isa.functions import bits, kind
from ptxkit.semantics.value_ops import COMPARISONS, WRAPPING

Comparison = Callable[[Bits, Bits], Bits]


@value_semantics
def setp(
    *,
    type: str,  # noqa: A002
    test: str,
    combine: str | None = None,
    ftz: bool = False,
    single: bool = False,
) -> Function:
    """Returns two predicates: a comparison and its opposite, or the comparisons of both elements of a pair.

    With `single`, only the first one is wanted.
    """
    compare, pair = _make_comparison(type, test, ftz), _element_count(type) > 1

    def both(a: Bits, b: Bits, c: Bits | None = None) -> tuple[Bits, Bits]:
        found = compare(a, b)
        p, q = (found[..., 0], found[..., 1]) if pair else (found, ~found)
        return (p, q) if combine is None else (WRAPPING[combine](p, c), WRAPPING[combine](q, c))

    def first(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
        found = compare(a, b)
        p: Bits = found[..., 0] if pair else found
        return p if combine is None else WRAPPING[combine](p, c)

    return first if single else both


@value_semantics
def set_(*, type: str, source: str, test: str, combine: str | None = None, ftz: bool = False) -> Function:  # noqa: A002
    """Returns all ones, or 1.0, if a comparison holds, else zero. `type` is that of the result, which has two halves
    for a pair.
    """
    compare, pairs = _make_comparison(source, test, ftz), _element_count(source)
    width = bits(type) // pairs
    fmt = FORMATS.get(type.partition("x")[0]) if kind(type) == "f" else None
    truth = DTYPES[width]((1 << width) - 1 if fmt is None else fmt.bias << fmt.fraction_bits)

    def function(a: Bits, b: Bits, c: Bits | None = None) -> Bits:
        found = compare(a, b)
        if combine is not None and c is not None:
            found = WRAPPING[combine](found, c if pairs == 1 else np.asarray(c)[..., np.newaxis])
        values: Bits = np.where(found, truth, truth.dtype.type(0))
        return values if pairs == 1 else np.ascontiguousarray(values).view(DTYPES[bits(type)])[..., 0]

    return function


@value_semantics
def slct(*, ftz: bool = False) -> Function:
    """Returns the first value if a third value of type f32 is not negative, else the second, also for a NaN."""
    compare = comparison(F32, "ge")

    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        c = flush_subnormals(F32, c) if ftz else c
        return np.where(compare(c, np.zeros_like(c)), a, b)

    return function


def _element_count(word: str) -> int:
    return int(word.partition("x")[2] or 1)


def _make_comparison(word: str, test: str, ftz: bool) -> Comparison:
    """Returns a comparison of registers of a type, of shape (threads, elements) if they hold several elements."""
    if kind(word) == "f":
        return _make_float_comparison(word, test, ftz)
    width, signed = bits(word) // _element_count(word), kind(word) == "s"
    compare = COMPARISONS[test]
    view = f"{'i' if signed else 'u'}{width // 8}"
    if _element_count(word) == 1:
        return lambda a, b: compare(a.view(view), b.view(view))

    def elements(values: Bits) -> Bits:
        return np.ascontiguousarray(values)[..., np.newaxis].view(view)

    return lambda a, b: compare(elements(a), elements(b))


def _make_float_comparison(word: str, test: str, ftz: bool) -> Comparison:
    part = packing_of(word)
    compare = comparison(part.format, test)

    def function(a: Bits, b: Bits) -> Bits:
        a, b = part.unpack(a), part.unpack(b)
        if ftz:
            a, b = flush_subnormals(part.format, a), flush_subnormals(part.format, b)
        return compare(a, b)

    return function
