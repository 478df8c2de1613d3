"""In which state space the addresses lie that may reach an operand, over every path of the program.

A walk sees one path, and a guess at a branch may make that path one that no thread takes. What holds of every
assignment that may reach an instruction holds whichever path is taken. Nothing is walked; a register that is loaded,
passed in or returned by a call is an address in no known space.

Source: PTX ISA, "Generic Addressing", "cvta", "mapa".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.definitions import Definitions
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.slicing import registers_in
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.syntax.tree import Binary, Name, Operand

#: Assignments that are looked at for one operand.
MAX_ASSIGNMENTS = 500
#: The place of a number, or of an address in a space that is not known.
_NOWHERE = frozenset[str | None]([None])

Spaces: TypeAlias = frozenset[str | None]
_Place: TypeAlias = tuple[Step, str]


class Provenance:
    """The state spaces of the addresses in one function's registers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reaching: dict[_Place, frozenset[Step]] = {}

    def spaces_of(self, step: Step, operand: Operand | None) -> Spaces:
        """The spaces in which an operand may hold an address when a step reads it, `generic` for a generic address
        outside `global`, `shared::cluster` for what `mapa` gives; None among them where nothing is known."""
        if operand is None or not self._is_known:
            return _NOWHERE
        places: list[_Place] = [(step, register) for register in self._registers(step, operand)]
        if not places:
            return self._named(step, operand)
        order = self._behind(places)
        if order is None:
            return _NOWHERE
        found: dict[_Place, Spaces] = defaultdict(frozenset)
        is_stable = False
        while not is_stable:
            is_stable = True
            for place in order:
                more = found[place] | self._assigned(place, found)
                if more != found[place]:
                    found[place], is_stable = more, False
        return _combined([found[place] for place in places])

    @cached_property
    def _is_known(self) -> bool:
        """Whether the table knows each instruction, so that no other one assigns a register."""
        return all(step.match is not None for step in self._program.steps)

    @cached_property
    def _definitions(self) -> Definitions:
        return Definitions(self._program)

    def _behind(self, places: list[_Place]) -> list[_Place] | None:
        """These registers at these steps, and all that they are made of, the last first; None where that is much."""
        seen: dict[_Place, None] = {}
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            if len(seen) >= MAX_ASSIGNMENTS:
                return None
            seen[place] = None
            for definition in self._before(place):
                for effect in _values(definition, place[1]):
                    waiting.extend(self._read(definition, effect.value))
        return list(reversed(seen))

    def _before(self, place: _Place) -> frozenset[Step]:
        known = self._reaching.get(place)
        if known is None:
            known = self._reaching[place] = self._definitions.before(*place)
        return known

    def _read(self, step: Step, expression: Expression) -> Iterator[_Place]:
        match expression:
            case Role(name=role):
                operand = _operand(step, role)
                if operand is not None:
                    yield from ((step, register) for register in self._registers(step, operand))
            case Call(function=function, arguments=arguments) if function not in _OPAQUE:
                for argument in arguments:
                    yield from self._read(step, argument)

    def _assigned(self, place: _Place, found: dict[_Place, Spaces]) -> Spaces:
        """The spaces of all that may have been assigned to a register."""
        definitions = self._before(place)
        if not definitions:
            return _NOWHERE
        spaces: set[str | None] = set()
        for definition in definitions:
            effects = list(_values(definition, place[1]))
            if not effects:
                return _NOWHERE
            for effect in effects:
                spaces |= self._of(definition, effect.value, found)
        return frozenset(spaces)

    def _of(self, step: Step, expression: Expression, found: dict[_Place, Spaces]) -> Spaces:
        match expression:
            case Role(name=role):
                operand = _operand(step, role)
                registers = self._registers(step, operand) if operand is not None else []
                if operand is None or not registers:
                    return self._named(step, operand)
                return _combined([found[(step, register)] for register in registers])
            case Call(function="to_generic", arguments=(Const(value=space), *_)):
                return frozenset(["global" if space == "global" else "generic"])
            case Call(function="from_generic", arguments=(Const(value=str(space)), *_)):
                return frozenset([space.partition("::")[0]])
            case Call(function="map_rank", arguments=(Const(value=str(space)), *_)):
                return frozenset(["shared::cluster" if space.startswith("shared") else "generic"])
            case Call(function="select", arguments=(_, first, second, _)):
                return self._of(step, first, found) | self._of(step, second, found)
            case Call(function=function, arguments=arguments) if function not in _OPAQUE:
                return _combined([self._of(step, argument, found) for argument in arguments])
        return _NOWHERE

    def _registers(self, step: Step, operand: Operand) -> list[str]:
        """The registers in an operand; the names of variables and special registers are none."""
        return [name for name in registers_in(operand, step.scope) if step.scope.variable(name) is None]

    def _named(self, step: Step, operand: Operand | None) -> Spaces:
        """The space of an operand without registers: that of the variable in it."""
        match operand:
            case Name(text=text) if (variable := step.scope.variable(text)) is not None:
                return frozenset([variable.space])
            case Binary(left=left, right=right):
                return _combined([self._named(step, left), self._named(step, right)])
        return _NOWHERE


#: Value operations whose result is no address that was among their operands.
_OPAQUE = ("load", "unknown", "float", "compare", "is_space", "rank_of")


def _values(step: Step, register: str) -> Iterator[Value]:
    """The values that a step assigns to a register."""
    for effect in step.effects:
        if isinstance(effect, Value):
            target = _operand(step, effect.result)
            if target is not None and register in registers_in(target, step.scope):
                yield effect


def _operand(step: Step, role: str) -> Operand | None:
    return step.match.operand(role, step.instruction) if step.match is not None else None


def _combined(parts: list[Spaces]) -> Spaces:
    """The spaces of what arithmetic makes of parts: those of the one part that is an address. Empty as long as nothing
    is known of some part, as in a round of a loop."""
    if not all(parts):
        return frozenset()
    addresses = [part for part in parts if part != _NOWHERE]
    return addresses[0] if len(addresses) == 1 else _NOWHERE
