"""What the 32 bits say that tcgen05.mma takes beside its matrices.

Manual: Instruction descriptor (for .kind::f16, .kind::tf32, .kind::f8f6f4, .kind::i8); Matrix and Data Movement Shape.
"""

from __future__ import annotations

from dataclasses import dataclass

_RESULTS = {0: "f16", 1: "f32", 2: "s32"}
_ELEMENTS = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": {0: "e4m3", 1: "e5m2"},
    "i8": {0: "u8", 1: "s8"},
}
_STEPS = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32}
"""K of a dense multiplication."""


@dataclass(frozen=True, slots=True)
class InstructionDescriptor:
    """m, n, k; the types of D, A and B; the signs of A and B; whether they lie along m and n instead of k."""

    m: int
    n: int
    k: int
    result: str
    left: str
    right: str
    signs: tuple[float, float]
    turned: tuple[bool, bool]
    satfinite: bool


def decode(bits: int, kind: str, ctas: int) -> InstructionDescriptor:
    """A descriptor of a kind (`f16`, ...), for one CTA or a pair. Raises ValueError for what is not there."""
    result = _RESULTS.get(bits >> 4 & 3)
    left, right = (_ELEMENTS[kind].get(bits >> at & 7) for at in (7, 10))
    if bits & 4:
        raise ValueError("its instruction descriptor is for a sparse matrix A")
    if result is None or left is None or right is None:
        raise ValueError(f"its instruction descriptor 0x{bits:08x} names types that .kind::{kind} lacks here")
    if (result == "s32") != (kind == "i8"):
        raise ValueError(f"its instruction descriptor names {result} for the result, which .kind::{kind} does not give")
    m, n = (bits >> 24 & 31) << 4, (bits >> 17 & 63) << 3
    if m not in (64 * ctas, 128 * ctas) or not 8 <= n <= 256 or (m > 64 and n % (16 * ctas)):
        who = "one CTA" if ctas == 1 else "a pair of CTAs"
        raise ValueError(f"its instruction descriptor names m{m}n{n}, which {who} cannot multiply")
    signs = tuple(-1.0 if bits >> at & 1 else 1.0 for at in (13, 14))
    turned = tuple(bool(bits >> at & 1) for at in (15, 16))
    return InstructionDescriptor(
        m, n, _STEPS[kind], result, left, right, (signs[0], signs[1]), (turned[0], turned[1]), bool(bits & 8)
    )
