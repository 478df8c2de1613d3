"""Products of matrices of codes: D = A * B + C.

Manual: Multiply-and-Accumulate Instruction: mma (Precision and rounding); wmma.mma; wgmma.mma_async.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.emulator.core.numbers import f64_exact
from ptxkit.emulator.core.numbers.float_codec import narrow, widen
from ptxkit.emulator.core.numbers.formats import FORMATS, Bits, Reals
from ptxkit.emulator.core.numbers.nan_rules import propagate_payload

_INT32_LOWEST, _INT32_HIGHEST = -(2.0**31), 2.0**31 - 1


def element_values(word: str, codes: Bits, *, boxed: bool = False) -> Reals:
    """Returns the values of elements.

    With `boxed`, floating-point numbers of less than 8 bits are in separate bytes, e2m1 in the middle four bits.
    """
    if word in FORMATS:
        fmt = FORMATS[word]
        if boxed and fmt.width == 4:
            codes = codes >> codes.dtype.type(2)
        return widen(fmt, codes)
    if word in ("s4", "s8", "s32"):
        shift = codes.dtype.itemsize * 8 - int(word[1:])
        signed = (codes << codes.dtype.type(shift)).view(f"i{codes.dtype.itemsize}") >> shift
        exact: Reals = signed.astype(np.float64)
        return exact
    return codes.astype(np.float64)


def multiply_float(a: Reals, b: Reals, c: Reals, word: str) -> Bits:
    """Returns the codes of a * b + c in a floating-point format, from (..., m, k) and (..., k, n) to (..., m, n)."""
    with np.errstate(all="ignore"):
        return narrow(FORMATS[word], np.matmul(a, b) + c)


def multiply_integer(a: Reals, b: Reals, c: Bits, *, satfinite: bool = False, operation: str | None = None) -> Bits:
    """Returns the exact s32 result for integers.

    `operation` is `xor` or `and` of single bits, whose ones are counted.
    """
    product = np.matmul(a, b)
    if operation == "xor":
        product = a.sum(axis=-1, keepdims=True) + b.sum(axis=-2, keepdims=True) - 2 * product
    total = product + c.view(np.int32)
    if satfinite:
        total = np.clip(total, _INT32_LOWEST, _INT32_HIGHEST)
    wrapped: Bits = total.astype(np.int64).astype(np.uint64).astype(np.uint32)
    return wrapped


def multiply_f64(a: Bits, b: Bits, c: Bits, rounding: str = "rn") -> Bits:
    """Returns the codes of the f64 result, a chain of fused operations over k."""
    total: Bits = c
    with np.errstate(all="ignore"):
        for k in range(a.shape[-1]):
            left, right = np.broadcast_arrays(a[..., :, k, None], b[..., None, k, :])
            found = f64_exact.fused_multiply_add(
                left.view(np.float64), right.view(np.float64), total.view(np.float64), rounding
            )
            total = propagate_payload(found.view(np.uint64), left, right, total)
    return total


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A multiplication of codes. `result`, `left`, `right` and `third` are the types of D, A, B and C.

    `boxed` is that of `element_values`. With `satfinite`, integers saturate. `operation` is that of single bits, and
    `rounding` that of f64.
    """

    result: str
    left: str
    right: str
    third: str
    boxed: bool = False
    satfinite: bool = False
    operation: str | None = None
    rounding: str | None = None

    def compute(self, a: Bits, b: Bits, c: Bits, scales: tuple[Any, Any] = (1.0, 1.0)) -> Bits:
        """Returns the codes of D. `scales` are the factors of the elements of A and of B."""
        if self.result == "f64":
            return multiply_f64(a, b, c, self.rounding or "rn")
        x = element_values(self.left, a, boxed=self.boxed) * scales[0]
        y = element_values(self.right, b, boxed=self.boxed) * scales[1]
        if self.result == "s32":
            return multiply_integer(x, y, c, satfinite=self.satfinite, operation=self.operation)
        return multiply_float(x, y, element_values(self.third, c), self.result)
