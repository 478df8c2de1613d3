"""Branches that decide whether a thread executes an instruction that orders others."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.ordering_branches import OrderingBranches
from tests.analysis.support import module_of, program_of

BRANCH = "ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra next; {} next:"


@pytest.mark.parametrize(
    ("line", "function", "count"),
    [
        ("membar.gl;", "", 1),
        ("st.global.u32 [%rd1], 1;", "", 0),
        ("call order;", ".func order() { membar.gl; ret; }", 1),
        ("call order;", ".func order() { call inner; ret; } .func inner() { bar.sync 0; ret; }", 1),
        ("call order;", ".func order() { ret; }", 0),
    ],
)
def test_a_call_orders_where_the_function_does(line: str, function: str, count: int) -> None:
    assert len(OrderingBranches(program_of(module_of(BRANCH.format(line), before=function))).steps) == count
