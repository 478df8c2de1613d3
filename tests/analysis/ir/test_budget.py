"""Kernels whose analysis would not end: their check ends soon, and unanalyzed parts count as undecided."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ptxkit.analysis.ir import budget
from ptxkit.diagnostics import Verdict
from ptxkit.linter import lint

COPY = "cp.async.ca.shared.global [%r1], [%rd1], 4;"
DONE = "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;"


def kernel(body: str, name: str = "k") -> str:
    return f""".visible .entry {name}(.param .u64 in, .param .u32 n) .reqntid 1024 {{
    .reg .pred %p<10>; .reg .b32 %r<40>; .reg .b64 %rd<4>; .shared .align 16 .b8 tile_{name}[4096];
    mov.u32 %r1, tile_{name}; ld.param.u64 %rd1, [in]; ld.param.u32 %r9, [n];
    {body} ret; }}
    """


def verdict_of(*kernels: str) -> Verdict:
    return lint(".version 8.8\n.target sm_90a\n.address_size 64\n" + "".join(kernels))


@contextmanager
def quickly() -> Iterator[None]:
    """Fails where the block takes ten minutes of processor time. It takes some seconds, and would take hours."""
    start = time.thread_time()
    yield
    assert time.thread_time() - start < 600


def loops(depth: int, body: str) -> str:
    """Nested loops of a thousand iterations each."""
    heads = "".join(f"mov.u32 %r{10 + level}, 0; L{level}: " for level in range(depth))
    ends = (
        f"add.u32 %r{10 + level}, %r{10 + level}, 1; setp.lt.u32 %p1, %r{10 + level}, 1000; @%p1 bra L{level}; "
        for level in reversed(range(depth))
    )
    return heads + body + "".join(ends)


def test_code_after_deep_loops_is_undecided() -> None:
    with quickly():
        verdict = verdict_of(kernel(loops(8, "") + COPY + DONE))
    assert verdict.diagnostics == ()
    assert {question.code for question in verdict.undecided} == {"PTX300"}
    assert len(verdict.undecided) == 3  # the copy, the commit, the wait


def test_code_in_deep_loops_is_checked_for_some_iterations() -> None:
    with quickly():
        assert verdict_of(kernel(loops(8, COPY + DONE))).undecided == ()


def test_a_straight_line_with_too_many_pairs_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"{COPY} ld.shared.u32 %r3, [%r1]; " * 60 + DONE
    monkeypatch.setattr(budget, "MAX_TOTAL_PAIR_CHECKS", 2_000)
    with quickly():
        verdict = verdict_of(kernel(body))
    assert len(verdict.undecided) >= 60
    assert "too large" in verdict.undecided[0].reason


def test_a_module_of_many_kernels_has_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [kernel(loops(3, "") + COPY + DONE, f"k{number}") for number in range(30)]
    for limit in ("MAX_MODULE_STEPS", "MAX_MODULE_PAIR_CHECKS"):
        monkeypatch.setattr(budget, limit, 50_000)
    with quickly():
        verdict = verdict_of(*kernels)
    assert len(verdict.undecided) > 3 * 20


def test_execution_of_an_irreducible_graph_ends() -> None:
    body = f"""ld.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r4, 3; @%p1 bra B;
    A: {COPY} ld.global.u32 %r5, [%rd1]; setp.eq.u32 %p2, %r5, 1; @%p2 bra C;
    B: cp.async.commit_group; ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p3, %r6, 1; @%p3 bra A; bra.uni B;
    C: cp.async.wait_group 0;"""
    with quickly():
        verdict_of(kernel(body))


def test_copies_of_any_size_cost_no_more_than_those_that_fit() -> None:
    body = """mov.u32 %r2, 4294967280; ld.shared.u8 %r3, [%r1+3];
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2; cp.async.bulk.commit_group;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+16], [%rd1], %r2, [%r1];
    cp.async.bulk.wait_group 0;"""
    with quickly():
        verdict = verdict_of(kernel(body))
    assert [each.code for each in verdict.diagnostics].count("PTX207") == 2
