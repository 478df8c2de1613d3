"""What a register holds at an instruction, as a formula of special registers, parameters, variables, rounds of loops.

The formula follows the assignments that reach the instruction, backwards. Where there are several it goes on only
through a loop that moves the register by a constant; any other is an unknown of its own. Nothing is guessed, and no
walk is needed, so that the answer is there at once. Arithmetic wraps at the width of the register.
"""

from __future__ import annotations

from ptxkit.analysis.definitions import Definitions
from ptxkit.analysis.formula_operations import Formula, operands_of, operation, unknown, words_of
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.slicing import registers_in
from ptxkit.analysis.sums import Sum
from ptxkit.isa import table
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.records import replace
from ptxkit.syntax.tree import Address, Binary, Integer, Name, Operand, Unary, Vector

MAX_DEPTH = 60
"""Assignments that one formula goes through, one behind the other."""


class Formulas:
    """The formulas of one function."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._definitions = Definitions(program)
        self._known: dict[tuple[Step, str], Formula] = {}
        self._moving: dict[str, frozenset[Step]] = {}
        self._asked: Step | None = None
        self._parameters = {
            declarator.name: each.pointer for each in program.function.parameters for declarator in each.declarators
        }

    def before(self, step: Step, name: str) -> Formula | None:
        """What a register holds when a step reads it; None where nothing is known but the register."""
        self._known, self._asked = {}, step
        return self._told(self._read(step, step.scope.register(name), MAX_DEPTH), name)

    def after(self, step: Step, name: str) -> Formula | None:
        """What a step assigns to a register."""
        self._known, self._asked = {}, step
        return self._told(self._assigned(step, step.scope.register(name), MAX_DEPTH), name)

    @staticmethod
    def _told(found: Formula, name: str) -> Formula | None:
        return None if not found.truth and found.sum == unknown(name).sum and found.space is None else found

    # ------------------------------------------------------------------------------------------ assignments

    def _read(self, step: Step, register: str, depth: int) -> Formula:
        reaching = self._definitions.before(step, register)
        if reaching == self._moving.get(register):
            return unknown(_a_round_ago(register))
        if depth <= 0 or not reaching:
            return self._as_of(step, register, reaching)
        if len(reaching) == 1:
            return self._assigned(next(iter(reaching)), register, depth)
        return self._moved_by_a_loop(reaching, register, depth) or self._as_of(step, register, reaching)

    def _as_of(self, step: Step, register: str, reaching: frozenset[Step]) -> Formula:
        """The register itself; with a line, where it holds another value by now."""
        if self._asked is None or self._definitions.before(self._asked, register) == reaching:
            return unknown(register)
        return unknown(f"{register.partition('#')[0]}@{self._line(step)}")

    def _line(self, step: Step) -> int:
        source = self._program.module.source
        return source.position(step.start)[0] if source is not None else step.index

    def _moved_by_a_loop(self, reaching: frozenset[Step], register: str, depth: int) -> Formula | None:
        """The first value plus a constant for each round, where two steps assign the register in this way."""
        if len(reaching) != 2:
            return None
        before, after = sorted(reaching, key=lambda each: each.index)
        earlier = _a_round_ago(register)
        for first, moving in ((before, after), (after, before)):
            moved = self._with_a_round_ago(reaching, moving, register, depth - 1)
            by = moved.sum.without(earlier).number
            if moved.truth or moved.sum.count_of(earlier) != 1 or by is None:
                continue
            start = self._with_a_round_ago(reaching, first, register, depth - 1)
            if start.truth or start.sum.mentions(earlier):
                return None
            return replace(start, sum=start.sum.plus(Sum.unknown(f"rounds(line {self._line(moving)})", by)))
        return None

    def _with_a_round_ago(self, reaching: frozenset[Step], step: Step, register: str, depth: int) -> Formula:
        """What a step assigns, given what the register held before, whichever of these steps assigned it."""
        known, self._known = self._known, {}
        moving, self._moving = self._moving, {**self._moving, register: reaching}
        try:
            return self._value(step, register, depth)
        finally:
            self._known, self._moving = known, moving

    def _assigned(self, step: Step, register: str, depth: int) -> Formula:
        key = step, register
        known = self._known.get(key)
        if known is None:
            self._known[key] = unknown(register)  # while it is being found out: a loop through itself
            known = self._known[key] = self._value(step, register, depth)
        return known

    def _value(self, step: Step, register: str, depth: int) -> Formula:
        match = step.match
        for effect in match.effects if match is not None else ():
            target = match.operand(effect.result, step.instruction) if match and isinstance(effect, Value) else None
            if target is None or register not in registers_in(target, step.scope):
                continue
            assert isinstance(effect, Value)
            place = _element(target, register, step)
            found = self._of(step, effect.value, depth - 1, place)
            if found is not None:
                return found
        return self._as_of(step, register, frozenset([step]))

    # ------------------------------------------------------------------------------------------ expressions

    def _of(self, step: Step, expression: Expression, depth: int, element: int = 0) -> Formula | None:
        """element: which of the values that a vector load gives."""
        match expression:
            case Const(value=bool() | int() as value):
                return Formula(Sum.constant(int(value)))
            case Role(name=role):
                return self._operand(step, role, depth)
            case Call(function="load", arguments=(Const(value=str(space)), Role(name=role), Const(value=int(width)))):
                return self._parameter(step, space, role, element * width // 8)
            case Call(function=function, arguments=arguments) if not element:
                given = [self._of(step, each, depth) for each in operands_of(function, arguments)]
                found = [each for each in given if each is not None]
                return operation(function, words_of(arguments), found) if len(found) == len(given) else None
        return None

    def _operand(self, step: Step, role: str, depth: int) -> Formula | None:
        operand = step.match.operand(role, step.instruction) if step.match is not None else None
        return self._of_operand(step, operand, depth)

    def _of_operand(self, step: Step, operand: Operand | None, depth: int) -> Formula | None:
        match operand:
            case Integer(value=value):
                return Formula(Sum.constant(value))
            case Unary(operator="-", operand=Integer(value=value)):
                return Formula(Sum.constant(-value))
            case Binary(operator="+", left=Name() as name, right=Integer(value=value)):
                found = self._of_operand(step, name, depth)
                return None if found is None else replace(found, sum=found.sum.plus(Sum.constant(value)))
            case Name(text=text):
                return self._name(step, text, depth)
        return None

    def _name(self, step: Step, text: str, depth: int) -> Formula:
        register = step.scope.register(text)
        variable = step.scope.variable(text)
        if register == text and variable is not None:
            shown = f"&{text}" if text in self._parameters else text  # `text` alone is what is loaded from there
            return Formula(Sum.unknown(shown), variable.space)
        if table().special(text) is not None and not step.scope.hides(text):
            return unknown(text)
        return self._read(step, register, depth - 1)

    def _parameter(self, step: Step, space: str, role: str, further: int) -> Formula | None:
        """What is loaded from a parameter of the kernel."""
        operand = step.match.operand(role, step.instruction) if step.match is not None else None
        match operand:
            case Address(base=Name(text=text), offset=offset) if space.startswith("param") and text in self._parameters:
                pointer = self._parameters[text]
                whole = f"[{text}+{offset + further}]" if offset + further else text
                found = Formula(Sum.unknown(whole))
                return found if not pointer else replace(found, space=pointer[0], generic=True)
        return None


def _a_round_ago(register: str) -> str:
    """What a register held a round ago: no name that a program could have."""
    return f"\0{register.partition('#')[0]}"


def _element(target: Operand, register: str, step: Step) -> int:
    """Which element of a vector the register is; 0 for one that stands alone."""
    elements = target.elements if isinstance(target, Vector) else ()
    names = [step.scope.register(each.text) if isinstance(each, Name) else "" for each in elements]
    return names.index(register) if register in names else 0
