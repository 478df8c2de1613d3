"""Decodes the 32-bit instruction descriptor of tcgen05.mma.

Manual: Instruction descriptor; Matrix and Data Movement Shape; Zero-Column Mask Descriptor; Valid combinations of
scale_vectorsize with types and MMA-Kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_RESULTS = {0: "f16", 1: "f32", 2: "s32"}
_NARROW = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_ELEMENTS = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": _NARROW,
    "i8": {0: "u8", 1: "s8"},
    "mxf8f6f4": _NARROW,
    "mxf4": {1: "e2m1"},
    "mxf4nvf4": {1: "e2m1"},
}
_DENSE_K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
"""The extent along k of a dense multiplication."""
_STATIONARY_N = (64, 128, 256)
"""The extents along n if B is stationary."""


@dataclass(frozen=True, slots=True)
class MmaKind:
    """The properties of a multiplication that the opcode states: the name of its kind (`f16`, ...), and 1 or 2 CTAs.

    `scale_vector` is the number of elements along k that share a scale factor, 0 for none. `is_weight_stationary`
    states whether the instruction is one of `.ws`.
    """

    name: str
    ctas: int
    a_in_tmem: bool = False
    sparse: bool = False
    scale_vector: int = 0
    is_weight_stationary: bool = False

    @property
    def is_supported(self) -> bool:
        """Whether the machine supports its products."""
        return self.name in _DENSE_K


@dataclass(frozen=True, slots=True)
class InstructionDescriptor:
    """The shape, types, signs and orientations of the matrices of a multiplication.

    `transposed` states whether A and B are stored along m and n instead of k. `selector` is that of the metadata.
    `scale` is the type of scale factors, and `ids` state where those of A and B start in their words.
    """

    m: int
    n: int
    k: int
    result: str
    left: str
    right: str
    signs: tuple[float, float]
    transposed: tuple[bool, bool]
    satfinite: bool
    selector: int = 0
    scale: str = ""
    ids: tuple[int, int] = (0, 0)


def decode_instruction_descriptor(bits: int, kind: MmaKind) -> InstructionDescriptor:
    """Decodes a descriptor for an instruction. Raises ValueError if it is invalid, and NotImplementedError for K =
    96.
    """
    if bool(bits & 4) != kind.sparse:
        raise ValueError(f"its instruction descriptor is for a {'sparse' if bits & 4 else 'dense'} matrix A")
    scaled = kind.scale_vector > 0
    result = "f32" if scaled else _RESULTS.get(bits >> 4 & 3)
    right_mask = 3 if kind.name.startswith("mxf4") else 7
    left, right = _ELEMENTS[kind.name].get(bits >> 7 & 7), _ELEMENTS[kind.name].get(bits >> 10 & right_mask)
    if result is None or left is None or right is None:
        raise ValueError(f"its instruction descriptor 0x{bits:08x} names types that .kind::{kind.name} lacks")
    if (result == "s32") != (kind.name == "i8"):
        raise ValueError(
            f"its instruction descriptor names {result} for the result, which .kind::{kind.name} does not give"
        )
    if scaled and kind.name != "mxf8f6f4" and bits >> 31:
        raise NotImplementedError("the machine has no products with K = 96")
    m = (bits >> 27 & 3) << 7 if scaled else (bits >> 24 & 31) << 4
    n = (bits >> 17 & 63) << 3
    _check_shape(m, n, kind)
    signs = tuple(-1.0 if bits >> at & 1 else 1.0 for at in (13, 14))
    turned = tuple(bool(bits >> at & 1) for at in (15, 16))
    return InstructionDescriptor(
        m,
        n,
        _DENSE_K[kind.name] * (2 if kind.sparse else 1),
        result,
        left,
        right,
        (signs[0], signs[1]),
        (turned[0], turned[1]),
        bool(bits & 8) and not scaled,
        0 if scaled else bits & 3,
        ("ue8m0" if bits >> 23 & 1 else "ue4m3") if scaled else "",
        (bits >> 29 & 3, bits >> 4 & 3) if scaled else (0, 0),
    )


def _check_shape(m: int, n: int, kind: MmaKind) -> None:
    if kind.is_weight_stationary:
        fits = m in (32, 64, 128) and n in _STATIONARY_N[: 2 if kind.sparse else 3]
    else:
        least = 128 * (kind.ctas if kind.sparse else 1) if kind.scale_vector else 64 * kind.ctas
        fits = m in (least, 128 * kind.ctas) and 8 <= n <= 256 and not n % (8 * kind.ctas)
        if kind.name == "i8":
            fits = fits and (not n % 32 if kind.ctas == 2 else n <= 32 or not n % 16)
    if not fits:
        who = "one CTA" if kind.ctas == 1 else "a pair of CTAs"
        raise ValueError(f"its instruction descriptor names m{m}n{n}, which {who} cannot multiply")


def usual_descriptors(kind: MmaKind) -> tuple[int, ...]:
    """Returns descriptors that are valid for a dense multiplication without scale factors, those of wide results first.

    The result is empty for other multiplications.
    """
    if kind.sparse or kind.scale_vector or not kind.is_supported:
        return ()
    element, result = min(_ELEMENTS[kind.name]), 2 if kind.name == "i8" else 1
    rows = 128 * (1 if kind.is_weight_stationary else kind.ctas)
    types = result << 4 | element << 7 | element << 10
    return tuple(types | columns >> 3 << 17 | rows >> 4 << 24 for columns in reversed(_STATIONARY_N))


def shifted_columns(mask: int) -> int:
    """Returns the column of B at which a multiplication with a zero-column mask begins."""
    return mask >> 56 & 63


def zero_columns(mask: int, m: int, n: int) -> Any:
    """Returns which columns of B are treated as zero: alternating ranges of zeros and others, in each part of the
    columns.
    """
    found = np.zeros(n, bool)
    if not mask >> 39 & 1:
        return found
    parts = 128 // m
    skip, use = (mask >> 40 & 255) + 1, (mask >> 48 & 255) + 1
    for part in range(parts):
        start, first = mask >> 8 * part & 255, mask >> 32 + part & 1
        at = np.arange(n // parts) + start + (0 if first else skip)
        found[part * n // parts : (part + 1) * n // parts] = at % (skip + use) < skip
    return found
