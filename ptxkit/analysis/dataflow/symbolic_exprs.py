"""Computes the value of a register as an expression of special registers, parameters, variables and loop iterations.

The expression follows the assignments that reach the instruction, backwards. Where there are several assignments, it
continues only through a loop that changes the register by a constant; otherwise the register is a fresh unknown.
Nothing is guessed, and no execution is required. Arithmetic wraps at the width of the register.
"""

from __future__ import annotations

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.dataflow.symbolic_expr_ops import (
    SymbolicExpr,
    apply_operation,
    constant_arguments,
    unknown_expr,
    value_arguments,
)
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.limits import MAX_EXPR_DEPTH
from ptxkit.fast_dataclasses import replace
from ptxkit.isa import table
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.syntax.tree import Address, Binary, Integer, Name, Operand, Unary, Vector


class SymbolicExprs:
    """The symbolic expressions of one function.

    low_bits: whether only the lowest 8 bits of the values must be exact; then more of them are sums.
    """

    def __init__(self, program: Program, *, low_bits: bool = False) -> None:
        self._program, self._low_bits = program, low_bits
        self._definitions = program.analysis(ReachingDefinitions)
        self._cache: dict[tuple[Step, str], SymbolicExpr] = {}
        self._induction_assignments: dict[str, frozenset[Step]] = {}
        self._query_step: Step | None = None

    def value_before(self, step: Step, name: str) -> SymbolicExpr | None:
        """Returns the value of a register when a step reads it; None where only the register itself is known."""
        self._cache, self._query_step = {}, step
        return self._unless_trivial(self._register_value(step, step.scope.register_name(name), MAX_EXPR_DEPTH), name)

    def value_after(self, step: Step, name: str) -> SymbolicExpr | None:
        """Returns the value that a step assigns to a register."""
        self._cache, self._query_step = {}, step
        return self._unless_trivial(self._assigned_value(step, step.scope.register_name(name), MAX_EXPR_DEPTH), name)

    @staticmethod
    def _unless_trivial(found: SymbolicExpr, name: str) -> SymbolicExpr | None:
        return (
            None if not found.condition_text and found.sum == unknown_expr(name).sum and found.space is None else found
        )

    def _register_value(self, step: Step, register: str, depth: int) -> SymbolicExpr:
        reaching = self._definitions.definitions_reaching(step, register)
        if reaching == self._induction_assignments.get(register):
            return unknown_expr(_previous_iteration_name(register))
        if depth <= 0 or not reaching:
            return self._register_symbol(step, register, reaching)
        if len(reaching) == 1:
            return self._assigned_value(next(iter(reaching)), register, depth)
        return self._induction_value(reaching, register, depth) or self._register_symbol(step, register, reaching)

    def _register_symbol(self, step: Step, register: str, reaching: frozenset[Step]) -> SymbolicExpr:
        """Returns the register itself, with a line number where the register holds another value at this point."""
        if self._query_step is None or self._definitions.definitions_reaching(self._query_step, register) == reaching:
            return unknown_expr(register)
        return unknown_expr(f"{register.partition('#')[0]}@{self._line(step)}")

    def _line(self, step: Step) -> int:
        source = self._program.module.source
        return source.position(step.start)[0] if source is not None else step.index

    def _induction_value(self, reaching: frozenset[Step], register: str, depth: int) -> SymbolicExpr | None:
        """Returns the initial value plus a constant for each iteration, where two steps assign the register so."""
        if len(reaching) != 2:
            return None
        before, after = sorted(reaching, key=lambda each: each.index)
        earlier = _previous_iteration_name(register)
        for first, moving in ((before, after), (after, before)):
            moved = self._value_given_previous_iteration(reaching, moving, register, depth - 1)
            by = moved.sum.without(earlier).number
            if moved.condition_text or moved.sum.coefficient_of(earlier) != 1 or by is None:
                continue
            start = self._value_given_previous_iteration(reaching, first, register, depth - 1)
            if start.condition_text or start.sum.mentions(earlier):
                return None
            return replace(start, sum=start.sum.plus(Polynomial.unknown(f"rounds(line {self._line(moving)})", by)))
        return None

    def _value_given_previous_iteration(
        self, reaching: frozenset[Step], step: Step, register: str, depth: int
    ) -> SymbolicExpr:
        """Returns the value that a step assigns, given the value that any of these steps assigned before."""
        known, self._cache = self._cache, {}
        moving, self._induction_assignments = (
            self._induction_assignments,
            {**self._induction_assignments, register: reaching},
        )
        try:
            return self._compute_assigned_value(step, register, depth)
        finally:
            self._cache, self._induction_assignments = known, moving

    def _assigned_value(self, step: Step, register: str, depth: int) -> SymbolicExpr:
        key = step, register
        known = self._cache.get(key)
        if known is None:
            self._cache[key] = unknown_expr(register)  # provisional, for a loop that contains itself
            known = self._cache[key] = self._compute_assigned_value(step, register, depth)
        return known

    def _compute_assigned_value(self, step: Step, register: str, depth: int) -> SymbolicExpr:
        for effect in step.effects:
            target = step.operand(effect.result) if isinstance(effect, Value) else None
            if not isinstance(effect, Value) or target is None or register not in registers_in(target, step.scope):
                continue
            place = _element_index(target, register, step)
            found = self._expression_value(step, effect.value, depth - 1, place)
            if found is not None:
                return found
        return self._register_symbol(step, register, frozenset([step]))

    def _expression_value(
        self, step: Step, expression: Expression, depth: int, element: int = 0
    ) -> SymbolicExpr | None:
        """Returns the value of an expression.

        element: the index of the value among those of a vector load.
        """
        match expression:
            case ConstantExpr(value=bool() | int() as value):
                return SymbolicExpr(Polynomial.constant(int(value)))
            case OperandRole(name=role):
                return self._role_value(step, role, depth)
            case CallExpr(
                function="load",
                arguments=(ConstantExpr(value=str(space)), OperandRole(name=role), ConstantExpr(value=int(width))),
            ):
                return self._parameter_value(step, space, role, element * width // 8)
            case CallExpr(function=function, arguments=arguments) if not element:
                given = [self._expression_value(step, each, depth) for each in value_arguments(function, arguments)]
                found = [each for each in given if each is not None]
                return (
                    apply_operation(function, constant_arguments(arguments), found, low_bits=self._low_bits)
                    if len(found) == len(given)
                    else None
                )
        return None

    def _role_value(self, step: Step, role: str, depth: int) -> SymbolicExpr | None:
        operand = step.operand(role)
        return self._operand_value(step, operand, depth)

    def _operand_value(self, step: Step, operand: Operand | None, depth: int) -> SymbolicExpr | None:
        match operand:
            case Integer(value=value):
                return SymbolicExpr(Polynomial.constant(value))
            case Unary(operator="-", operand=Integer(value=value)):
                return SymbolicExpr(Polynomial.constant(-value))
            case Binary(operator="+", left=Name() as name, right=Integer(value=value)):
                found = self._operand_value(step, name, depth)
                return None if found is None else replace(found, sum=found.sum.plus(Polynomial.constant(value)))
            case Name(text=text):
                return self._name_value(step, text, depth)
        return None

    def _name_value(self, step: Step, text: str, depth: int) -> SymbolicExpr:
        register = step.scope.register_name(text)
        variable = step.scope.variable(text)
        if register == text and variable is not None:
            # `text` without `&` denotes the value that is loaded from the parameter.
            shown = text if step.scope.parameter(text) is None else f"&{text}"
            return SymbolicExpr(Polynomial.unknown(shown), variable.space)
        if table().special(text) is not None and not step.scope.shadows_special_register(text):
            return unknown_expr(text)
        return self._register_value(step, register, depth - 1)

    def _parameter_value(self, step: Step, space: str, role: str, further: int) -> SymbolicExpr | None:
        """Returns the value that is loaded from a parameter of the kernel."""
        operand = step.operand(role)
        if not space.startswith("param") or not isinstance(operand, Address) or not isinstance(operand.base, Name):
            return None
        text, offset = operand.base.text, operand.offset + further
        parameter = step.scope.parameter(text)
        if parameter is None:
            return None
        found = SymbolicExpr(Polynomial.unknown(f"[{text}+{offset}]" if offset else text))
        return replace(found, space=parameter.pointer[0], is_generic=True) if parameter.pointer else found


def _previous_iteration_name(register: str) -> str:
    """Returns the name of a register's value in the previous iteration, which is not a valid name in a program."""
    return f"\0{register.partition('#')[0]}"


def _element_index(target: Operand, register: str, step: Step) -> int:
    """Returns the index of the vector element that the register is; 0 for a single register."""
    elements = target.elements if isinstance(target, Vector) else ()
    names = [step.scope.register_name(each.text) if isinstance(each, Name) else "" for each in elements]
    return names.index(register) if register in names else 0
