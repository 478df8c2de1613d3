"""`ptxkit isa`: the table as sentences, and as data for other tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ptxkit.isa import table
from ptxkit.isa.describe import describe
from ptxkit.isa.expression_text import expression_text
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Form
from ptxkit.isa.loader import load_texts
from ptxkit.isa.table_json import describe_data, describe_json


def all_forms() -> list[Form]:
    return [form for name in table().names for form in table().forms(name)]


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(describe_json())


def test_describing_an_opcode_shows_forms_gates_and_effects() -> None:
    text = describe("cp.async.bulk")
    for words in ("cp.async.bulk.tensor.<dim>", "PTX 8.0 and sm_90", "proxy=.async", "mask:mask_type/"):
        assert words in text
    assert "wait_all" not in text


def test_describing_shows_results_and_the_requirements_of_modifier_values() -> None:
    assert "let count = number(num) * case(shape, .16x128b, 2, .16x256b, 4, 1)" in describe("tcgen05.ld")
    assert "for .L2::cache_hint" in describe("ld")
    assert "for .L2::cache_hint" not in describe("elect")


def test_a_repeated_variable_is_explained_once() -> None:
    for part in describe("wgmma.mma_async").split("\n\n"):
        assert sum(line.strip().startswith("t = ") for line in part.splitlines()) <= 1


def test_describing_a_whole_opcode_binds_it() -> None:
    assert "Access(kind=read, space=global, address=a, size=16)" in describe("ld.global.v4.f32")


@pytest.mark.parametrize(
    ("word", "description"),
    [
        ("%tid", "%tid: a special register of type .u32"),
        ("%clusterid.x", "needs PTX 7.8 and sm_90"),
        (".maxntid", ".maxntid: a directive on entry"),
        (".L2::cache_hint", "needs PTX 7.4"),
        ("sm_90a", "needs PTX 8.0"),
        (".b64", ".b64: a type of variables"),
    ],
)
def test_directives_and_registers_are_described_too(word: str, description: str) -> None:
    assert description in describe(word)


@pytest.mark.parametrize(
    "opcode", ["nosuch", "ld.nosuch", "", ".", "cp.async.nosuch", "%nosuch", "%tid.q", ".nosuch", "sm_1", "%"]
)
def test_an_unknown_name_is_a_lookup_error(opcode: str) -> None:
    with pytest.raises(LookupError):
        describe(opcode)


def test_every_form_can_be_described() -> None:
    for name in table().names:
        assert describe(name).count("\n  ") >= len(table().forms(name))


def test_the_whole_table_is_available_as_data(document: Any) -> None:
    assert document["version"] == 1
    assert [form["syntax"] for form in document["forms"]] == [form.syntax.removeprefix("form ") for form in all_forms()]
    assert {register["name"] for register in document["special_registers"]} >= {"%tid", "%clock64"}
    assert "maxntid" in {directive["name"] for directive in document["module"]["directives"]}
    assert document["value_gates"]["L2::cache_hint"][0]["alternatives"][0]["version"] == "7.4"


def test_the_data_contain_every_part_of_a_form(document: Any) -> None:
    for data, form in zip(document["forms"], all_forms(), strict=True):
        assert [slot["values"] for slot in data["modifiers"]] == [list(slot.values) for slot in form.modifiers]
        assert [operand["role"] for operand in data["operands"]] == [operand.role for operand in form.operands]
        assert list(data["let"]) == [name for name, _ in form.lets]
        assert (len(data["when"]), len(data["need"])) == (len(form.rules), len(form.needs))
        assert [part["name"] for part in data["effect_parts"]] == [effect.name for effect in form.effects]
        assert [gate["subject"] for gate in data["gates"]] == [gate.subject for gate in form.gates]
        assert {"words", "type", "immediates", "space", "alignment", "allowed", "elements"} <= {
            key for operand in data["operands"] for key in operand
        } or not form.operands


def test_the_data_of_one_opcode_are_its_part_of_the_whole(document: Any) -> None:
    some = describe_data("mbarrier.try_wait")["forms"]
    assert isinstance(some, list)
    assert some
    assert all(form in document["forms"] for form in json.loads(json.dumps(some)))
    with pytest.raises(LookupError):
        describe_data("mbarrier.nosuch")


CHAPTER = """chapter "Test"
section "Test: op"
form op{{.<m>}}.<t> d:t, a:t
  m = .x .y
  t = .b32 .b64 .f16
  when {0}
"""

EXPRESSIONS = [
    "bits(t) * 2 + 1",
    "(1 + 2) * 3",
    "1 + 2 * 3",
    "8 - (4 - 2)",
    "if m == .x then 8 else bits(t) / 2",
    "if (if m then true else false) then 1 else 2",
    "m and (t == .b32 or t == .b64) implies not m",
    "not (m and t == .b32)",
    "t in .b32 .f16 and m not in .x",
    "(t in .b32) == (m in .x)",
    'case(t, .b32, "a.b", .b64, .c::d, false)',
    "bits(t) - 1 > -1",
    "bits(t) == 0x10",
    "m or .y",
    "starts(t, .b) implies present(d)",
]


def read(text: str) -> Expression:
    (form,) = load_texts({"test.isa": CHAPTER.format(text)}).forms["op"]
    return form.rules[0].condition


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_written_in_a_notation_that_reads_the_same(text: str) -> None:
    first = read(text)
    assert read(expression_text(first)) == first


def parts(expression: Expression) -> Iterator[Expression]:
    yield expression
    if isinstance(expression, CallExpr):
        for argument in expression.arguments:
            yield from parts(argument)


def test_every_expression_of_the_table_has_a_text() -> None:
    for form in all_forms():
        for expression in (*(value for _, value in form.lets), *(rule.condition for rule in form.rules)):
            text = expression_text(expression)
            for part in parts(expression):
                if isinstance(part, OperandRole):
                    assert part.name in text
                elif isinstance(part, ConstantExpr) and isinstance(part.value, str):
                    assert part.value in text
