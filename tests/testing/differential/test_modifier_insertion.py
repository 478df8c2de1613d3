"""Every modifier of the table in every place of an instruction."""

from __future__ import annotations

from ptxkit.testing.differential.campaign import VERSION_TARGETS, all_forms
from ptxkit.testing.differential.modifier_insertion import insert_modifiers, insertion_work_units, run_insertion_unit
from ptxkit.testing.oracles.ptxas import installed_ptxas


def test_each_word_is_inserted_after_the_name_and_after_each_modifier() -> None:
    assert list(insert_modifiers("add.u32 %u32_1, 3, 4;", ["sat", "cta"])) == [
        ("add.sat.u32 %u32_1, 3, 4;", 1, "sat"),
        ("add.cta.u32 %u32_1, 3, 4;", 1, "cta"),
        ("add.u32.sat %u32_1, 3, 4;", 2, "sat"),
        ("add.u32.cta %u32_1, 3, 4;", 2, "cta"),
    ]


def test_an_instruction_without_operands_keeps_its_end() -> None:
    assert [text for text, *_ in insert_modifiers("ret.uni;", ["sat"])] == ["ret.sat.uni;", "ret.uni.sat;"]


def test_a_share_contains_the_part_that_it_names_and_both_sides_agree() -> None:
    place = next(place for place, form in enumerate(all_forms()) if form.name == "bfind")
    (share,) = insertion_work_units([place], VERSION_TARGETS[:1], 0.05, 9)
    tally = run_insertion_unit(share, installed_ptxas()[:1])
    assert 20 < tally.probe_count < 200
    assert tally.differences == []
    assert run_insertion_unit(share, installed_ptxas()[:1]).counts == tally.counts


def test_a_campaign_includes_each_form_once() -> None:
    shares = insertion_work_units(range(30), VERSION_TARGETS, 0.1, 9)
    assert [place for share in shares for place in share.forms] == list(range(30))
