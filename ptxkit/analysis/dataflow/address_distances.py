"""Decides whether the distance of two addresses is the same in every launch, modulo a small power of two.

Executions with a few arguments do not show it: 8 bytes times an odd argument is 8 modulo 16 for each of them.

Source: PTX ISA, "Addresses as Operands", "Alignment".
"""

from __future__ import annotations

from ptxkit.analysis.dataflow.polynomial import Monomial, Polynomial
from ptxkit.analysis.dataflow.symbolic_exprs import SymbolicExprs
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa import table
from ptxkit.isa.effects import Access
from ptxkit.syntax.tree import Address, Name

_THREAD_POSITION = ("%tid", "%laneid")


class AddressDistances:
    """The distances of the addresses that the steps of one function access."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._expressions = SymbolicExprs(program, low_bits=True)

    def is_fixed(self, first: Step, role: str, second: Step, divisor: int) -> bool:
        """Returns whether only the positions of the threads decide how far an address is from one of another step.

        The distance is that modulo a power of two up to 256. role: the operand of the first step.
        """
        own = self._sum(first, role, divisor)
        roles = dict.fromkeys(effect.address for effect in second.effects if isinstance(effect, Access))
        others = (self._sum(second, each, divisor) for each in roles)
        return own is not None and any(each is not None and _is_decided_by_threads(own, each) for each in others)

    def _sum(self, step: Step, role: str, divisor: int) -> dict[Monomial, int] | None:
        """Returns an address as a sum modulo the divisor, without its constant; None if an unknown has many values."""
        operand = step.operand(role)
        if not isinstance(operand, Address) or not isinstance(operand.base, Name):
            return None
        value = self._expressions.value_before(step, operand.base.text)
        if value is not None and value.condition_text:
            return None
        total = Polynomial.unknown(operand.base.text) if value is None else value.sum
        found = {product: count % divisor for product, count in total.monomials if product and count % divisor}
        return found if all(self._has_one_value(factor) for product in found for factor in product) else None

    def _has_one_value(self, unknown: str) -> bool:
        """Returns whether an unknown is the same wherever a thread reads it: at most one step assigns it."""
        register = unknown.partition("@")[0]
        known = [steps for name, steps in self._program.definitions.items() if name.partition("#")[0] == register]
        return not unknown.startswith(("rounds", "\0")) and (not known or (len(known) == 1 and len(known[0]) == 1))


def _is_decided_by_threads(first: dict[Monomial, int], second: dict[Monomial, int]) -> bool:
    """Returns whether what differs in two sums, and what may differ from thread to thread, is in special registers."""
    return all(
        all(table().special(factor) is not None for factor in product)
        for product in first.keys() | second.keys()
        if first.get(product) != second.get(product) or any(factor.startswith(_THREAD_POSITION) for factor in product)
    )
