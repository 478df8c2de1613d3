"""Finds values that an execution cannot know: a register that was never written, and the result of a division by zero.

A register that was never written may hold any value. The quotient of a division by zero is unspecified, so that no
correct launch has the sizes of the execution: a number of tiles is zero for them.

Source: PTX ISA, "Integer Arithmetic Instructions: div", "rem", "State Spaces: Register State Space".
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.limits import MAX_INPUT_DEPTH
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS

#: The first part of the key of a term that stands for a register that was never written.
UNWRITTEN = "undefined"
_DIVISIONS = ("div", "rem")


def depend_on_division_by_zero(terms: SymbolicValueTable, values: Iterable[SymbolicValue]) -> bool:
    """Returns whether a term is computed from the quotient or the remainder of a division by zero.

    Terms share their operands, each of which is examined once.
    """
    waiting: list[object] = list(values)
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if not isinstance(value, SymbolicValue) or value.identity in seen:
            continue
        seen.add(value.identity)
        name, *operands = _operation_of(terms, value, 0)
        if name in _DIVISIONS and operands[-1] == 0:
            return True
        waiting.extend(operands)
    return False


def is_unwritten(terms: SymbolicValueTable, value: object, depth: int = 0) -> bool:
    """Returns whether a term is computed from constants and from one register that was never written."""
    name, *operands = _operation_of(terms, value, depth)
    if name not in INTEGER_OPERATIONS:
        return name == UNWRITTEN
    unknown = [each for each in operands if isinstance(each, SymbolicValue)]
    return len(unknown) == 1 and is_unwritten(terms, unknown[0], depth + 1)


def _operation_of(terms: SymbolicValueTable, value: object, depth: int) -> tuple[object, ...]:
    """Returns the name of the operation that computes a term, and its operands; None for anything else."""
    key = terms.key_of(value) if isinstance(value, SymbolicValue) and depth < MAX_INPUT_DEPTH else None
    match key:
        case ("add", int(first), int(other)):
            return "add", terms.term_of(first), terms.term_of(other)
        case (str(name), *operands):
            return name, *operands
    return (None,)
