"""Accesses to shared memory that no execution reached: open questions about races, unless no launch reaches them."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.unreached_accesses import unreached_shared_accesses
from ptxkit.linter import lint
from tests.analysis.support import explorer_of, module_of

HEADER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{directive}
{{
	.shared .align 4 .b8 tile[4096];
	.reg .pred %p, %q;
	.reg .b32 %t, %s, %v, %n, %m;
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	mov.u32 %s, tile;
	mad.lo.u32 %s, %t, 4, %s;
	{condition}
	@%p bra rare;
	st.shared.u32 [%s], %t;
	ret;
rare:
	st.shared.u32 [%s], %t;
	bar.sync 0;
	ld.shared.u32 %v, [tile];
	ret;
}}
"""
RARE_ACCESSES = [19, 21]
DATA_DEPENDENT = "mul.lo.u32 %m, %n, %n; setp.eq.u32 %p, %m, 3;"
"""No argument of a sample makes this true, and the solver of conditions finds none either."""


def unreached_lines(
    condition: str, directive: str = ".reqntid 64, 1, 1", change: tuple[str, str] = ("", "")
) -> list[int]:
    text = HEADER.format(condition=condition, directive=directive).replace(*change)
    verdict = lint(text)
    assert not [each for each in verdict.diagnostics if each.severity.name == "ERROR"]
    return [
        each.source.position(each.span.start)[0]
        for each in verdict.undecided
        if each.code == "PTX621" and "not reached" in each.reason
    ]


def test_accesses_under_a_condition_that_no_execution_meets_are_open() -> None:
    assert unreached_lines(DATA_DEPENDENT) == RARE_ACCESSES


@pytest.mark.parametrize(("least", "lines"), [(4, []), (2, RARE_ACCESSES)])
def test_accesses_are_not_missed_where_the_condition_has_one_value_on_all_paths(least: int, lines: list[int]) -> None:
    assert unreached_lines(f"mul.lo.u32 %m, %n, %n; max.u32 %m, %m, {least}; setp.eq.u32 %p, %m, 3;") == lines


def test_they_stay_open_without_the_barrier_that_orders_them() -> None:
    assert unreached_lines(DATA_DEPENDENT, change=("\tbar.sync 0;\n", "\n")) == RARE_ACCESSES


@pytest.mark.parametrize("directive", [".reqntid 64, 1, 1", ".maxntid 64, 1, 1"])
def test_code_that_the_number_of_the_thread_excludes_never_runs(directive: str) -> None:
    assert unreached_lines("shr.u32 %m, %t, 6; setp.ne.u32 %p, %m, 0;", directive) == []


def test_the_number_of_the_thread_excludes_nothing_where_the_size_of_the_block_is_unknown() -> None:
    assert unreached_lines("shr.u32 %m, %t, 9; setp.ne.u32 %p, %m, 0;", "") == RARE_ACCESSES


def test_a_thread_number_is_not_enough_where_the_path_decides_which_value_is_compared() -> None:
    joined = "mov.u32 %m, 0; setp.eq.u32 %q, %n, 123456; @%q mov.u32 %m, %t; setp.gt.u32 %p, %m, 5;"
    assert unreached_lines(joined) in ([], RARE_ACCESSES)  # an execution may reach it
    other = "mov.u32 %m, %t; mul.lo.u32 %n, %n, %n; setp.eq.u32 %q, %n, 3; @%q mov.u32 %m, 99; setp.eq.u32 %p, %m, 99;"
    assert unreached_lines(other) == RARE_ACCESSES


def test_nothing_is_open_where_nothing_writes() -> None:
    text = HEADER.format(condition=DATA_DEPENDENT, directive=".reqntid 64, 1, 1").replace(
        "st.shared.u32 [%s], %t;", "ld.shared.u32 %v, [%s];"
    )
    assert not [each for each in lint(text).undecided if "not reached" in each.reason]


def test_accesses_in_a_function_that_no_execution_calls_are_unreached() -> None:
    store = ".shared .b32 word; .func store() { .reg .b32 %r; mov.u32 %r, word; st.shared.u32 [%r], 1; ret; }"
    size = "ld.param.u32 %r1, [n]; setp.ne.u32 %p1, %r1, 54321; @%p1 bra next; {} next: st.shared.u32 [word], 2;"
    explored = explorer_of(module_of(size.format("call store;"), parameters=".param .u32 n", before=store))
    assert [step.instruction.name for step in unreached_shared_accesses(explored)] == ["st"]
    always = explorer_of(module_of("call store; st.shared.u32 [word], 2;", before=store))
    assert unreached_shared_accesses(always) == []
