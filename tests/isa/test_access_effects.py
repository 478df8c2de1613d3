"""Loads that need not observe writes, multimem addresses, and whole-warp instructions in the table."""

from __future__ import annotations

import pytest

from ptxkit.isa import table
from ptxkit.isa.effects import Access
from ptxkit.isa.forms import Match


def matches(opcode: str) -> list[Match]:
    found = list(table().candidates(opcode))
    assert found
    return found


def accesses(opcode: str) -> list[Access]:
    found = [effect for match in matches(opcode) for effect in match.effects if isinstance(effect, Access)]
    assert found
    return found


@pytest.mark.parametrize(
    ("opcode", "coherent"),
    [
        ("ld.global.nc.u32", False),
        ("ld.global.nc.L1::no_allocate.v4.f32", False),
        ("ld.global.u32.proxy::readonly", False),
        ("ld.global.u32", True),
        ("ldu.global.u32", True),
    ],
)
def test_a_non_coherent_load_is_marked(opcode: str, coherent: bool) -> None:
    assert {access.coherent for access in accesses(opcode)} == {coherent}


@pytest.mark.parametrize(
    ("opcode", "via"),
    [
        ("multimem.ld_reduce.relaxed.gpu.global.add.u32", "multimem"),
        ("multimem.st.weak.global.v2.f32", "multimem"),
        ("multimem.red.relaxed.gpu.global.add.u32", "multimem"),
        ("multimem.st.async.release.gpu.global.b32", "multimem"),
        ("red.relaxed.gpu.global.add.u32", "address"),
        ("st.weak.global.v2.f32", "address"),
    ],
)
def test_a_multimem_address_refers_to_every_location(opcode: str, via: str) -> None:
    assert {access.via for access in accesses(opcode)} == {via}


@pytest.mark.parametrize(
    ("opcode", "aligned"),
    [
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", True),
        ("wgmma.fence.sync.aligned", True),
        ("barrier.sync.aligned", True),
        ("barrier.sync", False),
        ("shfl.sync.bfly.b32", False),
    ],
)
def test_instructions_that_a_whole_warp_executes_are_marked(opcode: str, aligned: bool) -> None:
    assert {match.is_aligned for match in matches(opcode)} == {aligned}
