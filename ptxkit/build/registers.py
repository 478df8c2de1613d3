"""Typed values: a register of the kernel under construction, with Python's operators.

`a + b` emits the same instruction as `k.add(a, b)` and returns the register of its result. A register is written only
once, unless it is a `Variable`. No implicit conversion takes place: `u32 + s32` and `u32 + f32` are errors at the
caller's line. `.reinterpret(s32)` emits no instruction, and `.convert(f32)` emits a `cvt`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, cast

from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError, IncompleteNameError
from ptxkit.build.limits import MAX_KNOWN_MULTIPLE
from ptxkit.build.number_formats import check_number, encode_number, needs_register
from ptxkit.kernel_model.scalar_types import (
    SCALARS,
    FloatScalar,
    IntegerScalar,
    OtherT,
    ScalarT,
    UnsignedScalar,
    b8,
    f32,
    f64,
    pred,
    register_class,
)

if TYPE_CHECKING:
    from typing import Self

    from ptxkit.build.barrier_uses import BarrierUses
    from ptxkit.build.recorder import Label, StatementRecorder
    from ptxkit.isa.targets import Target
    from ptxkit.kernel_model.scalar_types import Scalar

Number: TypeAlias = int | float
ValueT = TypeVar("ValueT")


def largest_power_of_two_factor(number: int) -> int:
    """Returns the largest power of two that divides a constant. Every power of two divides 0; a fixed limit is
    returned.
    """
    return number & -number or MAX_KNOWN_MULTIPLE


class InstructionEmitter(Protocol):
    """The methods of a kernel or function under construction that values need to append instructions."""

    recorder: StatementRecorder
    barrier_uses: BarrierUses
    target: Target | None

    def instruction(
        self,
        name: str,
        operands: Sequence[object],
        *,
        into: object = None,
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
        **modifiers: str | bool,
    ) -> object:
        """Appends the instruction that `name` denotes for these operands, and returns its result or results."""
        ...

    def emit(
        self, opcode: str, *operands: object, guard: Register[pred] | None = None, unless: Register[pred] | None = None
    ) -> None:
        """Appends an instruction that is written in full."""
        ...

    def register(self, scalar: type[ScalarT]) -> Register[ScalarT]:
        """Returns a new register, which no instruction has written yet."""
        ...

    def load_symbol_address(self, name: str, pointer: type[Scalar]) -> Register[Any]:
        """Returns the address of a variable in a register."""
        ...

    def compute_element_address(
        self, base: Register[Any], index: Register[Any], size: int, pointer: type[Scalar]
    ) -> Register[Any]:
        """Returns `base + index * size`, in the width of `pointer`."""
        ...

    def branch(self, label: Label, *, when: Register[pred] | None = None, unless: Register[pred] | None = None) -> None:
        """Branches to a label: always, or if `when` holds, or if `unless` does not hold."""
        ...


class Register(Generic[ScalarT]):
    """A register that holds a value of one type.

    `multiple` is a power of two that is known to divide the value (1 if nothing is known). It is derived from
    constants, so that `array[thread * 4]` is known to be aligned to four elements.
    """

    __slots__ = ("builder", "multiple", "name", "type")

    def __init__(self, builder: InstructionEmitter, scalar: type[ScalarT], name: str, multiple: int = 1) -> None:
        self.builder = builder
        self.type = scalar
        self.name = name
        self.multiple = multiple

    def __repr__(self) -> str:
        return f"{self.name}: .{self.type.word}"

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise BuildError(f"{self!r} has no value while the kernel is being built; branch with `k.if_(...)`")

    # ------------------------------------------------------------------------------------- arithmetic

    def __add__(self, other: Register[ScalarT] | Number) -> Register[ScalarT]:
        nothing = isinstance(other, int) and other == 0 and issubclass(self.type, IntegerScalar)
        if nothing and not isinstance(self, Variable):
            return Register(self.builder, self.type, self.name, self.multiple)  # unrolled loops begin with `0 + x`
        return self._arithmetic("add", self, other, min(self.multiple, known_multiple(other)))

    def __radd__(self, other: Number) -> Register[ScalarT]:
        return self + other

    def __sub__(self, other: Register[ScalarT] | Number) -> Register[ScalarT]:
        return self._arithmetic("sub", self, other, min(self.multiple, known_multiple(other)))

    def __rsub__(self, other: Number) -> Register[ScalarT]:
        return self._arithmetic("sub", other, self, min(self.multiple, known_multiple(other)))

    def __mul__(self, other: Register[ScalarT] | Number) -> Register[ScalarT]:
        name = "mul_lo" if issubclass(self.type, IntegerScalar) else "mul"
        return self._arithmetic(name, self, other, min(self.multiple * known_multiple(other), MAX_KNOWN_MULTIPLE))

    def __rmul__(self, other: Number) -> Register[ScalarT]:
        return self * other

    def __rtruediv__(self, other: Number) -> Register[ScalarT]:
        self._check_divides()
        if other == 1:  # the reciprocal rounds as the division does
            return self._arithmetic("rcp_rn", self, None)
        return self._arithmetic("div_rn", other, self)

    def __pow__(self, exponent: int) -> Register[ScalarT]:
        if isinstance(exponent, bool) or not isinstance(exponent, int) or exponent < 1:
            raise BuildTypeError(f"`**` takes a constant integer of at least 1, not {exponent!r}; see k.sqrt, k.exp2")
        square, result = self, None
        while exponent:
            if exponent & 1:
                result = square if result is None else result * square
            exponent >>= 1
            square = square * square if exponent else square
        assert result is not None
        return result

    def __abs__(self) -> Register[ScalarT]:
        return self._arithmetic("abs", self, None)

    def __floordiv__(self, other: Register[ScalarT] | Number) -> Register[ScalarT]:
        if not issubclass(self.type, IntegerScalar):
            raise BuildTypeError(f"`//` divides integers, not .{self.type.word}")
        power = self._power_of_two_divisor(other)
        if power is not None:
            return self >> power.bit_length() - 1
        return self._arithmetic("div", self, other)

    def __rfloordiv__(self, other: int) -> Register[ScalarT]:
        if not issubclass(self.type, IntegerScalar):
            raise BuildTypeError(f"`//` divides integers, not .{self.type.word}")
        return self._arithmetic("div", other, self)

    def __truediv__(self, other: Register[ScalarT] | Number) -> Register[ScalarT]:
        self._check_divides()
        return self._arithmetic("div_rn", self, other)

    def __mod__(self, other: Register[ScalarT] | Number) -> Register[ScalarT]:
        power = self._power_of_two_divisor(other)
        if power is not None:
            return self._bitwise(f"and_b{self.type.bits}", (self, power - 1), self.multiple)
        return self._arithmetic("rem", self, other, min(self.multiple, known_multiple(other)))

    def __rmod__(self, other: int) -> Register[ScalarT]:
        return self._arithmetic("rem", other, self)

    def __neg__(self) -> Register[ScalarT]:
        return cast("Register[ScalarT]", self.builder.instruction("neg", (self,)))

    # ------------------------------------------------------------------------------------------- logic

    def __and__(self, other: Register[ScalarT] | int) -> Register[ScalarT]:
        return self._logic("and", other, max(self.multiple, known_multiple(other)))

    def __rand__(self, other: int) -> Register[ScalarT]:
        return self & other

    def __or__(self, other: Register[ScalarT] | int) -> Register[ScalarT]:
        return self._logic("or", other, min(self.multiple, known_multiple(other)))

    def __ror__(self, other: int) -> Register[ScalarT]:
        return self | other

    def __xor__(self, other: Register[ScalarT] | int) -> Register[ScalarT]:
        return self._logic("xor", other, min(self.multiple, known_multiple(other)))

    def __rxor__(self, other: int) -> Register[ScalarT]:
        return self ^ other

    def __invert__(self) -> Register[ScalarT]:
        return self._logic("not", None, 1)

    def __lshift__(self, amount: Register[Any] | int) -> Register[ScalarT]:
        known = min(self.multiple << amount, MAX_KNOWN_MULTIPLE) if isinstance(amount, int) and 0 <= amount < 64 else 1
        return self._bitwise(f"shl_b{self.type.bits}", (self, amount), known)

    def __rlshift__(self, value: int) -> Register[ScalarT]:
        return self._bitwise(f"shl_b{self.type.bits}", (value, self), largest_power_of_two_factor(value))

    def __rshift__(self, amount: Register[Any] | int) -> Register[ScalarT]:
        if not issubclass(self.type, IntegerScalar):
            raise BuildTypeError(f"`>>` shifts integers, not .{self.type.word}; reinterpret the value first")
        result = cast("Register[ScalarT]", self.builder.instruction("shr", (self, amount)))
        result.multiple = max(self.multiple >> amount, 1) if isinstance(amount, int) else 1
        return result

    # -------------------------------------------------------------------------------------- comparison

    def __eq__(self, other: object) -> Register[pred]:  # type: ignore[override]
        return self._compare("eq", other)

    def __ne__(self, other: object) -> Register[pred]:  # type: ignore[override]
        return self._compare("ne", other)

    def __lt__(self, other: Register[ScalarT] | Number) -> Register[pred]:
        return self._compare("lt", other)

    def __le__(self, other: Register[ScalarT] | Number) -> Register[pred]:
        return self._compare("le", other)

    def __gt__(self, other: Register[ScalarT] | Number) -> Register[pred]:
        return self._compare("gt", other)

    def __ge__(self, other: Register[ScalarT] | Number) -> Register[pred]:
        return self._compare("ge", other)

    # -------------------------------------------------------------------------------------- conversion

    def reinterpret(self, scalar: type[OtherT]) -> Register[OtherT]:
        """Returns the same bits as another type of the same register class, without an instruction.

        Raises `BuildTypeError` if the widths differ.
        """
        if register_class(scalar) != register_class(self.type) or scalar.bits != self.type.bits:
            move = f"move them: k.mov_b{self.type.bits}(value, into=k.register({scalar.__name__}))"
            remedy = move if scalar.bits == self.type.bits else f"use .convert({scalar.__name__}) for the value"
            raise BuildTypeError(
                f"the bits of .{self.type.word} are in other registers than those of .{scalar.word}; {remedy}"
            )
        return Register(self.builder, scalar, self.name, self.multiple)

    def convert(self, scalar: type[OtherT], rounding: str = "") -> Register[OtherT]:
        """Returns the value converted to another type: `cvt`.

        `rounding` is a rounding modifier of PTX, which conversions that lose bits need: `rn` rounds to the nearest
        number, and `rzi` toward zero to an integer. Raises `BuildTypeError` with the choices where it is missing.
        """
        words = ["cvt", rounding, scalar.word, self.type.word]
        try:
            result = self.builder.instruction("_".join(word for word in words if word), (self,))
        except IncompleteNameError as error:
            raise BuildTypeError(
                f"the value of {self!r} is rounded to .{scalar.word}: state how, "
                f'.convert({scalar.word}, "{error.choices[0]}"), by one of {", ".join(error.choices)}'
            ) from None
        register = cast("Register[OtherT]", result)
        if issubclass(scalar, IntegerScalar) and issubclass(self.type, IntegerScalar):
            register.multiple = min(self.multiple, 1 << (scalar.bits - 1))
        return register

    # ----------------------------------------------------------------------------------------- internals

    def _check_divides(self) -> None:
        if not issubclass(self.type, FloatScalar):
            raise BuildTypeError(f"`/` divides floating-point values, not .{self.type.word}; use `//`")
        if self.type not in (f32, f64):
            raise BuildTypeError(f"PTX divides f32 and f64, not {self!r}: use .convert(f32), or multiply by a number")

    def _power_of_two_divisor(self, divisor: object) -> int | None:
        """Returns a constant power of two by which unsigned values of this type are divided, or None.

        A shift or a mask then replaces the division. Signed division rounds toward zero, which shifts do not.
        """
        if isinstance(divisor, bool) or not isinstance(divisor, int) or not issubclass(self.type, UnsignedScalar):
            return None
        return divisor if 0 < divisor < 1 << self.type.bits and not divisor & (divisor - 1) else None

    def _arithmetic(
        self, name: str, left: object, right: object, multiple: int = 1, into: Variable[ScalarT] | None = None
    ) -> Register[ScalarT]:
        if not issubclass(self.type, IntegerScalar | FloatScalar):
            raise BuildTypeError(f"arithmetic on .{self.type.word}: reinterpret the value as a number first")
        if right is not None:
            _check_same_type(self, left if right is self else right)
        if name in ("div", "rem") and isinstance(right, int) and right == 0:
            raise BuildValueError(f"{self!r} is divided by 0, and the result is undefined")
        operands = (left,) if right is None else (left, right)
        result = cast("Register[ScalarT]", self.builder.instruction(name, operands, into=into))
        if into is None:
            result.multiple = multiple
        return result

    def _logic(
        self, name: str, other: object, multiple: int, into: Variable[ScalarT] | None = None
    ) -> Register[ScalarT]:
        if other is not None:
            _check_same_type(self, other)
        word = "pred" if self.type is pred else f"b{self.type.bits}"
        return self._bitwise(f"{name}_{word}", (self,) if other is None else (self, other), multiple, into)

    def _bitwise(
        self, name: str, operands: tuple[object, ...], multiple: int, into: Variable[ScalarT] | None = None
    ) -> Register[ScalarT]:
        """Emits an instruction on `.bN` whose result has the type of its operand."""
        if issubclass(self.type, FloatScalar):
            raise BuildTypeError(f"bitwise operation on .{self.type.word}; move its bits to .b{self.type.bits} first")
        result = cast("Register[Any]", self.builder.instruction(name, operands, into=into))
        return Register(self.builder, self.type, result.name, multiple)

    def _compare(self, operator: str, other: object) -> Register[pred]:
        if self.type is pred:
            raise BuildTypeError("predicates are combined with `&`, `|`, `^` and `~`, not compared")
        _check_same_type(self, other)
        return cast("Register[pred]", self.builder.instruction(f"setp_{operator}", (self, other)))


class Variable(Register[ScalarT]):
    """A register that may be written more than once: `k.variable(u32, 0)`, then `total += x` or `total.set(y)`."""

    __slots__ = ()

    def set(self, value: Register[ScalarT] | Number) -> None:
        """Assigns a value to the variable: `mov`."""
        _check_same_type(self, value)
        self._check_multiple(known_multiple(value), value)
        word = f"b{self.type.bits}" if needs_register(self.type) else self.type.word
        self.builder.instruction(f"mov_{word}", (as_constant(value, self.type),), into=self)

    def __iadd__(self, other: Register[ScalarT] | Number) -> Self:
        return self._update_arithmetic("add", other)

    def __isub__(self, other: Register[ScalarT] | Number) -> Self:
        return self._update_arithmetic("sub", other)

    def __imul__(self, other: Register[ScalarT] | Number) -> Self:
        return self._update_arithmetic("mul_lo" if issubclass(self.type, IntegerScalar) else "mul", other)

    def __iand__(self, other: Register[ScalarT] | int) -> Self:
        self._logic("and", other, 1, into=self)
        return self

    def __ior__(self, other: Register[ScalarT] | int) -> Self:
        return self._update_bitwise("or", other)

    def __ixor__(self, other: Register[ScalarT] | int) -> Self:
        return self._update_bitwise("xor", other)

    def _update_arithmetic(self, name: str, other: Register[ScalarT] | Number) -> Self:
        """Assigns the result of an instruction on the variable and another value to the variable, and returns the
        variable.
        """
        if not name.startswith("mul"):
            self._check_multiple(known_multiple(other), other)
        self._arithmetic(name, self, other, into=self)
        return self

    def _update_bitwise(self, name: str, other: Register[ScalarT] | int) -> Self:
        self._check_multiple(known_multiple(other), other)
        self._logic(name, other, 1, into=self)
        return self

    def _check_multiple(self, multiple: int, value: object) -> None:
        if multiple < self.multiple:
            raise BuildTypeError(f"{self!r} keeps multiples of {self.multiple}, and {value!r} is not known to be one")


def _check_same_type(register: Register[Any], other: object) -> None:
    """Raises `BuildTypeError` if the operands of an operator have different types. A constant has the register's
    type.
    """
    if isinstance(other, Register):
        if other.builder is not register.builder:
            raise BuildTypeError(f"{other!r} belongs to another kernel than {register!r}")
        if other.type is not register.type:
            raise BuildTypeError(
                f"{register!r} and {other!r} have different types; use .reinterpret(...) for the bits "
                "or .convert(...) for the value"
            )
        return
    if isinstance(other, bool) or not isinstance(other, int | float):
        raise BuildTypeError(f"{register!r} with {type(other).__name__}: an operand is a register or a number")


def as_constant(value: ValueT, scalar: type[Scalar]) -> ValueT | int:
    """Returns the value, or the bits of a number if PTX has no constants of the type."""
    return encode_number(value, scalar) if isinstance(value, int | float) and needs_register(scalar) else value


def load_number(k: InstructionEmitter, value: Number, scalar: type[ScalarT]) -> Register[ScalarT]:
    """Returns a number in a new register: `mov` of its bits where PTX has no constants of the type.

    Raises `BuildTypeError` or `BuildValueError` for a number that the type does not have.
    """
    place = k.register(scalar)
    check_number(value, scalar)
    word = f"b{max(scalar.bits, 16)}" if needs_register(scalar) or scalar.bits == b8.bits else scalar.word
    k.emit(f"mov.{word}", Register(k, SCALARS[word], place.name), as_constant(value, scalar))
    return place


def known_multiple(value: object) -> int:
    """Returns a power of two that divides the value of a register or a number."""
    if isinstance(value, Register):
        return value.multiple
    return largest_power_of_two_factor(value) if isinstance(value, int) else 1


def check_predicate(value: object) -> Register[pred]:
    """Returns the value. Raises `BuildTypeError` if it is not a predicate register."""
    if not isinstance(value, Register) or value.type is not pred:
        raise BuildTypeError(f"a condition is a predicate register, such as the result of a comparison; got {value!r}")
    return value
