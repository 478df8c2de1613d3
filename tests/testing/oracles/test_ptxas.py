"""The oracle: each text is judged separately, however many are checked at once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ptxkit.isa.harness_module import harness_module
from ptxkit.testing.oracles.ptxas import Ptxas, installed_ptxas

TARGET = "sm_90a"


@pytest.fixture(scope="module")
def newest() -> Ptxas:
    return installed_ptxas()[0]


def module(line: str, version: tuple[int, int] = (8, 3)) -> str:
    return harness_module([line], version, TARGET)


def test_it_returns_its_supported_targets(newest: Ptxas) -> None:
    assert newest.supports((8, 3), TARGET)
    assert newest.supports(newest.newest, "sm_75")
    assert not newest.supports((99, 0), TARGET)
    assert not newest.supports((8, 3), "sm_13")


def test_each_wrong_text_is_reported_and_no_other(newest: Ptxas) -> None:
    right = "add.u32 %u32_1, %u32_2, %u32_3;"
    lines = [
        right,
        "add.u32 %u32_1 %u32_2, %u32_3;",  # ends the parsing of its file
        right,
        "add.u32 %u64_1, %u32_2, %u32_3;",
        "add.frob.u32 %u32_1, %u32_2, %u32_3;",
        right,
    ]
    found = newest.refusals([module(line) for line in lines], TARGET)
    assert sorted(found) == [1, 3, 4]
    assert "syntax error" in found[1]
    assert "Arguments mismatch" in found[3]


def test_an_unreadable_statement_does_not_affect_the_next_text(newest: Ptxas) -> None:
    unreadable, right = "suq.width.b32 %b32_1 [surface_];", "sust.p.1d.b32.trap [surface_, {%b32_1}], {%b32_2};"
    assert newest.refusals([module(unreadable), module(right)] * 20, TARGET).keys() == set(range(0, 40, 2))


def test_texturing_modes_are_checked_separately(newest: Ptxas) -> None:
    unified, independent = (f"tex.1d.v4.f32.f32 %v4f32_1, [%b64_1, {each}{{%f32_1}}];" for each in ("", "sampler_, "))
    right, wrong = module(independent), module(independent.replace("%f32_1", "%f64_1"))
    assert newest.refusals([module(unified), right, wrong, module(unified), right], TARGET).keys() == {2}


def test_effects_of_a_text_on_the_next_ones_are_detected(newest: Ptxas, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(_: Ptxas, texts: Sequence[str], target: str) -> dict[int, str]:
        """Rejects `bad` unless `leak` came before it, and `good` if it did."""
        leaks = texts.index("leak") if "leak" in texts else len(texts)
        wrong = [index for index, text in enumerate(texts) if text == ("good" if index > leaks else "bad")]
        return dict.fromkeys(wrong, target)

    monkeypatch.setattr(Ptxas, "_ask", forgetful)
    assert newest.refusals(["bad", "good", "leak", "good", "bad"], TARGET) == {0: TARGET, 4: TARGET}


def test_more_texts_than_one_process_accepts_keep_their_indices(newest: Ptxas) -> None:
    texts = [module("ret;")] * 2500
    texts[7] = texts[2400] = module("frob;")
    assert sorted(newest.refusals(texts, TARGET)) == [7, 2400]


def test_a_single_text_returns_the_reason_or_none(newest: Ptxas) -> None:
    assert newest.refusal(module("bar.sync 0;"), TARGET) is None
    assert "out of range" in (newest.refusal(module("bar.sync 16;"), TARGET) or "")


def test_a_text_that_is_not_a_module_is_rejected(newest: Ptxas) -> None:
    assert newest.refusal("", TARGET) is not None
    assert newest.refusal("\0\0 }", TARGET) is not None
