"""Compiles operands and value expressions of one step to functions of a walker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.operations import Operations
from ptxkit.analysis.program import Step
from ptxkit.analysis.space import FIRST_ADDRESS
from ptxkit.analysis.terms import Held, Lanes, mask
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.syntax.tree import (
    Address,
    Binary,
    Element,
    Integer,
    Name,
    Not,
    Operand,
    Unary,
)

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker

Reader: TypeAlias = "Callable[[Walker], Held]"
ArgumentReader: TypeAlias = "Callable[[Walker], Held | str | bool | None]"

#: Special registers that read differently each time.
_VOLATILE = ("%clock", "%clock64", "%clock_hi", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi")


class Operands:
    """The operands of one step, by role, as readers.

    in_thread: makers of readers for the value operations that need the thread (`ptxkit.analysis.lanes`).
    """

    def __init__(self, step: Step, in_thread: Mapping[str, Callable[[Operands, Call], Reader]]) -> None:
        self.step = step
        self.scope = step.scope
        self._in_thread = in_thread

    def role(self, name: str) -> Operand | None:
        """The operand that plays a role, or None."""
        match = self.step.match
        return match.operand(name, self.step.instruction) if match is not None else None

    def is_symbol(self, operand: Operand | None) -> bool:
        """Whether an operand is the name of a variable, and no register."""
        if not isinstance(operand, Name) or self.scope.register(operand.text) != operand.text:
            return False
        return self.scope.variable(operand.text) is not None

    def reader(self, operand: Operand | None) -> Reader:
        """A function that gives the value of an operand; of an address, the address itself."""
        match operand:
            case Integer(value=value):
                return constant(value & mask(64))
            case Name(text=text):
                return self._name(text)
            case Address(base=base, offset=offset):
                return self._moved(base, offset)
            case Element(base=base, index=index):  # an index counts bytes by now (`ptxkit.analysis.program`)
                return self.reader(Binary("+", base, index))
            case Binary(operator="*", left=left, right=right):
                first, second = self.reader(left), self.reader(right)
                return lambda walker: walker.operations.held(Operations.op_mul, 64, first(walker), second(walker))
            case Not(operand=inner):
                source = self.reader(inner)
                return lambda walker: walker.operations.held(Operations.op_not, 1, source(walker))
            case Binary(operator="+", left=left, right=right):
                first, second = self.reader(left), self.reader(right)
                return lambda walker: walker.operations.held(Operations.op_add, 64, first(walker), second(walker))
            case Unary(operator="-", operand=inner):
                source = self.reader(inner)
                return lambda walker: walker.operations.held(Operations.op_neg, 64, source(walker))
        return lambda walker: walker.fresh("operand")

    def _moved(self, base: Operand, offset: int) -> Reader:
        start = self.reader(base)
        if not offset:
            return start
        amount = offset & mask(64)
        return lambda walker: walker.operations.held(Operations.op_add, 64, start(walker), amount)

    def _name(self, text: str) -> Reader:
        register = self.scope.register(text)
        variable = self.scope.variable(text) if register == text else None
        if variable is not None:
            if variable.space in FIRST_ADDRESS:
                return constant(variable.address)
            key, space = ("variable", variable.space, text), variable.space
            known_space = space if space in ("global", "const") else None
            return lambda walker: walker.terms.of(key, pointer=True).within(known_space)

        is_own = self.scope.hides(text)

        def read(walker: Walker) -> Held:
            value = walker.registers.get(register)
            if value is not None:
                return value
            known = None if is_own else walker.special.get(text)
            if known is not None:
                return known
            if text in _VOLATILE and not is_own:
                return walker.fresh(text)
            return walker.terms.of(("register", text, walker.tids[0]))

        return read

    def evaluator(self, expression: Expression | None) -> Reader | None:
        """A function that computes an expression of the table; None where it is absent or names no value."""
        if isinstance(expression, Const):
            value = expression.value
            return constant(int(value) & mask(64)) if isinstance(value, bool | int) else None
        if isinstance(expression, Role):
            operand = self.role(expression.name)
            return None if operand is None else self.reader(operand)
        return None if expression is None else self.call(expression)

    def call(self, call: Call) -> Reader:
        """A value operation: one that needs the thread, or arithmetic."""
        handler = self._in_thread.get(call.function)
        if handler is not None:
            return handler(self, call)
        operation = Operations.find(call.function)
        fixed, *rest = _constants_first(call.arguments)
        readers = [self.argument(argument) for argument in rest]
        if len(readers) == 1:
            (only,) = readers

            def of_one(walker: Walker) -> Held:
                held = only(walker)
                if isinstance(held, Lanes):
                    return walker.operations.held(operation, *fixed, held)
                return operation(walker.operations, *fixed, held)

            return of_one
        if len(readers) == 2:
            first, second = readers

            def of_two(walker: Walker) -> Held:
                left, right = first(walker), second(walker)
                if isinstance(left, Lanes) or isinstance(right, Lanes):
                    return walker.operations.held(operation, *fixed, left, right)
                return operation(walker.operations, *fixed, left, right)

            return of_two
        return lambda walker: walker.operations.held(operation, *fixed, *[reader(walker) for reader in readers])

    def argument(self, expression: Expression) -> ArgumentReader:
        """Like `evaluator`, but strings and truth values of the table pass as they are."""
        if isinstance(expression, Const):
            value = expression.value
            return lambda walker: walker.fresh("number") if isinstance(value, float) else value
        return self.evaluator(expression) or (lambda walker: walker.fresh("absent operand"))

    def shared(self, role: str, space: str = "shared") -> Reader | None:
        """Reads an address operand as an offset in shared memory; a generic address elsewhere gives a term.

        A mbarrier may be named by a generic address in any of its forms, so a number in the shared window counts as
        shared whatever the form says.
        """
        operand = self.role(role)
        if operand is None:
            return None
        reader = self.reader(operand)
        return lambda walker: walker.operations.held(Operations.op_in_shared, space, reader(walker))


def _constants_first(
    arguments: tuple[Expression, ...],
) -> tuple[tuple[int | str | bool | None, ...], *tuple[Expression, ...]]:
    """What the table fixed in front of a value operation's operands (widths, types, modes), and the operands."""
    fixed: list[int | str | bool | None] = []
    for argument in arguments:
        if not isinstance(argument, Const) or isinstance(argument.value, float):
            break
        fixed.append(argument.value)
    return tuple(fixed), *arguments[len(fixed) :]


def constant(number: int) -> Reader:
    """A reader that always gives `number`."""
    return lambda _: number
