"""Determines which guards have the same value, or opposite values, whenever a thread executes them.

The value of a predicate is constant in a thread if one assignment, outside of loops, reaches it, or if it is computed
from constants of the thread only, such as its position and the arguments of the kernel. Two predicates that are made
in the same way from the same values are equal.

Source: PTX ISA, "Predicated Execution", "Special Registers".
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.value_graph import sole_value
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import named_registers
from ptxkit.analysis.limits import MAX_GUARD_DEPTH
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Control
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.syntax.tree import Address, Integer, Name, Not, Operand

GuardValue: TypeAlias = tuple[Hashable, bool]
"""What a predicate is computed from, and whether it is true where that is."""

#: The special registers whose value never changes while a thread runs.
_CONSTANT_REGISTERS = ("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%cluster", "%nclusterid", "WARP_SZ")
#: The value operations whose result is not determined by their operands.
_UNDETERMINED = ("unknown", "float", "elected", "shuffle", "redux", "ballot", "vote", "load", "is_canceled")
#: The comparisons of integers that are the negation of another one.
_NEGATED = {"ne": "eq", "ge": "lt", "gt": "le", "hs": "lo", "hi": "ls"}
_TRUE = ("integer", 1)


class GuardValues:
    """The values of the guards of one function."""

    def __init__(self, program: Program, cfg: ControlFlowGraph) -> None:
        self._program, self._cfg = program, cfg
        calls = [step for step in program.own_effectful_steps if any(map(_is_call, step.effects))]
        self._named_by_calls = {name for step in calls for name in named_registers(step)}
        self._known: dict[tuple[str, Step], Hashable] = {}

    def value_of_guard(self, step: Step) -> GuardValue | None:
        """Returns the value for which a step is executed; None if it may differ from one execution to the next."""
        guard = step.instruction.guard
        if guard is None:
            return None
        value = self._register(step.scope.register_name(guard.predicate), step, 0)
        if value is None:
            return None
        positive, is_true = _without_negation(value)
        return positive, is_true != guard.negated

    def _register(self, register: str, use: Step, depth: int) -> Hashable:
        """Returns the value of a register where it is used; None if it is not constant in a thread."""
        if register in self._named_by_calls or depth > MAX_GUARD_DEPTH:
            return None
        definitions = self._program.analysis(ReachingDefinitions).definitions_reaching(use, register)
        if len(definitions) != 1:
            return None
        (step,) = definitions
        if step.instruction.guard is not None or step is use or not self._cfg.dominates(step, use):
            return None
        if (register, step) not in self._known:
            self._known[(register, step)] = self._definition(register, step, depth)
        return self._known[(register, step)]

    def _definition(self, register: str, step: Step, depth: int) -> Hashable:
        effect = sole_value(step, register)
        computed = self._expression(effect.value, step, depth + 1) if effect is not None else None
        if computed is not None:
            return computed
        return None if self._cfg.may_repeat(step) else ("assigned", step, register)

    def _expression(self, value: Expression, step: Step, depth: int) -> Hashable:
        if isinstance(value, ConstantExpr):
            return ("integer", value.value) if isinstance(value.value, int) else ("word", value.value)
        if isinstance(value, OperandRole):
            return self._operand(step.operand(value.name), step, depth)
        if value.function == "load" and self._loads_argument(step):
            return self._argument(step)
        if value.function in _UNDETERMINED:
            return None
        arguments = [self._expression(each, step, depth) for each in value.arguments]
        return None if None in arguments else _simplify((value.function, *arguments))

    def _operand(self, operand: Operand | None, step: Step, depth: int) -> Hashable:
        match operand:
            case Integer(value=number):
                return ("integer", number)
            case Not(operand=Name() as name):
                inner = self._operand(name, step, depth)
                return None if inner is None else _simplify(("not", _TRUE, inner))
            case Name(text=text):
                if table().special(text) is not None and not step.scope.shadows_special_register(text):
                    return ("special", text) if text.startswith(_CONSTANT_REGISTERS) else None
                return None if "." in text else self._register(step.scope.register_name(text), step, depth)
        return None

    def _loads_argument(self, step: Step) -> bool:
        """Returns whether a step loads an argument of the kernel, which nothing can change."""
        accesses = [effect for effect in step.effects if isinstance(effect, Access)]
        return self._program.is_kernel and len(accesses) == 1 and accesses[0].space == "param"

    def _argument(self, step: Step) -> Hashable:
        operand = step.operand(next(effect.address for effect in step.effects if isinstance(effect, Access)))
        if not isinstance(operand, Address) or not isinstance(operand.base, Name) or operand.index:
            return None
        name = operand.base.text
        return ("argument", step.instruction.opcode, name, operand.offset) if step.scope.parameter(name) else None


def _simplify(value: tuple[Hashable, ...]) -> Hashable:
    """Returns a value in a form that equal predicates share."""
    match value:
        case ("copy", _, inner):
            return inner
        case ("not", ("integer", 1), ("not", ("integer", 1), inner)):
            return inner
        case ("compare", ("word", "ne"), _, ("select", _, ("integer", 1), ("integer", 0), inner), ("integer", 0)):
            return inner
        case ("compare", ("word", "eq"), _, ("select", _, ("integer", 1), ("integer", 0), inner), ("integer", 0)):
            return _simplify(("not", _TRUE, inner))
        case ("compare", ("word", str(operator)), ("word", str(kind)), first, second):
            if operator in _NEGATED and kind[:1] in ("s", "u", "b"):
                positive = ("compare", ("word", _NEGATED[operator]), ("word", kind), first, second)
                return ("not", _TRUE, positive)
    return value


def _without_negation(value: Hashable) -> GuardValue:
    match value:
        case ("not", ("integer", 1), inner):
            return inner, False
    return value, True


def _is_call(effect: object) -> bool:
    return isinstance(effect, Control) and effect.kind == "call"
