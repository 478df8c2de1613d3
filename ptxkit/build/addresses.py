"""Typed addresses: an element type, a state space, and the alignment that is known.

`Shared[f32]` is an address in the CTA's shared memory of 32-bit floats. Indexing counts elements and gives an address
again; `tile[4]` costs nothing, `tile[i]` costs the arithmetic. A state space cannot be mixed up: an instruction that
wants `.shared` refuses a `Global` at the caller's line, and no conversion is inserted. `to_generic()` converts, and its
`cvta` is in the text because it was asked for.

Source: PTX ISA, "State Spaces", "Addresses as Operands", "Generic Addressing".
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ptxkit.build.errors import BuildTypeError
from ptxkit.build.types import OtherT, Scalar, ScalarT, b64, u32, u64
from ptxkit.build.values import Number, Register, power_of_two_in
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from typing import Self

    from ptxkit.build.instructions import Instructions


class Address(typing.Generic[ScalarT]):
    """An address of elements of one type. `Shared`, `Global`, ... fix the space.

    space: PTX's word, `generic` for none. pointer: the type of a register that holds such an address.
    base: a variable's name or a register. offset: bytes from the base. alignment: bytes, a power of two that divides
    the address for certain.
    """

    __slots__ = ("alignment", "base", "builder", "offset", "type")
    space: ClassVar[str] = "generic"
    pointer: ClassVar[type[Scalar]] = u64

    def __init__(
        self, builder: Instructions, scalar: type[ScalarT], base: str | Register[Any], alignment: int, offset: int = 0
    ) -> None:
        self.builder = builder
        self.type = scalar
        self.base = base
        self.alignment = alignment
        self.offset = offset

    def __repr__(self) -> str:
        name = self.base if isinstance(self.base, str) else self.base.name
        plus = f"+{self.offset}" if self.offset else ""
        return f"[{name}{plus}]: {type(self).__name__}[{self.type.word}], aligned to {self.alignment}"

    # --------------------------------------------------------------------------------- offset arithmetic

    def __getitem__(self, index: int | Register[Any]) -> Self:
        """The address `index` elements further on: by a constant, or by a `u32`, `s32` or, if wide enough, `u64`."""
        size = self.type.size()
        if isinstance(index, bool) or not isinstance(index, int | Register):
            raise BuildTypeError(f"an index is an integer or a register, not {type(index).__name__}")
        if isinstance(index, int):
            return self._moved(
                self.base, self.offset + index * size, min(self.alignment, power_of_two_in(index * size))
            )
        base = self.builder.offset(self.register_base(), index, size, self.pointer)
        return self._moved(base, self.offset, min(self.alignment, index.multiple * power_of_two_in(size)))

    def __add__(self, index: int | Register[Any]) -> Self:
        return self[index]

    def __sub__(self, index: int) -> Self:
        return self[-index]

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __iter__(self) -> None:
        raise BuildTypeError("an address has no length: loop over indices")

    def aligned(self, alignment: int) -> Self:
        """The same address with the user's word that `alignment` bytes (a power of two) divide it."""
        if alignment <= 0 or alignment & (alignment - 1):
            raise BuildTypeError(f"an alignment is a power of two, not {alignment}")
        return self._moved(self.base, self.offset, max(alignment, self.alignment))

    # ---------------------------------------------------------------------------------------- conversion

    def register_base(self) -> Register[Any]:
        """The base in a register; a variable's name is moved to one, once in a kernel."""
        return self.builder.symbol(self.base, self.pointer) if isinstance(self.base, str) else self.base

    def to_register(self) -> Register[Any]:
        """The whole address in a register of type `pointer`."""
        base = self.register_base()
        return base + self.offset if self.offset else base

    def operand(self) -> tree.Address:
        """The address as it stands in an instruction."""
        base = self.base if isinstance(self.base, str) else self.base.name
        return tree.Address(tree.Name(base), self.offset)

    # ------------------------------------------------------------------------------------- loads, stores

    def load(self) -> Register[ScalarT]:
        """`ld` of one element, with the type and the space of the address."""
        loaded = cast("Register[Any]", self.builder.instruction("ld", (self,)))
        return Register(self.builder, self.type, loaded.name)  # halves are loaded as bits

    def store(self, value: Register[ScalarT] | Number) -> None:
        """`st` of one element."""
        self.builder.instruction("st", (self, value))

    # ------------------------------------------------------------------------------------------ workings

    def _moved(self, base: str | Register[Any], offset: int, alignment: int) -> Self:
        return type(self)(self.builder, self.type, base, alignment, offset)


