"""The registers of a CTA: how many its warps release, and whether those that they request are available at that
time."""

from __future__ import annotations

import pytest

from ptxkit.analysis.registers.register_pool import RegisterPool
from ptxkit.analysis.registers.setmaxnreg_counts import setmaxnreg_executions_of
from tests.analysis.support import kernel_of, module_of

START = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 128; setp.lt.u32 %p2, %r1, 256;"
DOWN, UP = "setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32"
THREE = ".reqntid 384, 1, 1\n.minnctapersm 1"
GIVE, TAKE, RETURN = f"@%p1 {DOWN} 40;", f"@!%p1 {UP} 240;", f"@!%p1 {DOWN} 120;"


def most_of(*lines: str, count: int | None = None) -> int | None:
    """Returns the registers that the last thread gets at its first request, if they are fewer than requested."""
    facts = kernel_of(module_of(START + "".join(lines), bounds=THREE)).scenarios[0]
    thread = facts.threads[383]
    setting = next(each for each in setmaxnreg_executions_of(thread) if each.is_increase)
    return RegisterPool(facts, 168).max_available(thread, setting.position, count or setting.count)


def test_registers_that_others_release_are_available() -> None:
    assert most_of(GIVE, f"@!%p2 {UP} 256;") is None
    assert most_of(GIVE, f"@!%p2 {UP} 256;", count=168 + 136) == 168 + 128


def test_two_requests_share_one_release() -> None:
    assert most_of(GIVE, f"@!%p1 {UP} 232;") is None
    assert most_of(GIVE, TAKE) == 232


def test_an_uncertain_path_may_release_what_the_kernel_sets_anywhere() -> None:
    unsure = "ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p3, %r2, 0;"
    assert most_of(TAKE) == 168
    assert most_of(unsure, "@%p3 bra end;", f"@%p1 {DOWN} 24;", "end:", TAKE) is None


@pytest.mark.parametrize(
    ("before", "between", "most"),
    [
        ("", "", None),  # one requests again when the other has released its registers
        ("", "barrier.sync 1;", 232),
        ("", "barrier.sync 1, 384;", 232),
        ("@%p1 bra end;", "barrier.sync 1;", 232),  # of the threads that have not exited
        ("", "@!%p1 barrier.sync 1, 256;", None),
        ("", "@%p1 barrier.arrive 1, 384; @!%p1 barrier.sync 1, 384;", None),
        ("", "@%p1 barrier.sync 2; @!%p1 barrier.sync 1;", None),
    ],
)
def test_all_have_at_once_the_registers_that_they_set_before_a_barrier(
    before: str, between: str, most: int | None
) -> None:
    assert most_of(GIVE, before, TAKE, between, RETURN, "end:") == most


def test_registers_released_after_a_barrier_come_too_late() -> None:
    assert most_of(TAKE, GIVE, RETURN) is None
    assert most_of(TAKE, "barrier.sync 1;", GIVE, RETURN) == 168
