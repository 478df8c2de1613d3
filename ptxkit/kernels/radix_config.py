"""What the kernels of the radix sort have in common: the variant, and the digits of keys."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ptxkit.build import BuildValueError, Kernel, Register, f32, s32, u32
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.limits import WARP_SIZE

KeyName: TypeAlias = Literal["u32", "s32", "f32"]
_KEYS: dict[str, type[u32 | s32 | f32]] = {"u32": u32, "s32": s32, "f32": f32}
KEY_BITS = 32
DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
"""The number of values of a digit."""
PASSES = KEY_BITS // DIGIT_BITS
"""The number of passes that sort whole keys, the lowest digit first."""
_SIGN = 1 << (KEY_BITS - 1)


@dataclass(frozen=True, slots=True)
class RadixConfig:
    """A variant of the kernel `radix_pass`.

    `element` is the type of the keys: `u32`, `s32`, or `f32`, where -0.0 is less than 0.0, and a NaN is beyond the
    infinity of its sign. A tile has `threads` threads, at least one for each digit, with `items` keys each,
    and `group` tiles are a group.
    """

    element: KeyName = "u32"
    threads: int = DIGITS
    items: int = 16
    group: int = 16
    min_ctas: int | None = 4

    @property
    def tile(self) -> int:
        """The keys of a CTA."""
        return self.threads * self.items

    @property
    def warps(self) -> int:
        """The warps of a CTA."""
        return self.threads // WARP_SIZE

    def check(self) -> None:
        """Raises `BuildValueError` if there is no such kernel."""
        key_type(self.element)
        if self.threads < DIGITS or self.threads % WARP_SIZE:
            raise BuildValueError(
                f"a tile has whole warps, and a thread for each of {DIGITS} digits, not {self.threads} threads"
            )
        if self.group < 2 or self.group & (self.group - 1):
            raise BuildValueError(f"the tiles of a group are a power of two, at least 2, not {self.group}")
        if self.items < 1:
            raise BuildValueError(f"a thread has at least one key, not {self.items}")


def key_type(element: str) -> type[Any]:
    """Returns the type of keys. Raises `BuildValueError` if there are none of that name."""
    if element not in _KEYS:
        raise BuildValueError(f"keys are {' or '.join(_KEYS)}, not {element!r}")
    return _KEYS[element]


def encode_key(element: KeyName, bits: Register[u32]) -> Register[u32]:
    """Returns an unsigned number in whose order the keys with these bits are sorted.

    Negative floating-point numbers have all their bits inverted, others only the sign.
    """
    if element == "f32":
        return bits ^ (_spread_sign(bits) | _SIGN)
    return bits ^ _SIGN if element == "s32" else bits


def decode_key(element: KeyName, number: Register[u32]) -> Register[u32]:
    """Returns the bits of the key with this number: the inverse of `encode_key`."""
    if element == "f32":
        return number ^ (~_spread_sign(number) | _SIGN)
    return number ^ _SIGN if element == "s32" else number


def digit_of(number: Register[u32], shift: Register[u32] | int) -> Register[u32]:
    """Returns the digit of an encoded key from the bit `shift` on."""
    return (number >> shift) & (DIGITS - 1)


def _spread_sign(bits: Register[u32]) -> Register[u32]:
    """Returns 32 times the highest bit."""
    return (bits.reinterpret(s32) >> (KEY_BITS - 1)).reinterpret(u32)


def sum_threads_before(k: Kernel, warps: int, value: Register[u32], *, name: str) -> Register[u32]:
    """Returns the sum of the values of the threads before, in a CTA of `warps` warps.

    All threads of the CTA execute it. `name` is that of an array in shared memory, which nothing else uses.
    """
    sums = k.shared(u32, warps, name=name)
    inclusive = k.warp_scan("add", value)
    with k.if_(k.laneid == WARP_SIZE - 1):
        sums[k.warp].store(inclusive)
    k.cta_sync()
    before = inclusive - value
    for warp in range(warps - 1):
        before = before + k.where(k.warp > warp, sums[warp].load(), 0)
    return before
