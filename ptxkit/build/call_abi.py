"""The ABI of calls: stores and loads of `.param` memory that pass arguments and results.

Source: PTX ISA, "Abstracting the ABI: Function Declarations and Definitions", "Parameter State Space".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.build.addresses import Address, Shared, SharedCluster
from ptxkit.build.errors import BuildTypeError
from ptxkit.build.prototypes import ParameterSlot, compute_struct_layout
from ptxkit.build.registers import Register, load_number
from ptxkit.build.tensormap import TensorMap
from ptxkit.kernel_model.scalar_types import FloatScalar, SignedScalar, s32, u32
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder


def emit_param_stores(
    builder: InstructionBuilder,
    places: Sequence[tuple[str, int]],
    slots: Sequence[ParameterSlot],
    values: Sequence[object],
    what: str,
) -> Iterator[tree.Instruction]:
    """Yields the `st.param` instructions that store arguments to their locations (name and offset).

    Instructions that compute the arguments are recorded immediately. Members of a structure are not widened. Raises
    `BuildTypeError` if an argument does not have the type of its slot.
    """
    several = what == "result" and len(slots) > 1
    prepared = [
        _prepare_argument(builder, each, value, what, whole=not several)
        for each, value in zip(slots, values, strict=True)
    ]
    for (name, offset), each, register in zip(places, slots, prepared, strict=True):
        word = each.load_type if several else each.store_type
        yield tree.Instruction(f"st.param.{word}", (tree.Address(tree.Name(name), offset), tree.Name(register.name)))


def _prepare_argument(
    builder: InstructionBuilder, wanted: ParameterSlot, value: object, what: str, *, whole: bool
) -> Register[Any]:
    """Returns the value in a register of the width in which it is passed."""
    if wanted.address is not None:
        return _address_argument(wanted, value, what)
    register = _materialize_constant(builder, wanted, value, what) if isinstance(value, int | float) else value
    if not isinstance(register, Register) or register.type is not wanted.scalar:
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}")
    if wanted.is_widened and whole:
        return register.convert(s32 if issubclass(wanted.scalar, SignedScalar) else u32)
    return register


def _materialize_constant(builder: InstructionBuilder, wanted: ParameterSlot, value: float, what: str) -> Register[Any]:
    if isinstance(value, bool) or (isinstance(value, float) and not issubclass(wanted.scalar, FloatScalar)):
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}")
    return load_number(builder, value, wanted.scalar)


def _address_argument(wanted: ParameterSlot, value: object, what: str) -> Register[Any]:
    kind = wanted.address
    assert kind is not None
    if wanted.tensor is not None:
        if not isinstance(value, TensorMap) or value.form != wanted.tensor:
            raise BuildTypeError(f"{what} `{wanted.name}` is a tensor map of {wanted.tensor}, got {value!r}")
        return value.address.to_register()
    wider = kind is SharedCluster and isinstance(value, Shared)
    if not isinstance(value, kind) and not wider:
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}")
    assert isinstance(value, Address)
    if value.type is not wanted.scalar:
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}; use .cast({wanted.scalar.word})")
    if value.alignment < wanted.alignment:
        raise BuildTypeError(f"{what} `{wanted.name}` is aligned to {wanted.alignment} bytes, got {value!r}")
    return value.to_register()


def wrap_parameter(
    builder: InstructionBuilder, given: ParameterSlot, register: Register[Any]
) -> Register[Any] | Address[Any]:
    """Returns a passed register as the callee or the caller sees it: a value, or an address."""
    if given.address is None:
        return register
    return given.address(builder, given.scalar, register, given.alignment)


def emit_result_loads(
    builder: InstructionBuilder, given: Sequence[ParameterSlot], place: str, statements: list[tree.Statement]
) -> tuple[Register[Any] | Address[Any], ...]:
    """Returns the results of a call, and appends the `ld.param` instructions that read them to the statements."""
    found = []
    for each, offset in zip(given, compute_struct_layout(given)[0], strict=True):
        register: Register[Any] = builder.register(each.register_type)
        operands = (tree.Name(register.name), tree.Address(tree.Name(place), offset))
        statements.append(tree.Instruction(f"ld.param.{each.load_type}", operands))
        found.append(wrap_parameter(builder, each, register))
    return tuple(found)
