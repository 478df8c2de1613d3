"""Kernels without synchronization: a few iterations of their loops find everything."""

from __future__ import annotations

import pytest

from ptxkit.analysis.limits import MIN_STALLED_STEPS
from ptxkit.analysis.symexec.sync_free import sync_free_accesses
from tests.analysis.support import explorer_of, module_of, program_of

#: A loop of many rounds around a few instructions, with an end within the budget.
ROUNDS = 1500
LOOP = "mov.u32 %r1, 0; loop: {} add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 1500; @%p1 bra loop; {}"
STORE = "st.global.u32 [%rd1], %r1;"


def longest(body: str) -> int:
    """Returns the number of steps of an execution."""
    explorer = explorer_of(module_of(".shared .align 8 .b8 tile[64];" + body, bounds=".reqntid 32"))
    before = explorer.budget.steps
    exploration = explorer.explorations[0]
    explorer.execute(exploration.scenario)
    return before - explorer.budget.steps


def test_an_execution_ends_early_where_it_can_find_nothing_new() -> None:
    assert longest(LOOP.format(STORE, "")) < 2 * MIN_STALLED_STEPS


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (LOOP.format(STORE, STORE), "an access behind the loop"),
        (LOOP.format("st.shared.u32 [tile], %r1;", ""), "shared memory"),
        (LOOP.format(STORE + "bar.sync 0;", ""), "a barrier"),
        (LOOP.format(STORE + "bar.warp.sync -1;", ""), "a barrier of a warp"),
        (LOOP.format(STORE + "fence.acq_rel.gpu;", ""), "a fence"),
        (LOOP.format("st.release.gpu.global.u32 [%rd1], %r1;", ""), "a store that others wait for"),
    ],
)
def test_it_continues_where_it_can_find_more(body: str, why: str) -> None:
    assert longest(body) > 3 * ROUNDS, why


def test_accesses_are_all_that_such_a_kernel_reports() -> None:
    found = sync_free_accesses(program_of(module_of(f"ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; {STORE}")))
    assert found is not None
    assert sorted(step.index for step in found) == [0, 2]


@pytest.mark.parametrize("line", ["ld.strange.u32 %r1, [%rd1];", "call away;"])
def test_unknown_code_is_not_free_of_synchronization(line: str) -> None:
    program = program_of(module_of(line, before=".extern .func away;"))
    assert sync_free_accesses(program) is None
