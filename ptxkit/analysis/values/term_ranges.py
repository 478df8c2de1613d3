"""Computes the ranges of symbolic values from the operations that made them: `x & 127` is at most 127, whatever x is.

A range is a pair of the smallest and the largest unsigned number. An operation that is not described here, or that may
wrap around, has no range.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "bfe", "cvt".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ptxkit.analysis.limits import MAX_RANGE_DEPTH
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable, Value
from ptxkit.semantics.value_ops import bit_mask, integer_type

Range: TypeAlias = tuple[int, int]

#: The numbers from here on may be results that have wrapped around.
_WRAPPED = 1 << 31


class TermRanges:
    """The ranges of the values of one table."""

    def __init__(self, terms: SymbolicValueTable) -> None:
        self._terms = terms
        self._known: dict[int, Range | None] = {}

    def range_of(self, value: Any, depth: int = 0) -> Range | None:
        """Returns the range of a value; None where it has none."""
        if isinstance(value, int):
            return (value, value)
        if not isinstance(value, SymbolicValue):
            return None
        if value.identity not in self._known:
            if depth > MAX_RANGE_DEPTH:
                return None
            self._known[value.identity] = None  # a value that depends on itself has no range
            self._known[value.identity] = self._compute(self._terms.key_of(value), depth + 1)
        found = self._known[value.identity]
        return None if found is None else _shift(found, value.offset)

    def _compute(self, key: Any, depth: int) -> Range | None:
        if not isinstance(key, tuple):
            return None
        name, *arguments = key
        if name == "add":  # the summands are stored without their constants
            return _sum(*(self.range_of(SymbolicValue(identity), depth) for identity in arguments))
        operation = _OPERATIONS.get(name)
        return None if operation is None else operation(lambda value: self.range_of(value, depth), *arguments)


_RangeReader: TypeAlias = Callable[[Value], "Range | None"]


def _shift(found: Range, offset: int) -> Range | None:
    low, high = found[0] + offset, found[1] + offset
    return (low, high) if low >= 0 else None


def _sum(first: Range | None, other: Range | None) -> Range | None:
    return None if first is None or other is None else (first[0] + other[0], first[1] + other[1])


def _and(read: _RangeReader, width: int, a: Value, b: Value) -> Range | None:
    highs = [found[1] for each in (a, b) if (found := read(each)) is not None]
    return (0, min(*highs, bit_mask(width))) if highs else None


def _or(read: _RangeReader, _width: int, a: Value, b: Value, *_spaces: object) -> Range | None:
    first, other = read(a), read(b)
    if first is None or other is None:
        return None
    return 0, (1 << max(first[1].bit_length(), other[1].bit_length())) - 1


def _shl(read: _RangeReader, width: int, a: Value, n: Value) -> Range | None:
    return _times(read(a), 1 << min(n, width), width) if isinstance(n, int) else None


def _mul(read: _RangeReader, width: int, a: Value, b: Value) -> Range | None:
    if not isinstance(b, int):
        a, b = b, a
    return _times(read(a), b, width) if isinstance(b, int) else None


def _mul_wide(read: _RangeReader, width: int, _is_signed: bool, a: Value, b: Value) -> Range | None:
    return _mul(read, width, a, b)


def _times(found: Range | None, factor: int, width: int) -> Range | None:
    if found is None or found[1] * factor > bit_mask(width) >> 1:
        return None
    return found[0] * factor, found[1] * factor


def _shr(read: _RangeReader, width: int, is_signed: bool, a: Value, n: Value) -> Range | None:
    if not isinstance(n, int):
        return None
    found = read(a)
    if found is not None and found[1] < 1 << width - 1:
        return found[0] >> n, found[1] >> n
    return None if is_signed else (0, bit_mask(width) >> n)


def _rem(read: _RangeReader, _width: int, is_signed: bool, a: Value, b: Value) -> Range | None:
    found = read(a)
    if not isinstance(b, int) or b <= 0 or (is_signed and (found is None or found[1] >= _WRAPPED)):
        return None
    return 0, b - 1 if found is None else min(b - 1, found[1])


def _div(read: _RangeReader, width: int, is_signed: bool, a: Value, b: Value) -> Range | None:
    found = read(a)
    if not isinstance(b, int) or b <= 0 or (is_signed and (found is None or found[1] >= _WRAPPED)):
        return None
    return (0, bit_mask(width) // b) if found is None else (found[0] // b, found[1] // b)


def _min(read: _RangeReader, _width: int, is_signed: bool, a: Value, b: Value) -> Range | None:
    found = [known for each in (a, b) if (known := read(each)) is not None and known[1] < _WRAPPED]
    if not found or (is_signed and len(found) < 2):
        return None
    return min(low for low, _ in found) if len(found) == 2 else 0, min(high for _, high in found)


def _max(read: _RangeReader, _width: int, _is_signed: bool, a: Value, b: Value) -> Range | None:
    first, other = read(a), read(b)
    if first is None or other is None or max(first[1], other[1]) >= _WRAPPED:
        return None
    return max(first[0], other[0]), max(first[1], other[1])


def _select(read: _RangeReader, _width: int, a: Value, b: Value, _p: Value) -> Range | None:
    first, other = read(a), read(b)
    if first is None or other is None:
        return None
    return min(first[0], other[0]), max(first[1], other[1])


def _bfe(_read: _RangeReader, _width: int, is_signed: bool, _a: Value, _start: Value, length: Value) -> Range | None:
    return (0, bit_mask(length)) if isinstance(length, int) and not is_signed and length < 31 else None


def _convert(read: _RangeReader, source: str, result: str, a: Value) -> Range | None:
    found, read_as, written = read(a), integer_type(source), integer_type(result)
    if written is None or read_as is None:
        return None
    narrow = min(written[0], read_as[0])
    if found is not None and found[1] <= bit_mask(narrow) >> 1:
        return found
    signed = written[1] if written[0] <= read_as[0] else read_as[1]
    return (0, bit_mask(narrow)) if narrow < 32 and not signed else None


def _bit_count(_read: _RangeReader, width: int, _a: Value) -> Range:
    return 0, width


def _unpack(_read: _RangeReader, _whole: Value, _position: int, width: int, *_others: object) -> Range | None:
    return (0, bit_mask(width)) if width < 32 else None


_OPERATIONS: dict[str, Callable[..., Range | None]] = {
    "and": _and,
    "or": _or,
    "xor": _or,
    "shl": _shl,
    "shr": _shr,
    "mul": _mul,
    "mul_wide": _mul_wide,
    "rem": _rem,
    "div": _div,
    "min": _min,
    "max": _max,
    "select": _select,
    "bfe": _bfe,
    "convert": _convert,
    "popc": _bit_count,
    "clz": _bit_count,
    "unpack": _unpack,
}
