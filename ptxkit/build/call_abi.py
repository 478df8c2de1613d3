"""How values are passed to functions and back: the `.param` memory of a call, by the ABI of CUDA C++.

Source: PTX ISA, "Abstracting the ABI: Function Declarations and Definitions", "Parameter State Space".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin

from ptxkit.build.addresses import Address, Shared, SharedCluster
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.mbarrier import Barrier, RemoteBarrier
from ptxkit.build.memory_declarations import check_element, resolve_alignment
from ptxkit.build.registers import Register
from ptxkit.build.scalar_types import IntegerScalar, Scalar, SignedScalar, b64, memory_word, pred, s32, u32
from ptxkit.build.tensormap import TensorForm, TensorMap
from ptxkit.fast_dataclasses import dataclass
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder

_BARRIER_ADDRESSES: tuple[type[Address[Any]], ...] = (Barrier, RemoteBarrier)
"""Addresses whose elements are fixed."""


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """A parameter or a result.

    scalar: its type, or that of the elements behind an address. address: the kind of address, None for a value.
    alignment: of what an address points to, in bytes. tensor: what the tensor map is like that it is the address of.
    """

    name: str
    scalar: type[Scalar]
    address: type[Address[Any]] | None = None
    alignment: int = 1
    tensor: TensorForm | None = None

    def __str__(self) -> str:
        if self.tensor is not None:
            return "tensor map"
        return self.scalar.word if self.address is None else f"{self.address.__name__}[{self.scalar.word}]"

    @property
    def register_type(self) -> type[Scalar]:
        """The type of the register that holds it."""
        return self.scalar if self.address is None else self.address.pointer

    @property
    def is_widened(self) -> bool:
        """Whether it is an integer that is passed as 32 bits."""
        return self.register_type.bits < 32 and issubclass(self.register_type, IntegerScalar)

    @property
    def size(self) -> int:
        """Bytes that it takes by itself, as an argument."""
        return 4 if self.is_widened else self.register_type.size()

    @property
    def load_type(self) -> str:
        """The type by which it is read from its place."""
        return memory_word(self.register_type)

    @property
    def store_type(self) -> str:
        """The type by which it is written there."""
        return "b32" if self.is_widened else self.load_type

    def declaration(self, name: str) -> tree.Declaration:
        """Its place in `.param` memory; a half is a structure of two bytes."""
        held = self.register_type
        if self.is_widened or held.bits in (32, 64):
            return tree.Declaration("param", f"b{8 * self.size}", (tree.Declarator(name),))
        declarator = tree.Declarator(name, dimensions=(held.size(),))
        return tree.Declaration("param", "b8", (declarator,), alignment=held.size())


def make_slot(form: Any, align: int | None, name: str) -> ParameterSlot:
    """The slot of a type (`u32`) or an address (`Shared[f32]`, `Barrier`); BuildTypeError for anything else."""
    if form in _BARRIER_ADDRESSES:
        return ParameterSlot(name, b64, form, 8)
    kind, arguments = get_origin(form), get_args(form)
    if isinstance(kind, type) and issubclass(kind, Address):
        check_element(arguments[0])
        return ParameterSlot(name, arguments[0], kind, resolve_alignment(align, arguments[0]))
    if not (isinstance(form, type) and issubclass(form, Scalar)):
        raise BuildTypeError(f"a function takes types such as u32 and addresses such as Shared[f32], not {form!r}")
    if form is pred:
        raise BuildTypeError("a predicate stands in no memory: pass a u32, `k.selected(1, 0, p, u32)`")
    return ParameterSlot(name, form)


def make_result_slots(forms: Any) -> tuple[ParameterSlot, ...]:
    """The slots of the results: none, one, or several in a tuple."""
    several = () if forms is None else forms if isinstance(forms, tuple) else (forms,)
    return tuple(make_slot(form, None, f"result_{number}") for number, form in enumerate(several))


def compute_struct_layout(results: Sequence[ParameterSlot]) -> tuple[tuple[int, ...], int, int]:
    """The offsets of several results, their size and alignment in bytes: those of a structure in C."""
    if len(results) == 1:
        return (0,), results[0].size, results[0].size
    offsets, end, largest = [], 0, 1
    for each in results:
        size = each.register_type.size()
        start = -(-end // size) * size
        offsets.append(start)
        end, largest = start + size, max(largest, size)
    return tuple(offsets), -(-end // largest) * largest, largest


@dataclass(frozen=True, slots=True)
class FunctionPrototype:
    """What callers know of a function. linkage: `visible`, `extern`, or empty."""

    name: str
    params: tuple[ParameterSlot, ...]
    results: tuple[ParameterSlot, ...]
    linkage: str = ""

    @property
    def result_name(self) -> str:
        """Of the place that the function writes its results to."""
        return "func_retval0"

    def declare_results(self, name: str) -> tuple[tree.Declaration, ...]:
        """One place for all results: the function's own, or the caller's."""
        if not self.results:
            return ()
        if len(self.results) == 1:
            return (self.results[0].declaration(name),)
        _, size, alignment = compute_struct_layout(self.results)
        declarator = tree.Declarator(name, dimensions=(size,))
        return (tree.Declaration("param", "b8", (declarator,), alignment=alignment),)

    def to_function(self, body: tree.Body | None = None) -> tree.Function:
        """The function in the module, or its declaration."""
        return tree.Function(
            "func",
            self.name,
            tuple(each.declaration(each.name) for each in self.params),
            self.declare_results(self.result_name),
            (self.linkage,) if self.linkage else (),
            body=body,
        )


# ------------------------------------------------------------------------------------------------ arguments


def emit_param_stores(
    builder: InstructionBuilder,
    places: Sequence[tuple[str, int]],
    slots: Sequence[ParameterSlot],
    values: Sequence[object],
    what: str,
) -> Iterator[tree.Instruction]:
    """The `st.param` that put the values into their places (name and offset); what prepares them is recorded now.

    BuildTypeError where a value is not of its slot's type. A structure's members are not widened.
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
    """The value in a register, as wide as it is passed."""
    if wanted.address is not None:
        return _address_argument(wanted, value, what)
    register = _materialize_constant(builder, wanted, value, what) if isinstance(value, int | float) else value
    if not isinstance(register, Register) or register.type is not wanted.scalar:
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}")
    if wanted.is_widened and whole:
        return register.convert(s32 if issubclass(wanted.scalar, SignedScalar) else u32)
    return register


