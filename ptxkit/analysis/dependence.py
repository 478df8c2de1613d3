"""What a register's value depends on, through all definitions of all registers on the way: the order does not matter.

The leaves are kernel parameters, special registers, variables, and memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from ptxkit.analysis.program import Program, Step
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Value
from ptxkit.isa.expressions import Call, Expression, Role
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Address, Arguments, Binary, Element, Name, Not, Operand, Pair, Unary, Vector

#: Value operations that their operands do not determine.
_UNKNOWN = ("unknown", "float", "shuffle", "ballot", "vote")


@dataclass(frozen=True, slots=True)
class Leaf:
    """kind: `parameter`, `special`, `variable`, `memory` or `unknown`. name: of a parameter, register or variable."""

    kind: str
    name: str = ""


class Dependence:
    """The leaves behind the registers of a program."""

    def __init__(self, program: Program) -> None:
        self._parameters = {d.name for given in program.function.parameters for d in given.declarators}
        self._inputs: dict[str, set[str]] = defaultdict(set)
        self._leaves: dict[str, set[Leaf]] = defaultdict(set)
        for step in program.steps:
            for effect in step.match.effects if step.match else ():
                if isinstance(effect, Value):
                    self._define(step, effect)

    def of(self, step: Step, operand: Operand | None) -> frozenset[Leaf]:
        """What the value of an operand of a step depends on; of an address operand, where it points."""
        found: set[Leaf] = set()
        waiting = [register for name in _names(operand) for register in self._input(step, name, found)]
        seen: set[str] = set()
        while waiting:
            register = waiting.pop()
            if register in seen:
                continue
            seen.add(register)
            if register not in self._inputs and register not in self._leaves:
                found.add(Leaf("unknown", register))
            found |= self._leaves.get(register, set())
            waiting.extend(self._inputs.get(register, ()))
        return frozenset(found)

    def following(self, parameters: Collection[str]) -> set[str]:
        """The registers that depend on any of these parameters."""
        feeds: dict[str, list[str]] = defaultdict(list)
        for register, inputs in self._inputs.items():
            for each in inputs:
                feeds[each].append(register)
        found: set[str] = set()
        waiting = [
            register
            for register, leaves in self._leaves.items()
            if any(leaf.kind == "parameter" and leaf.name in parameters for leaf in leaves)
        ]
        while waiting:
            register = waiting.pop()
            if register not in found:
                found.add(register)
                waiting.extend(feeds[register])
        return found

    def _define(self, step: Step, effect: Value) -> None:
        registers = [step.scope.register(name) for name in _names(_operand(step, effect.result))]
        leaves: set[Leaf] = set()
        inputs: set[str] = set()
        for call in _calls(effect.value):
            if call.function in _UNKNOWN:
                leaves.add(Leaf("unknown"))
            if call.function == "load" and not self._loads_parameter(step):
                leaves.add(Leaf("memory"))
        for role in _roles(effect.value):
            for name in _names(_operand(step, role)):
                inputs.update(self._input(step, name, leaves))
        for register in registers:
            self._inputs[register] |= inputs
            self._leaves[register] |= leaves

    def _loads_parameter(self, step: Step) -> bool:
        return any(
            isinstance(effect, Access) and effect.kind == "read" and effect.space.startswith(("param", "const"))
            for effect in (step.match.effects if step.match else ())
        )

    def _input(self, step: Step, name: str, leaves: set[Leaf]) -> Iterator[str]:
        """The register of that name; for anything else a leaf is added."""
        register = step.scope.register(name)
        if name in self._parameters:
            leaves.add(Leaf("parameter", name))
        elif register == name and step.scope.variable(name) is not None:
            leaves.add(Leaf("variable", name))
        elif table().special(name) is not None:
            leaves.add(Leaf("special", name))
        else:
            yield register


def _operand(step: Step, role: str) -> Operand | None:
    return step.match.operand(role, step.instruction) if step.match is not None else None


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from _calls(argument)


def _roles(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Role):
        yield expression.name
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _roles(argument)


def _names(operand: Operand | None) -> Iterator[str]:
    """The names in an operand; the sink is none."""
    match operand:
        case Name(text=text) if not operand.is_sink:
            yield text
        case Address(base=base) | Element(base=base) | Not(operand=base) | Unary(operand=base):
            yield from _names(base)
        case Vector(elements=elements) | Arguments(elements=elements):
            for element in elements:
                yield from _names(element)
        case Pair(first=first, second=second) | Binary(left=first, right=second):
            yield from _names(first)
            yield from _names(second)
