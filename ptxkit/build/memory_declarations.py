"""Memory that a kernel declares: shared, launch-sized, local and constant arrays, and mbarrier objects.

Source: PTX ISA, "State Spaces", "Variables", "Initializers".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast, get_origin

from ptxkit.build.addresses import Address, Const, Local, Shared
from ptxkit.build.declaration_checks import check_element, check_identifier, element_of, resolve_alignment
from ptxkit.build.declarations import DYNAMIC_SHARED
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.mbarrier import Barrier
from ptxkit.build.number_formats import check_number, encode_number, float_operand, needs_register
from ptxkit.build.operand_fitting import integer_operand
from ptxkit.build.registers import Number, Register
from ptxkit.kernel_model.limits import MAX_STATIC_SHARED_BYTES
from ptxkit.kernel_model.scalar_types import Scalar, ScalarT, b64, memory_word
from ptxkit.syntax import tree

_AddressT = TypeVar("_AddressT", bound=Address[Any])


# ------------------------------------------------------------------------------------------- shared


def shared(
    k: InstructionBuilder, scalar: type[ScalarT], count: int, *, align: int | None = None, name: str | None = None
) -> Shared[ScalarT]:
    """Declares an array of `count` elements in the CTA's shared memory, and returns its address.

    `align` is its alignment in bytes, by default that of an element. Raises `BuildValueError` if all shared arrays
    together exceed the 48 KB that a kernel may declare; larger ones must be launch-sized (`dynamic_shared`).
    """
    check_element(scalar)
    alignment = resolve_alignment(align, scalar)
    name = _declare_shared(k, scalar, count, alignment, name)
    return Shared(k, scalar, name, alignment, 0, (0, count * scalar.size()))


def mbarrier(k: InstructionBuilder, name: str | None = None, count: int | None = None) -> Barrier:
    """Declares an mbarrier object in shared memory, or an array of `count` of them. `init` must initialize them."""
    name = _declare_shared(k, b64, count, 8, name or f"mbarrier_{len(k.declarations.variables)}")
    return Barrier(k, b64, name, 8, 0, (0, 8 * (count or 1)))


def dynamic_shared(
    k: InstructionBuilder, scalar: type[ScalarT], count: int = 0, *, align: int | None = None
) -> Shared[ScalarT]:
    """Returns the address of shared memory whose size the launch determines: at least `count` elements.

    All requests return the same base address, aligned to the largest requested alignment. `dynamic_smem_size` is the
    size in bytes on the device.
    """
    check_element(scalar)
    if not isinstance(count, int) or count < 0:
        raise BuildValueError(f"the minimum number of elements is an integer of at least 0, not {count!r}")
    alignment = resolve_alignment(align, scalar)
    known, size = k.declarations.dynamic_request
    k.declarations.dynamic_request = (max(known, alignment), max(size, count * scalar.size()))
    return Shared(k, scalar, DYNAMIC_SHARED, alignment)


def _declare_shared(
    k: InstructionBuilder, scalar: type[Scalar], count: int | None, alignment: int, name: str | None
) -> str:
    name = reserve_name(k, name or f"shared_{len(k.declarations.variables)}", "a shared array")
    size = (1 if count is None else _check_count(count)) * scalar.size()
    start = -(-k.declarations.static_bytes // alignment) * alignment
    k.declarations.static_bytes = start + size
    if k.declarations.static_bytes > MAX_STATIC_SHARED_BYTES:
        raise BuildValueError(
            f"{k.declarations.static_bytes} bytes of shared arrays; more than {MAX_STATIC_SHARED_BYTES} must be "
            "launch-sized: k.dynamic_shared(...)"
        )
    declarator = tree.Declarator(name, dimensions=() if count is None else (count,))
    k.declarations.variables.append(tree.Declaration("shared", memory_word(scalar), (declarator,), alignment=alignment))
    return name


# ----------------------------------------------------------------------------------- local, constant


def local(
    k: InstructionBuilder, scalar: type[ScalarT], count: int, *, align: int | None = None, name: str | None = None
) -> Local[ScalarT]:
    """Declares an array of `count` elements in the thread's local memory, and returns its address.

    Local memory is slow. It is needed for arrays whose indices are not constants.
    """
    check_element(scalar)
    alignment = resolve_alignment(align, scalar)
    name = reserve_name(k, name or f"local_{len(k.declarations.variables)}", "a local array")
    declarator = tree.Declarator(name, dimensions=(_check_count(count),))
    k.declarations.variables.append(tree.Declaration("local", memory_word(scalar), (declarator,), alignment=alignment))
    return Local(k, scalar, name, alignment, 0, (0, count * scalar.size()))


def constant(
    k: InstructionBuilder,
    scalar: type[ScalarT],
    values: Sequence[Number],
    *,
    align: int | None = None,
    name: str | None = None,
) -> Const[ScalarT]:
    """Declares an array with these values in constant memory, and returns its address.

    All kernels of a module share 64 KB of constant memory. Raises `BuildTypeError` or `BuildValueError` if a value does
    not fit the type.
    """
    check_element(scalar)
    if not isinstance(values, Sequence) or not values:
        raise BuildValueError(f"a constant array has a sequence of values, at least one, not {values!r}")
    alignment = resolve_alignment(align, scalar)
    name = reserve_name(
        k, name or f"{k.declarations.module_prefix}const_{len(k.declarations.constants)}", "a constant array"
    )
    initializer = tree.Vector(tuple(_make_initializer(value, scalar) for value in values))
    declarator = tree.Declarator(name, dimensions=(len(values),), initialiser=initializer)
    k.declarations.constants.append(tree.Declaration("const", memory_word(scalar), (declarator,), alignment=alignment))
    return Const(k, scalar, name, alignment, 0, (0, len(values) * scalar.size()))


def pointer(
    k: InstructionBuilder, form: type[_AddressT], register: Register[Any], align: int | None = None
) -> _AddressT:
    """Returns an address from a register that holds one: `k.pointer(Shared[f32], r, align=16)`.

    `align` is the alignment in bytes that the caller guarantees, by default that of an element. Raises `BuildTypeError`
    if the register is not as wide as such an address.
    """
    space, element = get_origin(form), element_of(form)
    if space is None or not issubclass(space, Address):
        raise BuildTypeError(f"an address type is written like Global[f32], not {form!r}")
    if not isinstance(register, Register) or register.type.bits != space.pointer.bits:
        raise BuildTypeError(
            f"an address in .{space.space} is held by a .{space.pointer.word} register, not {register!r}"
        )
    return cast("_AddressT", space(k, element, register, resolve_alignment(align, element)))


def reserve_name(k: InstructionBuilder, name: str, what: str) -> str:
    """Returns the name. Raises `BuildValueError` if it is not an identifier of PTX, and `BuildError` if it is taken."""
    check_identifier(name, what)
    if name in k.reserved_names():
        raise BuildError(f"the name {name!r} is taken")
    return name


def _check_count(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise BuildValueError(f"the number of elements of an array is an integer of at least 1, not {count!r}")
    return count


def _make_initializer(value: Number, scalar: type[Scalar]) -> tree.Operand:
    check_number(value, scalar)
    if needs_register(scalar):
        return integer_operand(encode_number(value, scalar))
    return float_operand(float(value), scalar.bits) if scalar.family == "f" else integer_operand(int(value))
