"""Typed addresses: an element type, a state space, and the known alignment.

`Shared[f32]` is an address of 32-bit floats in the CTA's shared memory. An index counts elements, and the result is
again an address: `tile[4]` emits no instruction, `tile[i]` emits the address arithmetic. State spaces cannot be
confused: an instruction that requires `.shared` rejects a `Global` address with an error at the caller's line, and the
builder inserts no implicit conversion. `to_generic()` converts an address explicitly and emits a `cvta`.

Source: PTX ISA, "State Spaces", "Addresses as Operands", "Generic Addressing".
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, overload

from ptxkit.build import atomics
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.memory_access import AccessMode, Eviction, LoadOrder, Scope, StoreOrder, load_elements, store_elements
from ptxkit.build.registers import InstructionEmitter, Number, Register, largest_power_of_two_factor
from ptxkit.kernel_model.scalar_types import OtherT, Scalar, ScalarT, b64, memory_word, u32, u64
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from typing import Self


class Address(typing.Generic[ScalarT]):
    """An address of elements of one type. The subclasses `Shared`, `Global`, ... determine the state space.

    `space` is the name that PTX has for the state space, or `generic`. `pointer` is the type of a register that holds
    such an address. `base` is the name of a variable or a register, and `offset` is a distance from it in bytes.
    `alignment` is a power of two, in bytes, that is known to divide the address. `extent` is the range of the array in
    bytes from the base, with the end excluded, or None if it is unknown.
    """

    __slots__ = ("alignment", "base", "builder", "extent", "offset", "type")
    space: ClassVar[str] = "generic"
    pointer: ClassVar[type[Scalar]] = u64

    def __init__(
        self,
        builder: InstructionEmitter,
        scalar: type[ScalarT],
        base: str | Register[Any],
        alignment: int,
        offset: int = 0,
        extent: tuple[int, int] | None = None,
    ) -> None:
        self.extent = extent
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

    @property
    def count(self) -> int | None:
        """The number of elements from this address to the end of its array, or None if the end is unknown."""
        return None if self.extent is None else (self.extent[1] - self.offset) // self.type.size()

    def __getitem__(self, index: int | Register[Any] | slice) -> Self:
        """Returns the address of the element `index` positions after this one.

        `index` is a constant or a register of type `u32` or `s32`, or `u64` where addresses have 64 bits. A slice
        returns the part of the array between two constants; if the slice has no stop, its start may be a register.
        Raises `BuildValueError` if a constant index is outside an array of known size.
        """
        if isinstance(index, slice):
            return self._slice(index)
        size = self.type.size()
        if isinstance(index, bool) or not isinstance(index, int | Register):
            raise BuildTypeError(f"an index is an integer or a register, not {type(index).__name__}")
        if isinstance(index, int):
            offset = self.offset + index * size
            if self.extent is not None and not self.extent[0] <= offset <= self.extent[1]:
                raise BuildValueError(f"index {index} leaves {self!r}, which has {self.count} elements from there on")
            return self._at_offset(
                self.base, offset, min(self.alignment, largest_power_of_two_factor(index * size)), self.extent
            )
        base = self.builder.compute_element_address(self.register_base(), index, size, self.pointer)
        return self._at_offset(
            base, self.offset, min(self.alignment, index.multiple * largest_power_of_two_factor(size)), None
        )

    def _slice(self, wanted: slice) -> Self:
        if wanted.step is not None:
            raise BuildTypeError("a slice of memory has no step")
        start = self[0 if wanted.start is None else wanted.start]
        if wanted.stop is None:
            return start
        first = 0 if wanted.start is None else wanted.start
        if not isinstance(wanted.stop, int) or not isinstance(first, int):
            raise BuildTypeError("a slice ends at a constant, and then begins at one; `array[i:]` has no end")
        stop = self[wanted.stop]
        if stop.offset < start.offset:
            raise BuildValueError(f"a slice is ascending, not from {first} to {wanted.stop}")
        return self._at_offset(self.base, start.offset, start.alignment, (start.offset, stop.offset))

    def __add__(self, index: int | Register[Any]) -> Self:
        return self[index]

    def __sub__(self, index: int | Register[Any]) -> Self:
        if isinstance(index, bool) or not isinstance(index, int | Register):
            raise BuildTypeError(f"the value subtracted from an address is a number of elements, not {index!r}")
        return self[-index]

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __iter__(self) -> None:
        raise BuildTypeError("an address has no length: loop over indices")

    def aligned(self, alignment: int) -> Self:
        """Returns the same address with a larger alignment, in bytes, which the caller guarantees.

        Raises `BuildTypeError` if `alignment` is not a power of two.
        """
        if alignment <= 0 or alignment & (alignment - 1):
            raise BuildTypeError(f"an alignment is a power of two, not {alignment}")
        return self._at_offset(self.base, self.offset, max(alignment, self.alignment), self.extent)

    # ---------------------------------------------------------------------------------------- conversion

    def register_base(self) -> Register[Any]:
        """Returns the base in a register. The address of a variable is loaded into a register once for each kernel."""
        return self.builder.load_symbol_address(self.base, self.pointer) if isinstance(self.base, str) else self.base

    def to_register(self) -> Register[Any]:
        """Returns the whole address in a register of type `pointer`."""
        base = self.register_base()
        return base + self.offset if self.offset else base

    def operand(self) -> tree.Address:
        """Returns the address as an operand of an instruction."""
        base = self.base if isinstance(self.base, str) else self.base.name
        return tree.Address(tree.Name(base), self.offset)

    # ------------------------------------------------------------------------------------- loads, stores

    @overload
    def load(
        self,
        *,
        order: LoadOrder | None = None,
        scope: Scope = "gpu",
        read_only: bool = False,
        l1: Eviction | None = None,
        policy: Register[b64] | None = None,
    ) -> Register[ScalarT]: ...

    @overload
    def load(
        self,
        count: int,
        *,
        order: LoadOrder | None = None,
        scope: Scope = "gpu",
        read_only: bool = False,
        l1: Eviction | None = None,
        policy: Register[b64] | None = None,
    ) -> tuple[Register[ScalarT], ...]: ...

    def load(
        self,
        count: int | None = None,
        *,
        order: LoadOrder | None = None,
        scope: Scope = "gpu",
        read_only: bool = False,
        l1: Eviction | None = None,
        policy: Register[b64] | None = None,
    ) -> Register[ScalarT] | tuple[Register[ScalarT], ...]:
        """Loads one element, or `count` of them in one instruction: `ld` of the address's type and state space.

        `count` is a power of two. The elements have up to 16 bytes together, or 32 from sm_100 on, and the address must
        be known to be aligned to all of them. Elements that are more than PTX's vectors have (8 of bf16) are loaded as
        32-bit words (`ld.v4.b32`) and unpacked by `mov`.

        `order` and `scope` are those of the memory model, for each element: `ld.acquire.gpu`. `read_only` states that
        no thread writes the elements while the kernel runs: `ld.global.nc`. `l1` is the eviction priority in the L1
        cache, `policy` a cache policy (`k.createpolicy_fractional_L2_evict_last(1.0)`). Raises `BuildValueError` if the
        elements are beyond the end of an array.
        """
        found = load_elements(self, 1 if count is None else count, AccessMode(order, scope, l1, policy, read_only))
        return found[0] if count is None else found

    def store(
        self,
        values: Register[ScalarT] | Number | Sequence[Register[ScalarT] | Number],
        *,
        order: StoreOrder | None = None,
        scope: Scope = "gpu",
        l1: Eviction | None = None,
        policy: Register[b64] | None = None,
    ) -> None:
        """Stores one element, or a sequence of them in one instruction: `st` of the address's type and state space.

        Numbers become constants of the element's type. The number of values, the alignment and the other parameters are
        those of `load`; `order` may be `release`. Elements that are more than PTX's vectors have are packed by `mov`
        and stored as 32-bit words. Raises `BuildValueError` if the elements are beyond the end of an array, and
        `BuildTypeError` for values of other types.
        """
        several = values if isinstance(values, Sequence) else (values,)
        store_elements(self, several, AccessMode(order, scope, l1, policy))

    # ----------------------------------------------------------------------------------------- internals

    def _at_offset(
        self, base: str | Register[Any], offset: int, alignment: int, extent: tuple[int, int] | None
    ) -> Self:
        return type(self)(self.builder, self.type, base, alignment, offset, extent)

    def _reinterpret_as(self, form: type[AddressT], scalar: type[Scalar]) -> AddressT:
        """Returns the same bytes as an address in another state space or with another element type."""
        return form(self.builder, scalar, self.base, self.alignment, self.offset, self.extent)


AddressT = TypeVar("AddressT", bound=Address[Any])


class AtomicAddress(Address[ScalarT]):
    """An address in memory that several threads share, with the atomic operations on its element."""

    __slots__ = ()

    atomic_add = atomics.atomic_add
    atomic_min = atomics.atomic_min
    atomic_max = atomics.atomic_max
    atomic_and = atomics.atomic_and
    atomic_or = atomics.atomic_or
    atomic_xor = atomics.atomic_xor
    atomic_inc = atomics.atomic_inc
    atomic_dec = atomics.atomic_dec
    atomic_exch = atomics.atomic_exch
    atomic_cas = atomics.atomic_cas
    reduce = atomics.reduce


class Generic(AtomicAddress[ScalarT]):
    """A generic address: the hardware determines its state space when it is used."""

    def cast(self, scalar: type[OtherT]) -> Generic[OtherT]:
        """Returns the same address with another element type."""
        return self._reinterpret_as(Generic[OtherT], scalar)

    def to_global(self) -> Global[ScalarT]:
        """Returns the same location as an address in global memory, which it must be in. Emits `cvta.to.global`."""
        return Global(self.builder, self.type, self._convert_space("global"), self.alignment)

    def to_shared(self) -> Shared[ScalarT]:
        """Returns the same location as an address in the CTA's shared memory, which it must be in.

        Emits `cvta.to.shared` and a narrowing `cvt`.
        """
        offset = self._convert_space("shared").convert(u32)
        return Shared(self.builder, self.type, offset, self.alignment)

    def to_local(self) -> Local[ScalarT]:
        """Returns the same location as an address in the thread's local memory, which it must be in.

        Emits `cvta.to.local` and a narrowing `cvt`.
        """
        return Local(self.builder, self.type, self._convert_space("local").convert(u32), self.alignment)

    def map_rank(self, rank: int | Register[u32]) -> Generic[ScalarT]:
        """Returns the corresponding location in the shared memory of the CTA with that rank in the cluster.

        This address must be in shared memory. Emits `mapa`.
        """
        mapped = self.builder.instruction("mapa_u64", (self.to_register(), rank))
        return Generic(self.builder, self.type, cast("Register[u64]", mapped), self.alignment)

    def rank(self) -> Register[u32]:
        """Returns the rank of the CTA whose shared memory contains the address. Emits `getctarank`."""
        return cast("Register[u32]", self.builder.instruction("getctarank_u64", (self.to_register(),)))

    def to_const(self) -> Const[ScalarT]:
        """Returns the same location as an address in constant memory, which it must be in. Emits `cvta.to.const`."""
        return Const(self.builder, self.type, self._convert_space("const"), self.alignment)

    def _convert_space(self, space: str) -> Register[u64]:
        return cast("Register[u64]", self.builder.instruction(f"cvta_to_{space}_u64", (self.to_register(),)))


class Global(AtomicAddress[ScalarT]):
    """An address in global memory."""

    space = "global"

    def cast(self, scalar: type[OtherT]) -> Global[OtherT]:
        """Returns the same address with another element type."""
        return self._reinterpret_as(Global[OtherT], scalar)

    def to_generic(self) -> Generic[ScalarT]:
        """Returns the same location as a generic address. Emits `cvta.global`."""
        return _to_generic(self, "cvta_global_u64")


class Shared(AtomicAddress[ScalarT]):
    """An address in the shared memory of the executing CTA: a 32-bit offset."""

    space = "shared::cta"
    pointer = u32

    def cast(self, scalar: type[OtherT]) -> Shared[OtherT]:
        """Returns the same address with another element type."""
        return self._reinterpret_as(Shared[OtherT], scalar)

    def to_generic(self) -> Generic[ScalarT]:
        """Returns the same location as a generic address. Emits a widening `cvt` and `cvta.shared`."""
        return _to_generic(self, "cvta_shared_u64")

    def to_cluster(self) -> SharedCluster[ScalarT]:
        """Returns the same address in the `.shared::cluster` window, where it refers to the executing CTA. Emits no
        instruction.
        """
        return self._reinterpret_as(SharedCluster[ScalarT], self.type)

    def map_rank(self, rank: int | Register[u32]) -> SharedCluster[ScalarT]:
        """Returns the corresponding location in the shared memory of the CTA with that rank in the cluster. Emits
        `mapa`.

        That CTA must have started before the address is used, and must not exit while it is used: see `cluster_sync`.
        """
        mapped = self.builder.instruction("mapa_shared_cluster_u32", (self.to_register(), rank))
        return SharedCluster(self.builder, self.type, cast("Register[u32]", mapped), self.alignment)


class SharedCluster(AtomicAddress[ScalarT]):
    """An address in the shared memory of any CTA of the cluster."""

    space = "shared::cluster"
    pointer = u32

    def cast(self, scalar: type[OtherT]) -> SharedCluster[OtherT]:
        """Returns the same address with another element type."""
        return self._reinterpret_as(SharedCluster[OtherT], scalar)

    def rank(self) -> Register[u32]:
        """Returns the rank of the CTA whose shared memory contains the address. Emits `getctarank`."""
        rank = self.builder.instruction("getctarank_shared_cluster_u32", (self.to_register(),))
        return cast("Register[u32]", rank)

    def store_async(
        self,
        values: Register[ScalarT] | Number | Sequence[Register[ScalarT] | Number],
        barrier: SharedCluster[b64],
    ) -> None:
        """Starts an asynchronous store of one, two or four elements: `st.async`.

        The store reports its bytes to an mbarrier of the CTA that it writes to. Threads of that CTA can read the
        elements after they have waited for the mbarrier; no other synchronization orders the store.
        """
        word = memory_word(self.type)
        if isinstance(values, Sequence):
            operands = (self, tuple(values), self._check_barrier(barrier))
            self.builder.instruction(f"st_async_v{len(values)}_{word}", operands)
        else:
            self.builder.instruction(f"st_async_{word}", (self, values, self._check_barrier(barrier)))

    def reduce_async(self, operation: str, value: Register[ScalarT] | int, barrier: SharedCluster[b64]) -> None:
        """Starts `element = operation(element, value)` asynchronously: `red.async`.

        The operation reports its bytes to an mbarrier of the CTA that it writes to. `operation` is `add` for u32, s32
        and u64, `min` or `max` for u32 and s32, `inc` or `dec` for u32, or `and`, `or` or `xor`.
        """
        if operation not in ASYNC_REDUCTIONS:
            raise BuildValueError(f"a reduction is one of {', '.join(ASYNC_REDUCTIONS)}, not {operation!r}")
        word = f"b{self.type.bits}" if operation in ("and", "or", "xor") else self.type.word
        self.builder.instruction("red_async", (self, value, self._check_barrier(barrier)), op=operation, t=word)

    def _check_barrier(self, barrier: object) -> SharedCluster[b64]:
        if not isinstance(barrier, SharedCluster) or barrier.type is not b64:
            remedy = "; `.map_rank(r)` maps it to that CTA" if isinstance(barrier, Shared) else ""
            raise BuildTypeError(f"the mbarrier is one of the CTA that the address is in, not {barrier!r}{remedy}")
        return barrier

    def to_generic(self) -> Generic[ScalarT]:
        """Returns the same location as a generic address. Emits a widening `cvt` and `cvta.shared::cluster`."""
        return _to_generic(self, "cvta_shared_cluster_u64")


class Local(Address[ScalarT]):
    """An address in the thread's local memory."""

    space = "local"
    pointer = u32

    def cast(self, scalar: type[OtherT]) -> Local[OtherT]:
        """Returns the same address with another element type."""
        return self._reinterpret_as(Local[OtherT], scalar)

    def to_generic(self) -> Generic[ScalarT]:
        """Returns the same location as a generic address. Emits a widening `cvt` and `cvta.local`."""
        return _to_generic(self, "cvta_local_u64")


class Const(Address[ScalarT]):
    """An address in constant memory."""

    space = "const"

    def cast(self, scalar: type[OtherT]) -> Const[OtherT]:
        """Returns the same address with another element type."""
        return self._reinterpret_as(Const[OtherT], scalar)

    def to_generic(self) -> Generic[ScalarT]:
        """Returns the same location as a generic address. Emits `cvta.const`."""
        return _to_generic(self, "cvta_const_u64")


class Param(Address[ScalarT]):
    """An address in the kernel's parameters."""

    space = "param"


ASYNC_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def _to_generic(address: Address[ScalarT], name: str) -> Generic[ScalarT]:
    pointer = address.to_register()
    wide = pointer if pointer.type is u64 else pointer.convert(u64)
    result = cast("Register[u64]", address.builder.instruction(name, (wide,)))
    return Generic(address.builder, address.type, result, address.alignment)
