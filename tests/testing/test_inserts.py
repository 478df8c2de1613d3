"""Every modifier of the table in every place of an instruction."""

from __future__ import annotations

from ptxkit.testing.agreement import PAIRS, all_forms
from ptxkit.testing.inserts import insert_shares, inserted, run_inserts
from ptxkit.testing.ptxas import installed


def test_each_word_is_put_behind_the_name_and_behind_each_modifier() -> None:
    assert list(inserted("add.u32 %u32_1, 3, 4;", ["sat", "cta"])) == [
        ("add.sat.u32 %u32_1, 3, 4;", 1, "sat"),
        ("add.cta.u32 %u32_1, 3, 4;", 1, "cta"),
        ("add.u32.sat %u32_1, 3, 4;", 2, "sat"),
        ("add.u32.cta %u32_1, 3, 4;", 2, "cta"),
    ]


def test_an_instruction_without_operands_keeps_its_end() -> None:
    assert [text for text, *_ in inserted("ret.uni;", ["sat"])] == ["ret.sat.uni;", "ret.uni.sat;"]


def test_a_share_takes_the_part_that_it_names_and_both_sides_agree() -> None:
    place = next(place for place, form in enumerate(all_forms()) if form.name == "bfind")
    (share,) = insert_shares([place], PAIRS[:1], 0.05, 9)
    tally = run_inserts(share, installed()[:1])
    assert 20 < tally.asked < 200
    assert tally.differences == []
    assert run_inserts(share, installed()[:1]).counts == tally.counts


def test_a_campaign_asks_about_each_form_once() -> None:
    shares = insert_shares(range(30), PAIRS, 0.1, 9)
    assert [place for share in shares for place in share.forms] == list(range(30))
