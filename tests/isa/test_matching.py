"""From an opcode string and operands to the form."""

from __future__ import annotations

import pytest

from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from tests.isa.support import instruction, match, small_table

SMALL = """\
set types = .u32 .s32 .f32
section "Conversions"
form turn{.<r>}{.sat}.<dt>.<st> d:dt, a:st/#
  r = .rn .rz
  dt = types
  st = types
  when r implies st == .f32
form twin.<t>.<t> d:t
  t = types
form go.fast.far d:.b32{|p:.pred}{, n:#0..7{, m:#}}
"""


def test_modifiers_match_in_any_order() -> None:
    known = small_table(SMALL)
    usual, odd = known.candidates("turn.rn.sat.s32.f32"), known.candidates("turn.sat.s32.rn.f32")
    assert len(usual) == len(odd) == 1
    assert dict(usual[0].modifiers) == dict(odd[0].modifiers)
    assert odd[0].canonical == "turn.rn.sat.s32.f32"


def test_types_keep_their_order() -> None:
    (found,) = small_table(SMALL).candidates("turn.s32.f32")
    assert (found.modifiers["dt"], found.modifiers["st"]) == ("s32", "f32")


def test_a_rule_between_modifiers_is_enforced() -> None:
    known = small_table(SMALL)
    assert known.candidates("turn.rn.s32.f32")
    assert known.candidates("turn.rn.f32.s32") == ()


def test_a_repeated_variable_has_one_value() -> None:
    known = small_table(SMALL)
    assert known.candidates("twin.u32.u32")
    assert known.candidates("twin.u32.s32") == ()


def test_optional_operands_are_determined_by_the_operands() -> None:
    known = small_table(SMALL)
    counts = {len(found.operands) for found in known.candidates("go.fast.far")}
    assert counts == {1, 2, 3}
    found = known.match(instruction("go.fast.far %r1|%p1, 3;"))
    assert isinstance(found, Match)
    assert set(found.roles) == {"d", "p", "n"}


def test_a_role_inside_a_pair_is_found() -> None:
    line = instruction("elect.sync %r1|%p2, 0xffffffff;")
    found = table().match(line)
    assert isinstance(found, Match)
    assert str(found.operand("p", line)) == "Name(text='%p2')"
    assert found.operand("absent", line) is None


def test_one_register_in_braces_is_that_register() -> None:
    line = instruction("ld.global.b32 {%r7}, [%rd1];")
    found = table().match(line)
    assert isinstance(found, Match)
    assert str(found.operand("d", line)) == "Name(text='%r7')"


def test_matches_are_shared() -> None:
    assert match("ld.global.u32 %r1, [%rd1];") is match("ld.global.u32 %r9, [%rd2+4];")
    assert match("ld.global.u32 %r1, [%rd1];") is not match("ld.shared.u32 %r1, [%rd1];")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("mov.b64 %rd1, {%r1, %r2};", "pack"),
        ("mov.b64 {%r1, _}, %rd1;", "unpack"),
        ("mov.b64 %rd1, %rd2;", "copy"),
        ("mov.u64 %rd1, table+8;", "copy"),
    ],
)
def test_operands_select_among_the_forms_of_mov(text: str, shape: str) -> None:
    (effect,) = match(text).effects
    assert effect.value.function == shape  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("lod.global.u32 %r1, [%rd1];", "PTX102", "did you mean"),
        ("ld.globl.u32 %r1, [%rd1];", "PTX103", "did you mean `.global`"),
        ("ld.global %r1, [%rd1];", "PTX103", "lacks a modifier"),
        ("ld.shared.v8.b32 {%r1}, [%rd1];", "PTX103", "breaks a rule"),
        ("ld.global.u32 %r1;", "PTX104", "takes 2"),
        ("ld.global.u32 %r1, %rd1;", "PTX104", "operand 2"),
        ("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "PTX104", "2 .u32 registers in braces"),
    ],
)
def test_a_mismatch_shows_the_correct_alternative(text: str, code: str, words: str) -> None:
    found = table().match(instruction(text))
    assert isinstance(found, Mismatch)
    assert (found.message.code, words in str(found.message)) == (code, True), found.message


def test_an_order_that_only_ptxas_accepts_is_marked() -> None:
    assert match("redux.sync.add.s32 %r1, %r2, %r3;").tolerated == ""
    odd = match("redux.add.sync.s32 %r1, %r2, %r3;")
    assert (odd.tolerated != "", odd.canonical) == (True, "redux.sync.add.s32")


def test_an_instruction_is_matched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    line, known = instruction("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];"), table()
    first = known.match(line)
    monkeypatch.setattr(known, "_find_match", None)
    assert known.match(line) is first
