"""The most frequent value operations, for all threads of a group at once, where every value is a number.

`ptxkit.analysis.values.value_ops` defines the result of an operation for one thread; the functions here give the same
numbers, which a test verifies, at a tenth of the cost. An operation takes what the table fixes (widths, types), and an
iterable of numbers for each operand, an infinite one where all threads have the same; it gives None where the caller
must compute the value of each thread separately.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, TypeAlias

from ptxkit.analysis.ir.shared_window import CTA_BITS, EVEN_CTA, shared_offsets
from ptxkit.analysis.ir.type_info import is_float, width_of

Numbers: TypeAlias = Iterable[int]
VectorizedOp: TypeAlias = Callable[..., "list[int] | None"]

#: The bits of a shift's amount that are used.
_SHIFT_AMOUNT_MASK = (1 << 32) - 1
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lo": operator.lt,
    "le": operator.le,
    "ls": operator.le,
    "gt": operator.gt,
    "hi": operator.gt,
    "ge": operator.ge,
    "hs": operator.ge,
}


def _copy(width: int, a: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x & kept for x in a]


def _add(width: int, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x + y & kept for x, y in zip(a, b, strict=False)]


def _sub(width: int, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x - y & kept for x, y in zip(a, b, strict=False)]


def _mul(width: int, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x * y & kept for x, y in zip(a, b, strict=False)]


def _mul_wide(width: int, is_signed: bool, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << 2 * width) - 1
    return [
        x * y & kept for x, y in zip(_interpret(a, width, is_signed), _interpret(b, width, is_signed), strict=False)
    ]


def _and(width: int, a: Numbers, b: Numbers) -> list[int] | None:
    kept = (1 << width) - 1
    if isinstance(b, repeat):
        if (next(b) & kept) >> CTA_BITS == EVEN_CTA:
            return None
    elif width > CTA_BITS and any((y & kept) >> CTA_BITS == EVEN_CTA for y in b):
        return None
    return [x & y & kept for x, y in zip(a, b, strict=False)]


def _or(width: int, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [(x | y) & kept for x, y in zip(a, b, strict=False)]


def _xor(width: int, a: Numbers, b: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [(x ^ y) & kept for x, y in zip(a, b, strict=False)]


def _not(width: int, a: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [~x & kept for x in a]


def _shl(width: int, a: Numbers, n: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [x << min(y & _SHIFT_AMOUNT_MASK, width) & kept for x, y in zip(a, n, strict=False)]


def _shr(width: int, is_signed: bool, a: Numbers, n: Numbers) -> list[int]:
    kept = (1 << width) - 1
    return [
        x >> min(y & _SHIFT_AMOUNT_MASK, width) & kept for x, y in zip(_interpret(a, width, is_signed), n, strict=False)
    ]


def _select(_: int, a: Numbers, b: Numbers, p: Numbers) -> list[int]:
    return [x if z else y for x, y, z in zip(a, b, p, strict=False)]


def _convert(source: str, result: str, a: Numbers) -> list[int] | None:
    if is_float(source) or is_float(result):
        return None
    kept = (1 << width_of(result)) - 1
    return [x & kept for x in _interpret(a, width_of(source), source.startswith("s"))]


def _compare(operation: str, kind: str, a: Numbers, b: Numbers) -> list[int] | None:
    holds = _COMPARISONS.get(operation)
    if holds is None or is_float(kind):
        return None
    is_signed, width = kind.startswith("s"), width_of(kind)
    return list(map(int, map(holds, _interpret(a, width, is_signed), _interpret(b, width, is_signed))))


def _in_shared(space: str, a: Numbers) -> list[int] | None:
    return shared_offsets(space, list(a))


def _interpret(values: Numbers, width: int, is_signed: bool) -> Numbers:
    """The numbers as their type interprets them: mostly unchanged."""
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


#: By the name of the operation: how many arguments the table fixed, and what takes the others.
_OPERATIONS: dict[str, tuple[int, Callable[..., list[int] | None]]] = {
    "copy": (1, _copy),
    "add": (1, _add),
    "sub": (1, _sub),
    "mul": (1, _mul),
    "mul_wide": (2, _mul_wide),
    "and": (1, _and),
    "or": (1, _or),
    "xor": (1, _xor),
    "not": (1, _not),
    "shl": (1, _shl),
    "shr": (2, _shr),
    "select": (1, _select),
    "convert": (2, _convert),
    "compare": (2, _compare),
    "in_shared": (1, _in_shared),
}
VECTORIZED_OPS = tuple(_OPERATIONS)


def vectorized_op(name: str) -> VectorizedOp:
    """The function of an operation of BULK_OPERATIONS: of what the table fixed, and for each operand a list of numbers,
    or what all threads have."""
    fixed, function = _OPERATIONS[name]

    def bulk(*arguments: Any) -> list[int] | None:
        operands: list[Numbers] = []
        for each in arguments[fixed:]:
            if isinstance(each, list):
                operands.append(each)
            elif isinstance(each, int):
                operands.append(repeat(each))
            else:
                return None
        return function(*arguments[:fixed], *operands)

    return bulk
