"""The value operations of effects, computed: what `effect d = add(32, a, b)` means.

An expression becomes a function of the roles in it. Operands have the widths of their types, and are cut off or
extended with zeros to what an operation takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ptxkit.emulate import integers
from ptxkit.emulate.registry import Bits, Function
from ptxkit.emulate.widths import WIDE, constant, is_signed, resized, unsigned, width_of
from ptxkit.emulate.windows import RANK_SHIFT, RANKS, Windows
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.isa.functions import kind
from ptxkit.records import dataclass

Words = Sequence[Any]


@dataclass(frozen=True, slots=True)
class _Operation:
    """What an operation takes and gives. words: positions of the arguments that are known when it is bound.

    operands, result: widths by the words, 0 for that of the operand itself, -1 for a vector. make: the function by the
    words.
    """

    words: tuple[int, ...]
    operands: Callable[[Words], Sequence[int]]
    result: Callable[[Words], int]
    make: Callable[[Words], Function]


def _plain(count: int, make: Callable[[int], Function]) -> _Operation:
    """An operation on operands of one width, which comes first."""
    return _Operation((0,), lambda w: [w[0]] * count, lambda w: w[0], lambda w: make(w[0]))


def _signed(make: Callable[[int, bool], Function], times: int = 1) -> _Operation:
    """An operation with a width and whether it is signed, on two operands."""
    return _Operation((0, 1), lambda w: [w[0]] * 2, lambda w: times * w[0], lambda w: make(w[0], w[1]))


def _free(words: int, operands: Sequence[int], result: int, make: Callable[..., Function]) -> _Operation:
    return _Operation(tuple(range(words)), lambda _w: operands, lambda _w: result, lambda w: make(*w))


_OPERATIONS: Mapping[str, _Operation] = {
    "add": _plain(2, lambda _w: numpy.add),
    "sub": _plain(2, lambda _w: numpy.subtract),
    "mul": _plain(2, lambda _w: numpy.multiply),
    "and": _plain(2, lambda _w: numpy.bitwise_and),
    "or": _plain(2, lambda _w: numpy.bitwise_or),
    "xor": _plain(2, lambda _w: numpy.bitwise_xor),
    "not": _plain(1, lambda _w: numpy.invert),
    "neg": _plain(1, lambda _w: numpy.negative),
    "abs": _plain(1, lambda _w: integers.magnitude),
    "copy": _plain(1, lambda _w: lambda a: a),
    "mul_wide": _signed(integers.mul_wide, 2),
    "mul_hi": _signed(integers.mul_hi),
    "div": _signed(integers.div),
    "rem": _signed(integers.rem),
    "min": _signed(lambda _w, signed: integers.smaller(signed)),
    "max": _signed(lambda _w, signed: integers.greater(signed)),
    "popc": _Operation((0,), lambda w: w[:1], lambda _w: 32, lambda _w: integers.popc),
    "clz": _Operation((0,), lambda w: w[:1], lambda _w: 32, lambda _w: integers.clz),
    "shl": _Operation((0,), lambda w: [w[0], 32], lambda w: w[0], lambda w: integers.shl(w[0])),
    "shr": _Operation((0, 1), lambda w: [w[0], 32], lambda w: w[0], lambda w: integers.shr(w[0], w[1])),
    "lop3": _Operation((3,), lambda _w: [32] * 3, lambda _w: 32, lambda w: integers.lop3(w[0] & 255)),
    "prmt": _Operation((3,), lambda _w: [32] * 3, lambda _w: 32, lambda w: integers.prmt(w[0])),
    "funnel": _free(2, [32] * 3, 32, integers.funnel),
    "bfe": _Operation((0, 1), lambda w: [w[0], 32, 32], lambda w: w[0], lambda w: integers.bfe(w[0], w[1])),
    "bfi": _Operation((0,), lambda w: [w[0], w[0], 32, 32], lambda w: w[0], lambda w: integers.bfi(w[0])),
    "select": _Operation((0,), lambda w: [w[0], w[0], 1], lambda w: w[0], lambda w: _select(w[0])),
    "compare": _Operation((0, 1), lambda w: [width_of(w[1])] * 2, lambda _w: 1, lambda w: _compare(*w)),
    "combine": _free(1, [1, 1], 1, lambda op: _COMBINED[op]),
    "convert": _Operation(
        (0, 1),
        lambda w: [width_of(w[0])],
        lambda w: width_of(w[1]),
        lambda w: lambda a: resized(a, width_of(w[1]), signed=is_signed(w[0])),
    ),
}
_COMBINED: Mapping[str, Function] = {
    "and": numpy.logical_and,
    "or": numpy.logical_or,
    "xor": numpy.logical_xor,
}


def _select(width: int) -> Function:
    if width == WIDE:
        return lambda a, b, p: numpy.where(p[..., None], a, b)
    return lambda a, b, p: numpy.where(p, a, b)


def _compare(operator: str, word: str) -> Function:
    if kind(word) == "f":
        raise NotImplementedError(word)
    return integers.compared(operator, is_signed(word))


class Evaluator:
    """Makes functions of value expressions. widths: of the roles' operands; constants: of those that are constants.

    result: the width that is wanted; where it differs, the value is cut off or extended with zeros. Below 0: that of
    the elements of a vector, which are left as they are.
    """

    def __init__(self, windows: Windows, widths: Mapping[str, int], constants: Mapping[str, int]) -> None:
        self.windows, self.widths, self.constants = windows, widths, constants
        self.roles: list[str] = []

    def function(self, expression: Expression, result: int) -> Function | None:
        """The function of the operands `roles` (in that order); None where the value is not exact."""
        match expression:
            case Call("copy", (_, Role() as vector)) if result < 0:
                expression = vector
        try:
            made, width = self._build(expression)
        except NotImplementedError:
            return None
        if self._is_direct(expression):
            direct, _ = self._operation(expression)
            return direct if width == result else lambda *a: resized(direct(*a), result)
        if width == result or width < 0:
            return lambda *a: made(a)
        return lambda *a: resized(made(a), result)

    def _is_direct(self, expression: Expression) -> bool:
        """Whether an operation takes exactly the roles, each once, in their order and widths."""
        if not isinstance(expression, Call) or expression.function not in _OPERATIONS:
            return False
        operation = _OPERATIONS[expression.function]
        rest = [each for at, each in enumerate(expression.arguments) if at not in operation.words]
        wanted = operation.operands(self._words(operation, expression))
        return [each.name for each in rest if isinstance(each, Role)] == self.roles and all(
            isinstance(each, Role) and self.widths[each.name] == width for each, width in zip(rest, wanted, strict=True)
        )

    def _operation(self, expression: Expression) -> tuple[Function, int]:
        assert isinstance(expression, Call)
        operation = _OPERATIONS[expression.function]
        words = self._words(operation, expression)
        return operation.make(words), operation.result(words)

    def _words(self, operation: _Operation, call: Call) -> list[Any]:
        return [self._known(call.arguments[at]) for at in operation.words]

    def _known(self, expression: Expression) -> Any:
        if isinstance(expression, Const):
            return expression.value
        if isinstance(expression, Role) and expression.name in self.constants:
            return self.constants[expression.name]
        raise NotImplementedError(str(expression))

    def _build(self, expression: Expression) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        """A function of the operands as a sequence, and the width of what it gives."""
        if isinstance(expression, Role):
            return self._role(expression.name)
        if isinstance(expression, Const):
            raise NotImplementedError("a constant has no width of its own")
        if expression.function in _OPERATIONS:
            return self._call(expression)
        return self._special(expression)

    def _role(self, name: str) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        if name not in self.roles:
            self.roles.append(name)
        at = self.roles.index(name)
        return lambda a: a[at], self.widths[name]

    def _call(self, call: Call) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        operation = _OPERATIONS[call.function]
        words = self._words(operation, call)
        wanted = operation.operands(words)
        rest = [each for at, each in enumerate(call.arguments) if at not in operation.words]
        parts = [self._fitted(each, width) for each, width in zip(rest, wanted, strict=True)]
        made = operation.make(words)
        return lambda a: made(*[part(a) for part in parts]), operation.result(words)

    def _fitted(self, expression: Expression, width: int) -> Callable[[Sequence[Bits]], Any]:
        if isinstance(expression, Const):
            if not isinstance(expression.value, int):
                raise NotImplementedError(str(expression))
            fixed = constant(expression.value, width)
            return lambda _a: fixed
        part, here = self._build(expression)
        return part if here == width else lambda a: resized(part(a), width)

    def _special(self, call: Call) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        """Addresses in windows, and the parts of vectors."""
        match call:
            case Call("to_generic", (Const(space), operand)):
                part, width = self._build(operand)
                start = self._start(str(space), width)
                return lambda a: part(a) + start, width
            case Call("from_generic", (Const(space), operand)):
                part, width = self._build(operand)
                start = self._start(str(space), width)
                return lambda a: part(a) - start, width
            case Call("map_rank", (Const(space), operand, rank)):
                part, width = self._build(operand)
                number = self._fitted(rank, width)
                kind_ = unsigned(width)
                mask, shift = kind_(RANKS << RANK_SHIFT), kind_(RANK_SHIFT)
                return lambda a: part(a) & ~mask | number(a) << shift, width
            case Call("rank_of", (Const(space), operand)):
                part, width = self._build(operand)
                shift = unsigned(width)(RANK_SHIFT)
                ranks = unsigned(width)(RANKS)
                return lambda a: resized(part(a) >> shift & ranks, 32), 32
            case Call("pack", (operand,)):
                part, _ = self._build(operand)
                return lambda a: packed(part(a)), -1
            case Call("unpack", (operand,)):
                part, _ = self._build(operand)
                return part, -1
            case _:
                raise NotImplementedError(call.function)

    def _start(self, space: str, width: int) -> Any:
        """What lies between an address in a space and the generic one; nothing where the spaces share addresses."""
        window = self.windows.of(space) if space.startswith(("shared", "local")) else None
        return unsigned(width)((window.start if window is not None else 0) & ((1 << width) - 1))


def packed(elements: Sequence[Any]) -> Any:
    """Elements joined, the first one lowest."""
    width = elements[0].dtype.itemsize * 8
    whole = width * len(elements)
    if whole == WIDE:
        halves = elements if len(elements) == 2 else (packed(elements[:2]), packed(elements[2:]))
        return numpy.stack(numpy.broadcast_arrays(*halves), axis=-1)
    wanted = unsigned(whole)
    found = elements[0].astype(wanted)
    for at, each in enumerate(elements[1:], 1):
        found = found | each.astype(wanted) << wanted(at * width)
    return found


def unpacked(value: Any, count: int) -> tuple[Any, ...]:
    """The parts of a value, the lowest first."""
    if value.ndim == 2:
        halves = value[:, 0], value[:, 1]
        return halves if count == 2 else (*unpacked(halves[0], 2), *unpacked(halves[1], 2))
    width = value.dtype.itemsize * 8 // count
    wanted = unsigned(width)
    return tuple((value >> value.dtype.type(at * width)).astype(wanted) for at in range(count))
