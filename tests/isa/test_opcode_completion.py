"""The modifiers that may come next in an opcode."""

from __future__ import annotations

from random import Random

import pytest

from ptxkit.isa import table
from ptxkit.isa.instance_generator import instances
from ptxkit.isa.opcode_completion import complete_opcode
from ptxkit.isa.targets import parse_target


def words(opcode: str) -> list[str]:
    return [found.word for found in complete_opcode(opcode)]


def test_the_first_modifiers_of_a_name_are_those_its_forms_begin_with() -> None:
    assert words("cp") == ["async", "reduce"]
    assert words("ret") == ["uni"]
    assert words("nonsense") == []


def test_only_completions_of_an_instruction_are_listed() -> None:
    assert words("cp.async.bulk.shared::cluster") == ["global", "shared::cta"]
    assert words("add.f32") == ["f16", "bf16"]
    assert "f16" in words("mul")
    assert "f16" not in words("mul.hi")
    assert words("add.f32.f32") == []


def test_rules_between_modifiers_are_enforced() -> None:
    assert "cta" in words("cp.async.bulk.relaxed")
    assert "cta" not in words("cp.async.bulk.weak")


@pytest.mark.parametrize("name", ["cp", "ld", "mma", "tcgen05", "setp", "red", "cvt"])
def test_every_instruction_can_be_written_modifier_by_modifier(name: str) -> None:
    random = Random(1)
    for form in table().forms(name):
        if form.tolerated:
            continue
        for instance in instances(form, table().value_gates, random, 2):
            opcode = name
            for word in instance.match.canonical.split(".")[1:]:
                assert word in words(opcode), (opcode, word)
                opcode += f".{word}"


def test_a_modifier_is_closed_where_every_instruction_after_it_is() -> None:
    found = {each.word: each for each in complete_opcode("cp.async.bulk")}
    old, new = parse_target("sm_90"), parse_target("sm_100")
    assert found["shared::cta"].unmet_gates((8, 0), old)
    assert not found["shared::cta"].unmet_gates((8, 6), new)
    assert not found["shared::cluster"].unmet_gates((8, 0), old)
    assert not found["shared::cta"].unmet_gates(None, None)
