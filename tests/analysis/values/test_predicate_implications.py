"""The comparisons that decided comparisons of the same unknown imply."""

from __future__ import annotations

import pytest

from ptxkit.analysis.values.predicate_implications import Implications, numbers_satisfying
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from tests.analysis.support import explorer_of, module_of

UNKNOWN, OTHER = SymbolicValue(0), SymbolicValue(1)


def compare(operator: str, constant: int, kind: str = "u32", unknown: SymbolicValue = UNKNOWN) -> tuple[object, ...]:
    return ("compare", operator, kind, unknown, constant)


def is_in(space: str, unknown: SymbolicValue = UNKNOWN) -> tuple[object, ...]:
    return ("is_space", space, unknown)


@pytest.mark.parametrize(
    ("decided", "side", "asked", "wanted"),
    [
        (compare("le", 3), True, compare("ge", 4), False),
        (compare("le", 3), False, compare("ge", 4), True),
        (compare("eq", 5), True, compare("lt", 5), False),
        (compare("eq", 5), True, compare("ne", 6), True),
        (compare("gt", 0), False, compare("eq", 0), True),
        (compare("lt", 8), True, compare("lt", 4), None),
        (compare("ge", 4), True, compare("le", 8), None),
        (compare("lt", 4, "s32"), True, compare("lt", 4, "u32"), None),
        (compare("lt", 4, "u32"), True, compare("ge", 0, "s32"), True),
        (compare("le", 3), True, compare("ge", 4, unknown=OTHER), None),
        (is_in("shared"), True, is_in("global"), False),
        (is_in("shared"), True, is_in("shared", UNKNOWN.plus(64)), True),
        (is_in("shared"), False, is_in("shared", UNKNOWN.plus(64)), False),
        (is_in("shared"), False, is_in("global"), None),
        (is_in("shared"), True, is_in("global", OTHER), None),
        (is_in("shared::cta"), True, is_in("shared::cluster"), True),
        (is_in("shared::cluster"), True, is_in("shared::cta"), None),
        (is_in("shared::cluster"), False, is_in("shared::cta"), False),
        (is_in("param::entry"), True, is_in("global"), True),
        (is_in("global"), True, is_in("param"), None),
        (is_in("global"), False, is_in("param"), False),
    ],
)
def test_a_decided_comparison_settles_the_comparisons_that_it_implies(
    decided: tuple[object, ...], side: bool, asked: tuple[object, ...], wanted: bool | None
) -> None:
    known = Implications()
    assert known.implied_side(asked) is None
    known.note(decided, side)
    assert known.implied_side(asked) is wanted


def test_several_comparisons_imply_more_than_one() -> None:
    known = Implications()
    known.note(compare("ge", 4), True)
    known.note(compare("le", 4), True)
    assert known.implied_side(compare("eq", 4)) is True
    known.note(compare("ne", 4), True)
    assert (
        known.implied_side(compare("eq", 4)) is None
    )  # no number satisfies them: anything may be concluded about such a path


def test_other_conditions_imply_nothing() -> None:
    for key in (("compare", "eq", "f32", UNKNOWN, 0), ("compare", "lt", "u32", UNKNOWN, OTHER), ("vote", 1), "load"):
        assert numbers_satisfying(key) is None


def test_no_execution_takes_two_mutually_exclusive_roles() -> None:
    body = """ld.global.u32 %r1, [%rd1]; setp.gt.u32 %p1, %r1, 3; @%p1 bra second; bar.sync 1, 128;
    second: setp.lt.u32 %p2, %r1, 4; @%p2 bra end; bar.sync 2, 128; end: ret;"""
    seen = set()
    for exploration in explorer_of(module_of(body)).explorations:
        seen |= {len(group.for_thread(group.tids[0]).events) for group in exploration.groups}
    assert seen == {1}
