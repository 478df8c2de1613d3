"""The sink next to the first operand, `add.u32 %r|_, ...`: to assemblers it is no operand at all.

It is written where other instructions have a predicate for a second result, and they look for one only if it has a
name.
"""

from __future__ import annotations

from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.tree import Instruction, Name, Pair


def without_sink(instruction: Instruction) -> Instruction | None:
    """The instruction without the sink next to its first operand; None where there is none."""
    first = instruction.operands[0] if instruction.operands else None
    if not isinstance(first, Pair) or first.second != Name("_"):
        return None
    if not isinstance(first.first, Name) or first.first.text == "_" or "." in first.first.text:
        return None
    return replace(instruction, operands=(first.first, *instruction.operands[1:]))
