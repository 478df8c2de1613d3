"""The values of operands and expressions of a PTX instruction in one thread: integers, as litmus tests need them.

An unknown value, such as that of a floating-point operation, is None; a test that needs one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import Placement
from ptxkit.memory_model.ptx_memory import PtxMemory
from ptxkit.semantics.linear_code import LinearStep
from ptxkit.semantics.symbols import NameScope
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Address, Integer, Name, Not, Operand, Unary, Vector

Registers = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PtxStep:
    """An instruction of a kernel with its form in the table. text: as it is drawn."""

    step: LinearStep[NameScope]
    match: Match
    text: str


@dataclass(slots=True, eq=False)
class PtxOperandReader:
    """Reads values in one thread. specials: the special registers by name."""

    memory: PtxMemory
    place: Placement
    specials: Mapping[str, int]

    def role(self, step: PtxStep, role: str, registers: Registers) -> int | None:
        """Returns the value of the operand with a role."""
        operand = step.match.operand(role, step.step.instruction)
        return None if operand is None else self.operand(step, operand, registers)

    def require_role(self, step: PtxStep, role: str, registers: Registers) -> int:
        """Returns the value of the operand with a role. Raises LitmusError if it is not known."""
        return self.require(step, self.role(step, role, registers))

    def require(self, step: PtxStep, value: int | None) -> int:
        """Returns a value that must be known. Raises LitmusError if it is not."""
        if value is None:
            raise LitmusError(f"the value of an operand of `{step.text}` is not known", "use integers in a litmus test")
        return value

    def operand(self, step: PtxStep, operand: Operand, registers: Registers) -> int | None:
        """Returns the value of an operand; of an address, the address."""
        match operand:
            case Integer(value):
                return value
            case Name(text):
                return self._name(step, text, registers)
            case Not(inner):
                negated = self.operand(step, inner, registers)
                return None if negated is None else 1 - negated
            case Address(base, offset, ()):
                start = self.operand(step, base, registers)
                return None if start is None else start + offset
            case Unary("-", inner):
                number = self.operand(step, inner, registers)
                return None if number is None else -number
            case Vector((first,)):
                return self.operand(step, first, registers)
            case _:
                return None

    def _name(self, step: PtxStep, name: str, registers: Registers) -> int | None:
        scope = step.step.scope
        if name in self.specials:
            return self.specials[name]
        binding = scope.find(name)
        if binding is not None and binding.is_register:
            return registers.get(scope.declared_name(name), 0)
        return self.memory.address_of(name, self.place)

    def evaluate(self, step: PtxStep, expression: Expression, registers: Registers) -> int | None:
        """Returns the value of an expression of the table; None where it is not known."""
        match expression:
            case ConstantExpr(value):
                return int(value) if isinstance(value, int | bool) else None
            case OperandRole(name):
                return self.role(step, name, registers)
            case CallExpr(function, arguments):
                return self._call(step, function, arguments, registers)

    def _call(self, step: PtxStep, function: str, arguments: Sequence[Expression], registers: Registers) -> int | None:
        operation = INTEGER_OPERATIONS.get(function)
        if operation is not None:
            values = [
                each.value
                if at in operation.static and isinstance(each, ConstantExpr)
                else self.evaluate(step, each, registers)
                for at, each in enumerate(arguments)
            ]
            return None if None in operation.operands(values) else operation.compute(*values)
        if function in _ADDRESS_FUNCTIONS:
            word = arguments[0].value if isinstance(arguments[0], ConstantExpr) else None
            numbers = [self.evaluate(step, each, registers) for each in arguments[1:]]
            known = [each for each in numbers if each is not None]
            return _ADDRESS_FUNCTIONS[function](self, str(word), known) if len(known) == len(numbers) else None
        if function == "elected":
            return 1
        arithmetic = _ARITHMETIC.get(function)
        if arithmetic is not None:
            both = [self.evaluate(step, each, registers) for each in arguments]
            known = [each for each in both if each is not None]
            return arithmetic(*known) if len(known) == len(both) else None
        return None


_ADDRESS_FUNCTIONS: Mapping[str, Callable[[PtxOperandReader, str, Sequence[int]], int]] = {
    "to_generic": lambda reader, space, values: reader.memory.to_generic(space, values[0]),
    "from_generic": lambda reader, space, values: reader.memory.from_generic(space, values[0]),
    "map_rank": lambda reader, space, values: reader.memory.map_rank(space, values[0], values[1]),
}

_ARITHMETIC: Mapping[str, Callable[..., int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
}
"""The operators of sizes and counts."""


def special_values(memory: PtxMemory, place: Placement) -> dict[str, int]:
    """Returns the special registers of a thread, the first lane of a separate warp."""
    ctas = {each.cta for each in memory.places}
    cluster = {each.cta for each in memory.places if each.cluster == place.cluster}
    threads = WARP_SIZE * sum(each.cta == place.cta for each in memory.places)
    values = {
        "%tid.x": WARP_SIZE * place.rank,
        "%ntid.x": threads,
        "%ctaid.x": place.cta,
        "%nctaid.x": len(ctas),
        "%laneid": 0,
        "%warpid": place.rank,
        "%cluster_ctarank": memory.rank_of(place.cta),
        "%cluster_nctarank": len(cluster),
        "%cluster_ctaid.x": memory.rank_of(place.cta),
        "%cluster_nctaid.x": len(cluster),
    }
    zeros = ("%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z")
    ones = ("%ntid.y", "%ntid.z", "%nctaid.y", "%nctaid.z")
    return {**values, **dict.fromkeys(zeros, 0), **dict.fromkeys(ones, 1)}
