"""Reads of the bytes of copies, and what is missing between a copy and a read."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.copy_completion import CopyStatus
from ptxkit.analysis.memory.copy_reads import find_copy_reads
from ptxkit.analysis.memory.copy_wait_faults import CopyWaitCause, find_wait_fault
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile;"
    "mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 4; add.u32 %r2, %r1, %r4; setp.ne.u32 %p1, %r3, 0;"
    "@!%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;"
)
COPY, COMMIT = "cp.async.cg.shared.global [%r2], [%rd1], 16;", "cp.async.commit_group;"
OWN, OTHER = "ld.shared.u32 %r9, [%r2];", "xor.b32 %r5, %r2, 512; ld.shared.u32 %r9, [%r5];"
FILL = (
    "@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;"
    "@!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 1024, [bar];"
)


def wait(count: int) -> str:
    return f"cp.async.wait_group {count};"


def phase_wait(parity: int) -> str:
    return f"wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], {parity}; @!%p2 bra wait;"


def causes(*lines: str) -> set[CopyWaitCause | None]:
    """Returns what is missing before each read of the bytes of a copy; None where nothing is."""
    module = module_of(START + "".join(lines), parameters=".param .u64 p", bounds=".reqntid 64")
    reads = [read for facts in kernel_of(module).scenarios for read in find_copy_reads(facts)]
    assert {read.status for read in reads} <= {CopyStatus.PENDING, CopyStatus.COMPLETE}
    return {find_wait_fault(read).cause if read.status is CopyStatus.PENDING else None for read in reads}


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ((COPY, COMMIT, wait(0), OWN), None),
        ((COPY, COMMIT, OWN), CopyWaitCause.NO_GROUP_WAIT),
        ((COPY, OWN), CopyWaitCause.NOT_COMMITTED),
        ((COPY, COMMIT, wait(1), OWN), CopyWaitCause.PENDING_GROUP),
        ((COPY, COMMIT, OWN, wait(0)), CopyWaitCause.LATE_WAIT),
        ((COPY, COMMIT, wait(0), "bar.sync 0;", OTHER), None),
        ((COPY, COMMIT, "bar.sync 0;", wait(0), OTHER), CopyWaitCause.UNORDERED_READER),
        ((FILL, phase_wait(0), OWN), None),
        ((FILL, OWN), CopyWaitCause.NO_MBARRIER_WAIT),
        ((FILL, phase_wait(1), OWN), CopyWaitCause.PASSED_WAIT),
    ],
)
def test_a_read_of_a_pending_copy_has_a_cause(lines: tuple[str, ...], cause: CopyWaitCause | None) -> None:
    assert causes(*lines) == {cause}


def test_a_wait_for_an_earlier_phase_covers_the_first_copy_and_not_the_next() -> None:
    found = causes(FILL, phase_wait(0), "bar.sync 0;", FILL, "bar.sync 0;", OWN)
    assert found == {None, CopyWaitCause.EARLIER_PHASE}
