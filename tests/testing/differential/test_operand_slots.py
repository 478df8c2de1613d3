"""Every kind of operand in every place of every form."""

from __future__ import annotations

import re
from random import Random

from ptxkit.isa.functions import bits
from ptxkit.isa.operand_spellings import DECLARABLE
from ptxkit.testing.differential.campaign import VERSION_TARGETS, Difference, InstructionProbe, all_forms
from ptxkit.testing.differential.operand_slots import (
    SlotWorkUnit,
    operand_shapes,
    run_slot_unit,
    slot_fillings,
    slot_work_units,
    slots,
)
from ptxkit.testing.differential.report import slot_lines
from ptxkit.testing.generators.operand_kinds import address_bases, operand_kinds, vector_operand
from ptxkit.testing.oracles.ptxas import installed_ptxas


def form(name: str) -> int:
    return next(place for place, form in enumerate(all_forms()) if form.name == name)


def test_every_class_of_register_is_tried_by_itself_in_vectors_and_in_brackets() -> None:
    kinds = set(operand_kinds())
    for each in DECLARABLE:
        assert {f"%{each}_9", f"%{each}_9+4", f"[%{each}_9]", vector_operand(4, each)} <= kinds
        if each != "pred" and bits(each) <= 64:
            assert {f"%v2{each}_1", f"%v2{each}_1.y"} <= kinds


def test_no_kind_is_repeated_and_nests_contain_none() -> None:
    inside = list(operand_kinds(inside=True))
    assert len(inside) == len(set(inside))
    assert not any(each[0] in "[{" for each in inside)
    for found in (list(operand_kinds()), list(address_bases())):
        assert len(found) == len(set(found)) > 40


def test_a_slot_is_an_operand_or_an_element_of_one() -> None:
    found = dict(slots("tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}|%pred_1, [%b64_1, {%f32_5, %f32_6}], 3;"))
    assert found["1"] == "tex.1d.v4.f32.f32 @, [%b64_1, {%f32_5, %f32_6}], 3;"
    assert found["1.2"] == "tex.1d.v4.f32.f32 {%f32_1, %f32_2, %f32_3, %f32_4}|@, [%b64_1, {%f32_5, %f32_6}], 3;"
    assert found["2 base"].endswith("[@, {%f32_5, %f32_6}], 3;")
    assert found["2.2"].endswith("[%b64_1, @], 3;")
    assert found["2.2.1"].endswith("[%b64_1, {@, %f32_6}], 3;")
    assert found["3"].endswith(", [%b64_1, {%f32_5, %f32_6}], @;")


def test_of_a_long_vector_the_first_the_second_and_the_last_element_are_slots() -> None:
    registers = ", ".join(f"%b32_{number}" for number in range(8))
    assert [name for name, _ in slots(f"x {{{registers}}};")] == ["1", "1.1", "1.2", "1.8"]


def test_a_vector_of_an_odd_length_is_tried_in_that_length() -> None:
    assert "{%b64_10, %b64_11, %b64_12}" in set(slot_fillings("1", "{%b32_1, %b32_2, %b32_3}"))
    assert not any(each[0] == "{" and each.count(",") == 2 for each in slot_fillings("1", "{%b32_1, %b32_2}"))


def test_a_form_has_one_shape_for_each_selection_of_types_and_optional_operands() -> None:
    found = [match.operands for match in operand_shapes(all_forms()[form("shf")], Random(1))]
    assert len(found) == len(set(found)) == 1
    counts = {len(match.operands) for match in operand_shapes(all_forms()[form("barrier")], Random(1))}
    assert counts == {1, 2}


def test_a_share_has_the_same_questions_in_every_run() -> None:
    share = SlotWorkUnit(VERSION_TARGETS[:3], (form("bfind"),), 0.01, 4)
    one, other = run_slot_unit(share, installed_ptxas()[:1]), run_slot_unit(share, installed_ptxas()[:1])
    assert one.counts == other.counts
    assert one.probe_count == other.probe_count > 50
    assert not one.differences


def test_a_larger_part_has_more_questions_in_smaller_shares() -> None:
    some, more = (
        run_slot_unit(SlotWorkUnit(VERSION_TARGETS[:1], (form("bfind"),), part, 4), installed_ptxas()[:1])
        for part in (0.001, 0.1)
    )
    assert some.probe_count * 3 < more.probe_count
    assert (
        len(slot_work_units(range(100), VERSION_TARGETS, 0.0001, 4))
        < len(slot_work_units(range(100), VERSION_TARGETS, 1.0, 4))
        == 25
    )


def test_differences_are_reported_once_a_form_and_place_with_the_kinds() -> None:
    def difference(slot: str, kind: str) -> Difference:
        question = InstructionProbe(f"add.u32 %u32_1, {kind};", "integer.isa:15 add.u32", f"{slot}: {kind}")
        return Difference(question, VERSION_TARGETS[0], "13.5", None, "Arguments mismatch")

    lines = list(slot_lines([difference("2", "%f32_9"), difference("2", "{3}"), difference("3", "_")]))
    assert [bool(re.match("only ptxkit accepts", line)) for line in lines] == [True, False, False, False] * 2
    assert lines[3].strip() == "2 kinds: %f32_9  {3}"
    assert "place 3 of integer.isa:15" in lines[4]
