"""Loads and stores of one element or of a vector: `a[i].load(4)`, `a[i].store(values)`.

Source: PTX ISA, "Data Movement and Conversion Instructions: ld, ld.global.nc, st", "Vectors", "Memory Consistency
Model".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.limits import MAX_VECTOR_BYTES
from ptxkit.build.packing import join_words, unpack
from ptxkit.build.registers import Number, Register, as_constant
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar, b32, b64, pred

if TYPE_CHECKING:
    from ptxkit.build.addresses import Address

Scope: TypeAlias = Literal["cta", "cluster", "gpu", "sys"]
"""The threads with respect to which an operation is ordered: of the CTA, of the cluster, of the GPU, of the system."""

LoadOrder: TypeAlias = Literal["relaxed", "acquire"]
StoreOrder: TypeAlias = Literal["relaxed", "release"]
Eviction: TypeAlias = Literal["evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"]
"""The priority with which the L1 cache evicts the line."""

_PLAIN_COUNTS = {2: 8, 4: 8, 8: 32}
"""The numbers of elements of PTX's vectors, with the fewest bits of an element."""


@dataclass(frozen=True, slots=True)
class AccessMode:
    """How memory is accessed: the memory order with its scope, and the treatment by the caches."""

    order: LoadOrder | StoreOrder | None = None
    scope: Scope = "gpu"
    l1: Eviction | None = None
    policy: Register[b64] | None = None
    read_only: bool = False

    def modifiers(self) -> str:
        """Returns the modifiers in a method's name."""
        order = f"_{self.order}_{self.scope}" if self.order is not None else ""
        eviction = f"_L1_{self.l1}" if self.l1 is not None else ""
        return f"{'_nc' * self.read_only}{order}{eviction}{'_L2_cache_hint' * (self.policy is not None)}"

    def operands(self) -> tuple[object, ...]:
        """Returns the operands that the modifiers require."""
        return () if self.policy is None else (self.policy,)


def check_choice(value: object, choices: object, what: str) -> None:
    """Raises `BuildValueError` if a word is none of the choices of a `Literal`."""
    words: tuple[str, ...] = get_args(choices)
    if value not in words:
        raise BuildValueError(f"the {what} is {', '.join(words[:-1])} or {words[-1]}, not {value!r}")


def _check_mode(mode: AccessMode, orders: object) -> None:
    if mode.order is not None:
        check_choice(mode.order, orders, "order")
        check_choice(mode.scope, Scope, "scope")
    if mode.l1 is not None:
        check_choice(mode.l1, Eviction, "eviction priority")


def load_elements(address: Address[Any], count: int, mode: AccessMode) -> tuple[Register[Any], ...]:
    """Loads `count` elements; see `Address.load`."""
    _check_mode(mode, LoadOrder)
    if mode.read_only and address.space != "global":
        raise BuildTypeError(f"read-only loads are from global memory, not from {address!r}")
    _check_access(address, count)
    k, word = address.builder, _word_type(address.type, count)
    name = f"ld{mode.modifiers()}{_vector_word(address, count)}"
    found = k.instruction(name, (_with_type(address, word), *mode.operands()))
    registers = cast("tuple[Register[Any], ...]", found if isinstance(found, tuple) else (found,))
    if word is not address.type:
        return tuple(part for each in registers for part in unpack(k, Register(k, word, each.name), address.type))
    return tuple(Register(k, word, each.name) for each in registers)  # `f16` and `bf16` are loaded as bits


def store_elements(address: Address[Any], values: Sequence[Register[Any] | Number], mode: AccessMode) -> None:
    """Stores the values to consecutive elements; see `Address.store`."""
    _check_mode(mode, StoreOrder)
    count = len(values)
    _check_access(address, count)
    k, word = address.builder, _word_type(address.type, count)
    for each in values:
        if isinstance(each, Register) and each.type is not address.type:
            _check_bits(address, each)
    written: tuple[object, ...] = tuple(as_constant(each, address.type) for each in values)
    if word is not address.type:
        written = join_words(k, values, address.type, word)
    one = written[0] if len(written) == 1 else written
    name = f"st{mode.modifiers()}{_vector_word(address, count)}"
    k.instruction(name, (_with_type(address, word), one, *mode.operands()))


def _check_bits(address: Address[Any], value: Register[Any]) -> None:
    """Raises `BuildTypeError` if a value is neither of the element's type nor untyped bits of its width."""
    wanted = address.type
    if value.type.bits != wanted.bits or "b" not in (value.type.family, wanted.family):
        remedy = f".convert({wanted.word}) for the value or .reinterpret({wanted.word}) for the bits"
        if value.type is pred:
            remedy = f"k.where(p, 1, 0, {wanted.word})"
        raise BuildTypeError(f"a store to {address!r} takes .{wanted.word}, got {value!r}; use {remedy}")


def _check_access(address: Address[Any], count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1 or count & (count - 1):
        raise BuildValueError(f"a vector has 1, 2, 4, 8, 16 or 32 elements, not {count!r}")
    size = address.type.size()
    if count > 1 and count * size > MAX_VECTOR_BYTES:
        raise BuildValueError(
            f"{count} elements of .{address.type.word} are {count * size} bytes, and an access has up to 16, or 32 "
            "from sm_100 on: use several"
        )
    if address.count is not None and address.count < count:
        there = "no element is" if address.count < 1 else f"{address.count} of {count} elements are"
        where = "is where its array ends" if address.count < 1 else "is near the end of its array"
        raise BuildValueError(f"{address!r} {where}: {there} there")


def _with_type(address: Address[Any], element: type[Scalar]) -> Address[Any]:
    if element is address.type:
        return address
    return type(address)(address.builder, element, address.base, address.alignment, address.offset, address.extent)


def _word_type(element: type[Scalar], count: int) -> type[Scalar]:
    """Returns the type of the vector's parts in PTX: the element's, or words that contain several elements."""
    is_plain = count == 1 or element.bits >= _PLAIN_COUNTS.get(count, MAX_VECTOR_BYTES * 8)
    return element if is_plain else b32


def _vector_word(address: Address[Any], count: int) -> str:
    """Returns the modifier for the number of the vector's parts, in a method's name."""
    parts = count * address.type.bits // _word_type(address.type, count).bits
    return f"_v{parts}" if parts > 1 else ""
