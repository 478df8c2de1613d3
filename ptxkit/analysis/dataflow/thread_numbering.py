"""Determines whether a kernel reads positions and the block size along the axes only to number its threads.

Then a block of any shape does what a row with the same number of threads does. A kernel that reads them along y and z
for nothing else, but those along x for another purpose, too, is written for blocks of one row: functions for groups of
threads, such as `cooperative_groups::thread_block::thread_rank`, are written for all shapes.

Source: PTX ISA, "Special Registers: %tid", "%ntid".
"""

from __future__ import annotations

from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.dataflow.symbolic_exprs import SymbolicExprs
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import read_operands, read_registers
from ptxkit.analysis.ir.thread_axes import count_thread_axes
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.syntax.tree import Integer, Name, operand_names

_AXES = {f"%{name}.{axis}" for name in ("tid", "ntid") for axis in "xyz"}
_NUMBER = Polynomial.from_monomials(
    [(("%tid.x",), 1), (("%ntid.x", "%tid.y"), 1), (("%ntid.x", "%ntid.y", "%tid.z"), 1)]
)
_SUM = Polynomial.from_monomials([((name,), 1) for name in ("%tid.x", "%tid.y", "%tid.z")])
"""It is 0 in the first thread only."""
_SIZE = Polynomial.from_monomials([(("%ntid.x", "%ntid.y", "%ntid.z"), 1)])


def only_numbers_threads(program: Program) -> bool:
    """Returns whether the number of a thread in its block, and that of all threads, is all that a kernel computes from
    the special registers of the axes; for `Program.analysis`.
    """
    return _only_number(program, "xyz")


def count_block_axes(program: Program) -> int:
    """Returns the number of axes of the blocks that a kernel is written for; for `Program.analysis`.

    It is 1 if the kernel reads positions along y and z only to number its threads, else that of the axes that it reads.
    """
    axes = program.analysis(count_thread_axes)
    return 1 if axes > 1 and _only_number(program, "yz") else axes


def _only_number(program: Program, axes: str) -> bool:
    """Returns whether a kernel computes only those two numbers from the special registers of some axes."""
    if program.callees:
        return False
    values, parts = program.analysis(SymbolicExprs), set[str]()
    registers = {"%tid", "%ntid", *(name for name in _AXES if name[-1] in axes)}
    waiting = True
    while waiting:
        waiting = False
        for step in program.steps:
            names = {name for each in read_operands(step) for name in operand_names(each)}
            if registers.isdisjoint(names) and parts.isdisjoint(read_registers(step)):
                continue
            results = step.result_registers()
            if not results or not all(isinstance(effect, Value) for effect in step.effects):
                return False
            if _tests_first_thread(values, step):
                continue
            for register in results:
                found = values.value_after(step, register)
                if found is None or found.condition_text:
                    return False
                if found.sum not in (_NUMBER, _SIZE) and register not in parts:
                    if not {name for product, _ in found.sum.monomials for name in product} <= _AXES:
                        return False
                    parts.add(register)
                    waiting = True
    return True


def _tests_first_thread(values: SymbolicExprs, step: Step) -> bool:
    """Returns whether an instruction compares the sum of the positions with 0, as the thread's number may be."""
    compared = [effect.value for effect in step.effects if isinstance(effect, Value)]
    if len(compared) != 1 or not isinstance(compared[0], CallExpr) or compared[0].function != "compare":
        return False
    relation, _, *roles = compared[0].arguments
    if relation not in (ConstantExpr("eq"), ConstantExpr("ne")):
        return False
    difference = Polynomial()
    for role, sign in zip(roles, (1, -1), strict=True):
        operand = step.operand(role.name) if isinstance(role, OperandRole) else None
        if isinstance(operand, Integer):
            term = Polynomial.constant(operand.value)
        elif isinstance(operand, Name) and (value := values.value_before(step, operand.text)) is not None:
            term = value.sum
        else:
            return False
        difference = difference.plus(term.times(sign))
    return difference in (_SUM, _SUM.times(-1))
