"""Questions about accesses to shared memory whose order nothing proves, and the block sizes on which they depend."""

from __future__ import annotations

import pytest

from ptxkit import Verdict, lint
from ptxkit.model.launch_contract import BlockLimits
from tests.rules.support import Case

EXCHANGE = """st.shared.u32 [%r4], %r1;
bar.sync 0; xor.b32 %r10, %r4, 16; ld.shared.u32 %r11, [%r10];"""
STRIDES = """mov.u32 %r12, %ntid.x; shl.b32 %r13, %r12, 4; add.u32 %r14, %r2, 4096; mov.u32 %r10, %r4;
next: ld.shared.u32 %r11, [%r10]; st.shared.u32 [%r10], %r11; add.u32 %r10, %r10, %r13;
setp.lt.u32 %p3, %r10, %r14; @%p3 bra next;"""


def questions(body: str, bounds: str) -> Verdict:
    return lint(Case("a kernel", body, bounds=bounds).text)


@pytest.mark.parametrize("bounds", ["", ".maxntid 256", ".reqntid 256"])
def test_accesses_that_all_blocks_of_one_row_order_are_clean(bounds: str) -> None:
    assert questions(EXCHANGE, bounds) == Verdict(())


def test_a_kernel_that_is_proven_for_one_size_is_clean_if_the_block_has_it() -> None:
    assert questions(STRIDES, ".reqntid 128") == Verdict(())
    for bounds, threads in (("", 256), (".maxntid 128", 128)):
        found = questions(STRIDES, bounds)
        assert found.diagnostics == ()
        assert [item.code for item in found.undecided] == ["PTX621", "PTX621"]
        assert {item.conditions for item in found.undecided} == {(BlockLimits(possible=(threads,)),)}


def test_the_question_names_the_reason() -> None:
    """An argument decides which barrier the threads wait at."""
    asked = questions(EXCHANGE.replace("bar.sync 0;", "bar.sync %r6;"), ".reqntid 64").undecided
    assert [item.code for item in asked] == ["PTX621", "PTX621"]
    assert {item.conditions for item in asked} == {()}
    assert all(item.reason.endswith("is not proven: a barrier has no known number") for item in asked)


def test_nothing_is_asked_where_a_violation_is_reported() -> None:
    found = questions(f"{EXCHANGE.replace('bar.sync 0;', '')}\nbar.sync 0; {STRIDES}", "")
    assert {item.code for item in found.diagnostics} == {"PTX621"}
    assert found.undecided == ()
