"""Determines along how many axes of its CTA a kernel reads the position of a thread, and usual blocks of such kernels.

Source: PTX ISA, "Special Registers: %tid", "%ntid".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Program
from ptxkit.syntax.tree import Name

_REGISTERS_OF_AXIS = {3: ("%tid.z", "%ntid.z"), 2: ("%tid.y", "%ntid.y")}

USUAL_BLOCKS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((256,),),
    2: ((16, 16), (32, 8), (32, 32), (32, 4)),
    3: ((8, 8, 4), (32, 4, 2)),
}
"""By the number of axes, the blocks with which kernels are often launched, the most frequent first."""

ROW_LENGTHS = (16, 32, 8)
"""The lengths along x of usual blocks with several rows, the most frequent first."""

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


def usual_blocks(program: Program, threads: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Yields blocks with several rows with which a kernel is launched that reads positions along x and y.

    threads: the number of threads of each; None if any number is possible. The result is empty for other kernels: one
    that reads positions along z often only numbers its threads, in blocks of any shape.
    """
    if program.analysis(count_thread_axes) != 2:
        return
    if threads is None:
        yield from ((x, y, 1) for x, y in USUAL_BLOCKS[2])
    else:
        yield from ((x, threads // x, 1) for x in ROW_LENGTHS if not threads % x)