class Generic(Address[ScalarT]):
    """A generic address: its space is found when it is used."""

    def cast(self, scalar: type[OtherT]) -> Generic[OtherT]:
        """The same address, of other elements."""
        return Generic(self.builder, scalar, self.base, self.alignment, self.offset)


class Global(Address[ScalarT]):
    """An address in global memory."""

    space = "global"

    def cast(self, scalar: type[OtherT]) -> Global[OtherT]:
        """The same address, of other elements."""
        return Global(self.builder, scalar, self.base, self.alignment, self.offset)

    def to_generic(self) -> Generic[ScalarT]:
        """The same place as a generic address: emits `cvta.global`."""
        return _to_generic(self, "cvta_global_u64")


class Shared(Address[ScalarT]):
    """An address in the shared memory of the executing CTA: a 32-bit offset."""

    space = "shared::cta"
    pointer = u32

    def cast(self, scalar: type[OtherT]) -> Shared[OtherT]:
        """The same address, of other elements."""
        return Shared(self.builder, scalar, self.base, self.alignment, self.offset)

    def to_generic(self) -> Generic[ScalarT]:
        """The same place as a generic address: emits a widening `cvt` and `cvta.shared`."""
        return _to_generic(self, "cvta_shared_u64")


class SharedCluster(Address[ScalarT]):
    """An address in the shared memory of any CTA of the cluster."""

    space = "shared::cluster"
    pointer = u32


class Local(Address[ScalarT]):
    """An address in the thread's own memory."""

    space = "local"
    pointer = u32


class Const(Address[ScalarT]):
    """An address in constant memory."""

    space = "const"


class Param(Address[ScalarT]):
    """An address in the kernel's parameters."""

    space = "param"


class Mbarrier(Shared[b64]):
    """The address of an mbarrier object in shared memory: 8 bytes, written by `mbarrier` instructions only.

    Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
    """

    def init(self, count: int | Register[u32]) -> None:
        """Makes it live; each phase takes `count` arrivals. One thread does this, and a barrier must follow."""
        self.builder.instruction("mbarrier_init", (self, count))

    def arrive(self) -> Register[b64]:
        """One arrival; gives the phase's token."""
        return cast("Register[b64]", self.builder.instruction("mbarrier_arrive", (self,)))

    def arrive_expect_tx(self, size: int | Register[u32]) -> Register[b64]:
        """One arrival after telling the phase to wait for `size` more bytes of asynchronous copies."""
        return cast("Register[b64]", self.builder.instruction("mbarrier_arrive_expect_tx", (self, size)))

    def wait(self, parity: int | Register[u32]) -> None:
        """Loops on `try_wait.parity` until the phase of that parity is complete."""
        builder = self.builder
        again = builder.label("wait")
        builder.place(again)
        done = builder.instruction("mbarrier_try_wait_parity", (self, parity))
        builder.branch(again, unless=cast("Register[Any]", done))


def _to_generic(address: Address[ScalarT], name: str) -> Generic[ScalarT]:
    pointer = address.to_register()
    wide = pointer if pointer.type is u64 else pointer.convert(u64)
    result = cast("Register[u64]", address.builder.instruction(name, (wide,)))
    return Generic(address.builder, address.type, result, address.alignment)
