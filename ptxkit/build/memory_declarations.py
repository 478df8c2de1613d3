"""Memory that a kernel declares: shared, launch-sized, local and constant arrays, and mbarrier objects.

Source: PTX ISA, "State Spaces", "Variables", "Initializers".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.build.addresses import Const, Local, Shared
from ptxkit.build.control_flow import ControlFlowBuilder
from ptxkit.build.errors import BuildError, BuildTypeError, BuildValueError
from ptxkit.build.mbarrier import Barrier
from ptxkit.build.operand_fitting import float_operand, integer_operand
from ptxkit.build.scalar_types import Scalar, ScalarT, b64, memory_word, pred
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.registers import Number

_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")

STATIC_SHARED_LIMIT = 48 * 1024
"""Bytes of shared memory that may be declared with their size; beyond it stands only launch-sized memory."""

DYNAMIC_SHARED = "dynamic_shared"
"""The one variable that launch-sized shared memory begins at."""


class MemoryBuilder(ControlFlowBuilder):
    """Declares arrays. `variables` stand in the kernel's body, `constants` before it."""

    module_prefix = ""
    """Of the names that stand beside those of other kernels and functions."""

    def __init__(self) -> None:
        super().__init__()
        self.variables: list[tree.Declaration] = []
        self.constants: list[tree.Declaration] = []
        self.dynamic_request = (0, 0)
        """Alignment and bytes of launch-sized memory that are asked for here."""
        self.static_bytes = 0

    # ------------------------------------------------------------------------------------------- shared

    def shared(
        self, scalar: type[ScalarT], count: int, *, align: int | None = None, name: str | None = None
    ) -> Shared[ScalarT]:
        """An array of `count` elements in the CTA's shared memory."""
        check_element(scalar)
        alignment = resolve_alignment(align, scalar)
        name = self._declare_shared(scalar, count, alignment, name)
        return Shared(self, scalar, name, alignment, 0, (0, count * scalar.size()))

    def mbarrier(self, name: str | None = None, count: int | None = None) -> Barrier:
        """An mbarrier object in shared memory, or an array of `count` of them; not yet initialised."""
        name = self._declare_shared(b64, count, 8, name or f"mbarrier_{len(self.variables)}")
        return Barrier(self, b64, name, 8, 0, (0, 8 * (count or 1)))

    def dynamic_shared(self, scalar: type[ScalarT], count: int = 0, *, align: int | None = None) -> Shared[ScalarT]:
        """Shared memory whose size the launch gives: at least `count` elements.

        Every request gives the same base address, aligned to the largest alignment asked for; `dynamic_smem_size`
        tells the bytes on the device.
        """
        check_element(scalar)
        if not isinstance(count, int) or count < 0:
            raise BuildValueError(f"launch-sized memory has at least a whole number of elements, not {count!r}")
        alignment = resolve_alignment(align, scalar)
        known, size = self.dynamic_request
        self.dynamic_request = (max(known, alignment), max(size, count * scalar.size()))
        return Shared(self, scalar, DYNAMIC_SHARED, alignment)

    def _declare_shared(self, scalar: type[Scalar], count: int | None, alignment: int, name: str | None) -> str:
        name = self._reserve_name(name or f"shared_{len(self.variables)}", "a shared array")
        size = (1 if count is None else _check_count(count)) * scalar.size()
        start = -(-self.static_bytes // alignment) * alignment
        self.static_bytes = start + size
        if self.static_bytes > STATIC_SHARED_LIMIT:
            raise BuildValueError(
                f"{self.static_bytes} bytes of shared arrays; more than {STATIC_SHARED_LIMIT} must be launch-sized: "
                "k.dynamic_shared(...)"
            )
        declarator = tree.Declarator(name, dimensions=() if count is None else (count,))
        self.variables.append(tree.Declaration("shared", memory_word(scalar), (declarator,), alignment=alignment))
        return name

    def list_shared_memory_users(self) -> Sequence[MemoryBuilder]:
        """All whose shared memory is the same: this, and in a kernel the functions that it calls."""
        return (self,)

    @property
    def dynamic_alignment(self) -> int:
        """The largest alignment that is asked of launch-sized shared memory, in bytes; 0 where there is none."""
        return max(each.dynamic_request[0] for each in self.list_shared_memory_users())

    @property
    def dynamic_bytes(self) -> int:
        """The launch-sized shared memory that a launch must give, at least."""
        return max(each.dynamic_request[1] for each in self.list_shared_memory_users())

    # ----------------------------------------------------------------------------------- local, constant

    def local(
        self, scalar: type[ScalarT], count: int, *, align: int | None = None, name: str | None = None
    ) -> Local[ScalarT]:
        """An array of `count` elements in each thread's own memory; it is slow, and for indices that vary."""
        check_element(scalar)
        alignment = resolve_alignment(align, scalar)
        name = self._reserve_name(name or f"local_{len(self.variables)}", "a local array")
        declarator = tree.Declarator(name, dimensions=(_check_count(count),))
        self.variables.append(tree.Declaration("local", memory_word(scalar), (declarator,), alignment=alignment))
        return Local(self, scalar, name, alignment, 0, (0, count * scalar.size()))

    def constant(
        self, scalar: type[ScalarT], values: Sequence[Number], *, align: int | None = None, name: str | None = None
    ) -> Const[ScalarT]:
        """An array in constant memory with these values; all kernels together have 64 KB of it."""
        check_element(scalar)
        if not isinstance(values, Sequence) or not values:
            raise BuildValueError(f"a constant array has a sequence of values, at least one, not {values!r}")
        alignment = resolve_alignment(align, scalar)
        name = self._reserve_name(name or f"{self.module_prefix}const_{len(self.constants)}", "a constant array")
        initialiser = tree.Vector(tuple(_make_initializer(value, scalar) for value in values))
        declarator = tree.Declarator(name, dimensions=(len(values),), initialiser=initialiser)
        self.constants.append(tree.Declaration("const", memory_word(scalar), (declarator,), alignment=alignment))
        return Const(self, scalar, name, alignment, 0, (0, len(values) * scalar.size()))

    # ------------------------------------------------------------------------------------------ workings

    def reserved_names(self) -> set[str]:
        """The names of variables that are declared so far."""
        declared = (*self.variables, *self.constants)
        return {declarator.name for each in declared for declarator in each.declarators} | {DYNAMIC_SHARED}

    def _reserve_name(self, name: str, what: str) -> str:
        check_identifier(name, what)
        if name in self.reserved_names():
            raise BuildError(f"the name {name!r} is taken")
        return name


def check_identifier(name: str, what: str) -> str:
    """The name; BuildValueError where PTX takes no such name."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise BuildValueError(f"{what} needs a PTX identifier for its name, not {name!r}")
    return name


def check_element(scalar: object) -> None:
    """BuildTypeError where memory cannot hold elements of that type."""
    if not (isinstance(scalar, type) and issubclass(scalar, Scalar)) or scalar is pred:
        raise BuildTypeError(f"elements have a type that memory holds, such as f32, not {scalar!r}")


def resolve_alignment(align: int | None, element: type[Scalar]) -> int:
    """The alignment asked for, at least that of an element."""
    if align is None:
        return element.size()
    if not isinstance(align, int) or align <= 0 or align & (align - 1):
        raise BuildValueError(f"an alignment is a power of two, not {align!r}")
    return max(align, element.size())


def _check_count(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise BuildValueError(f"an array has a whole number of elements, at least 1, not {count!r}")
    return count


def _make_initializer(value: Number, scalar: type[Scalar]) -> tree.Operand:
    if scalar.family == "f":
        if scalar.bits not in (32, 64) or not isinstance(value, int | float):
            raise BuildTypeError(f"PTX has no constant {value!r} of type .{scalar.word}; declare the bits as .b16")
        return float_operand(float(value), scalar.bits)
    least = 0 if scalar.family == "u" else -(1 << (scalar.bits - 1))
    most = (1 << (scalar.bits - (scalar.family == "s"))) - 1
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BuildValueError(f"{value!r} does not fit in .{scalar.word} ({least}..{most})")
    return integer_operand(value)
