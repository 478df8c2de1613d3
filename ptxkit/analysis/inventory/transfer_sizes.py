"""Determines how many bytes a transfer moves: a constant, a number common to all executions, or its dependences."""

from __future__ import annotations

from collections.abc import Collection

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.analysis.ir.data_movement import DataMovement
from ptxkit.analysis.ir.display_names import parameter_display_name
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_NAMED_SOURCES
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.isa.effects import AsyncRegisters
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.model.transfer import Size, Unit
from ptxkit.semantics.object_names import short_display_name
from ptxkit.syntax.tree import Integer, Operand, Vector

#: The special registers that the directives of a kernel fix if they fix its block.
_BLOCK_SIZE_REGISTERS = ("%ntid", "%nwarpid", "%cluster_nctarank", "%cluster_nctaid", "WARP_SZ")


class TransferSizes:
    """The sizes of a program's transfers.

    exact: whether the kernel's directives fix its block.
    """

    def __init__(self, program: Program, *, exact: bool) -> None:
        self._program = program
        self._has_fixed_block = exact

    def shared_variables_of(self, step: Step, operand: Operand | None) -> set[str | None]:
        """Returns the variables of shared memory from which an address is derived, by their display names."""
        leaves = [
            leaf for leaf in self._program.analysis(Dependence).sources_of(step, operand) if leaf.kind == "variable"
        ]
        held = [step.scope.variable(leaf.name) for leaf in leaves]
        return {
            short_display_name(variable.name)
            for variable in held
            if variable is not None and variable.space == "shared"
        }

    def size_of(self, step: Step, route: DataMovement, seen: Collection[Value | None]) -> Size:
        """Returns the size of a transfer.

        seen: the number of bytes of each execution.
        """
        if route.unit == Unit.TENSOR:
            return Size(None, "the box of the tensor map", zeros=None)
        if route.unit == Unit.TENSOR_CORE and route.size is None:
            return self._register_size(step)
        number = _constant_size(step, route.size)
        words = ""
        if number is None:
            number, words = self._observed_size(step, route.size, seen)
        return Size(number, words, self._zero_bytes(step, route, number))

    def constant_size(self, step: Step, route: DataMovement) -> int | None:
        """Returns the number of bytes written, where the instruction states it."""
        return _constant_size(step, route.size)

    def _zero_bytes(self, step: Step, route: DataMovement, written: int | None) -> int | None:
        if route.unless is not None:
            return None
        if route.read_size is None or route.read_size == route.size:
            return 0
        read = _constant_size(step, route.read_size)
        return None if read is None or written is None else max(written - read, 0)

    def _observed_size(
        self, step: Step, size: Expression | None, seen: Collection[Value | None]
    ) -> tuple[int | None, str]:
        """Returns the number of bytes if it is the same in every launch, else a description of its sources."""
        if not isinstance(size, OperandRole) or step.match is None:
            return None, "unknown"
        leaves = self._program.analysis(Dependence).sources_of(step, step.operand(size.name))
        causes = [leaf for leaf in leaves if not self._is_fixed(leaf)]
        numbers = set(seen)
        if not causes and len(numbers) == 1:
            number = next(iter(numbers))
            return (number, "") if isinstance(number, int) else (None, "unknown")
        return None, self._describe_sources(causes)

    def _is_fixed(self, leaf: DependenceSource) -> bool:
        """Returns whether the executions show all values; a register that differs between threads is not fixed."""
        return leaf.kind == "special" and self._has_fixed_block and leaf.name.startswith(_BLOCK_SIZE_REGISTERS)

    def _describe_sources(self, causes: Collection[DependenceSource]) -> str:
        names = sorted({self._describe_source(leaf) for leaf in causes})
        more = " and more" if len(names) > MAX_NAMED_SOURCES else ""
        return f"by {', '.join(names[:MAX_NAMED_SOURCES])}{more}" if names else "differs"

    def _describe_source(self, leaf: DependenceSource) -> str:
        if leaf.kind == "parameter":
            return parameter_display_name(leaf.name, self._program.function.name)
        return leaf.name if leaf.kind == "special" else "data"

    def _register_size(self, step: Step) -> Size:
        """Returns the number of bytes in a thread's registers, for a transfer to or from registers."""
        total = 0
        for effect in step.effects:
            if isinstance(effect, AsyncRegisters):
                operand = step.operand(effect.operand)
                total += 4 * (len(operand.elements) if isinstance(operand, Vector) else 1)
        return Size(total or None, "" if total else "unknown")


def _constant_size(step: Step, size: Expression | None) -> int | None:
    """Returns the number of bytes if the instruction states it."""
    if isinstance(size, ConstantExpr):
        return size.value if isinstance(size.value, int) else None
    if isinstance(size, OperandRole):
        operand = step.operand(size.name)
        return operand.value if isinstance(operand, Integer) else None
    return None
