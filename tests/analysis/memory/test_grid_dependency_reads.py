"""Reads before a grid has waited for the grids on which it depends."""

from __future__ import annotations

from ptxkit.analysis.memory.grid_dependency_reads import EarlyRead, find_early_reads
from tests.analysis.support import kernel_of, module_of

START = "ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;"
WAIT = "griddepcontrol.wait;"
READ = "ld.global.u32 %r2, [%rd1];"


def early(*lines: str) -> list[EarlyRead]:
    module = module_of(START + "".join(lines), bounds=".reqntid 64", parameters=".param .u64 in")
    return list(find_early_reads(kernel_of(module).scenarios[0]))


def test_a_read_before_the_wait_is_early_and_has_the_one_after_it() -> None:
    found = early(READ, WAIT, READ)
    assert found
    assert all(each.repeated_read is not None and each.repeated_read.step is not each.read.step for each in found)


def test_a_read_of_another_word_is_at_another_address() -> None:
    found = early(READ, WAIT, READ.replace("%rd1", "%rd1+4"))
    assert [each.repeated_read for each in found] == [None] * len(found)


def test_a_read_after_the_wait_is_not_early() -> None:
    assert not early(WAIT, READ, READ)


def test_a_strong_read_is_not_checked() -> None:
    assert not early("ld.acquire.gpu.global.u32 %r2, [%rd1];", WAIT, READ)


def test_a_wait_of_another_thread_before_a_barrier_suffices() -> None:
    assert not early(f"@%p1 {WAIT}", "bar.sync 0;", READ, WAIT, READ)
    assert early(f"@%p1 {WAIT}", READ, WAIT, READ)
