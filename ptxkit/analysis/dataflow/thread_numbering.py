"""Determines whether a kernel reads positions and the block size along the axes only to number its threads.

Then a block of any shape does what a row with the same number of threads does.

Source: PTX ISA, "Special Registers: %tid", "%ntid".
"""

from __future__ import annotations

from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.dataflow.symbolic_exprs import SymbolicExprs
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.ir.step_registers import read_operands, read_registers
from ptxkit.isa.effects import Value
from ptxkit.syntax.tree import operand_names

_AXES = {f"%{name}.{axis}" for name in ("tid", "ntid") for axis in "xyz"}
_NUMBER = Polynomial.from_monomials(
    [(("%tid.x",), 1), (("%ntid.x", "%tid.y"), 1), (("%ntid.x", "%ntid.y", "%tid.z"), 1)]
)
_SIZE = Polynomial.from_monomials([(("%ntid.x", "%ntid.y", "%ntid.z"), 1)])


def only_numbers_threads(program: Program) -> bool:
    """Returns whether the number of a thread in its block, and that of all threads, is all that a kernel computes from
    the special registers of the axes; for `Program.analysis`.
    """
    if program.callees:
        return False
    values, parts = program.analysis(SymbolicExprs), set[str]()
    waiting = True
    while waiting:
        waiting = False
        for step in program.steps:
            names = {name for each in read_operands(step) for name in operand_names(each)}
            if not any(name.startswith(("%tid", "%ntid")) for name in names) and parts.isdisjoint(read_registers(step)):
                continue
            results = step.result_registers()
            if not results or not all(isinstance(effect, Value) for effect in step.effects):
                return False
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
