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


FUNCTIONS = f".func wait_0() {{ {wait(0)} ret; }} .func wait_1() {{ {wait(1)} ret; }}"
AGAIN = "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1; @%p1 bra again;"


def copies_at_exit(*lines: str) -> list[tuple[bool, bool]]:
    """Returns whether each copy may be pending, and whether its thread waits for none."""
    body = START + "".join(lines)
    kernel = kernel_of(module_of(body, parameters=".param .u64 p", bounds=".reqntid 1", before=FUNCTIONS))
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
        ((COPY, COMMIT, "call wait_0, ();"), [(False, False)]),
        ((COPY, COMMIT, "call wait_1, ();"), [(True, True)]),
        (("call wait_0, ();", COPY, COMMIT), [(True, True)]),
        ((COPY, COMMIT, "again: call wait_1, ();", AGAIN), [(True, False)]),
        ((COPY, COMMIT, wait(0), COPY, COMMIT), [(False, False), (True, False)]),
        ((COPY,), []),
    ],
)
def test_a_copy_is_pending_at_the_exit_unless_its_thread_waits(
    lines: tuple[str, ...], found: list[tuple[bool, bool]]
) -> None:
    assert copies_at_exit(*lines) == found
