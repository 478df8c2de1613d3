"""Computes the ranges of symbolic values from the operations that made them: `x & 127` is at most 127, whatever x is.

A range is a pair of the smallest and the largest unsigned number. A value that may have wrapped around has no range.

Source: as `ptxkit.analysis.abstract_interpretation.range_ops`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ptxkit.analysis.abstract_interpretation import range_ops
from ptxkit.analysis.abstract_interpretation.strided_ranges import StridedRange, full_range, make_range
from ptxkit.analysis.limits import MAX_RANGE_DEPTH
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask, integer_type

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
        if found is None or found[0] + value.offset < 0:
            return None
        return found[0] + value.offset, found[1] + value.offset

    def _compute(self, key: Any, depth: int) -> Range | None:
        match key:
            case ("add", *identities):  # the summands are stored without their constants
                parts = [self.range_of(SymbolicValue(each), depth) for each in identities]
                known = [each for each in parts if each is not None]
                return (
                    (sum(low for low, _ in known), sum(high for _, high in known)) if len(known) == len(parts) else None
                )
            case ("unpack", _, _, int(width), *_) | ("load", *_, int(width)):
                return (0, bit_mask(width)) if width < 32 else None
            case (str(name), *arguments) if name in INTEGER_OPERATIONS:
                return self._apply(name, arguments, depth)
        return None

    def _apply(self, name: str, arguments: list[Any], depth: int) -> Range | None:
        operation = INTEGER_OPERATIONS[name]
        fixed = [arguments[at] for at in operation.static]
        if any(isinstance(each, str) and integer_type(each) is None for each in fixed):
            return None
        widths = operation.operand_widths(fixed)
        given = arguments[: len(fixed) + len(widths)]  # the state spaces of operands may follow
        ranges = iter(
            [self._operand(each, width, depth) for each, width in zip(operation.operands(given), widths, strict=True)]
        )
        found = range_ops.compute(
            name, [each if at in operation.static else next(ranges) for at, each in enumerate(given)]
        )
        low, high, _ = found.unsigned if found is not None else (0, _WRAPPED, 0)
        return (low, high) if high < _WRAPPED else None

    def _operand(self, value: Any, width: int, depth: int) -> StridedRange:
        found = self.range_of(value, depth)
        return full_range(width) if found is None else make_range(width, *found, 1)
