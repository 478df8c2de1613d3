"""Reductions over a warp and a CTA, and scans, agree with NumPy and need no barrier of the caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.build import (
    BuildError,
    BuildTypeError,
    BuildValueError,
    Global,
    Kernel,
    Register,
    Scalar,
    b32,
    f16,
    f32,
    f64,
    s32,
    u16,
    u32,
    u64,
)
from ptxkit.build.reductions import OperationName, neutral_value
from tests.build.running import WARP, host_type, run_kernel, run_lanes
from tests.build.support import opcodes

NAMES: tuple[OperationName, ...] = get_args(OperationName)
FUNCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.sampled_from((u32, s32, u64)),
    st.sampled_from((2, 8, 32)),
    st.sampled_from((None, "sm_90")),
    st.integers(0, 1 << 32),
)
def test_integers_of_a_warp_are_merged(
    name: OperationName, scalar: type[Scalar], width: int, target: str | None, seed: int
) -> None:
    values = np.random.default_rng(seed).integers(0, 1 << 31, WARP).astype(host_type(scalar))
    k = Kernel("k", threads=WARP, target=target)
    given_, out = k.param(Global[scalar], "given"), k.param(Global[scalar], "out")  # type: ignore[valid-type]
    lane = k.laneid
    reduced = k.warp_reduce(name, given_[lane].load(), width=width)
    out[lane].store(reduced)
    assert reduced.type is scalar
    found = run_kernel(k, np.zeros_like(values), values)
    expected = FUNCTIONS[name].reduce(values.reshape(-1, width), axis=1, dtype=values.dtype)
    assert found.tolist() == np.repeat(expected, width).tolist()


@pytest.mark.parametrize("scalar", [f16, f32, f64])
@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_numbers_of_a_warp_are_merged(scalar: type[Scalar], name: OperationName, tmp_path: Path) -> None:
    values = np.random.default_rng(3).permutation(WARP).astype(host_type(scalar)) - 10
    found = run_lanes(scalar, values, scalar, lambda k, x: k.warp_reduce(name, x), tmp_path)
    assert found.tolist() == [FUNCTIONS[name].reduce(values)] * WARP


@pytest.mark.parametrize(
    ("target", "scalar", "name", "code"),
    [
        ("sm_80", u32, "add", "redux.sync.add.u32"),
        ("sm_90a", s32, "max", "redux.sync.max.s32"),
        ("sm_80", b32, "xor", "redux.sync.xor.b32"),
        ("sm_80", s32, "and", "redux.sync.and.b32"),
    ],
)
def test_one_instruction_reduces_where_the_target_has_it(
    target: str, scalar: type[Scalar], name: OperationName, code: str
) -> None:
    def codes(target: str | None, **width: int) -> list[str]:
        k = Kernel("k", target=target)
        assert k.warp_reduce(name, k.register(scalar), **width).type is scalar
        return opcodes(k.module())

    assert codes(target) == [code, "ret"]
    for other in (codes(None), codes("sm_75"), codes(target, width=16)):
        assert "shfl.sync.bfly.b32" in other


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(("add", "max", "xor")), st.sampled_from((2, 16, 32)), st.integers(0, 1 << 32))
def test_a_scan_merges_the_lanes_up_to_each(name: OperationName, width: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 1 << 32, WARP, dtype=np.uint32)
    found = run_lanes(u32, values, u32, lambda k, x: k.warp_scan(name, x, width=width))
    expected = FUNCTIONS[name].accumulate(values.reshape(-1, width), axis=1, dtype=np.uint32)
    assert found.tolist() == expected.ravel().tolist()


@pytest.mark.parametrize("warps", [1, 2, 3, 8])
@pytest.mark.parametrize(("scalar", "name"), [(u32, "add"), (f32, "max"), (s32, "min"), (u64, "xor"), (f16, "add")])
def test_the_threads_of_a_cta_are_merged(scalar: type[Scalar], name: OperationName, warps: int, tmp_path: Path) -> None:
    threads = warps * WARP
    k = Kernel("k", threads=threads)
    given_, out = k.param(Global[scalar], "given"), k.param(Global[scalar], "out")  # type: ignore[valid-type]
    out[k.tid.x].store(k.block_reduce(name, given_[k.tid.x].load()))
    values = (np.random.default_rng(warps).integers(0, 8, threads) - 2).astype(host_type(scalar))
    found = run_kernel(k, np.zeros_like(values), values, tmp_path)
    assert found.tolist() == [FUNCTIONS[name].reduce(values, dtype=values.dtype)] * threads


def test_the_warps_of_a_cta_use_one_instruction_where_the_target_has_it() -> None:
    k = Kernel("k", threads=1024, target="sm_80")
    given_, out = k.param(Global[u32], "given"), k.param(Global[u32], "out")
    out[k.tid.x].store(k.block_reduce("add", given_[k.tid.x].load()))
    assert opcodes(k.module()).count("redux.sync.add.u32") == 2
    values = np.arange(1024, dtype=np.uint32)
    assert run_kernel(k, np.zeros_like(values), values).tolist() == [values.sum()] * 1024


def test_a_function_merges_several_values_together() -> None:
    def merge(a: Any, b: Any) -> tuple[Register[f32], Register[f32]]:
        return k.max(a[0], b[0]), a[1] + b[1]

    k = Kernel("k", threads=64)
    given_, out = k.param(Global[f32], "given"), k.param(Global[f32], "out")
    value = given_[k.tid.x].load()
    largest, total = k.block_reduce(merge, (value, value), neutral=(-1e30, 0.0))
    out[k.tid.x].store(k.where(k.tid.x < 32, largest, total))
    values = np.arange(64, dtype=np.float32)
    found = run_kernel(k, np.zeros_like(values), values)
    assert found.tolist() == [63.0] * 32 + [values.sum()] * 32


def test_memory_of_the_caller_is_used_again_after_a_barrier() -> None:
    k = Kernel("k", threads=64)
    given_, out, scratch = k.param(Global[u32], "given"), k.param(Global[u32], "out"), k.shared(u32, 2)
    value = given_[k.tid.x].load()
    total = k.block_reduce("add", value, scratch)
    k.cta_sync()
    out[k.tid.x].store(total + k.block_reduce("max", value, scratch))
    assert len(k.declarations.variables) == 1
    values = np.arange(64, dtype=np.uint32)
    assert run_kernel(k, np.zeros_like(values), values).tolist() == [values.sum() + 63] * 64


def test_the_verifier_reports_memory_that_is_used_again_without_a_barrier() -> None:
    k = Kernel("k", threads=64)
    out, scratch = k.param(Global[u32], "out"), k.shared(u32, 2)
    total = k.block_reduce("add", k.tid.x, scratch)
    out[k.tid.x].store(total + k.block_reduce("max", k.tid.x, scratch))
    with pytest.raises(Exception, match="PTX621"):
        k.verify()


def test_impossible_reductions_are_errors() -> None:
    k = Kernel("k", threads=64)
    x, y = k.register(f32), k.register(u16)
    with pytest.raises(BuildTypeError, match=r"a reduction of \.f32 is a function or add, mul, min, max, not 'and'"):
        k.warp_reduce("and", x)
    with pytest.raises(BuildTypeError, match="merged by a function of two sequences"):
        k.warp_reduce("add", (x, x))  # type: ignore[call-overload]
    with pytest.raises(BuildValueError, match="needs `neutral`"):
        k.block_reduce(lambda a, b: a + b, x)
    with pytest.raises(BuildValueError, match="over 2 warps needs 2 elements of shared memory"):
        k.block_reduce("add", x, k.shared(f32, 1))
    with pytest.raises(BuildTypeError, match=r"have one type, not"):
        k.block_reduce("add", y, k.shared(f32, 2))  # type: ignore[type-var]
    for threads in (None, 48, (32, 2)):
        other = Kernel("other", threads=threads)
        with pytest.raises(BuildError, match="whole warps in one dimension"):
            other.block_reduce("add", other.register(f32))


@given(st.sampled_from(NAMES), st.sampled_from((u16, u32, s32, u64)), st.data())
def test_a_neutral_value_changes_nothing(name: OperationName, scalar: type[Scalar], data: st.DataObject) -> None:
    kind = host_type(scalar)
    info = np.iinfo(kind)
    value = np.array(data.draw(st.integers(info.min, info.max)), kind)
    assert FUNCTIONS[name](value, np.array(neutral_value(name, scalar), kind)) == value
