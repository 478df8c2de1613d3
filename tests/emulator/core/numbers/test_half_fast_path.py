"""Half precision by wider formats: the same codes as by one rounding, for all pairs of difficult numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ptxkit.emulator.core.functions.float_arith import fadd, ffma, fmul, fsub
from ptxkit.emulator.core.numbers import half_fast_path, narrow_float
from ptxkit.emulator.core.numbers.float_codec import narrow, widen
from ptxkit.emulator.core.numbers.formats import BF16, F16, Bits, Format

OPERATIONS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "add": (np.add, narrow_float.add),
    "sub": (np.subtract, lambda a, b: narrow_float.add(a, -b)),
    "mul": (np.multiply, narrow_float.multiply),
}


def codes(fmt: Format, place: int) -> Bits:
    """Random codes, edges, and neighbors of powers of two, whose sums are ties."""
    random = np.random.default_rng([place, fmt.fraction_bits])
    anything = random.integers(0, 1 << 16, 40_000).astype(np.uint16)
    step = np.uint16(1 << fmt.fraction_bits)
    near = (random.integers(0, 1 << 16, 20_000).astype(np.uint16) // step) * step + random.integers(
        0, 3, 20_000
    ).astype(np.uint16)
    edges = np.array([0, 1, 2, step - 1, step, step + 1, fmt.maximum, fmt.infinity, fmt.nan], np.uint16)
    signs = random.integers(0, 2, 4_000).astype(np.uint16) << np.uint16(15)
    return np.concatenate([anything, near, random.choice(edges, 4_000) | signs])


@pytest.mark.parametrize("fmt", [F16, BF16])
@pytest.mark.parametrize("name", OPERATIONS)
def test_sums_and_products_are_rounded_as_if_once(name: str, fmt: Format) -> None:
    native, exact = OPERATIONS[name]
    quick = half_fast_path.fast_path(native, fmt, fused=False)
    assert quick is not None
    a, b = codes(fmt, 1), codes(fmt, 2)
    with np.errstate(all="ignore"):
        expected = narrow(fmt, exact(widen(fmt, a), widen(fmt, b)))
        known = [
            (at, found) for at in range(0, len(a), 4) if (found := quick(a[at : at + 4], b[at : at + 4])) is not None
        ]
    assert len(known) > 10
    for at, found in known:
        assert (found == expected[at : at + 4]).all()


@pytest.mark.parametrize("fmt", [F16, BF16])
def test_fused_results_are_rounded_as_if_once_where_they_are_known(fmt: Format) -> None:
    quick = half_fast_path.fast_path(narrow_float.fused_multiply_add_f32, fmt, fused=True)
    assert quick is not None
    a, b, c = (codes(fmt, place) for place in (3, 4, 5))
    known = 0
    with np.errstate(all="ignore"):
        expected = narrow(fmt, narrow_float.fused_multiply_add(widen(fmt, a), widen(fmt, b), widen(fmt, c)))
        for at in range(len(a)):
            found = quick(a[at : at + 1], b[at : at + 1], c[at : at + 1])
            known += found is not None
            assert found is None or found[0] == expected[at]
    assert known > len(a) // 2


def test_ties_in_wider_formats_are_computed_exactly() -> None:
    quick = half_fast_path.fast_path(narrow_float.fused_multiply_add_f32, F16, fused=True)
    assert quick is not None
    a, b, c = (np.array([code], np.uint16) for code in (0x0001, 0x0001, 0x6801))  # 2**-48 added to 2050 is lost in f64
    assert list(quick(a, b, c) or ()) == [0x6801]
    big, half_way = np.array([0x7800], np.uint16), np.array([0x4C01], np.uint16)  # 32768 + 16 * (1 + 2**-10)
    assert list(quick(np.array([0x3C00], np.uint16), half_way, big) or ()) == [0x7801]
    assert fmul(type="bf16")(np.array([0x0080], np.uint16), np.array([0x3F02], np.uint16)).tolist() == [0x0041]
    wide = ffma(type="bf16", rounding="rn")
    tie = [np.array([code], np.uint16) for code in (0x3F80, 0x3B80, 0x3F80)]  # 1 + 2**-8
    assert wide(*tie).tolist() == [0x3F80]
    above = [np.array([code], np.uint16) for code in (0x0081, 0x3F81, 0x3F80)]
    assert wide(*above).tolist() == [0x3F80]


def test_modifiers_are_applied_to_fast_results() -> None:
    two = np.array([0x40004000], np.uint32)
    assert fadd(type="f16x2", saturate=True)(two, two).tolist() == [0x3C003C00]
    assert fsub(type="bf16x2")(two, two).tolist() == [0]
    assert ffma(type="bf16x2", rounding="rn", relu=True)(two, two ^ np.uint32(0x80008000), two).tolist() == [0]
