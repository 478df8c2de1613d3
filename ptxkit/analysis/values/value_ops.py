"""The value operations of the instruction table's `value` effects, on integers and symbolic values.

Each function takes evaluated arguments; strings are widths, types and modes that the table fixes. An operation that
cannot be computed gives a term of its operands.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "Comparison and Selection
Instructions", "prmt", "cvt", "cvta".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import repeat
from typing import TypeAlias

from ptxkit.analysis.ir.shared_window import CTA_BITS, EVEN_CTA, SharedWindow
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    SymbolicValueTable,
    Value,
)
from ptxkit.analysis.values.undone_operations import (
    key_with_spaces,
    permuted_word,
    shifted_word,
    truth_of,
    undo_add,
    undo_masks,
    undo_not,
    undo_xor,
)
from ptxkit.analysis.values.value_ops_vectorized import VECTORIZED_OPS, VectorizedOp, vectorized_op
from ptxkit.semantics.value_ops import COMPARISONS, INTEGER_OPERATIONS, bit_mask, integer_type, to_signed

Argument: TypeAlias = int | str | bool | SymbolicValue | None
Operation: TypeAlias = Callable[..., Value]


def _add_offset(term: SymbolicValue, amount: int, width: int) -> SymbolicValue:
    """Returns a term plus a constant. Sums wrap at the width, so a multiple of the modulus counts as zero."""
    return term.with_offset(to_signed(term.offset + amount, width))


def _common_space(a: SymbolicValue, b: SymbolicValue) -> str | None:
    """Returns the state space of a sum: that of the only summand that is an address."""
    if a.space is None or b.space is None:
        return a.space or b.space
    return None


class SymbolicOps:
    """The operations over one table of symbolic values; `find(name)` returns the function of an operation."""

    def __init__(self, terms: SymbolicValueTable, window: SharedWindow) -> None:
        self._terms = terms
        self._window = window
        self._lanes: dict[Hashable, LaneValues] = {}

    @classmethod
    def find(cls, name: str) -> Operation:
        """Returns the function of a value operation, which takes this object and the arguments.

        An operation that is not implemented here gives a term of its operands.
        """
        found: Operation | None = getattr(cls, f"op_{name}", None) or _INTEGER_OPERATIONS.get(name)
        return found or (lambda operations, *arguments: operations.make_uninterpreted(name, *arguments))

    def apply(self, operation: Operation, *arguments: Argument | LaneValues) -> GroupValue:
        """Applies an operation for a group of threads. The same operands give the same lane values again."""
        for argument in arguments:
            if isinstance(argument, LaneValues):
                spaces = tuple([each.space for each in arguments if isinstance(each, SymbolicValue)])
                key = (operation, *arguments, *spaces)  # equal terms may be views in different state spaces
                known = self._lanes.get(key)
                if known is None:
                    known = self._lanes[key] = LaneValues(
                        argument.count,
                        operation,
                        (self, *arguments),
                        _VECTORIZED.get(operation),
                        _add_terms if operation is _ADD else None,
                    )
                return known
        return operation(self, *arguments)

    def compute(self, name: str, *arguments: Argument) -> Value:
        """Returns the value of an operation for one thread."""
        return self.find(name)(self, *arguments)

    def add_offset(self, address: GroupValue, amount: int) -> GroupValue:
        """Returns an address of 64 bits plus a constant."""
        return self.apply(_INTEGER_OPERATIONS["add"], 64, address, amount)

    def convert(self, value: GroupValue, types: tuple[str, str] | None) -> GroupValue:
        """Returns a value of the first type as one of the second; the value itself if no types are given."""
        return value if types is None else self.apply(_INTEGER_OPERATIONS["convert"], *types, value)

    def make_uninterpreted(self, name: str, *arguments: Argument) -> Value:
        """Returns the term of an operation that is not computed."""
        key: Hashable = (name, *arguments)
        return self._terms.intern(key)

    def simplify_copy(self, _: int, a: Value) -> Value:
        return a

    def simplify_add(self, width: int, a: Value, b: Value) -> Value:
        if isinstance(a, int):
            a, b = b, a
        assert isinstance(a, SymbolicValue)
        if isinstance(b, int):
            return _add_offset(a, b, width)
        first, second = sorted((a, b), key=lambda term: term.identity)
        moved = first.offset + second.offset
        key = ("add", first.identity, second.identity)
        found = self._terms.intern(key, pointer=a.pointer or b.pointer).plus(to_signed(moved, width))
        return found.with_space(_common_space(a, b))

    def simplify_sub(self, width: int, a: Value, b: Value) -> Value | None:
        if isinstance(b, int):
            return self.simplify_add(width, a, -b)
        if isinstance(a, SymbolicValue) and a.identity == b.identity:
            return (a.offset - b.offset) & bit_mask(width)
        return undo_add(self._terms, width, a, b)

    def simplify_mul(self, _: int, a: Value, b: Value) -> Value | None:
        if 0 in (a, b):
            return 0
        return b if a == 1 else a if b == 1 else None

    def simplify_mul_wide(self, _width: int, _is_signed: bool, a: Value, b: Value) -> Value | None:
        return 0 if 0 in (a, b) else None

    def simplify_and(self, _: int, a: Value, b: Value) -> Value | None:
        return 0 if 0 in (a, b) else a if a == b else None

    def simplify_or(self, width: int, a: Value, b: Value) -> Value | None:
        if width == 1 and 1 in (a, b):
            return 1
        return b if a in (0, b) else a if b == 0 else undo_masks(self._terms, width, a, b)

    def simplify_xor(self, width: int, a: Value, b: Value) -> Value:
        if a == b or 0 in (a, b):
            return 0 if a == b else b if a == 0 else a
        left = undo_xor(self._terms, width, a, b)
        return self._terms.intern(key_with_spaces("xor", width, a, b)) if left is None else left

    def simplify_not(self, width: int, a: Value) -> Value:
        left = undo_not(self._terms, width, a)
        return self._terms.intern(key_with_spaces("not", width, a)) if left is None else left

    def simplify_prmt(self, a: Value, b: Value, selectors: Value, mode: str | None) -> Value | None:
        return permuted_word(a, b, selectors, mode)

    def simplify_funnel(self, direction: str, _mode: str, a: Value, b: Value, n: Value) -> Value | None:
        return shifted_word(direction, a, b, n)

    def simplify_shl(self, _: int, a: Value, n: Value) -> Value | None:
        return a if n == 0 else None

    def simplify_shr(self, _width: int, _is_signed: bool, a: Value, n: Value) -> Value | None:
        return a if n == 0 else None

    def simplify_compare(self, operator: str, kind: str, a: Value, b: Value) -> Value | None:
        if integer_type(kind) is None:
            return None
        if isinstance(a, SymbolicValue) and isinstance(b, SymbolicValue) and a.identity == b.identity:
            return int(COMPARISONS[operator](a.offset, b.offset))
        if operator in ("eq", "ne") and _is_null_test(a, b):
            return int(operator == "ne")
        return truth_of(self._terms, operator, a, b)

    def simplify_combine(self, operator: str, p: Value, q: Value) -> Value:
        return self.compute(operator, 1, p, q)

    def simplify_select(self, width: int, a: Value, b: Value, p: Value) -> Value | None:
        if isinstance(p, int):
            return self.compute("copy", width, a if p & 1 else b)
        if a != b:
            return None
        return (
            a.with_space(None)
            if isinstance(a, SymbolicValue) and isinstance(b, SymbolicValue) and a.space != b.space
            else a
        )

    def simplify_convert(self, source: str, result: str, a: SymbolicValue) -> Value | None:
        written = integer_type(result)
        if written is None or integer_type(source) is None or written[0] < 32:
            return None
        # A 64-bit address truncated to 32 bits is still an address in shared or local memory, but not elsewhere.
        return a.with_space(None) if written[0] < 64 and a.space in ("global", "generic") else a

    def op_and(self, width: int, a: Value, b: Value) -> Value:
        """Returns the bitwise AND. A mask may also map a shared-memory address to the even CTA of a pair."""
        if isinstance(a, int) and isinstance(b, int):
            kept = b & (1 << width) - 1
            return self._window.map_to_even_cta(a, kept) if kept >> CTA_BITS == EVEN_CTA else a & kept
        return _INTEGER_OPERATIONS["and"](self, width, a, b)

    def op_to_generic(self, space: str, a: Value) -> Value:
        """Returns a generic address; a `global` address is its own generic address."""
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
        return self.make_uninterpreted("is_space", space, a)

    def op_in_shared(self, space: str, a: Value) -> Value:
        """Returns an address as an offset in shared memory; a term if it is in another space, or this is unknown."""
        if not isinstance(a, int):
            return a
        if self._window.space_of_generic(a) == "shared":
            return self._window.from_generic("shared", a)
        offset = self._window.shared_offset(space, a)
        if offset is not None:
            return offset
        elsewhere = self._window.space_of_generic(a) if space == "generic" else None
        return self._terms.intern(("address", space, a)).with_space(elsewhere)

    def op_map_rank(self, space: str, a: Value, rank: Value) -> Value:
        there = self._window.map_address(space, a, rank) if isinstance(a, int) and isinstance(rank, int) else None
        return self.make_uninterpreted("map_rank", space, a, rank) if there is None else there

    def op_rank_of(self, space: str, a: Value) -> Value:
        rank = self._window.rank_of_address(space, a) if isinstance(a, int) else None
        return self.make_uninterpreted("rank_of", space, a) if rank is None else rank


def _integer_operation(name: str) -> Operation:
    """Returns an operation of the table of integer operations.

    The result of the operation is a number if all operands are numbers, else the result of its rule, if it has one,
    else a term.
    """
    compute = INTEGER_OPERATIONS[name].compute
    simplify: Callable[..., Value | None] = getattr(SymbolicOps, f"simplify_{name}", lambda *_: None)

    def operation(operations: SymbolicOps, *arguments: Argument) -> Value:
        for each in arguments:
            if isinstance(each, SymbolicValue):
                found = simplify(operations, *arguments)
                break
        else:
            found = compute(*arguments)
        return operations.make_uninterpreted(name, *arguments) if found is None else found

    return operation


_INTEGER_OPERATIONS = {name: _integer_operation(name) for name in INTEGER_OPERATIONS}
#: The vectorized operations by the operation on single values.
_VECTORIZED: dict[Operation, VectorizedOp] = {SymbolicOps.find(name): vectorized_op(name) for name in VECTORIZED_OPS}


_ADD = _INTEGER_OPERATIONS["add"]


def _add_terms(
    operations: SymbolicOps, width: int, first: Value | list[Value], second: Value | list[Value]
) -> list[Value]:
    """Returns the sums of operands in all threads: most of them are an address and a number."""
    half, mask = 1 << width - 1, bit_mask(width)
    columns = [each if isinstance(each, list) else repeat(each) for each in (first, second)]
    found: list[Value] = []
    for a, b in zip(*columns, strict=False):
        term, amount = (b, a) if isinstance(a, int) else (a, b)
        if isinstance(amount, int) and isinstance(term, SymbolicValue):
            found.append(term.with_offset((term.offset + amount + half & mask) - half))
        else:
            found.append(_ADD(operations, width, a, b))
    return found


def _is_null_test(a: Value, b: Value) -> bool:
    return (isinstance(a, SymbolicValue) and a.pointer and b == 0) or (
        isinstance(b, SymbolicValue) and b.pointer and a == 0
    )
