"""PTX kernels as litmus tests: headers, addresses, values, atomic operations, and asynchronous instructions."""

from __future__ import annotations

import pytest

from ptxkit.memory_model import ISA, STRICT, Answer, LitmusError
from tests.memory_model.litmus_texts import verdict_of


def kernel(question: str, *lines: str, threads: str = "P0 = cta 0", verdict: str = "", initial: str = "") -> str:
    """Returns a kernel with a header. lines: its instructions, after the addresses `%x` and `%y` are loaded."""
    header = [
        "// litmus: A test.",
        f"// threads: {threads}",
        f"// {question}",
        *([f"// verdict: {verdict}"] if verdict else []),
        *([f"// initial: {initial}"] if initial else []),
    ]
    return "\n".join(
        [
            *header,
            ".version 8.6",
            ".target sm_90a",
            ".address_size 64",
            ".visible .entry k(.param .u64 x, .param .u64 y)",
            "{",
            ".reg .b32 %r<9>; .reg .b64 %x, %y, %d<4>; .reg .pred %p;",
            ".shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;",
            "ld.param.u64 %x, [x]; ld.param.u64 %y, [y];",
            *lines,
            "ret;",
            "}",
        ]
    )


TWO = "P0 = cta 0; P1 = cta 1"
DISPATCH = "mov.u32 %r0, %ctaid.x; setp.ne.u32 %p, %r0, 0; @%p bra P1;"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%x], 64, [bar];"
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra W;"
START = ("mbarrier.init.shared.b64 [bar], 1;", "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;", LOAD)


def test_threads_branch_on_their_place_and_pass_a_message() -> None:
    def answer(store: str) -> Answer:
        lines = [DISPATCH, "st.global.u32 [%x], 1;", store, "ret;", "P1: ld.acquire.gpu.global.u32 %r1, [%y];"]
        question = r"~exists: P1:%r1 == 1 /\ P1:%r2 == 0"
        return verdict_of(kernel(question, *lines, "ld.global.u32 %r2, [%x];", threads=TWO)).answer

    assert answer("st.release.gpu.global.u32 [%y], 1;") is Answer.FORBIDDEN
    assert answer("st.relaxed.gpu.global.u32 [%y], 1;") is Answer.ALLOWED


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["add.u32 %r1, %r0, 3; shl.b32 %r1, %r1, 2;"], 12),
        (["ld.global.u32 %r0, [%x]; mad.lo.u32 %r1, %r0, 2, 1;"], 11),
        (["atom.global.add.u32 %r2, [%x], 4;", "ld.global.u32 %r1, [%x];"], 9),
        (["atom.global.cas.b32 %r1, [%x], 5, 8;"], 5),
        (["red.global.max.u32 [%x], 7;", "ld.global.u32 %r1, [%x];"], 7),
        (["st.shared.v2.u32 [tile], {3, 4};", "ld.shared.u32 %r1, [tile+4];"], 4),
        (["mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; st.u32 [%d1+8], 6;", "ld.shared.u32 %r1, [tile+8];"], 6),
    ],
)
def test_registers_and_memory_have_the_values_of_the_instructions(lines: list[str], wanted: int) -> None:
    found = verdict_of(kernel(f"forall: P0:%r1 == {wanted}", *lines, initial="x = 5"))
    assert found.does_hold
    assert found.ends


def test_a_loop_ends_when_its_condition_holds() -> None:
    loop = ["mov.u32 %r1, 0;", "L: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 5; @%p bra L;"]
    assert verdict_of(kernel("forall: P0:%r1 == 5", *loop)).does_hold


def test_a_copy_copies_what_other_instructions_access() -> None:
    lines = [*START, WAIT, "ld.shared.u32 %r1, [tile+8];", "ld.shared.u32 %r2, [tile+12];"]
    question = r"forall: P0:%r1 == 3 /\ P0:%r2 == 0"
    assert verdict_of(kernel(question, *lines, initial="x+8 = 3")).does_hold


def test_a_token_of_an_arrival_names_its_phase() -> None:
    arrive = ["mbarrier.init.shared.b64 [bar], 1;", "mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], 64;", LOAD]
    wait = ["W: mbarrier.test_wait.shared.b64 %p, [bar], %d1; @!%p bra W;", "ld.shared.u32 %r1, [tile];"]
    assert verdict_of(kernel("race", *arrive, *wait)).answer is Answer.RACE_FREE


def test_the_verdict_of_a_header_is_for_both_policies() -> None:
    lines = [*START, "ld.shared.u32 %r1, [tile];", WAIT]
    for policy in (ISA, STRICT):
        assert verdict_of(kernel("race", *lines, verdict="bad"), policy).is_as_expected
        assert not verdict_of(kernel("race", *lines, verdict="ok"), policy).is_as_expected
    assert not verdict_of(kernel("race", *lines, verdict="silent"), ISA).is_as_expected
    assert verdict_of(kernel("race", *lines, verdict="silent"), STRICT).is_as_expected


def test_an_arrival_too_many_is_undefined() -> None:
    arrivals = ["mbarrier.init.shared.b64 [bar], 1;", *["mbarrier.arrive.shared.b64 _, [bar];"] * 2]
    found = verdict_of(kernel("race", *arrivals))
    assert found.answer is Answer.UNDEFINED
    assert "mbarrier.arrive" in found.undefined


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (kernel("note"), "no question"),
        (kernel("race\n// exists: x == 1"), "two questions"),
        (kernel("race", verdict="good"), "`good`"),
        (kernel("race", threads="P1 = cta 0"), "`P1 = cta 0`"),
        (kernel("race", initial="x: 1"), "`x: 1`"),
        (kernel("race", initial="z = 1"), "`z`"),
        (kernel("exists: z == 1"), "`z`"),
        (kernel("race", "frob.u32 %r1;"), "`frob.u32 %r1`"),
        (kernel("race", "mov.u32 %r1"), "cannot be parsed"),
        (kernel("race", "griddepcontrol.wait;"), "`griddepcontrol.wait`"),
        (kernel("race", "st.global.u32 [%x], 1; st.global.u8 [%x+1], 1;"), "overlap"),
        (kernel("race", "mov.u64 %d1, 5; st.global.u32 [%d1], 1;"), "in no variable"),
        (kernel("race", "mapa.shared::cluster.u32 %r1, %r0, 3; ld.shared::cluster.u32 %r2, [%r1];"), "rank 3"),
    ],
)
def test_an_unsupported_part_is_named(text: str, words: str) -> None:
    with pytest.raises(LitmusError) as caught:
        verdict_of(text)
    assert words in caught.value.message
    assert caught.value.remedy
