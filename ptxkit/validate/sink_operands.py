"""The sink next to the first operand, `add.u32 %r|_, ...`, which assemblers do not treat as an operand.

It is written where other instructions have a predicate for a second result, which assemblers only read if it has a
name.
"""

from __future__ import annotations

from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.tree import Instruction, Name, Pair


def without_sink(instruction: Instruction) -> Instruction | None:
    """Returns the instruction without the sink next to its first operand, or None if none exists."""
    first = instruction.operands[0] if instruction.operands else None
    if not isinstance(first, Pair) or first.second != Name("_"):
        return None
    if not isinstance(first.first, Name) or first.first.text == "_" or "." in first.first.text:
        return None
    return replace(instruction, operands=(first.first, *instruction.operands[1:]))
