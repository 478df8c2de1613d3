"""RMS normalization: right on the reference machine, proven, and rejected without its barrier."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.build import BuildValueError, VerificationError, verify_assembled
from ptxkit.kernels import rms_norm
from ptxkit.kernels.rms_norm import VECTOR, rms_norm_ctas
from tests.build.support import assert_ptxas_accepts
from tests.kernels.removal import positions, without

EPSILON = 1e-3
ROUNDING = 2.0**-8
"""The relative error of rounding to bf16 once, with the last bit of fp32 as a margin."""


def to_bf16(values: Any) -> Any:
    """Returns the bits of numbers, rounded to the nearest."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: Any) -> Any:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def normalize_exactly(rows: Any, weight: Any) -> Any:
    exact = rows.astype(np.float64)
    return exact / np.sqrt((exact**2).mean(1, keepdims=True) + EPSILON) * weight


SHAPES = [(5, 8), (4, 64), (3, 264), (2, 1024), (3, 1032), (2, 4096), (1, 16400), (1, 33000)]
"""Rows of a part of a warp, of whole vectors and with a rest, of several warps, and of more vectors than usual."""


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.parametrize("residual", [False, True])
def test_rows_are_normalized_on_the_reference_machine(rows: int, columns: int, *, residual: bool) -> None:
    random = np.random.default_rng(columns)
    source, carried = (to_bf16(random.normal(0.5, 2, (rows, columns))) for _ in range(2))
    weight, target = to_bf16(random.standard_normal(columns)), np.zeros((rows, columns), np.uint16)
    total = from_bf16(to_bf16(from_bf16(source) + from_bf16(carried))) if residual else from_bf16(source)
    kernel = rms_norm(columns, EPSILON, residual=residual)
    kernel.emulate(rms_norm_ctas(columns, rows))(source, target, weight, *([carried] if residual else []), rows)
    expected = normalize_exactly(total, from_bf16(weight))
    assert (np.abs(from_bf16(target) - expected) <= ROUNDING * np.abs(expected)).all()
    assert not residual or np.array_equal(from_bf16(carried), total)


@pytest.mark.parametrize("columns", [8, 1000, 8192, 8200, 32768])
@pytest.mark.parametrize("residual", [False, True])
def test_no_question_is_open(columns: int, tmp_path: Path, *, residual: bool) -> None:
    kernel = rms_norm(columns, residual=residual)
    verdict = kernel.verify()
    assert (verdict.diagnostics, verdict.undecided) == ((), ())
    assert_ptxas_accepts(str(kernel), tmp_path)


def test_without_its_barrier_it_is_rejected() -> None:
    kernel = rms_norm(2048)
    (place,) = positions(kernel, "bar.sync")
    with pytest.raises(VerificationError, match="PTX621"):
        verify_assembled(without(kernel, place), kernel.name)


def test_short_rows_need_no_barrier_and_share_a_cta() -> None:
    assert positions(rms_norm(1024), "bar.sync") == []
    assert [rms_norm_ctas(1024, rows) for rows in (1, 4, 5)] == [1, 1, 2]
    assert rms_norm_ctas(1024 + VECTOR, 5) == 5


@pytest.mark.parametrize("columns", [0, 4, 1001, (1 << 17) + 8])
def test_other_lengths_are_rejected(columns: int) -> None:
    with pytest.raises(BuildValueError, match=f"multiple of 8 elements, up to 131072, not {columns}"):
        rms_norm(columns)
