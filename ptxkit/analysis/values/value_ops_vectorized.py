"""The most frequent value operations, for all threads of a group at once, where every value is a number.

`ptxkit.semantics.value_ops` defines the result of an operation for one thread; the functions here compute the same
numbers, which a test verifies, at a tenth of the cost. An operation takes what the table fixes (widths, types), and an
iterable of numbers for each operand, which is infinite if all threads have the same number. It returns None if the
caller must compute the value of each thread separately.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, TypeAlias

from ptxkit.analysis.ir.shared_window import CTA_BITS, EVEN_CTA, shared_offsets
from ptxkit.semantics.value_ops import COMPARISONS, INTEGER_OPERATIONS, WRAPPING, integer_type

Numbers: TypeAlias = Iterable[int]
VectorizedOp: TypeAlias = Callable[..., "list[int] | None"]


def _wrapping(function: Callable[..., int]) -> VectorizedOp:
    def apply(width: int, *operands: Numbers) -> list[int]:
        kept = (1 << width) - 1
        return [x & kept for x in map(function, *operands)]

    return apply


def _copy(width: int, a: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x & kept for x in a]


def _mul_wide(width: int, is_signed: bool, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << 2 * width) - 1
    products = map(operator.mul, _interpret(a, width, is_signed), _interpret(b, width, is_signed))
    return [x & kept for x in products]


def _and(width: int, a: Numbers, b: Numbers) -> list[int] | None:
    kept = (1 << width) - 1
    if isinstance(b, repeat):
        if (next(b) & kept) >> CTA_BITS == EVEN_CTA:
            return None
    elif width > CTA_BITS and any((y & kept) >> CTA_BITS == EVEN_CTA for y in b):
        return None
    return [x & y & kept for x, y in zip(a, b, strict=False)]


def _shl(width: int, a: Numbers, n: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x << min(y & 0xFFFF_FFFF, width) & kept for x, y in zip(a, n, strict=False)]


def _shr(width: int, is_signed: bool, a: Numbers, n: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x >> min(y & 0xFFFF_FFFF, width) & kept for x, y in zip(_interpret(a, width, is_signed), n, strict=False)]


def _select(width: int, a: Numbers, b: Numbers, p: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [(x if z & 1 else y) & kept for x, y, z in zip(a, b, p, strict=False)]


def _convert(source: str, result: str, a: Numbers) -> list[int] | None:
    read, written = integer_type(source), integer_type(result)
    if read is None or written is None:
        return None
    kept = (1 << written[0]) - 1
    return [x & kept for x in _interpret(a, *read)]


def _compare(operation: str, type_: str, a: Numbers, b: Numbers) -> list[int] | None:
    read = integer_type(type_)
    if read is None:
        return None
    return list(map(int, map(COMPARISONS[operation], _interpret(a, *read), _interpret(b, *read))))


def _in_shared(space: str, a: Numbers) -> list[int] | None:
    return shared_offsets(space, list(a))


def _interpret(values: Numbers, width: int, is_signed: bool) -> Numbers:
    """Returns the numbers as their type interprets them; most are unchanged."""
    if isinstance(values, repeat):
        (value,) = _interpret([next(values)], width, is_signed)
        return repeat(value)
    found = values if isinstance(values, list) else list(values)
    largest = max(found, default=0)
    if largest < 1 << width - is_signed and min(found, default=0) >= 0:
        return found
    kept = (1 << width) - 1
    if not is_signed:
        return [x & kept for x in found]
    sign = 1 << width - 1
    return [(x & kept ^ sign) - sign for x in found]


_VECTORIZED: dict[str, VectorizedOp] = {
    **{name: _wrapping(WRAPPING[name]) for name in ("add", "sub", "mul", "or", "xor", "not", "neg")},
    "copy": _copy,
    "mul_wide": _mul_wide,
    "and": _and,
    "shl": _shl,
    "shr": _shr,
    "select": _select,
    "convert": _convert,
    "compare": _compare,
    "in_shared": _in_shared,
}
VECTORIZED_OPS = tuple(_VECTORIZED)


def vectorized_op(name: str) -> VectorizedOp:
    """Returns the function of one of `VECTORIZED_OPS`.

    Its arguments are those that the table fixes and, for each operand, a list of numbers or the number of all threads.
    """
    function = _VECTORIZED[name]
    fixed = len(INTEGER_OPERATIONS[name].static) if name in INTEGER_OPERATIONS else 1

    def apply_to_arrays(*arguments: Any) -> list[int] | None:
        operands: list[Numbers] = []
        for each in arguments[fixed:]:
            if isinstance(each, list):
                operands.append(each)
            elif isinstance(each, int):
                operands.append(repeat(each))
            else:
                return None
        return function(*arguments[:fixed], *operands)

    return apply_to_arrays
