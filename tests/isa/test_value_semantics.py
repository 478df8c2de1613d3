"""The semantics of a form, as the notation specifies them."""

from __future__ import annotations

import pytest

from ptxkit.isa.errors import NotationError
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.isa.table import InstructionTable
from ptxkit.isa.value_semantics import Semantics
from tests.isa.support import instruction, small_table

HEAD = 'chapter "C"\nsection "S"\n'


def meanings(table: InstructionTable, text: str) -> tuple[Semantics, ...]:
    found = table.match(instruction(text))
    assert isinstance(found, Match), found
    return table.semantics_of(found)


def test_words_are_decided_when_the_form_is_bound_and_operands_remain_roles() -> None:
    table = small_table(
        HEAD + "form add{.<rnd>}{.ftz}.<t> d:t, a:t, b:t\n  rnd = .rn .rz\n  t = .f32 .f64\n"
        "  means d = fadd(a, b, 1, type=t, rounding=rnd or .rn, ftz=ftz, bits=bits(t))\n"
    )
    (found,) = meanings(table, "add.rz.ftz.f32 %f1, %f2, %f3;")
    assert found.function == "fadd"
    assert found.results == ("d",)
    assert found.operands == (OperandRole("a"), OperandRole("b"), ConstantExpr(1))
    assert found.named_arguments == {"type": "f32", "rounding": "rz", "ftz": True, "bits": 32}
    (other,) = meanings(table, "add.f64 %f1, %f2, %f3;")
    assert other.named_arguments == {"type": "f64", "rounding": "rn", "ftz": False, "bits": 64}


def test_a_missing_operand_is_empty_and_so_is_a_missing_result() -> None:
    table = small_table(
        HEAD + "  means d, p = shuffle(a, b, mode=mode)\n"
        "form shfl.<mode>.b32 d:.b32{|p:.pred}, a:.b32{, b:.b32}\n  mode = .up .down\n"
    )
    (found,) = meanings(table, "shfl.up.b32 %r1, %r2;")
    assert found.results == ("d", None)
    assert found.operands == (OperandRole("a"), ConstantExpr(None))
    (full,) = meanings(table, "shfl.up.b32 %r1|%p1, %r2, %r3;")
    assert full.results == ("d", "p")
    assert full.operands == (OperandRole("a"), OperandRole("b"))


def test_a_line_may_have_a_condition_and_several_may_hold() -> None:
    table = small_table(
        HEAD + "form st{.<sem>}.<t> [a], b:t\n  sem = .weak .volatile\n  t = .b32 .b64\n"
        "  means store(a, b, type=t)\n  means publish(a) when sem == .volatile\n"
    )
    assert [each.function for each in meanings(table, "st.b32 [%rd1], %r1;")] == ["store"]
    assert [each.function for each in meanings(table, "st.volatile.b32 [%rd1], %r1;")] == ["store", "publish"]


def test_lines_of_the_form_replace_those_of_the_section() -> None:
    table = small_table(
        HEAD + "  means d = plain(a)\nform neg.<t> d:t, a:t\n  t = .s32\nform neg.<t> d:t, a:t\n  t = .f32\n"
        "  means d = fneg(a)\n"
    )
    assert [each.function for each in meanings(table, "neg.s32 %r1, %r2;")] == ["plain"]
    assert [each.function for each in meanings(table, "neg.f32 %r1, %r2;")] == ["fneg"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("means d = f(q)", "q is no modifier, let or operand here"),
        ("means q = f(a)", "q is no modifier, let or operand here"),
        ("means t = f(a)", "t receives a result, and is no operand"),
        ("means d = f(a, type=t, type=t)", "type is given twice"),
        ("means d = f(type=t, a)", "operands precede the named arguments"),
        ("means d = f(a) when a == 1", "a is an operand, and only modifiers decide here"),
        ("means d = f(a)\n  means d = f(a)", "means is given twice"),
    ],
)
def test_an_error_is_reported_at_its_place(line: str, message: str) -> None:
    with pytest.raises(NotationError, match=message):
        small_table(HEAD + f"form neg.<t> d:t, a:t\n  t = .s32 .s64\n  {line}\n")


def test_a_word_that_depends_on_an_operand_cannot_be_bound() -> None:
    table = small_table(HEAD + "form neg.s32 d:.s32, a:.s32\n  means d = f(a, type=a)\n")
    with pytest.raises(ValueError, match="type must be known when the form is bound"):
        meanings(table, "neg.s32 %r1, %r2;")
