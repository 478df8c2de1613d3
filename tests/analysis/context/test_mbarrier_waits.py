"""The wait that observes each copy, where one mbarrier serves several."""

from __future__ import annotations

import pytest

from ptxkit.analysis.inventory.transfer_table import collect_transfers
from tests.analysis.support import module_of

START = """
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b64 bar;
ld.param.u64 %rd1, [p];
mov.u32 %r1, tile;
mov.u32 %r2, bar;
mov.u32 %r3, %tid.x;
setp.ne.u32 %p1, %r3, 0;
@!%p1 mbarrier.init.shared.b64 [%r2], 1;
bar.sync 0;
"""
ISSUE = """
@%p1 bra issued{round};
{first}
{second}
issued{round}:
"""
COPY = (
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+{offset}], [%rd1], 512, [%r2]; // copy {round}"
)
EXPECT = "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;"
WAIT = """
again{round}:
mbarrier.try_wait.parity.shared.b64 %p2, [%r2], {parity}; // wait {round}
@!%p2 bra again{round};
bar.sync 0;
"""


def round_of(number: int, copy_first: bool) -> str:
    copy = COPY.format(offset=512 * number, round=number)
    first, second = (copy, EXPECT) if copy_first else (EXPECT, copy)
    return ISSUE.format(round=number, first=first, second=second) + WAIT.format(round=number, parity=number % 2)


def waits(body: str) -> list[list[str]]:
    """Returns the text after `//` on the lines that wait for each copy."""
    module = module_of(body, parameters=".param .u64 p", bounds=".reqntid 64")
    assert module.source is not None
    lines = module.source.text.splitlines()
    (kernel,) = collect_transfers(module).kernels
    return [[lines[wait.line - 1].partition("// ")[2] for wait in row.waits] for row in kernel.transfers]


@pytest.mark.parametrize("copy_first", [False, True])
def test_each_phase_of_an_mbarrier_has_its_own_wait(copy_first: bool) -> None:
    assert waits(START + round_of(0, copy_first) + round_of(1, copy_first)) == [["wait 0"], ["wait 1"]]


def test_two_copies_of_one_phase_share_its_wait() -> None:
    both = ISSUE.format(
        round=0,
        first=EXPECT.replace("512", "1024"),
        second="\n".join(COPY.format(offset=512 * number, round=number) for number in (0, 1)),
    )
    assert waits(START + both + WAIT.format(round=0, parity=0)) == [["wait 0"], ["wait 0"]]


def test_copies_on_both_sides_of_the_arrival_belong_to_one_phase() -> None:
    rounds = [
        ISSUE.format(
            round=number,
            first=f"mbarrier.expect_tx.shared.b64 [%r2], 512;\n{COPY.format(offset=0, round=number)}",
            second=f"{EXPECT}\n{COPY.format(offset=512, round=number)}",
        )
        for number in (0, 1)
    ]
    unwaited = "@!%p1 bra done;"  # thread 0 exits: only the others wait
    body = START + rounds[0] + rounds[1] + unwaited + WAIT.format(round=0, parity=0) + WAIT.format(round=1, parity=1)
    assert waits(body + "done:") == [["wait 0"], ["wait 0"], ["wait 1"], ["wait 1"]]


def test_a_copy_that_no_thread_waits_for_has_no_wait() -> None:
    unwaited = ISSUE.format(round=0, first=EXPECT, second=COPY.format(offset=0, round=0))
    assert waits(START + unwaited) == [[]]


def test_waits_by_other_threads_than_the_issuer_count() -> None:
    others = ISSUE.format(round=0, first=EXPECT, second=COPY.format(offset=0, round=0) + "\nret;")
    assert waits(START + others + WAIT.format(round=0, parity=0)) == [["wait 0"]]
