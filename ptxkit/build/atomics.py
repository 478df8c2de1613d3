"""Atomic operations on the element of an address, with memory order and scope.

    old = counts[key].atomic_add(1)
    counts[key].reduce("add", 1, scope="cta")               # no result: `red`
    ticket = counter.atomic_inc(last, order="acq_rel")

The `atomic_` methods return the value before the operation. The order is `relaxed`, `acquire`, `release` or `acq_rel`,
and the scope, `cta`, `cluster`, `gpu` or `sys`, states for which threads the operation is atomic.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red", "Memory Consistency Model:
Scope".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ptxkit.build.errors import BuildTypeError
from ptxkit.build.memory_access import Scope, check_choice
from ptxkit.build.number_formats import encode_number, float_operand, needs_register
from ptxkit.build.registers import Number, Register
from ptxkit.kernel_model.scalar_types import FloatScalar, Scalar, ScalarT, u32

if TYPE_CHECKING:
    from ptxkit.build.addresses import Address

AtomicOrder: TypeAlias = Literal["relaxed", "acquire", "release", "acq_rel"]
ReductionName: TypeAlias = Literal["add", "min", "max", "inc", "dec", "and", "or", "xor"]


def atomic_add(
    address: Address[ScalarT],
    value: Register[ScalarT] | Number,
    *,
    order: AtomicOrder = "relaxed",
    scope: Scope = "gpu",
) -> Register[ScalarT]:
    """Adds a value to the element and returns the element before: `atom.add`.

    For u32, s32, u64, f32, f64, f16, f16x2, and from sm_90 on bf16 and bf16x2. Half precision does not flush subnormal
    numbers (`.noftz`).
    """
    return _update(address, "add", (value,), order, scope)


def atomic_min(
    address: Address[ScalarT],
    value: Register[ScalarT] | Number,
    *,
    order: AtomicOrder = "relaxed",
    scope: Scope = "gpu",
) -> Register[ScalarT]:
    """Sets the element to the smaller of it and a value, and returns the element before: `atom.min`, of integers with
    32 or 64 bits.
    """
    return _update(address, "min", (value,), order, scope)


def atomic_max(
    address: Address[ScalarT],
    value: Register[ScalarT] | Number,
    *,
    order: AtomicOrder = "relaxed",
    scope: Scope = "gpu",
) -> Register[ScalarT]:
    """Sets the element to the larger of it and a value, and returns the element before: `atom.max`, of integers with 32
    or 64 bits.
    """
    return _update(address, "max", (value,), order, scope)


def atomic_and(
    address: Address[ScalarT], value: Register[ScalarT] | int, *, order: AtomicOrder = "relaxed", scope: Scope = "gpu"
) -> Register[ScalarT]:
    """Clears the bits of the element that a value does not have, and returns the element before: `atom.and`."""
    return _update(address, "and", (value,), order, scope)


def atomic_or(
    address: Address[ScalarT], value: Register[ScalarT] | int, *, order: AtomicOrder = "relaxed", scope: Scope = "gpu"
) -> Register[ScalarT]:
    """Sets the bits of a value in the element, and returns the element before: `atom.or`."""
    return _update(address, "or", (value,), order, scope)


def atomic_xor(
    address: Address[ScalarT], value: Register[ScalarT] | int, *, order: AtomicOrder = "relaxed", scope: Scope = "gpu"
) -> Register[ScalarT]:
    """Inverts the bits of a value in the element, and returns the element before: `atom.xor`."""
    return _update(address, "xor", (value,), order, scope)


def atomic_inc(
    address: Address[u32], limit: Register[u32] | int, *, order: AtomicOrder = "relaxed", scope: Scope = "gpu"
) -> Register[u32]:
    """Adds 1 to the element, or sets it to 0 if it is `limit` or more, and returns the element before: `atom.inc`."""
    return _update(address, "inc", (limit,), order, scope)


def atomic_dec(
    address: Address[u32], limit: Register[u32] | int, *, order: AtomicOrder = "relaxed", scope: Scope = "gpu"
) -> Register[u32]:
    """Subtracts 1 from the element, or sets it to `limit` if it is 0 or more than `limit`, and returns the element
    before: `atom.dec`.
    """
    return _update(address, "dec", (limit,), order, scope)


def atomic_exch(
    address: Address[ScalarT],
    value: Register[ScalarT] | Number,
    *,
    order: AtomicOrder = "relaxed",
    scope: Scope = "gpu",
) -> Register[ScalarT]:
    """Sets the element to a value and returns the element before: `atom.exch`, of 32, 64 or 128 bits."""
    return _update(address, "exch", (_as_untyped(value, address.type),), order, scope)


def atomic_cas(
    address: Address[ScalarT],
    compare: Register[ScalarT] | Number,
    value: Register[ScalarT] | Number,
    *,
    order: AtomicOrder = "relaxed",
    scope: Scope = "gpu",
) -> Register[ScalarT]:
    """Sets the element to a value if it has the bits of `compare`, and returns the element before: `atom.cas`, of 16 to
    128 bits.
    """
    untyped = tuple(_as_untyped(each, address.type) for each in (compare, value))
    return _update(address, "cas", untyped, order, scope)


def reduce(
    address: Address[ScalarT],
    operation: ReductionName,
    values: Register[ScalarT] | Number | Sequence[Register[ScalarT] | Number],
    *,
    order: Literal["relaxed", "release"] = "relaxed",
    scope: Scope = "gpu",
) -> None:
    """Updates the element as the `atomic_` method of the name does, without a result: `red`.

    From sm_90 on, a sequence of values updates consecutive elements in global memory, each atomically: two or four f32,
    two, four or eight f16 or bf16, two or four f16x2 or bf16x2.
    """
    check_choice(operation, ReductionName, "operation")
    operands = tuple(values) if isinstance(values, Sequence) else values
    address.builder.instruction(_name("red", address, operation, order, scope), (address, operands))


def _update(address: Address[Any], operation: str, values: tuple[object, ...], order: str, scope: str) -> Register[Any]:
    place = address.builder.register(address.type)
    name = _name("atom", address, operation, order, scope)
    return cast("Register[Any]", address.builder.instruction(name, (address, *values), into=place))


def _as_untyped(value: Register[Any] | Number, scalar: type[Scalar]) -> Register[Any] | Number:
    """Returns a number as its bits where the instruction has no floating-point type."""
    if isinstance(value, Register) or not issubclass(scalar, FloatScalar):
        return value
    return encode_number(value, scalar) if needs_register(scalar) else float_operand(float(value), scalar.bits).bits


def _name(head: str, address: Address[Any], operation: str, order: str, scope: str) -> str:
    check_choice(order, AtomicOrder, "order")
    check_choice(scope, Scope, "scope")
    if operation in ("and", "or", "xor") and issubclass(address.type, FloatScalar):
        raise BuildTypeError(f"bitwise operation on .{address.type.word}; use .cast(b{address.type.bits}) for the bits")
    rounds = operation in ("add", "min", "max") and needs_register(address.type)
    return f"{head}_{order}_{scope}_{operation}{'_noftz' * rounds}"
