"""Atomic operations return the old value, and state their order and scope."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    Const,
    Global,
    Kernel,
    Register,
    Scalar,
    b128,
    bf16,
    bf16x2,
    f16,
    f16x2,
    f32,
    f64,
    s32,
    u16,
    u32,
    u64,
)
from tests.build.running import WARP, run_kernel
from tests.build.support import assert_ptxas_accepts, opcodes

Use = Callable[[Any], object]


@pytest.mark.parametrize(
    ("scalar", "use", "opcode"),
    [
        (u32, lambda a: a.atomic_add(1), "atom.relaxed.gpu.global.add.u32"),
        (f32, lambda a: a.atomic_add(1), "atom.relaxed.gpu.global.add.f32"),
        (f64, lambda a: a.atomic_add(1.5), "atom.relaxed.gpu.global.add.f64"),
        (f16, lambda a: a.atomic_add(1.0), "atom.relaxed.gpu.global.add.noftz.f16"),
        (bf16x2, lambda a: a.atomic_add(1.0), "atom.relaxed.gpu.global.add.noftz.bf16x2"),
        (s32, lambda a: a.atomic_min(-1, scope="sys"), "atom.relaxed.sys.global.min.s32"),
        (u64, lambda a: a.atomic_max(1, order="acq_rel"), "atom.acq_rel.gpu.global.max.u64"),
        (u32, lambda a: a.atomic_and(1), "atom.relaxed.gpu.global.and.b32"),
        (s32, lambda a: a.atomic_or(1), "atom.relaxed.gpu.global.or.b32"),
        (u64, lambda a: a.atomic_xor(1), "atom.relaxed.gpu.global.xor.b64"),
        (u32, lambda a: a.atomic_inc(7), "atom.relaxed.gpu.global.inc.u32"),
        (u32, lambda a: a.atomic_dec(7, scope="cta"), "atom.relaxed.cta.global.dec.u32"),
        (f32, lambda a: a.atomic_exch(1.0), "atom.relaxed.gpu.global.exch.b32"),
        (b128, lambda a: a.atomic_exch(a.builder.register(b128)), "atom.relaxed.gpu.global.exch.b128"),
        (u16, lambda a: a.atomic_cas(1, a.load(), order="acquire"), "atom.acquire.gpu.global.cas.b16"),
        (f64, lambda a: a.atomic_cas(0.0, 1.0), "atom.relaxed.gpu.global.cas.b64"),
        (f32, lambda a: a.reduce("add", 2), "red.relaxed.gpu.global.add.f32"),
        (u32, lambda a: a.reduce("add", 1, order="release", scope="cluster"), "red.release.cluster.global.add.u32"),
        (f32, lambda a: a.reduce("add", [a.load()] * 4), "red.relaxed.gpu.global.v4.f32.add"),
        (bf16, lambda a: a.reduce("max", [a.load()] * 8), "red.relaxed.gpu.global.v8.bf16.max.noftz"),
    ],
)
def test_the_instruction_has_the_type_the_order_and_the_scope(
    scalar: type[Scalar], use: Use, opcode: str, tmp_path: Path
) -> None:
    k = Kernel("k")
    place = k.param(Global[scalar], "place", align=16)  # type: ignore[valid-type]
    old = use(place)
    assert old is None or (isinstance(old, Register) and old.type is scalar)
    assert sorted(opcode.split(".")) in [sorted(each.split(".")) for each in opcodes(k.module())]
    if scalar is not b128:
        assert_ptxas_accepts(str(k), tmp_path)


def test_lanes_count_and_get_different_tickets() -> None:
    k = Kernel("k", threads=WARP)
    given, out = k.param(Global[u32], "given"), k.param(Global[u32], "out")
    ticket = given.atomic_add(2, order="acq_rel")
    out[ticket // 2].store(k.laneid)
    values = np.zeros(1, np.uint32)
    found = run_kernel(k, np.zeros(WARP, np.uint32), values)
    assert sorted(found.tolist()) == list(range(WARP))
    assert values[0] == 2 * WARP


def test_lanes_add_halves_and_compare() -> None:
    k = Kernel("k", threads=WARP)
    given, out = k.param(Global[f16x2], "given"), k.param(Global[u32], "out")
    given.reduce("add", 0.5)
    won = out[1].atomic_cas(0, k.laneid + 1) == 0
    with k.if_(won):
        out[0].reduce("max", k.laneid + 1)
    sums = np.zeros(1, np.uint32)
    first, claimed = run_kernel(k, np.zeros(2, np.uint32), sums).tolist()
    assert first == claimed != 0
    assert sums.view(np.float16).tolist() == [16.0, 16.0]


def test_operations_that_do_not_exist_are_errors() -> None:
    k = Kernel("k")
    constants = k.param(Const[u32], "constants")
    assert not hasattr(constants, "atomic_add")
    with pytest.raises(BuildTypeError, match=r"no form of atom_relaxed_gpu_add is for \.u16"):
        k.param(Global[u16], "place").atomic_add(1)
    with pytest.raises(BuildTypeError, match=r"bitwise operation on \.f32; use \.cast\(b32\)"):
        k.param(Global[f32], "single").atomic_and(1)
    with pytest.raises(BuildTypeError, match=r"no form of atom_relaxed_gpu_min is for \.f64; there is (?!.*_f64)"):
        k.param(Global[f64], "double").atomic_min(1)
    for wrong in ({"scope": "device"}, {"order": "seq_cst"}):
        with pytest.raises(BuildValueError, match=r"the (scope|order) is .*, not"):
            k.param(Global[u32], f"number_{next(iter(wrong))}").atomic_add(1, **wrong)  # type: ignore[arg-type]
    with pytest.raises(BuildValueError, match="the operation is add, min"):
        k.param(Global[u32], "number").reduce("sum", 1)  # type: ignore[arg-type]
    k.shared(u32, 1).atomic_add(1)
