"""Bulk copies out of shared memory whose threads exit."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.bulk_source_reads import bulk_source_reads
from ptxkit.analysis.memory.copies_at_exit import CopiesAtExit
from tests.analysis.support import kernel_of, module_of

START = ".shared .align 16 .b8 tile[1024]; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile; mov.u32 %r2, 0;"
COPY, COMMIT = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;", "cp.async.bulk.commit_group;"


def wait(count: int) -> str:
    return f"cp.async.bulk.wait_group.read {count};"


def copies_at_exit(*lines: str) -> list[tuple[bool, bool]]:
    """Returns whether each copy may be pending, and whether its thread waits for none."""
    kernel = kernel_of(module_of(START + "".join(lines), parameters=".param .u64 p", bounds=".reqntid 1"))
    (thread,) = kernel.scenarios[0].threads.values()
    found = CopiesAtExit(kernel).find(thread, bulk_source_reads(thread))
    return [(each.is_pending, each.is_unawaited) for each in found]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((COPY, COMMIT, wait(0)), [(False, False)]),
        ((COPY, COMMIT), [(True, True)]),
        ((COPY, COMMIT, wait(1)), [(True, True)]),
        ((wait(0), COPY, COMMIT), [(True, True)]),
        ((COPY, COMMIT, wait(0), COPY, COMMIT), [(False, False), (True, False)]),
        ((COPY,), []),
    ],
)
def test_a_copy_is_pending_at_the_exit_unless_its_thread_waits(
    lines: tuple[str, ...], found: list[tuple[bool, bool]]
) -> None:
    assert copies_at_exit(*lines) == found
