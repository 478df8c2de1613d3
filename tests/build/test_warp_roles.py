"""Warp specialization: the threads of a role, and their registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import BuildError, BuildValueError, Global, Kernel, u32
from tests.build.support import assert_ptxas_accepts


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=384, registers=168)


@pytest.mark.parametrize(
    ("warps", "test"),
    [
        (range(4), "setp.le.u32 %p0, %r1, 3;"),
        (range(4, 12), "setp.ge.u32 %p0, %r1, 4;"),
        (2, "setp.eq.u32 %p0, %r1, 2;"),
        ((5, 4), "sub.u32 %r2, %r1, 4;\n\tsetp.le.u32 %p0, %r2, 1;"),
    ],
)
def test_a_role_is_a_branch_on_the_warp(k: Kernel, warps: object, test: str) -> None:
    with k.role(warps=warps):  # type: ignore[arg-type]
        k.trap()
    assert f"shr.u32 %r1, %r0, 5;\n\t{test}\n\t@!%p0 bra $endif_0;\n\ttrap;\n$endif_0:" in str(k)


def test_threads_are_numbered_with_x_first() -> None:
    k = Kernel("k", threads=(8, 4, 2))
    with k.role(warps=1):
        k.trap()
    assert "mul.lo.u32 %r2, %r1, 8;" in str(k)
    assert "mul.lo.u32 %r5, %r4, 32;" in str(k)


def test_roles_change_their_registers(k: Kernel, tmp_path: Path) -> None:
    with k.role(warps=range(4), registers=40):
        pass
    with k.role(warps=range(4, 12), registers=232):
        pass
    text = str(k)
    assert ".maxnreg 168" in text
    assert "setmaxnreg.dec.sync.aligned.u32 40;" in text
    assert "setmaxnreg.inc.sync.aligned.u32 232;" in text
    assert_ptxas_accepts(text, tmp_path)


def test_registers_change_for_warpgroups_and_from_a_known_number(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match="whole warpgroups"):
        k.role(warps=range(2), registers=40)
    with pytest.raises(BuildError, match=r"Kernel\(registers="):
        Kernel("k", threads=128).role(warps=range(4), registers=40)


def test_a_role_has_warps_that_exist_and_are_consecutive(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match="there is no warp 12"):
        k.role(warps=12)
    with pytest.raises(BuildValueError, match=r"follow one another, not \[0, 2\]"):
        k.role(warps=(0, 2))
    with pytest.raises(BuildError, match="needs the CTA's shape"):
        Kernel("k").role(warps=0)


def test_a_kernel_declares_its_cluster(tmp_path: Path) -> None:
    text = str(Kernel("k", threads=32, cluster=(2, 1)))
    assert ".reqnctapercluster 2, 1, 1" in text
    assert ".target sm_90" in text
    assert_ptxas_accepts(text, tmp_path)
    with pytest.raises(BuildValueError, match="a cluster has at most 16 CTAs, not 32"):
        Kernel("k", cluster=32)


def test_a_role_may_depend_on_a_uniform_number_of_the_warp(k: Kernel, tmp_path: Path) -> None:
    warp = k.uniform(k.warp)
    with k.role(warps=range(4, 12), by=warp):
        k.trap()
    with k.role(warps=0, by=warp):
        k.trap()
    text = str(k)
    assert "redux.sync.or.b32 %r2, %r1, 4294967295;\n\tsetp.ge.u32 %p0, %r2, 4;" in text
    assert text.count("shr.u32") == 1
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(text, tmp_path)


def test_the_verifier_determines_the_warps_of_a_role_from_a_uniform_number(k: Kernel) -> None:
    warp = k.uniform(k.warp)
    with k.role(warps=range(4), registers=40, by=warp):
        k.cta_sync(1, 128)
    with k.role(warps=range(4, 12), registers=232, by=warp):
        k.cta_sync(2, 256)
    assert k.verify().diagnostics == ()


def test_roles_by_an_unknown_number_exclude_each_other(k: Kernel) -> None:
    number = k.param(Global[u32], "numbers")[k.warp >> 2].load()
    with k.role(warps=range(4), registers=40, by=number):
        k.cta_sync(1, 128)
    with k.role(warps=range(4, 12), registers=232, by=number):
        k.cta_sync(2, 256)
    assert k.verify().diagnostics == ()
