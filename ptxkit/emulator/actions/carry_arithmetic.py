"""Arithmetic over several registers, with a carry flag that one instruction writes and the next one reads.

Source: PTX ISA, "Extended-Precision Integer Arithmetic Instructions".
"""

from __future__ import annotations

from typing import Any

from ptxkit.emulator.core import integer_ops
from ptxkit.emulator.core.dtypes import is_signed, resize, width_of
from ptxkit.emulator.core.lane_set import with_lanes_written
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.threads.thread_groups import CARRY_SLOT, ThreadGroup


@effect_semantics
def carry_op(
    *,
    type: str,  # noqa: A002
    operation: str,
    takes: bool = False,
    keeps: bool = False,
) -> Function:
    """Computes a sum or difference. With `takes`, the carry (borrow) flag is added; with `keeps`, it is written.

    `operation` is `add`, `sub`, or `lo` and `hi` for the half of a product to which a third number is added.
    """
    width, signed = width_of(type), is_signed(type)
    high = integer_ops.mul_hi(width, signed)

    def function(group: ThreadGroup, a: Any, b: Any, c: Any = None) -> Any:
        if operation in ("lo", "hi"):
            a, b = (a * b if operation == "lo" else high(a, b)), c
        where = group.lanes.selector
        held = group.registers[CARRY_SLOT]
        carry = held if where is None else held[where]
        if operation == "sub":
            found, over = a - b, a < b
            if takes:
                with_borrow = found - resize(carry, width)
                over = over | (carry & (found == 0))
                found = with_borrow
        else:
            found = a + b
            over = found < a
            if takes:
                with_carry = found + resize(carry, width)
                over = over | (with_carry < found)
                found = with_carry
        if keeps:
            group.registers[CARRY_SLOT] = with_lanes_written(held, where, over)
        return found

    return function
