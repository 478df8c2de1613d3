"""Which orders of accesses to Tensor Memory are proven, and what is asked where one is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.diagnostics.obligation import ObligationVerdict
from tests.rules import cases_tensor
from tests.rules.support import Case
from tests.rules.test_obligations import judge_text

CODES = ("PTX704", "PTX705", "PTX706", "PTX708")
KERNELS = sorted((Path(__file__).parents[2] / "corpus/kernels").glob("*tcgen05*.ptx"))
BEGIN, LEAVE, STORE, LOAD = cases_tensor._BEGIN, cases_tensor._LEAVE, cases_tensor._STORE, cases_tensor._LOAD
AFTER, STORED, LOADED, OUT = cases_tensor._AFTER, cases_tensor._STORED, cases_tensor._LOADED, cases_tensor._OUT
ISSUE, WAIT, MULTIPLY = cases_tensor._ISSUE, cases_tensor._WAIT, cases_tensor._MULTIPLY


def unproven(text: str) -> set[str]:
    """The codes of the rules about the order of Tensor Memory with an obligation that is neither proven nor needs a
    launch.
    """
    found = [each for each in judge_text(text).obligations or () if each.code in CODES]
    assert found
    return {each.code for each in found if each.verdict is not ObligationVerdict.DISCHARGED and not each.needs}


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_the_orders_of_the_corpus_are_proven(path: Path) -> None:
    assert unproven(path.read_text("utf-8")) == set()


@pytest.mark.parametrize(
    ("name", "line", "codes"),
    [
        ("tcgen05_product.sm_100a.ptx", 137, {"PTX704", "PTX705", "PTX706", "PTX708"}),
        ("tcgen05_product.sm_100a.ptx", 154, {"PTX705"}),
        ("tcgen05_ring.sm_100a.ptx", 166, {"PTX704", "PTX705", "PTX706", "PTX708"}),
        ("tcgen05_ring.sm_100a.ptx", 244, {"PTX705"}),
        ("hand_tcgen05_store.sm_100a.ptx", 39, {"PTX706", "PTX708"}),
    ],
)
def test_no_order_is_proven_without_an_instruction_on_which_it_rests(name: str, line: int, codes: set[str]) -> None:
    lines = next(each for each in KERNELS if each.name == name).read_text("utf-8").splitlines()
    assert re.match(r"\s*tcgen05\.(commit|fence|wait)", lines[line - 1])
    lines[line - 1] = ""
    assert unproven("\n".join(lines)) == codes


def _kernel(body: str) -> str:
    return Case("kernel", f"{BEGIN}{AFTER}\n{body} {LEAVE}", target="sm_100a").text


SEVEN = LOAD.replace("%r12", "%r12+7")
MOVED = f"{LOAD} mov.b32 %r21, %r20; bar.sync 0; st.global.b32 [%rd2], %r21;"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        (f"{STORE} {STORED} {LOAD} {OUT}", set()),
        (f"{STORE} {LOAD} {OUT} {STORED}", {"PTX706"}),
        # other columns, of which only the distance is known
        (f"{STORE} {SEVEN} {OUT} {STORED}", set()),
        (f"{STORE} {LOAD.replace('%r12', '%r10')} {OUT} {STORED}", {"PTX706"}),
        # a use of the loaded register waits for the load, and a move does not
        (f"{LOAD} {OUT} {STORE} {STORED}", set()),
        (f"{LOAD} {STORE} {STORED} {OUT}", {"PTX706", "PTX708"}),
        (f"{LOAD} bar.sync 0; {OUT} {STORE} {STORED}", {"PTX706", "PTX708"}),
        (MOVED, {"PTX708"}),
        (MOVED.replace("mov", f"{LOADED} mov"), set()),
        # a multiplication after stores of other warps
        (f"{STORE} {STORED} bar.sync 0; {AFTER} {ISSUE} {WAIT} {AFTER} {LOAD} {OUT}", set()),
        (f"{STORE} {STORED} bar.sync 0; {ISSUE} {WAIT} {AFTER} {LOAD} {OUT}", {"PTX705"}),
        (f"{STORE} {STORED} {AFTER} {ISSUE} {WAIT} {AFTER} {LOAD} {OUT}", {"PTX704", "PTX705", "PTX706"}),
        # a second observation of one operation needs no second fence
        (f"{ISSUE} {WAIT} {AFTER} {LOAD} {OUT} bar.sync 0; {LOAD} {OUT}", set()),
        (f"{ISSUE} {WAIT} {LOAD} {OUT} bar.sync 0; {AFTER} {LOAD} {OUT}", {"PTX705"}),
    ],
)
def test_accesses_of_one_kernel(body: str, codes: set[str]) -> None:
    assert unproven(_kernel(body)) == codes


def test_an_order_that_is_not_proven_is_a_question_with_the_other_lines() -> None:
    body = f"{STORE} {STORED} bar.sync 0;\n{ISSUE} {WAIT} {AFTER}\n{LOAD} {OUT}"
    asked = judge_text(_kernel(body)).undecided
    assert [each.code for each in asked] == ["PTX705"]
    assert re.search(r"`tcgen05\.fence::after_thread_sync` .* the operations at line \d+$", asked[0].reason)


def test_nothing_is_asked_where_a_violation_is_reported() -> None:
    found = judge_text(_kernel(f"@!%p1 bra issued;\n{MULTIPLY}\nissued: {AFTER} {LOAD} {OUT}"))
    assert "PTX704" in {each.code for each in found.diagnostics}
    assert not {each.code for each in found.undecided} & set(CODES)


ALLOCATE, GIVE_BACK = cases_tensor._ALLOCATE, cases_tensor._GIVE_BACK
PERMIT = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"


def allocations(body: str) -> set[str]:
    """The verdicts on the allocations of a kernel of that body, whose first 32 threads have %p3."""
    text = Case(
        "kernel",
        f".shared .align 16 .b8 base[16]; setp.lt.u32 %p3, %r1, 32; setp.lt.u32 %p7, %r1, 16; {body} end:",
        target="sm_100a",
    ).text
    found = [each for each in judge_text(text).obligations or () if each.code == "PTX701"]
    assert found
    return {each.verdict.value for each in found}


@pytest.mark.parametrize(
    ("body", "is_proven"),
    [
        (f"@!%p3 bra end; {ALLOCATE} {PERMIT} {GIVE_BACK}", True),
        (f"@%p3 {ALLOCATE} bar.sync 0; @%p3 {GIVE_BACK}", True),
        (f"@!%p3 bra end; mov.u32 %r5, 32; {ALLOCATE.replace('32;', '%r5;')} {GIVE_BACK}", True),
        (f"@!%p3 bra end; {PERMIT} {ALLOCATE} {GIVE_BACK}", False),
        (f"@!%p3 bra end; {ALLOCATE} {GIVE_BACK.replace('32;', '64;')}", False),
        (f"@!%p3 bra end; {ALLOCATE} ld.param.u32 %r6, [n]; setp.eq.u32 %p4, %r6, 3; @%p4 bra end; {GIVE_BACK}", False),
        (f"@!%p3 bra end; {ALLOCATE} {ALLOCATE} {GIVE_BACK}", False),
        (f"@!%p3 bra end; {ALLOCATE} {GIVE_BACK} {GIVE_BACK}", False),
        (f"@%p3 {ALLOCATE} bar.sync 0; @!%p3 {GIVE_BACK}", False),
        (f"@!%p7 bra end; {ALLOCATE} {GIVE_BACK}", False),
        (f"@!%p3 bra end; ld.param.u32 %r5, [n]; {ALLOCATE.replace('32;', '%r5;')} {GIVE_BACK}", False),
    ],
)
def test_warps_allocate_and_deallocate_in_turn(body: str, is_proven: bool) -> None:
    assert (allocations(body) == {"discharged"}) is is_proven
