"""Infers the state spaces of the addresses that may reach an operand, over every path of the program.

An execution observes one path, and a guess at a branch may make that path infeasible. A property of every assignment
that may reach an instruction holds whichever path is taken. This analysis executes nothing. The space of an argument or
a result of a call is unknown, and so is that of a loaded register, unless it was just spilled.

Source: PTX ISA, "Generic Addressing", "cvta", "mapa".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.forwarded_loads import forwarded_loads
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_OPERAND_ASSIGNMENTS
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.syntax.tree import Binary, Name, Operand

#: The spaces of a number, or of an address in an unknown space.
_UNKNOWN_SPACE = frozenset[str | None]([None])

Spaces: TypeAlias = frozenset[str | None]
_RegisterUse: TypeAlias = tuple[Step, str]


class AddressSpaceInference:
    """The state spaces of the addresses in one function's registers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reaching: dict[_RegisterUse, frozenset[Step]] = {}
        self._forwarded_loads = program.analysis(forwarded_loads)

    def spaces_of(self, step: Step, operand: Operand | None) -> Spaces:
        """Returns the spaces in which an operand may hold an address when a step reads it.

        The spaces include `generic` for a generic address outside `global`, `shared::cluster` for the result of `mapa`,
        and None where the space is unknown.
        """
        if operand is None or not self._program.is_fully_matched:
            return _UNKNOWN_SPACE
        places: list[_RegisterUse] = [(step, register) for register in self._registers(step, operand)]
        if not places:
            return self._symbol_spaces(step, operand)
        order = self._dependence_order(places)
        if order is None:
            return _UNKNOWN_SPACE
        found: dict[_RegisterUse, Spaces] = defaultdict(frozenset)
        is_stable = False
        while not is_stable:
            is_stable = True
            for place in order:
                more = found[place] | self._assigned_spaces(place, found)
                if more != found[place]:
                    found[place], is_stable = more, False
        return _combine_spaces([found[place] for place in places])

    def _dependence_order(self, places: list[_RegisterUse]) -> list[_RegisterUse] | None:
        """Returns the registers at these steps, and all on which they depend, in reverse order.

        The result is None where there are too many.
        """
        uses, order = Worklist(places), list[_RegisterUse]()
        for place in uses:
            if len(order) >= MAX_OPERAND_ASSIGNMENTS:
                return None
            order.append(place)
            for definition in self._definitions_reaching(place):
                if definition in self._forwarded_loads:
                    uses.add([self._source_of(definition)])
                    continue
                for effect in _values(definition, place[1]):
                    uses.add(self._registers_read(definition, effect.value))
        return order[::-1]

    def _definitions_reaching(self, place: _RegisterUse) -> frozenset[Step]:
        known = self._reaching.get(place)
        if known is None:
            known = self._reaching[place] = self._program.analysis(ReachingDefinitions).definitions_reaching(*place)
        return known

    def _source_of(self, load: Step) -> _RegisterUse:
        """Returns the register whose value a load returns."""
        return load, load.scope.register_name(self._forwarded_loads[load].text)

    def _registers_read(self, step: Step, expression: Expression) -> Iterator[_RegisterUse]:
        match expression:
            case OperandRole(name=role):
                yield from ((step, register) for register in self._registers(step, step.operand(role)))
            case CallExpr(function=function, arguments=arguments) if function not in _OPAQUE:
                for argument in arguments:
                    yield from self._registers_read(step, argument)

    def _assigned_spaces(self, place: _RegisterUse, found: dict[_RegisterUse, Spaces]) -> Spaces:
        """Returns the spaces of all values that may have been assigned to a register."""
        definitions = self._definitions_reaching(place)
        if not definitions:
            return _UNKNOWN_SPACE
        spaces: set[str | None] = set()
        for definition in definitions:
            if definition in self._forwarded_loads:
                spaces |= found[self._source_of(definition)]
                continue
            effects = list(_values(definition, place[1]))
            if not effects:
                return _UNKNOWN_SPACE
            for effect in effects:
                spaces |= self._expression_spaces(definition, effect.value, found)
        return frozenset(spaces)

    def _expression_spaces(self, step: Step, expression: Expression, found: dict[_RegisterUse, Spaces]) -> Spaces:
        match expression:
            case OperandRole(name=role):
                operand = step.operand(role)
                registers = self._registers(step, operand)
                if not registers:
                    return self._symbol_spaces(step, operand)
                return _combine_spaces([found[(step, register)] for register in registers])
            case CallExpr(function="to_generic", arguments=(ConstantExpr(value=space), *_)):
                return frozenset(["global" if space == "global" else "generic"])
            case CallExpr(function="from_generic", arguments=(ConstantExpr(value=str(space)), *_)):
                return frozenset([space.partition("::")[0]])
            case CallExpr(function="map_rank", arguments=(ConstantExpr(value=str(space)), *_)):
                return frozenset(["shared::cluster" if space.startswith("shared") else "generic"])
            case CallExpr(function="select", arguments=(_, first, second, _)):
                return self._expression_spaces(step, first, found) | self._expression_spaces(step, second, found)
            case CallExpr(function=function, arguments=arguments) if function not in _OPAQUE:
                return _combine_spaces([self._expression_spaces(step, argument, found) for argument in arguments])
        return _UNKNOWN_SPACE

    def _registers(self, step: Step, operand: Operand | None) -> list[str]:
        """Returns the registers in an operand, without the names of variables and special registers."""
        return [name for name in registers_in(operand, step.scope) if step.scope.variable(name) is None]

    def _symbol_spaces(self, step: Step, operand: Operand | None) -> Spaces:
        """Returns the space of an operand without registers: that of the variable in it."""
        match operand:
            case Name(text=text) if (variable := step.scope.variable(text)) is not None:
                return frozenset([variable.space])
            case Binary(left=left, right=right):
                return _combine_spaces([self._symbol_spaces(step, left), self._symbol_spaces(step, right)])
        return _UNKNOWN_SPACE


#: Value operations that do not propagate an address from their operands.
_OPAQUE = ("load", "unknown", "float", "compare", "is_space", "rank_of")


def _values(step: Step, register: str) -> Iterator[Value]:
    for effect in step.effects:
        if isinstance(effect, Value):
            target = step.operand(effect.result)
            if target is not None and register in registers_in(target, step.scope):
                yield effect


def _combine_spaces(parts: list[Spaces]) -> Spaces:
    """Returns the spaces of an arithmetic result: those of the only operand that is an address.

    The result is empty as long as an operand has not been computed, as in a loop.
    """
    if not all(parts):
        return frozenset()
    addresses = [part for part in parts if part != _UNKNOWN_SPACE]
    return addresses[0] if len(addresses) == 1 else _UNKNOWN_SPACE
