"""Loads and stores of vectors, with the order and the caches that they state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    Global,
    Kernel,
    Register,
    Scalar,
    Shared,
    b8,
    bf16,
    f16,
    f32,
    f64,
    s8,
    u8,
    u32,
    u64,
)
from tests.build.running import WARP, host_type, run_kernel
from tests.build.support import assert_ptxas_accepts, opcodes


@pytest.mark.parametrize(
    ("scalar", "count", "opcode"),
    [
        (f32, 1, "ld.global.f32"),
        (f32, 2, "ld.global.v2.f32"),
        (u32, 4, "ld.global.v4.u32"),
        (f64, 2, "ld.global.v2.f64"),
        (bf16, 4, "ld.global.v4.b16"),
        (bf16, 8, "ld.global.v4.b32"),
        (u8, 4, "ld.global.v4.u8"),
        (s8, 8, "ld.global.v2.b32"),
        (b8, 16, "ld.global.v4.b32"),
        (f32, 8, "ld.global.v8.f32"),
        (u64, 4, "ld.global.v4.u64"),
        (f16, 16, "ld.global.v8.b32"),
    ],
)
def test_a_vector_is_loaded_and_stored_by_one_instruction(
    scalar: type[Scalar], count: int, opcode: str, tmp_path: Path
) -> None:
    k = Kernel("k", threads=WARP)
    size = count * scalar.size()
    given = k.param(Global[scalar], "given", align=size)  # type: ignore[valid-type]
    out = k.param(Global[scalar], "out", align=size)  # type: ignore[valid-type]
    place = k.laneid * count
    found = given[place].load(count)
    assert [each.type for each in found] == [scalar] * count
    out[place].store(found[::-1])
    codes = opcodes(k.module())
    assert [code for code in codes if code.startswith(("ld.global", "st"))] == [opcode, opcode.replace("ld", "st")]
    values = np.arange(WARP * size, dtype=np.uint8).view(host_type(scalar))
    target = "sm_100a" if size == 32 else "sm_90a"
    stored = run_kernel(k, np.zeros_like(values), values, tmp_path, target=target)
    shape = WARP, count, scalar.size()
    assert np.array_equal(stored.view(np.uint8).reshape(shape), values.view(np.uint8).reshape(shape)[:, ::-1])


def test_one_element_is_not_a_tuple() -> None:
    k = Kernel("k")
    data = k.param(Global[f32], "data")
    assert isinstance(data.load(), Register)
    assert isinstance(data.load(1), tuple)


def test_numbers_are_stored_with_registers(tmp_path: Path) -> None:
    k = Kernel("k", threads=WARP)
    given, out = k.param(Global[bf16], "given", align=16), k.param(Global[bf16], "out", align=16)
    one = given[k.laneid * 8].load()
    out[k.laneid * 8].store([one, 1.0, 2, -0.0, one, 0.5, 0, 1])
    values = np.arange(WARP * 8, dtype=np.uint16)
    found = run_kernel(k, np.zeros_like(values), values, tmp_path).reshape(WARP, 8)
    assert found[:, 0].tolist() == found[:, 4].tolist() == values[::8].tolist()
    assert found[3, 1:4].tolist() == [0x3F80, 0x4000, 0x8000]
    assert found[3, 5:].tolist() == [0x3F00, 0, 0x3F80]


@pytest.mark.parametrize(
    ("use", "opcode"),
    [
        (lambda data, _: data.load(order="acquire"), "ld.acquire.gpu.global.f32"),
        (lambda data, _: data.load(order="relaxed", scope="sys"), "ld.relaxed.sys.global.f32"),
        (lambda data, _: data.store(1.0, order="release", scope="cta"), "st.release.cta.global.f32"),
        (lambda data, _: data.load(4, read_only=True), "ld.global.nc.v4.f32"),
        (lambda data, _: data.load(4, read_only=True, l1="no_allocate"), "ld.global.nc.L1::no_allocate.v4.f32"),
        (lambda data, policy: data.load(2, policy=policy), "ld.global.L2::cache_hint.v2.f32"),
        (lambda data, policy: data.store([1, 2], policy=policy), "st.global.L2::cache_hint.v2.f32"),
        (lambda data, _: data.store(1.0, l1="evict_first"), "st.global.L1::evict_first.f32"),
    ],
)
def test_the_order_and_the_caches_are_modifiers(
    use: Callable[[Global[f32], Register[Any]], object], opcode: str, tmp_path: Path
) -> None:
    k = Kernel("k")
    data, policy = k.param(Global[f32], "data", align=16), k.createpolicy_fractional_L2_evict_last(1.0)
    use(data, policy)
    assert opcode in opcodes(k.module())
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_vector_that_cannot_be_is_an_error_with_the_remedy() -> None:
    k = Kernel("k")
    data, tile = k.param(Global[f32], "data"), k.shared(f32, 6, align=16)
    with pytest.raises(BuildTypeError, match=r"aligned to 16 bytes, got .*; declare the array with align=16, or use"):
        data.load(4)
    for count in (0, 3, -4, True, 2.0):
        with pytest.raises(BuildValueError, match="a vector has 1, 2, 4, 8, 16 or 32 elements"):
            data.load(count)  # type: ignore[call-overload]
    with pytest.raises(BuildValueError, match=r"16 elements of \.f32 are 64 bytes, and an access has up to 16, or 32"):
        data.aligned(64).load(16)
    with pytest.raises(BuildValueError, match="is near the end of its array: 2 of 4 elements are there"):
        tile[4].store([0.0] * 4)
    with pytest.raises(BuildValueError, match="a vector has"):
        data.store([])
    data.aligned(16).load(4)
    tile[4].aligned(8).store([0.0] * 2)


def test_misspelled_orders_and_scopes_are_errors_with_the_choices() -> None:
    k = Kernel("k")
    data, tile = k.param(Global[f32], "data"), k.shared(f32, 4)
    with pytest.raises(BuildValueError, match="the order is relaxed or acquire, not 'aquire'"):
        data.load(order="aquire")  # type: ignore[call-overload]
    with pytest.raises(BuildValueError, match="the order is relaxed or release, not 'acquire'"):
        data.store(1.0, order="acquire")  # type: ignore[arg-type]
    with pytest.raises(BuildValueError, match="the scope is cta, cluster, gpu or sys, not 'device'"):
        data.load(order="acquire", scope="device")  # type: ignore[call-overload]
    with pytest.raises(BuildValueError, match="the eviction priority is evict_normal, "):
        data.load(l1="last")  # type: ignore[call-overload]
    with pytest.raises(BuildTypeError, match="read-only loads are from global memory"):
        tile.load(read_only=True)
    with pytest.raises(BuildTypeError, match=r"use k\.where\(p, 1, 0, f32\)"):
        data.store(k.laneid < 3)  # type: ignore[arg-type]


def test_the_types_of_stored_values_are_those_of_the_elements() -> None:
    k = Kernel("k")
    tile: Shared[u32] = k.shared(u32, 8, align=16)
    number, single = k.param(u32, "number"), k.param(f32, "single")
    with pytest.raises(BuildTypeError, match=r"takes \.u32, got %f0: \.f32"):
        tile.store([number, single])  # type: ignore[list-item]
    tile.store([number, 1])
