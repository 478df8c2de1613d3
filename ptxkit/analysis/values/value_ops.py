"""The value operations of the instruction table's `value` effects, on integers and symbolic values.

Each function takes evaluated arguments; strings are widths, types and modes that the table fixes. An operation that
cannot be computed gives a term of its operands. Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
Instructions", "Comparison and Selection Instructions", "prmt", "cvt", "cvta".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from ptxkit.analysis.ir.shared_window import CTA_BITS, EVEN_CTA, SharedWindow
from ptxkit.analysis.ir.type_info import is_float, width_of
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    SymbolicValueTable,
    Value,
    bit_mask,
    to_signed,
)
from ptxkit.analysis.values.value_ops_vectorized import VECTORIZED_OPS, VectorizedOp, vectorized_op

Argument: TypeAlias = int | str | bool | SymbolicValue | None
Operation: TypeAlias = Callable[..., Value]

#: Which of the eight source bytes each mode of `prmt` selects for byte `place` of the result, by its two-bit control.
_PRMT_SELECTORS: dict[str, Callable[[int, int], int]] = {
    "f4e": lambda control, place: control + place,
    "b4e": lambda control, place: (control - place) % 8,
    "rc8": lambda control, _: control,
    "ecl": max,
    "ecr": min,
    "rc16": lambda control, place: (control & 1) * 2 + (place & 1),
}


def _interpret(value: int, width: int, is_signed: bool) -> int:
    return to_signed(value, width) if is_signed else value & (1 << width) - 1


def _add_offset(term: SymbolicValue, amount: int, width: int) -> SymbolicValue:
    """A term plus a constant. Sums wrap at the width, so that a multiple of the modulus is no distance."""
    return term.with_offset(to_signed(term.offset + amount, width))


def _common_space(a: SymbolicValue, b: SymbolicValue) -> str | None:
    """The state space of a sum: that of the only summand that is an address."""
    if a.space is None or b.space is None:
        return a.space or b.space
    return None


def _truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


class SymbolicOps:
    """The operations over one table of symbolic values; `find(name)` gives the function of an operation."""

    def __init__(self, terms: SymbolicValueTable, window: SharedWindow) -> None:
        self._terms = terms
        self._window = window
        self._lanes: dict[Hashable, LaneValues] = {}

    @classmethod
    def find(cls, name: str) -> Operation:
        """The function of a value operation, which takes this object and the arguments.

        An operation that is not implemented here gives a term of its operands.
        """
        found: Operation | None = getattr(cls, f"op_{name}", None)
        return found or (lambda operations, *arguments: operations._uninterpreted(name, *arguments))

    def apply(self, operation: Operation, *arguments: Argument | LaneValues) -> GroupValue:
        """Applies an operation for a group of threads. The same operands give the same lanes again."""
        for argument in arguments:
            if isinstance(argument, LaneValues):
                spaces = tuple([each.space for each in arguments if isinstance(each, SymbolicValue)])
                key = (operation, *arguments, *spaces)  # equal terms may be views in different state spaces
                known = self._lanes.get(key)
                if known is None:
                    known = self._lanes[key] = LaneValues(
                        argument.count, operation, (self, *arguments), _VECTORIZED.get(operation)
                    )
                return known
        return operation(self, *arguments)

    def _uninterpreted(self, name: str, *arguments: Argument) -> Value:
        key: Hashable = (name, *arguments)
        return self._terms.intern(key)

    # ------------------------------------------------------------------------------------ arithmetic

    def op_copy(self, width: int, a: Value) -> Value:
        return a & (1 << width) - 1 if isinstance(a, int) else a

    def op_add(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(a, int):
            if isinstance(b, int):
                return (a + b) & (1 << width) - 1
            return _add_offset(b, a, width)
        if isinstance(b, int):
            return _add_offset(a, b, width)
        first, second = sorted((a, b), key=lambda term: term.identity)
        moved = first.offset + second.offset
        key = ("add", first.identity, second.identity)
        found = self._terms.intern(key, pointer=a.pointer or b.pointer).plus(to_signed(moved, width))
        return found.with_space(_common_space(a, b))

    def op_sub(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(b, int):
            return self.op_add(width, a, -b & bit_mask(width))
        if isinstance(a, SymbolicValue) and a.identity == b.identity:
            return (a.offset - b.offset) & bit_mask(width)
        return self._uninterpreted("sub", width, a, b)

    def op_neg(self, width: int, a: Value) -> Value:
        return -a & bit_mask(width) if isinstance(a, int) else self._uninterpreted("neg", width, a)

    def op_abs(self, width: int, a: Value) -> Value:
        return (
            abs(to_signed(a, width)) & bit_mask(width) if isinstance(a, int) else self._uninterpreted("abs", width, a)
        )

    def op_mul(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return a * b & bit_mask(width)
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        return a if b == 1 else self._uninterpreted("mul", width, a, b)

    def op_mul_wide(self, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return _interpret(a, width, is_signed) * _interpret(b, width, is_signed) & bit_mask(2 * width)
        if a == 0 or b == 0:
            return 0
        return self._uninterpreted("mul_wide", width, is_signed, a, b)

    def op_mul_hi(self, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return _interpret(a, width, is_signed) * _interpret(b, width, is_signed) >> width & bit_mask(width)
        return self._uninterpreted("mul_hi", width, is_signed, a, b)

    def op_div(self, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int) and b & bit_mask(width):
            return _truncated_quotient(_interpret(a, width, is_signed), _interpret(b, width, is_signed)) & bit_mask(
                width
            )
        return self._uninterpreted("div", width, is_signed, a, b)

    def op_rem(self, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int) and b & bit_mask(width):
            dividend, divisor = _interpret(a, width, is_signed), _interpret(b, width, is_signed)
            return (dividend - _truncated_quotient(dividend, divisor) * divisor) & bit_mask(width)
        return self._uninterpreted("rem", width, is_signed, a, b)

    def _extreme(self, name: str, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            pick = min if name == "min" else max
            return pick(_interpret(a, width, is_signed), _interpret(b, width, is_signed)) & bit_mask(width)
        return self._uninterpreted(name, width, is_signed, a, b)

    def op_min(self, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        return self._extreme("min", width, is_signed, a, b)

    def op_max(self, width: int, is_signed: bool, a: Value, b: Value) -> Value:
        return self._extreme("max", width, is_signed, a, b)

    # ------------------------------------------------------------------------------------ logic, shift

    def op_and(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            kept = b & (1 << width) - 1
            return self._window.map_to_even_cta(a, kept) if kept >> CTA_BITS == EVEN_CTA else a & kept
        if a == 0 or b == 0:
            return 0
        if a == b:
            return a
        return self._uninterpreted("and", width, a, b)

    def op_or(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return (a | b) & (1 << width) - 1
        if width == 1 and (a == 1 or b == 1):
            return 1
        if a in (0, b):
            return b
        return a if b == 0 else self._uninterpreted("or", width, a, b)

    def op_xor(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return (a ^ b) & bit_mask(width)
        if a == b:
            return 0
        if a == 0:
            return b
        return a if b == 0 else self._uninterpreted("xor", width, a, b)

    def op_not(self, width: int, a: Value) -> Value:
        return ~a & bit_mask(width) if isinstance(a, int) else self._uninterpreted("not", width, a)

    def op_shl(self, width: int, a: Value, n: Value) -> Value:
        if isinstance(n, int) and isinstance(a, int):
            amount = n & bit_mask(32)
            return a << amount & bit_mask(width) if amount < width else 0
        return a if n == 0 else self._uninterpreted("shl", width, a, n)

    def op_shr(self, width: int, is_signed: bool, a: Value, n: Value) -> Value:
        if isinstance(n, int) and isinstance(a, int):
            return _interpret(a, width, is_signed) >> min(n & bit_mask(32), width) & bit_mask(width)
        return a if n == 0 else self._uninterpreted("shr", width, is_signed, a, n)

    def op_lop3(self, a: Value, b: Value, c: Value, table: Value) -> Value:
        if not (isinstance(a, int) and isinstance(b, int) and isinstance(c, int) and isinstance(table, int)):
            return self._uninterpreted("lop3", a, b, c, table)
        result = 0
        for row in range(8):
            if table >> row & 1:
                result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        return result & bit_mask(32)

    def op_bfe(self, width: int, is_signed: bool, a: Value, position: Value, length: Value) -> Value:
        if not (isinstance(a, int) and isinstance(position, int) and isinstance(length, int)):
            return self._uninterpreted("bfe", width, is_signed, a, position, length)
        position, length = position & 0xFF, length & 0xFF
        if not length:
            return 0
        field = _interpret(a, width, is_signed) >> position
        length = min(length, width)
        return (to_signed(field, length) if is_signed else field & bit_mask(length)) & bit_mask(width)

    def op_bfi(self, width: int, a: Value, b: Value, position: Value, length: Value) -> Value:
        if not (isinstance(a, int) and isinstance(b, int) and isinstance(position, int) and isinstance(length, int)):
            return self._uninterpreted("bfi", width, a, b, position, length)
        hole = bit_mask(length & 0xFF) << (position & 0xFF) & bit_mask(width)
        return (b & ~hole | a << (position & 0xFF) & hole) & bit_mask(width)

    def op_popc(self, width: int, a: Value) -> Value:
        return (a & bit_mask(width)).bit_count() if isinstance(a, int) else self._uninterpreted("popc", width, a)

    def op_clz(self, width: int, a: Value) -> Value:
        return (
            width - (a & bit_mask(width)).bit_length() if isinstance(a, int) else self._uninterpreted("clz", width, a)
        )

    def op_funnel(self, direction: str, mode: str, a: Value, b: Value, n: Value) -> Value:
        if not (isinstance(a, int) and isinstance(b, int) and isinstance(n, int)):
            return self._uninterpreted("funnel", direction, mode, a, b, n)
        whole = (b & bit_mask(32)) << 32 | a & bit_mask(32)
        count = min(n & bit_mask(32), 32) if mode == "clamp" else n & 31
        return (whole << count >> 32 if direction == "l" else whole >> count) & bit_mask(32)

    def op_prmt(self, a: Value, b: Value, c: Value, mode: str | None) -> Value:
        if not (isinstance(a, int) and isinstance(b, int) and isinstance(c, int)):
            return self._uninterpreted("prmt", a, b, c, mode)
        source = (b & bit_mask(32)) << 32 | a & bit_mask(32)
        result = 0
        for place in range(4):
            selector = c >> 4 * place & 15 if mode is None else _PRMT_SELECTORS[mode](c & 3, place)
            byte = source >> 8 * (selector & 7) & 0xFF
            if selector & 8:
                byte = 0xFF if byte & 0x80 else 0
            result |= byte << 8 * place
        return result

    # --------------------------------------------------------------------------- comparison, selection

    def op_compare(self, operator: str, kind: str, a: Value, b: Value) -> Value:
        if is_float(kind):
            return self._uninterpreted("compare", operator, kind, a, b)
        if isinstance(a, int) and isinstance(b, int):
            return int(evaluate_comparison(operator, kind, a, b))
        if isinstance(a, SymbolicValue) and isinstance(b, SymbolicValue) and a.identity == b.identity:
            return int(_compare(operator, a.offset, b.offset))
        if operator in ("eq", "ne") and _is_null_test(a, b):
            return int(operator == "ne")
        return self._uninterpreted("compare", operator, kind, a, b)

    def op_combine(self, operator: str, p: Value, q: Value) -> Value:
        operation = {"and": self.op_and, "or": self.op_or, "xor": self.op_xor}[operator]
        return operation(1, p, q)

    def op_select(self, width: int, a: Value, b: Value, p: Value) -> Value:
        if isinstance(p, int):
            return a if p else b
        if a != b:
            return self._uninterpreted("select", width, a, b, p)
        return (
            a.with_space(None)
            if isinstance(a, SymbolicValue) and isinstance(b, SymbolicValue) and a.space != b.space
            else a
        )

    def op_convert(self, source: str, result: str, a: Value) -> Value:
        if is_float(source) or is_float(result):
            return self._uninterpreted("convert", source, result, a)
        if isinstance(a, SymbolicValue):
            if width_of(result) < 32:
                return self._uninterpreted("convert", source, result, a)
            # A 64-bit address truncated to 32 bits is still an address in shared or local memory, but not elsewhere.
            return a.with_space(None) if width_of(result) < 64 and a.space in ("global", "generic") else a
        return _interpret(a, width_of(source), source.startswith("s")) & bit_mask(width_of(result))

    # ------------------------------------------------------------------------------------ state spaces

    def op_to_generic(self, space: str, a: Value) -> Value:
        """A generic address; a `global` address is its own generic address."""
        if isinstance(a, int):
            return self._window.to_generic(space, a)
        return a.with_space("global" if space == "global" else "generic")

    def op_from_generic(self, space: str, a: Value) -> Value:
        return self._window.from_generic(space, a) if isinstance(a, int) else a.with_space(space.partition("::")[0])

    def op_is_space(self, space: str, a: Value) -> Value:
        if isinstance(a, int):
            return int(self._window.space_of_generic(a) == space.partition("::")[0])
        if a.pointer or (a.space == "global" and not space.startswith("param")):
            return int(space == "global")
        return self._uninterpreted("is_space", space, a)

    def op_in_shared(self, space: str, a: Value) -> Value:
        """An address as an offset in shared memory; a term where it lies elsewhere, or where this is unknown."""
        if not isinstance(a, int):
            return a
        if self._window.space_of_generic(a) == "shared":
            return self._window.from_generic("shared", a)
        offset = self._window.shared_offset(space, a)
        return self._terms.intern(("address", space, a)) if offset is None else offset

    def op_map_rank(self, space: str, a: Value, rank: Value) -> Value:
        offset = self._window.shared_offset(space, a) if isinstance(a, int) else None
        if offset is None or not isinstance(rank, int):
            return self._uninterpreted("map_rank", space, a, rank)
        there = self._window.map_to_rank(offset, rank)
        return there if space.startswith("shared") else self._window.to_generic("shared", there)

    def op_rank_of(self, space: str, a: Value) -> Value:
        offset = self._window.shared_offset(space, a) if isinstance(a, int) else None
        return self._uninterpreted("rank_of", space, a) if offset is None else self._window.rank_of(offset)


#: By the operation on single values.
_VECTORIZED: dict[Operation, VectorizedOp] = {
    getattr(SymbolicOps, f"op_{name}"): vectorized_op(name) for name in VECTORIZED_OPS
}


def _is_null_test(a: Value, b: Value) -> bool:
    return (isinstance(a, SymbolicValue) and a.pointer and b == 0) or (
        isinstance(b, SymbolicValue) and b.pointer and a == 0
    )


def evaluate_comparison(operator: str, kind: str, a: int, b: int) -> bool:
    """Whether a comparison of two numbers holds, read as a type such as `s32` reads them."""
    is_signed, width = kind.startswith("s"), width_of(kind)
    return _compare(operator, _interpret(a, width, is_signed), _interpret(b, width, is_signed))


def _compare(operator: str, a: int, b: int) -> bool:
    match operator:
        case "eq" | "equ":
            return a == b
        case "ne" | "neu":
            return a != b
        case "lt" | "lo" | "ltu":
            return a < b
        case "le" | "ls" | "leu":
            return a <= b
        case "gt" | "hi" | "gtu":
            return a > b
        case _:
            return a >= b
