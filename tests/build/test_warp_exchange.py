"""Shuffles, votes and matches are typed as their operands, and agree with NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    Kernel,
    Register,
    Scalar,
    b128,
    bf16,
    f16,
    f16x2,
    f32,
    f64,
    pred,
    s32,
    u8,
    u16,
    u32,
    u64,
)
from tests.build.running import WARP, run_lanes
from tests.build.support import opcodes

LANES = np.arange(WARP)
TYPES: tuple[type[Scalar], ...] = (u8, u16, f16, bf16, f16x2, u32, s32, f32, u64, f64)


def source_lanes(mode: str, amount: int, width: int) -> np.ndarray[Any, Any]:
    """Returns the lane whose value each lane receives."""
    start = LANES // width * width
    found = {
        "xor": LANES ^ amount,
        "up": LANES - amount,
        "down": LANES + amount,
        "idx": start + amount % width,
    }[mode]
    inside = (found >= start) if mode == "up" else (found < start + width)
    return np.where(inside, found, LANES)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(("xor", "up", "down", "idx")),
    st.integers(0, 31),
    st.sampled_from((2, 4, 8, 16, 32)),
    st.sampled_from(TYPES),
    st.randoms(use_true_random=False),
)
def test_a_shuffle_moves_values_of_any_type(
    mode: str, amount: int, width: int, scalar: type[Scalar], random: Any
) -> None:
    values = np.frombuffer(random.randbytes(WARP * scalar.size()), f"u{scalar.size()}")
    typed = []

    def shuffle(k: Kernel, value: Register[Any]) -> Register[Any]:
        moved: Register[Any] = getattr(k, f"shuffle_{mode}")(value, amount, width=width)
        typed.append(moved.type)
        return moved

    found = run_lanes(scalar, values, scalar, shuffle)
    assert typed == [scalar]
    assert found.view(values.dtype).tolist() == values[source_lanes(mode, amount, width)].tolist()


def test_wide_values_take_several_shuffles_and_predicates_one() -> None:
    k = Kernel("k")
    assert k.shuffle_xor(k.register(b128), 1).type is b128
    assert opcodes(k.module()).count("shfl.sync.bfly.b32") == 4
    p: Register[pred] = k.shuffle_idx(k.laneid < 3, k.laneid ^ 1)
    assert p.type is pred
    assert opcodes(k.module()).count("shfl.sync.idx.b32") == 1


def test_ptxas_accepts_every_width(tmp_path: Path) -> None:
    for scalar in TYPES:
        values = np.arange(WARP, dtype=f"u{scalar.size()}")
        found = run_lanes(scalar, values, scalar, lambda k, x: k.shuffle_idx(x, k.laneid ^ 1), tmp_path)
        assert found.view(values.dtype).tolist() == (LANES ^ 1).tolist()


def test_votes_and_matches(tmp_path: Path) -> None:
    def vote(k: Kernel, x: Register[u32]) -> Register[u32]:
        assert k.any(x < 1).type is k.all(x < 1).type is pred
        some, every = k.any(x == 7), k.all(x == 7)
        return k.where(some & ~every & k.all(x < 32), k.ballot(x < 5) ^ k.match_any(x // 16), 0)

    found = run_lanes(u32, LANES.astype(np.uint32), u32, vote, tmp_path)
    assert found.tolist() == [0x1F ^ (0xFFFF if lane < 16 else 0xFFFF0000) for lane in LANES]
    same = run_lanes(u64, (LANES % 2).astype(np.uint64), u32, lambda k, x: k.match_any(x), tmp_path)
    assert same.tolist() == [0x55555555, 0xAAAAAAAA] * 16


def test_constants_and_odd_widths_are_errors() -> None:
    k = Kernel("k")
    with pytest.raises(BuildTypeError, match="all lanes have the same constant"):
        k.shuffle_xor(1.0, 1)  # type: ignore[arg-type]
    for width in (0, 3, 64, True):
        with pytest.raises(BuildValueError, match="among 1, 2, 4, 8, 16 or 32 of them"):
            k.shuffle_xor(k.laneid, 1, width=width)
    with pytest.raises(BuildTypeError, match="a condition is a predicate register"):
        k.ballot(k.laneid)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match="values of 32 or 64 bits"):
        k.match_any(k.register(f16))
    k.shuffle_xor(k.laneid, 1, width=4)
