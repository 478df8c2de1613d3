"""Reads the operands and the value expressions of a step as abstract values.

Source: PTX ISA, "Operands", "Kernel Function Parameters".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ptxkit.analysis.abstract_interpretation import value_transfer
from ptxkit.analysis.abstract_interpretation.abstract_values import (
    AbstractValue,
    Alternative,
    Base,
    address_of,
    integers,
    unknown,
)
from ptxkit.analysis.abstract_interpretation.special_ranges import SpecialRanges
from ptxkit.analysis.abstract_interpretation.strided_ranges import full_range, make_range, single
from ptxkit.analysis.dataflow.forwarded_loads import forwarded_loads
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.value_reader import Reader, ValueReader, loaded_argument
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.tree import Function, operand_names

#: The operations whose results are integers of one bit, or of 32 bits, and no addresses.
_FLAGS = ("elected", "vote", "is_space", "is_canceled")
_NUMBERS = ("ballot",)
#: The largest rank of a CTA in its cluster.
_MOST_RANK = 15
_LONG, _NARROW = 64, 16


class AbstractOperands(ValueReader[AbstractValue]):
    """The operands of the steps of one function.

    forwarded: the loads from local memory that return a register which was just stored, with the register. (Whether
    this holds in shared memory depends on the order of the threads.) declared: the function with its directives.
    """

    def __init__(self, program: Program, declared: Function) -> None:
        self._program = program
        self.forwarded = {step: name for step, name in program.analysis(forwarded_loads).items() if _is_local(step)}
        self._specials = SpecialRanges(declared if program.is_kernel else None)

    def constant(self, number: int) -> AbstractValue:
        return integers(single(_LONG, number))

    def unknown(self) -> AbstractValue:
        return unknown(_LONG)

    def apply(self, name: str, arguments: Sequence[object]) -> AbstractValue:
        found = value_transfer.apply(name, cast("Sequence[value_transfer.Argument]", arguments))
        return unknown(_LONG) if found is None else found

    def truncate(self, value: AbstractValue, width: int) -> AbstractValue:
        return value_transfer.resize(value, width)

    def fit(self, value: AbstractValue, width: int) -> AbstractValue:
        return value_transfer.resize(value, width)

    def special(self, name: str) -> AbstractValue:
        found = self._specials.find(name)
        return unknown(_LONG) if found is None else integers(found)

    def variable(self, variable: DeclaredVariable) -> AbstractValue:
        return address_of(variable, _LONG)

    def is_source(self, step: Step) -> bool:
        """Returns whether a step names a variable, loads from a parameter, or converts an address."""
        names = [name for operand in step.instruction.operands for name in operand_names(operand)]
        if any(step.scope.register_name(name) == name and step.scope.variable(name) is not None for name in names):
            return True
        return any(
            isinstance(effect, Value)
            and isinstance(effect.value, CallExpr)
            and effect.value.function in ("to_generic", "from_generic", "map_rank")
            for effect in step.effects
        )

    def call(self, step: Step, call: CallExpr, read: Reader[AbstractValue]) -> AbstractValue:
        name, given = call.function, call.arguments
        if name in _FLAGS:
            return integers(full_range(1))
        if name in _NUMBERS:
            return integers(full_range(32))
        if name == "rank_of":
            return integers(make_range(32, 0, _MOST_RANK, 1))
        if name in ("to_generic", "from_generic", "map_rank") and isinstance(given[0], ConstantExpr):
            source = self.expression(step, given[1], read)
            if name == "map_rank":
                return value_transfer.map_rank(source)
            function = value_transfer.to_generic if name == "to_generic" else value_transfer.from_generic
            return function(str(given[0].value), source, step.index)
        return super().call(step, call, read)

    def load(self, step: Step, call: CallExpr, place: int, read: Reader[AbstractValue]) -> AbstractValue:
        if step in self.forwarded:
            return self.operand(step, self.forwarded[step], read)
        width = call.arguments[2].value if isinstance(call.arguments[2], ConstantExpr) else None
        if not isinstance(width, int):
            return unknown(_LONG)
        argument = loaded_argument(step, call, place) if self._program.is_kernel else None
        if argument is None:
            return unknown(width, is_opaque=width > _NARROW)
        if width != _LONG:
            return unknown(width, is_opaque=width > _LONG)
        name, position, _ = argument
        declared = step.scope.parameter(name)
        pointer = declared.pointer if declared is not None and position == 0 else None
        alignment = (declared.pointer_alignment or 1) if declared is not None and pointer is not None else 1
        base = Base("argument", name, pointer[0] if pointer else "", position)
        return (Alternative(base, single(width, 0), alignment=alignment & -alignment),)


def _is_local(step: Step) -> bool:
    return any(isinstance(effect, Access) and effect.space == "local" for effect in step.effects)
