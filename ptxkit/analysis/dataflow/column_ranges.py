"""The columns of Tensor Memory that loads and stores access, relative to one register.

The addresses of a kernel are often the result of one instruction plus constants.

Source: PTX ISA, "Tensor Memory Addressing", "tcgen05.ld", "tcgen05.st".
"""

from __future__ import annotations

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import CallExpr, OperandRole
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Address, Integer, Name

#: The size in bytes of one column of the lanes that a warp may access.
_COLUMN_BYTES = 4 * WARP_SIZE


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns from `first` on, relative to a register; their number is `count`."""

    register: str
    first: int
    count: int


class ColumnRanges:
    """The columns of the loads and stores of one function."""

    def __init__(self, program: Program) -> None:
        self._program, self._cfg = program, program.analysis(ControlFlowGraph)
        self._known: dict[Step, _Columns | None] = {}

    def are_apart(self, first: Step, second: Step) -> bool:
        """Returns whether a thread accesses other columns with one load or store than with another one."""
        one, other = self._columns_of(first), self._columns_of(second)
        if one is None or other is None or one.register != other.register:
            return False
        return one.first + one.count <= other.first or other.first + other.count <= one.first

    def _columns_of(self, step: Step) -> _Columns | None:
        if step not in self._known:
            self._known[step] = self._find_columns(step)
        return self._known[step]

    def _find_columns(self, step: Step) -> _Columns | None:
        access = next((each for each in step.effects if isinstance(each, Access) and each.space == "tensor"), None)
        operand = step.operand(access.address) if access is not None else None
        size = step.constant_of(access.size) if access is not None and access.size is not None else None
        if size is None or not isinstance(operand, Address) or not isinstance(operand.base, Name):
            return None
        register, offset = step.scope.register_name(operand.base.text), operand.offset
        while True:
            definitions = self._program.definitions.get(register, ())
            if len(definitions) != 1 or self._cfg.may_repeat(definitions[0]):
                return None  # a register that has one value in each thread
            summed = _sum_with_constant(definitions[0])
            if summed is None:
                return _Columns(register, offset, -(-size // _COLUMN_BYTES))
            register, offset = summed[0], offset + summed[1]


def _sum_with_constant(step: Step) -> tuple[str, int] | None:
    """Returns the register and the constant whose sum a step assigns."""
    values = [effect.value for effect in step.effects if isinstance(effect, Value)]
    call = values[0] if len(values) == 1 and step.instruction.guard is None else None
    if not isinstance(call, CallExpr) or call.function != "add":
        return None
    operands = [step.operand(each.name) for each in call.arguments if isinstance(each, OperandRole)]
    if len(operands) != 2 or not isinstance(operands[0], Name) or not isinstance(operands[1], Integer):
        return None
    return step.scope.register_name(operands[0].text), operands[1].value
