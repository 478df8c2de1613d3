"""Signatures of functions: parameters, results, and their layout in `.param` memory.

The layout is the ABI of CUDA C++. Source: PTX ISA, "Abstracting the ABI: Function Declarations and Definitions",
"Parameter State Space".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, get_args, get_origin

from ptxkit.build.addresses import Address
from ptxkit.build.declaration_checks import check_element, resolve_alignment
from ptxkit.build.errors import BuildTypeError
from ptxkit.build.mbarrier import Barrier, RemoteBarrier
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import IntegerScalar, Scalar, b64, memory_word, pred
from ptxkit.kernel_model.tensor_form import TensorForm
from ptxkit.syntax import tree

_BARRIER_ADDRESSES: tuple[type[Address[Any]], ...] = (Barrier, RemoteBarrier)
"""Address types whose element type is fixed."""


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """A parameter or a result.

    `scalar` is its type, or the element type of an address. `address` is the kind of address, or None for a value, and
    `alignment` that of the memory at the address, in bytes. `tensor` describes the tensor map whose address it is.
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
        """Whether it is a narrow integer, which is passed as 32 bits."""
        return self.register_type.bits < 32 and issubclass(self.register_type, IntegerScalar)

    @property
    def size(self) -> int:
        """Its size in bytes as an argument."""
        return 4 if self.is_widened else self.register_type.size()

    @property
    def load_type(self) -> str:
        """The type with which it is loaded from `.param` memory."""
        return memory_word(self.register_type)

    @property
    def store_type(self) -> str:
        """The type with which it is stored to `.param` memory."""
        return "b32" if self.is_widened else self.load_type

    def declaration(self, name: str) -> tree.Declaration:
        """Returns its declaration in `.param` memory. A half is a structure of two bytes."""
        held = self.register_type
        if self.is_widened or held.bits in (32, 64):
            return tree.Declaration("param", f"b{8 * self.size}", (tree.Declarator(name),))
        declarator = tree.Declarator(name, dimensions=(held.size(),))
        return tree.Declaration("param", "b8", (declarator,), alignment=held.size())


def make_slot(form: Any, align: int | None, name: str) -> ParameterSlot:
    """Returns the slot of a type (`u32`) or an address (`Shared[f32]`, `Barrier`). Raises `BuildTypeError`
    otherwise.
    """
    if form in _BARRIER_ADDRESSES:
        return ParameterSlot(name, b64, form, 8)
    kind, arguments = get_origin(form), get_args(form)
    if isinstance(kind, type) and issubclass(kind, Address):
        check_element(arguments[0])
        return ParameterSlot(name, arguments[0], kind, resolve_alignment(align, arguments[0]))
    if not (isinstance(form, type) and issubclass(form, Scalar)):
        raise BuildTypeError(f"a function takes types such as u32 and addresses such as Shared[f32], not {form!r}")
    if form is pred:
        raise BuildTypeError("memory holds no predicate: pass a u32, `k.where(p, 1, 0, u32)`")
    return ParameterSlot(name, form)


def make_result_slots(forms: Any) -> tuple[ParameterSlot, ...]:
    """Returns the slots of the results: none, one, or several in a tuple."""
    several = () if forms is None else forms if isinstance(forms, tuple) else (forms,)
    return tuple(make_slot(form, None, f"result_{number}") for number, form in enumerate(several))


def compute_struct_layout(results: Sequence[ParameterSlot]) -> tuple[tuple[int, ...], int, int]:
    """Returns the offsets of several results, and their size and alignment in bytes, as in a structure of C."""
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
    """The signature of a function. `linkage` is `visible`, `extern`, or empty."""

    name: str
    params: tuple[ParameterSlot, ...]
    results: tuple[ParameterSlot, ...]
    linkage: str = ""

    @property
    def result_name(self) -> str:
        """The name of the variable that the function writes its results to."""
        return "func_retval0"

    def declare_results(self, name: str) -> tuple[tree.Declaration, ...]:
        """Returns the declaration of one variable for all results: the function's own, or the caller's."""
        if not self.results:
            return ()
        if len(self.results) == 1:
            return (self.results[0].declaration(name),)
        _, size, alignment = compute_struct_layout(self.results)
        declarator = tree.Declarator(name, dimensions=(size,))
        return (tree.Declaration("param", "b8", (declarator,), alignment=alignment),)

    def to_function(self, body: tree.Body | None = None) -> tree.Function:
        """Returns the function of the module, or its declaration if it has no body."""
        return tree.Function(
            "func",
            self.name,
            tuple(each.declaration(each.name) for each in self.params),
            self.declare_results(self.result_name),
            (self.linkage,) if self.linkage else (),
            body=body,
        )


class Callee(Protocol):
    """A function that can be called: one of the builder, or one of another module."""

    name: str
    threads: tuple[int, int, int] | None

    @property
    def prototype(self) -> FunctionPrototype:
        """The signature that callers use."""
        ...
