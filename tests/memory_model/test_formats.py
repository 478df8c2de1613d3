"""The formats of litmus tests: what they mean, and that what cannot be read is refused with a place."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ptxkit.memory_model import STRICT, Answer, LitmusError, check, read_tests
from tests.memory_model.litmus_texts import dat3m, verdict_of

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "litmus"

TEMPLATE = """\
.global x;
.surfref s virtually aliases x;
d0.b0.t0 { $0, 1; $1 $2 r0, $3; }
$4(r0 $5 1) as outcome;
$$
st   [x] |                      | ld   | [x] | assert | ==
st   [x] |                      | suld | [s] | permit | !=
st   [x] | fence.proxy.surface; | suld | [s] | assert | ==
"""


def test_a_template_of_mixedproxy_is_one_test_for_each_row() -> None:
    found = list(read_tests(TEMPLATE, "CoWR.test"))
    assert [test.name for test in found] == ["CoWR[1]:outcome", "CoWR[2]:outcome", "CoWR[3]:outcome"]
    assert [check(test, STRICT).answer for test in found] == [Answer.FORBIDDEN, Answer.ALLOWED, Answer.FORBIDDEN]
    assert all(check(test, STRICT).does_hold for test in found)


def test_a_load_of_mixedproxy_may_state_what_it_returns() -> None:
    text = """\
    .global x; .global f;
    d0.b0.t0 { st [x], 1; st.release.gpu [f], 1; }
    d0.b1.t0 { ld.acquire.gpu r0, [f] == 1; ld r1, [x]; }
    assert(r1 == 1) as seen; permit(r1 == 0) as lost;
    """
    seen, lost = read_tests(text, "mp.test")
    assert check(seen).does_hold
    assert not check(lost).does_hold


def test_aliases_are_other_addresses_of_one_location_and_other_proxies_are_not() -> None:
    def answer(alias: str, fence: str, load: str) -> Answer:
        steps = ["st.weak x, 1", *([fence] if fence else []), f"{load}.weak r0, y"]
        return verdict_of(dat3m("exists (P0:r0 == 0)", steps, initial=f"x = 0; y @ {alias} aliases x;")).answer

    assert answer("generic", "", "ld") is Answer.ALLOWED
    assert answer("generic", "fence.proxy.alias", "ld") is Answer.FORBIDDEN
    assert answer("texture", "", "tld") is Answer.ALLOWED
    assert answer("texture", "fence.proxy.surface", "tld") is Answer.ALLOWED
    assert answer("texture", "fence.proxy.texture", "tld") is Answer.FORBIDDEN


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "none of the formats"),
        ("PTX t\nexists (x == 1)", "initial state in braces"),
        ("PTX t { x = 0; } P0@cta 0,gpu 0 ; st.weak x, 1 ;", "condition is missing"),
        ("PTX t { x ? 0; } P0@cta 0,gpu 0 ; st.weak x, 1 ; exists (x == 1)", "`x ? 0`"),
        ("PTX t { x = 0; } P0@block 0 ; st.weak x, 1 ; exists (x == 1)", "`P0@block 0`"),
        ("PTX t { x = 0; } P0@cta 0,gpu 0 ; st.strong x, 1 ; exists (x == 1)", "`st.strong x, 1`"),
        ("PTX t { x = 0; } P0@cta 0,gpu 0 ; ld.weak r0 ; exists (x == 1)", "`ld.weak r0`"),
        ("PTX t { x = 0; } P0@cta 0,gpu 0 ; goto LC9 ; exists (x == 1)", "`LC9`"),
        ("PTX t { x = 0; } P0@cta 0,gpu 0 ; LC0: ; goto LC0 ; exists (x == 1)", "does not end"),
        ("d0.b0.t0 { mov r0, 1; } permit(r0 == 1) as t;", "`mov r0, 1`"),
    ],
)
def test_an_unreadable_part_is_named(text: str, words: str) -> None:
    with pytest.raises(LitmusError) as caught:
        verdict_of(text)
    assert words in caught.value.message
    assert caught.value.remedy


def test_damaged_tests_have_a_verdict_or_are_refused() -> None:
    random = Random(7)
    files = sorted(CORPUS.rglob("*.*"))
    verdicts, refusals = 0, []
    for _ in range(150):
        words = random.choice(files).read_text("utf-8").split(" ")
        for _ in range(random.randint(1, 3)):
            at = random.randrange(len(words))
            words[at : at + random.randint(0, 1)] = [random.choice([*words, ";", "|", "}", "x", ",", "@"])]
        try:
            for test in read_tests(" ".join(words), "t.litmus"):
                check(test)
            verdicts += 1
        except LitmusError as error:
            refusals.append(error)
    assert verdicts > 10
    assert len(refusals) > 10
    assert all(each.message and each.remedy for each in refusals)
