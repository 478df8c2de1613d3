"""Addresses in the shared memory of a CTA that the instruction does not accept, as an execution detects them."""

from __future__ import annotations

import pytest

from tests.analysis.support import module_of, walk

HEAD = """.shared .align 16 .b8 tile[64]; .shared .align 8 .b64 bar; mov.u32 %r1, tile; mov.u32 %r2, bar;
mapa.shared::cluster.u32 %r3, %r1, 1; mapa.shared::cluster.u32 %r4, %r2, 1; mov.u64 %rd1, tile;
cvta.shared.u64 %rd2, %rd1; mov.u32 %r5, 16;"""
COPY = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s], [%%r1], %%r5, [%s];"
REDUCE = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s], 1, [%s];"
STORE = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%s], 1, [%s];"


def violations_of(line: str, rank: int = 0) -> list[tuple[str, str]]:
    """Returns (role, where it should be: in another CTA, or in the CTA of a role) of each address in the wrong CTA."""
    trace = walk(module_of(HEAD + line, bounds=".reqnctapercluster 2, 1, 1"), rank=rank).trace
    return [(misfit.role, misfit.rule) for misfit in trace.operand_violations.values() if misfit.kind == "home"]


@pytest.mark.parametrize("line", [COPY, REDUCE, STORE])
def test_the_other_cta_receives_data_and_signal(line: str) -> None:
    assert violations_of(line % ("%r3", "%r4")) == []


def test_a_copy_and_a_reduction_leave_the_executing_cta() -> None:
    assert violations_of(COPY % ("%r1", "%r2")) == [("d", "other")]
    assert violations_of(REDUCE % ("%r1", "%r2")) == [("a", "other")]
    assert violations_of(STORE % ("%r1", "%r2")) == []


def test_own_memory_depends_on_the_cta() -> None:
    assert violations_of(COPY % ("%r3", "%r4"), rank=1) == [("d", "other")]


def test_data_and_signal_go_to_the_same_cta() -> None:
    assert violations_of(STORE % ("%r3", "%r2")) == [("bar", "a")]
    assert violations_of(REDUCE % ("%r3", "%r2")) == [("bar", "a")]


def test_an_unknown_address_may_be_anywhere() -> None:
    assert violations_of("mapa.shared::cluster.u32 %r6, %r1, %r9;" + COPY % ("%r6", "%r4")) == []
