"""Writes an operand as a multiple of one kernel parameter, plus a constant, plus multiples of unknown numbers.

If the operand must be a multiple of a power of two, the parameter then has a known remainder: the unknown numbers are
multiples of the common divisor of their factors, whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import gcd

from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.dataflow.symbolic_exprs import SymbolicExprs
from ptxkit.analysis.ir.display_names import parameter_display_name
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.launch_contract import ParameterPlace
from ptxkit.semantics.layout import variable_of
from ptxkit.syntax.tree import Address, Name, Operand

#: The number of lowest bits of a sum that are exact.
_EXACT_BITS = 8


@dataclass(frozen=True, slots=True)
class LinearParameter:
    """`factor` times the value of a parameter plus `constant` plus a multiple of `unknown` (0: nothing more)."""

    parameter: ParameterPlace
    factor: int
    constant: int
    unknown: int

    def substitute(self, argument: LinearParameter) -> LinearParameter:
        """Returns the sum where the parameter has the value of another one."""
        unknown = gcd(self.factor * argument.unknown, self.unknown)
        constant = self.factor * argument.constant + self.constant
        return LinearParameter(argument.parameter, self.factor * argument.factor, constant, unknown)

    def solve(self, divisor: int) -> tuple[int, int] | None:
        """Returns the divisor and the remainder of the parameter if the sum must be a multiple of `divisor`.

        The divisor is a power of two up to 256, since only the lowest bits of the sum are exact.

        The result is None if no condition follows, or no value of the parameter is suitable.
        """
        known = gcd(divisor & -divisor, 1 << _EXACT_BITS, self.unknown)
        shared = gcd(self.factor, known)
        modulus = known // shared
        if modulus <= 1 or self.constant % shared:
            return None
        inverse = pow(self.factor // shared, -1, modulus)
        return modulus, -self.constant // shared * inverse % modulus


class LinearParameters:
    """The parameters of one kernel or function, and the operands that are computed from them."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def forms_of(self, step: Step, operand: Operand | None) -> Iterator[LinearParameter]:
        """Yields the linear form of an operand in each parameter from which it is computed."""
        total = self._sum_in(self._low_bits, step, operand)
        if total is None:
            return
        for product, factor in total.monomials:
            place = self._places.get(product[0]) if len(product) == 1 else None
            if place is not None:
                others = [count for other, count in total.monomials if other and other != product]
                constant = dict(total.monomials).get((), 0)
                yield LinearParameter(place, factor, constant, gcd(*others))

    def sufficient_multiples(
        self, step: Step, operand: Operand | None, divisor: int
    ) -> dict[ParameterPlace, int] | None:
        """Returns of which numbers parameters must be multiples, so that an operand is a multiple of a power of two.

        The result is None where something else may decide it as well. The divisor is at most 256.
        """
        total = self._sum_in(self._low_bits, step, operand) if divisor <= 1 << _EXACT_BITS else None
        found: dict[ParameterPlace, int] = {}
        for product, factor in total.monomials if total is not None else ():
            needed = divisor // gcd(divisor, factor)
            place = next((self._places[each] for each in product if each in self._places), None)
            if place is not None:
                found[place] = max(needed, found.get(place, 1))
            elif needed > 1:
                return None
        return found if total is not None else None

    def parameter_near(self, step: Step, operand: Operand | None, size: int) -> ParameterPlace | None:
        """Returns the only parameter of a size from whose address an operand is computed, in whatever way."""
        leaves = self._program.analysis(Dependence).sources_of(step, operand)
        addressed = {leaf.name for leaf in leaves if leaf.kind == "parameter" and not leaf.size}
        found = [name for name, own in self._parameters if name in addressed and own == size]
        return self.place_of(found[0]) if len(found) == 1 else None

    def parameter_of(self, step: Step, operand: Operand | None) -> ParameterPlace | None:
        """Returns the parameter whose value an operand is; None where it is another value."""
        total = self.sum_of(step, operand)
        return self._places.get(str(total)) if total is not None else None

    def sum_of(self, step: Step, operand: Operand | None) -> Polynomial | None:
        """Returns the value of a register, or of an address in one, as a sum; None where it is not known."""
        return self._sum_in(self._expressions, step, operand)

    def _sum_in(self, expressions: SymbolicExprs, step: Step, operand: Operand | None) -> Polynomial | None:
        base = operand.base if isinstance(operand, Address) else operand
        if not isinstance(base, Name) or not self._program.is_fully_matched or not self._belongs(step):
            return None
        found = expressions.value_before(step, base.text)
        if found is None or found.condition_text:
            return None
        return found.sum.plus(Polynomial.constant(operand.offset)) if isinstance(operand, Address) else found.sum

    def place_of(self, symbol: str, offset: int = 0) -> ParameterPlace:
        """Returns the parameter with a name, or the part of it at an offset in bytes."""
        index = [name for name, _ in self._parameters].index(symbol)
        return ParameterPlace(parameter_display_name(symbol, self._program.function.name), symbol, index, offset)

    def declared_alignment(self, place: ParameterPlace) -> int:
        """Returns the alignment in bytes that the module declares for the target of a pointer."""
        declaration = self._program.function.parameters[place.index]
        return declaration.pointer_alignment or 1 if declaration.pointer is not None else 1

    def _belongs(self, step: Step) -> bool:
        steps = self._program.steps
        return step.index < len(steps) and steps[step.index] is step

    @cached_property
    def _expressions(self) -> SymbolicExprs:
        return SymbolicExprs(self._program)

    @cached_property
    def _low_bits(self) -> SymbolicExprs:
        """The expressions whose lowest bits are exact, on which the remainders modulo small powers of two depend."""
        return SymbolicExprs(self._program, low_bits=True)

    @cached_property
    def _parameters(self) -> list[tuple[str, int]]:
        """The names and sizes in bytes of the parameters."""
        declared = self._program.function.parameters
        return [(each.name, variable_of(given, each).size) for given in declared for each in given.declarators]

    @cached_property
    def _places(self) -> dict[str, ParameterPlace]:
        """The parameters and their parts, by the unknown that stands for the value which is loaded from them.

        A register of the same name makes the unknown ambiguous.
        """
        registers = {register.partition("#")[0] for register in self._program.definitions}
        found = {}
        for symbol, size in self._parameters:
            if symbol not in registers:
                found[symbol] = self.place_of(symbol)
                found.update({f"[{symbol}+{offset}]": self.place_of(symbol, offset) for offset in range(1, size)})
        return found
