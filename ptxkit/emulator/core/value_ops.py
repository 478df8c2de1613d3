"""The value operations of effects, such as `effect d = add(32, a, b)`.

An expression is compiled to a function of its roles. Operands have the widths of their types, and are truncated or
zero-extended to the width of an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ptxkit.emulator.core import integer_ops
from ptxkit.emulator.core.address_windows import RANK_MASK, RANK_SHIFT, AddressWindow, AddressWindows
from ptxkit.emulator.core.dtypes import WIDE, constant_bits, is_signed, resize, unsigned_dtype, width_of
from ptxkit.emulator.core.semantics_registry import Bits, Function
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, WRAPPING, IntegerOperation, bitwise_function, integer_type

_SHORT_SPACES = ("const", "param")
"""The spaces whose addresses are generic, and of which compilers keep 32 bits (LLVM's short pointers)."""

_LONG_ADDRESS = 64
"""The width in bits of generic addresses that 32 bits do not hold."""


def _make_select(width: int) -> Function:
    if width == WIDE:
        return lambda a, b, p: numpy.where(p[..., None], a, b)
    return lambda a, b, p: numpy.where(p, a, b)


def _make_compare(operator: str, word: str) -> Function:
    read = integer_type(word)
    if read is None:
        raise NotImplementedError(word)
    return integer_ops.comparison(operator, read[1])


_FUNCTIONS: Mapping[str, Callable[..., Function]] = {
    "abs": lambda _w: integer_ops.absolute,
    "copy": lambda _w: lambda a: a,
    "mul_wide": integer_ops.mul_wide,
    "mul_hi": integer_ops.mul_hi,
    "div": integer_ops.div,
    "rem": integer_ops.rem,
    "min": lambda _w, signed: integer_ops.minimum(signed),
    "max": lambda _w, signed: integer_ops.maximum(signed),
    "popc": lambda _w: integer_ops.popc,
    "clz": lambda _w: integer_ops.clz,
    "shl": integer_ops.shl,
    "shr": integer_ops.shr,
    "lop3": lambda table: bitwise_function(table & 255),
    "prmt": integer_ops.prmt,
    "funnel": integer_ops.funnel,
    "bfe": integer_ops.bfe,
    "bfi": integer_ops.bfi,
    "select": _make_select,
    "compare": _make_compare,
    "combine": WRAPPING.__getitem__,
    "convert": lambda source, result: lambda a: resize(a, width_of(result), signed=is_signed(source)),
    **{name: lambda _w, wrapping=wrapping: wrapping for name, wrapping in WRAPPING.items()},
}
"""For each operation, a function of the table's fixed arguments that returns the function on arrays."""


class ExpressionCompiler:
    """Compiles value expressions to functions, for operands of some widths, some of which are constants.

    The result has the requested width; a value of another width is truncated or extended with zeros. A width below 0 is
    that of the elements of a vector, which are not changed.
    """

    def __init__(self, windows: AddressWindows, widths: Mapping[str, int], constants: Mapping[str, int]) -> None:
        self.windows, self.widths, self.constants = windows, widths, constants
        self.roles: list[str] = []

    def compile(self, expression: Expression, result: int) -> Function | None:
        """Returns the function of the operands `roles` (in that order), or None if the value is not exact."""
        match expression:
            case CallExpr("copy", (_, OperandRole() as vector)) if result < 0:
                expression = vector
        try:
            made, width = self._compile(expression)
        except NotImplementedError:
            return None
        if isinstance(expression, CallExpr) and self._is_direct(expression):
            direct, _ = self._make_operation(expression)
            return direct if width == result else lambda *a: resize(direct(*a), result)
        if width == result or width < 0:
            return lambda *a: made(a)
        return lambda *a: resize(made(a), result)

    def _is_direct(self, expression: CallExpr) -> bool:
        """Returns whether the operands of an operation are exactly the roles, each once, in their order and widths."""
        if expression.function not in INTEGER_OPERATIONS:
            return False
        operation = INTEGER_OPERATIONS[expression.function]
        rest = operation.operands(expression.arguments)
        wanted = operation.operand_widths(self._static_values(operation, expression))
        return [each.name for each in rest if isinstance(each, OperandRole)] == self.roles and all(
            isinstance(each, OperandRole) and self.widths[each.name] == width
            for each, width in zip(rest, wanted, strict=True)
        )

    def _make_operation(self, call: CallExpr) -> tuple[Function, int]:
        operation = INTEGER_OPERATIONS[call.function]
        words = self._static_values(operation, call)
        return _FUNCTIONS[call.function](*words), operation.result_width(words)

    def _static_values(self, operation: IntegerOperation, call: CallExpr) -> list[Any]:
        return [self._static_value(call.arguments[at]) for at in operation.static]

    def _static_value(self, expression: Expression) -> Any:
        if isinstance(expression, ConstantExpr):
            return expression.value
        if isinstance(expression, OperandRole) and expression.name in self.constants:
            return self.constants[expression.name]
        raise NotImplementedError(str(expression))

    def _compile(self, expression: Expression) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        """Returns a function of the operands as a sequence, and the width of its result."""
        if isinstance(expression, OperandRole):
            return self._compile_role(expression.name)
        if isinstance(expression, ConstantExpr):
            raise NotImplementedError("a constant has no width")
        if expression.function in INTEGER_OPERATIONS:
            return self._compile_call(expression)
        return self._compile_special(expression)

    def _compile_role(self, name: str) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        if name not in self.roles:
            self.roles.append(name)
        at = self.roles.index(name)
        return lambda a: a[at], self.widths[name]

    def _compile_call(self, call: CallExpr) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        operation = INTEGER_OPERATIONS[call.function]
        wanted = operation.operand_widths(self._static_values(operation, call))
        operands = zip(operation.operands(call.arguments), wanted, strict=True)
        parts = [self._compile_resized(each, width) for each, width in operands]
        made, result = self._make_operation(call)
        return lambda a: made(*[part(a) for part in parts]), result

    def _compile_resized(self, expression: Expression, width: int) -> Callable[[Sequence[Bits]], Any]:
        if isinstance(expression, ConstantExpr):
            if not isinstance(expression.value, int):
                raise NotImplementedError(str(expression))
            fixed = constant_bits(expression.value, width)
            return lambda _a: fixed
        part, here = self._compile(expression)
        return part if here == width else lambda a: resize(part(a), width)

    def _compile_special(self, call: CallExpr) -> tuple[Callable[[Sequence[Bits]], Any], int]:
        """Compiles addresses in windows, and the parts of vectors."""
        match call:
            case CallExpr("to_generic", (ConstantExpr(space), operand)):
                part, width = self._compile(operand)
                start = self._window_start(str(space), width)
                if width == _LONG_ADDRESS and space in _SHORT_SPACES:
                    return _completed_address(part, self.windows.window_of(space)), width
                return lambda a: part(a) + start, width
            case CallExpr("from_generic", (ConstantExpr(space), operand)):
                part, width = self._compile(operand)
                start = self._window_start(str(space), width)
                return lambda a: part(a) - start, width
            case CallExpr("map_rank", (ConstantExpr(space), operand, rank)):
                part, width = self._compile(operand)
                number = self._compile_resized(rank, width)
                kind_ = unsigned_dtype(width)
                mask, shift = kind_(RANK_MASK << RANK_SHIFT), kind_(RANK_SHIFT)
                return lambda a: part(a) & ~mask | number(a) << shift, width
            case CallExpr("rank_of", (ConstantExpr(space), operand)):
                part, width = self._compile(operand)
                shift = unsigned_dtype(width)(RANK_SHIFT)
                ranks = unsigned_dtype(width)(RANK_MASK)
                return lambda a: resize(part(a) >> shift & ranks, 32), 32
            case CallExpr("pack", (_, operand)):
                part, _ = self._compile(operand)
                return lambda a: pack_elements(part(a)), -1
            case CallExpr("unpack", (_, operand)):
                part, _ = self._compile(operand)
                return part, -1
            case _:
                raise NotImplementedError(call.function)

    def _window_start(self, space: str, width: int) -> Any:
        """Returns the distance from an address in a space to the generic one, or 0 if the spaces share addresses."""
        window = self.windows.window_of(space) if space.startswith(("shared", "local")) else None
        return unsigned_dtype(width)((window.start if window is not None else 0) & ((1 << width) - 1))


def _completed_address(
    part: Callable[[Sequence[Bits]], Any], window: AddressWindow | None
) -> Callable[[Sequence[Bits]], Any]:
    """Compiles the generic address of an address in a window, of which 32 bits were kept where they suffice."""
    assert window is not None
    start, size = numpy.uint64(window.start), numpy.uint64(window.size)

    def complete(operands: Sequence[Bits]) -> Any:
        found = part(operands)
        return numpy.where(found < size, found + start, found)

    return complete


def pack_elements(elements: Sequence[Any]) -> Any:
    """Returns elements joined, the first one lowest."""
    width = elements[0].dtype.itemsize * 8
    whole = width * len(elements)
    if whole == WIDE:
        halves = elements if len(elements) == 2 else (pack_elements(elements[:2]), pack_elements(elements[2:]))
        return numpy.stack(numpy.broadcast_arrays(*halves), axis=-1)
    wanted = unsigned_dtype(whole)
    found = elements[0].astype(wanted)
    for at, each in enumerate(elements[1:], 1):
        found = found | each.astype(wanted) << wanted(at * width)
    return found


def unpack_elements(value: Any, count: int) -> tuple[Any, ...]:
    """Returns the parts of a value, the lowest first."""
    if value.ndim == 2:
        halves = value[:, 0], value[:, 1]
        return halves if count == 2 else (*unpack_elements(halves[0], 2), *unpack_elements(halves[1], 2))
    width = value.dtype.itemsize * 8 // count
    wanted = unsigned_dtype(width)
    return tuple((value >> value.dtype.type(at * width)).astype(wanted) for at in range(count))
