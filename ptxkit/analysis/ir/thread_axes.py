"""Determines along how many axes of its CTA a kernel reads the position of a thread, and usual blocks of such kernels.

Source: PTX ISA, "Special Registers: %tid", "%ntid".
"""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program
from ptxkit.syntax.tree import Name

_REGISTERS_OF_AXIS = {3: ("%tid.z", "%ntid.z"), 2: ("%tid.y", "%ntid.y")}

USUAL_BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((256,),),
    2: ((16, 16), (32, 8), (32, 32), (32, 4)),
    3: ((8, 8, 4), (32, 4, 2)),
}
"""By the number of axes, the blocks with which kernels are often launched, the most frequent first."""

ONE_WARP_BLOCKS = {1: (32,), 2: (16, 2), 3: (4, 4, 2)}
"""By the number of axes, a block of one warp."""


def count_thread_axes(program: Program) -> int:
    """Returns 3 for a kernel that reads the position of a thread, or the size of its block, along z, else 2 for one
    that reads them along y, else 1.
    """
    names = {
        operand.text
        for code in program.functions
        for step in code.steps
        for operand in step.instruction.operands
        if isinstance(operand, Name)
    }
    return next((axes for axes, registers in _REGISTERS_OF_AXIS.items() if not names.isdisjoint(registers)), 1)
