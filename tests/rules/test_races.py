"""The rules about races, on small kernels whose comments contain the expected verdict."""

from __future__ import annotations

import pytest

from ptxkit import lint
from tests.rules.cases_races import CASES
from tests.rules.support import Case, each, holds

_READS = "ld.shared.u32 %r12, [%r2]; ld.shared.u32 %r13, [%r2+4];"


@each(CASES)
def test_the_verdict_is_that_of_the_comments(case: Case) -> None:
    holds(case)


@pytest.mark.parametrize(
    ("stores", "formal", "others"),
    [
        ("st.shared.u32 [%r2], %r6; st.shared.u32 [%r2+4], 7;", 1, 0),
        ("mov.u32 %r10, %ctaid.x; add.u32 %r10, %r10, %r6; st.shared.v2.u32 [%r2], {%r10, 7};", 1, 0),
        ("st.shared.u32 [%r2], %r6; st.shared.u32 [%r2+4], %r1;", 1, 1),
        ("shr.u32 %r10, %r1, 5; st.shared.v2.u32 [%r2], {%r6, %r10};", 0, 1),
        ("mov.u32 %r10, 1; @%p2 mov.u32 %r10, 2; st.shared.u32 [%r2], %r10; st.shared.u32 [%r2+4], 7;", 1, 1),
        ("ld.global.u32 %r10, [%rd1]; st.shared.u32 [%r2], %r10; st.shared.u32 [%r2+4], 7;", 1, 1),
        ("@%p1 st.shared.u32 [%r2], 7; st.shared.u32 [%r2+4], 7;", 1, 1),
    ],
    ids=["constants", "block", "thread", "warp", "branch", "memory", "one-thread"],
)
def test_races_of_equal_stores_to_one_variable_are_one_finding_with_that_note(
    stores: str, formal: int, others: int
) -> None:
    found = lint(Case("races", f"{stores}\n{_READS}").text).diagnostics
    assert {each.code for each in found} == {"PTX621"}
    reported = [each.message.startswith("formally a race: ") for each in found]
    assert (reported.count(True), reported.count(False)) == (formal, others), [each.message for each in found]


def test_a_repeated_store_of_another_value_is_a_race_of_another_kind() -> None:
    body = f"mov.u32 %r10, 0; next: st.shared.u32 [%r2], %r10; {_READS} add.u32 %r10, %r10, 1;"
    found = lint(Case("loop", f"{body} setp.lt.u32 %p3, %r10, 3; @%p3 bra next;").text).diagnostics
    assert found
    assert not any("formally" in each.message for each in found)
