"""Computes the value of a register as an expression of special registers, parameters, variables and loop iterations.

The expression follows the assignments that reach the instruction, backwards. Where there are several assignments, it
continues only through a loop that changes the register by a constant; otherwise the register is a fresh unknown.
Nothing is guessed, and no execution is required. Arithmetic wraps at the width of the register.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.dataflow.symbolic_expr_ops import SymbolicExpr, apply_operation, unknown_expr
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_EXPR_DEPTH
from ptxkit.analysis.values.value_reader import Reader, ValueReader, loaded_argument
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.layout import DeclaredVariable


class SymbolicExprs:
    """The symbolic expressions of one function.

    low_bits: whether only the lowest 8 bits of the values must be exact; then more of them are sums.
    """

    def __init__(self, program: Program, *, low_bits: bool = False) -> None:
        self._program = program
        self._operands = SymbolicOperands(low_bits=low_bits)
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
        found = self._operands.assigned_value(step, register, self._reader(depth - 2))
        return self._register_symbol(step, register, frozenset([step])) if found is None else found

    def _reader(self, depth: int) -> Reader[SymbolicExpr | None]:
        return lambda step, text: self._register_value(step, step.scope.register_name(text), depth)


class SymbolicOperands(ValueReader[SymbolicExpr | None]):
    """The operands of steps as expressions; the value of one that cannot be written in a few words is None.

    low_bits: as in `SymbolicExprs`.
    """

    def __init__(self, *, low_bits: bool) -> None:
        self._low_bits = low_bits

    def constant(self, number: int) -> SymbolicExpr | None:
        return SymbolicExpr(Polynomial.constant(number))

    def unknown(self) -> SymbolicExpr | None:
        return None

    def apply(self, name: str, arguments: Sequence[object]) -> SymbolicExpr | None:
        if None in arguments:
            return None
        operands = [each for each in arguments if isinstance(each, SymbolicExpr)]
        words = [each for each in arguments if isinstance(each, int | str | float)]
        return apply_operation(name, words, operands, low_bits=self._low_bits)

    def truncate(self, _value: SymbolicExpr | None, _width: int) -> SymbolicExpr | None:
        return None

    def special(self, name: str) -> SymbolicExpr | None:
        return unknown_expr(name)

    def variable(self, variable: DeclaredVariable) -> SymbolicExpr | None:
        # The name of a parameter without `&` denotes the value that is loaded from it.
        shown = f"&{variable.name}" if variable.space.startswith("param") else variable.name
        return SymbolicExpr(Polynomial.unknown(shown), variable.space)

    def load(self, step: Step, call: CallExpr, place: int, _read: Reader[SymbolicExpr | None]) -> SymbolicExpr | None:
        """Returns the value that is loaded from a parameter of the kernel; None for any other load."""
        argument = loaded_argument(step, call, place)
        if argument is None:
            return None
        name, offset, _ = argument
        found = SymbolicExpr(Polynomial.unknown(f"[{name}+{offset}]" if offset else name))
        parameter = step.scope.parameter(name)
        pointer = parameter.pointer if parameter is not None else None
        return replace(found, space=pointer[0], is_generic=True) if pointer else found


def _previous_iteration_name(register: str) -> str:
    """Returns the name of a register's value in the previous iteration, which is not a valid name in a program."""
    return f"\0{register.partition('#')[0]}"