def _materialize_constant(builder: InstructionBuilder, wanted: ParameterSlot, value: float, what: str) -> Register[Any]:
    if isinstance(value, bool):
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}")
    scalar = wanted.scalar
    if scalar.bits >= 32:
        return cast("Register[Any]", builder.instruction(f"mov_{scalar.word}", (value,)))
    if not isinstance(value, int) or scalar.bits != 16:
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}: pass a register, not the constant {value}")
    least = -(1 << 15) if issubclass(scalar, SignedScalar) else 0
    if not least <= value < least + (1 << 16):
        raise BuildValueError(f"{value} does not fit in .{scalar.word}")
    moved = cast("Register[Any]", builder.instruction("mov_b16", (value & 0xFFFF,)))
    return Register(builder, scalar, moved.name)


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
        raise BuildTypeError(f"{what} `{wanted.name}` is a {wanted}, got {value!r}; say .cast({wanted.scalar.word})")
    if value.alignment < wanted.alignment:
        raise BuildTypeError(f"{what} `{wanted.name}` is aligned to {wanted.alignment} bytes, got {value!r}")
    return value.to_register()


def wrap_parameter(
    builder: InstructionBuilder, given: ParameterSlot, register: Register[Any]
) -> Register[Any] | Address[Any]:
    """What the other side sees of a register that was passed: the value, or an address made of it."""
    if given.address is None:
        return register
    return given.address(builder, given.scalar, register, given.alignment)


def emit_result_loads(
    builder: InstructionBuilder, given: Sequence[ParameterSlot], place: str, statements: list[tree.Statement]
) -> tuple[Register[Any] | Address[Any], ...]:
    """What a call gives; the `ld.param` that read it are appended to the statements."""
    found = []
    for each, offset in zip(given, compute_struct_layout(given)[0], strict=True):
        register: Register[Any] = builder.register(each.register_type)
        operands = (tree.Name(register.name), tree.Address(tree.Name(place), offset))
        statements.append(tree.Instruction(f"ld.param.{each.load_type}", operands))
        found.append(wrap_parameter(builder, each, register))
    return tuple(found)
