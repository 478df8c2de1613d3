"""Packed integers, two or four in a register.

Source: PTX ISA, "Integer Arithmetic Instructions": add, sub, neg, min, max of packed types.
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.core.functions.int_arith import clamp
from ptxkit.emulator.core.semantics_registry import Function, value_semantics


def _element_type(type_: str) -> tuple[str, int, bool]:
    """Returns the numpy type of an element, its width, and whether it is signed."""
    kind, width = type_[0], int(type_[1:].partition("x")[0])
    return f"{'i' if kind == 's' else 'u'}{width // 8}", width, kind == "s"


@value_semantics
def packed_whole(*, type: str, operation: str, saturate: bool = False, relu: bool = False) -> Function:  # noqa: A002
    """Adds, subtracts, negates or compares the elements of two registers."""
    element, width, signed = _element_type(type)

    def elements(values: Any) -> Any:
        return numpy.ascontiguousarray(values).view(element)

    def compute(a: Any, b: Any) -> Any:
        if operation in ("min", "max"):
            found = numpy.minimum(a, b) if operation == "min" else numpy.maximum(a, b)
            return numpy.maximum(found, 0).astype(element) if relu else found
        if saturate:
            left, right = a.astype(numpy.int64), b.astype(numpy.int64)
            return clamp(left + right if operation == "add" else left - right, width, signed)
        return a + b if operation == "add" else a - b

    if operation == "neg":
        return lambda a: numpy.negative(elements(a)).view(numpy.uint32)
    return lambda a, b: numpy.ascontiguousarray(compute(elements(a), elements(b))).view(numpy.uint32)
