"""Copies of some bytes by each thread, and the groups that track them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

THREADS = 64
POLICIES = ("eager", "late", "torn", "random")
BEGIN = """
 .shared .align 16 .b8 tile[2048];
 .shared .align 8 .b64 bar;
 mov.u32 %r31, %tid.x; ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b];
 mul.wide.u32 %d2, %r31, 16; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;
 mov.u32 %r30, tile; shl.b32 %r29, %r31, 4; add.u32 %r30, %r30, %r29;
"""
COPY = " cp.async.cg.shared.global [%r30], [%d3], 16;\n"
COMMIT = " cp.async.commit_group;\n"
OUT = " ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r30];\n st.global.v4.u32 [%d4], {%r1, %r2, %r3, %r4};\n"
SOURCE = numpy.arange(1, 4 * THREADS + 1, dtype=numpy.uint32)


def ran(body: str, policy: str = "late", seed: int = 0) -> Any:
    """Runs a kernel that copies a to b with the given body."""
    text = kernel(BEGIN + body, ".param .u64 a, .param .u64 b")
    found = run(text, "k", block=THREADS, arguments=[SOURCE, numpy.zeros_like(SOURCE)], policy=policy, seed=seed)
    assert not found.unsupported_reason, found.unsupported_reason
    return found


def codes(body: str, policy: str = "late") -> set[str]:
    """Returns the codes of the findings of a run."""
    return {each.code for each in ran(body, policy).findings}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("wait", [COMMIT + " cp.async.wait_group 0;\n", " cp.async.wait_all;\n"])
def test_a_copy_is_visible_after_the_wait(policy: str, wait: str) -> None:
    for seed in range(3):
        found = ran(COPY + wait + OUT, policy, seed)
        assert not found.findings
        assert (found.outputs[1] == SOURCE).all()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "wait",
    [
        "",
        " bar.sync 0;\n",
        COMMIT + " cp.async.wait_group 1;\n",
        " cp.async.wait_group 0;\n",
        COMMIT + " cp.async.bulk.wait_group 0;\n",
    ],
)
def test_a_read_before_the_wait_for_its_copy_is_found(policy: str, wait: str) -> None:
    found = ran(COPY + wait + OUT, policy)
    finding = next(each for each in found.findings if each.code == "PTX302")
    assert [each.action.split(".")[0] for each in finding.witnesses] == ["ld", "cp"]


def test_late_bytes_are_missing() -> None:
    found = ran(COPY + COMMIT + OUT, "late")
    assert not (found.outputs[1] == SOURCE).any()
    assert (ran(COPY + COMMIT + OUT, "eager").outputs[1] == SOURCE).all()


def test_a_copy_without_a_commit_is_found_at_the_end() -> None:
    assert codes(COPY) == {"PTX301"}
    assert not codes(COPY + COMMIT)


def test_the_last_groups_remain_pending() -> None:
    second = " cp.async.cg.shared.global [%r30+1024], [%d3], 16;\n" + COMMIT
    assert not codes(COPY + COMMIT + second + " cp.async.wait_group 1;\n" + OUT)
    assert codes(COPY + COMMIT + second + " cp.async.wait_group 2;\n" + OUT) == {"PTX302"}
    assert not codes(COPY + COMMIT + COMMIT + " cp.async.wait_group 1;\n" + OUT)


def test_a_store_into_a_pending_copy_is_found() -> None:
    store = " st.shared.u32 [%r30], %r31;\n"
    assert codes(COPY + COMMIT + store) == {"PTX303"}
    assert not codes(COPY + COMMIT + " cp.async.wait_group 0;\n" + store)


def test_the_source_must_remain_unchanged_until_the_copy_is_complete() -> None:
    store = " st.global.u32 [%d3], %r31;\n"
    assert codes(COPY + COMMIT + store) == {"PTX303"}
    assert not codes(COPY + COMMIT + " cp.async.wait_group 0;\n" + store)


def test_two_copies_to_one_address_are_found() -> None:
    assert codes(COPY + COPY + COMMIT) == {"PTX304"}
    assert not codes(COPY + COMMIT + " cp.async.wait_group 0;\n" + COPY + COMMIT)


@pytest.mark.parametrize("size", [0, 4, 6, 16])
def test_unread_bytes_are_zeros(size: int) -> None:
    found = ran(f" cp.async.cg.shared.global [%r30], [%d3], 16, {size};\n cp.async.wait_all;\n" + OUT)
    wanted = SOURCE.view(numpy.uint8).reshape(-1, 16).copy()
    wanted[:, size:] = 0
    assert (found.outputs[1].view(numpy.uint8).reshape(-1, 16) == wanted).all()


def test_an_ignored_source_need_not_exist() -> None:
    far = " setp.ge.u32 %p0, %r31, 32; add.u64 %d5, %d3, 1048576; selp.b64 %d3, %d5, %d3, %p0;\n"
    found = ran(far + " cp.async.cg.shared.global [%r30], [%d3], 16, %p0;\n cp.async.wait_all;\n" + OUT)
    assert not found.findings
    assert (found.outputs[1][:128] == SOURCE[:128]).all()
    assert not found.outputs[1][128:].any()
    assert codes(far + COPY + " cp.async.wait_all;\n") == {"PTX207"}


TRACK = """ setp.eq.u32 %p1, %r31, 0;
 @%p1 mbarrier.init.shared.b64 [bar], {count};
 bar.sync 0;
"""
WAIT = "L: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n @!%p2 bra L;\n"


@pytest.mark.parametrize("policy", POLICIES)
def test_an_mbarrier_tracks_copies(policy: str) -> None:
    for how, arrive in ((".noinc", ""), ("", " mbarrier.arrive.shared.b64 _, [bar];\n")):
        follow = f" cp.async.mbarrier.arrive{how}.shared.b64 [bar];\n"
        found = ran(TRACK.replace("{count}", str(THREADS)) + COPY + follow + arrive + WAIT + OUT, policy)
        assert not found.findings
        assert (found.outputs[1] == SOURCE).all()


def test_a_noinc_arrival_does_not_end_the_phase() -> None:
    follow = " cp.async.mbarrier.arrive.shared.b64 [bar];\n"
    assert codes(TRACK.replace("{count}", str(THREADS)) + COPY + follow + WAIT + OUT) == {"PTX504"}


def test_a_copy_after_the_tracking_arrival_is_not_tracked() -> None:
    follow = " cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
    assert "PTX302" in codes(TRACK.replace("{count}", str(THREADS)) + follow + COPY + WAIT + OUT)
