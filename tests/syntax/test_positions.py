"""The spans of statements and their parts, in any context."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.source import SourceFile, Span
from ptxkit.syntax import StatementSpans, parse, statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Block, Function, Instruction, LabelStatement
from tests.syntax.support import HEADING, bodies, corpus_files, kernel, text_of


def shown_text(body: str, place: int = 0) -> dict[str, object]:
    """Returns the texts of the spans of the statement number `place`."""
    text = kernel(body)
    module = parse(text)
    held = module.function("k").body
    assert held is not None
    assert module.source is not None
    spans = statement_spans(module.source, held.starts[place])

    def cut_short(span: Span | None) -> str | None:
        return None if span is None else text[span.start : span.end]

    return {
        "statement": cut_short(spans.statement),
        "guard": cut_short(spans.guard),
        "opcode": cut_short(spans.opcode),
        "operands": [cut_short(span) for span in spans.operands],
    }


@pytest.mark.parametrize(
    ("body", "statement", "guard", "opcode", "operands"),
    [
        ("ret;", "ret;", None, "ret", []),
        ("add.s32 %r1, %r2, 3;", "add.s32 %r1, %r2, 3;", None, "add.s32", ["%r1", "%r2", "3"]),
        ("@!%p1 bra L; // x", "@!%p1 bra L;", "@!%p1", "bra", ["L"]),
        ("/* a */ @ %p1 ld .b32 a, [b + 4]; ret;", "@ %p1 ld .b32 a, [b + 4];", "@ %p1", "ld .b32", ["a", "[b + 4]"]),
        (
            "mma {a, b}, /* , */ [m, {c, d}], (e, f)\n;",
            "mma {a, b}, /* , */ [m, {c, d}], (e, f)\n;",
            None,
            "mma",
            ["{a, b}", "[m, {c, d}]", "(e, f)"],
        ),
        ("\\ret;", "\\ret;", None, "ret", []),
        ("@%p1 \\ /**/ st.b32 [-4], a;", "@%p1 \\ /**/ st.b32 [-4], a;", "@%p1", "st.b32", ["[-4]", "a"]),
        ("op{a},[b];", "op{a},[b];", None, "op", ["{a}", "[b]"]),
        ("L: ret;", "L:", None, None, []),
        (".reg .b32 %r<5>;", ".reg .b32 %r<5>;", None, None, []),
        ("{ ret; }", "{", None, None, []),
        ("T: .branchtargets L1, L2;", "T: .branchtargets L1, L2;", None, None, []),
        (".loc 1 2 3\nret;", ".loc 1 2 3", None, None, []),
    ],
)
def test_the_parts_of_a_statement_are_found(
    body: str, statement: str, guard: str | None, opcode: str | None, operands: list[str]
) -> None:
    assert shown_text(body) == {"statement": statement, "guard": guard, "opcode": opcode, "operands": operands}


def test_statements_on_one_line_have_separate_spans() -> None:
    body = "L1: L2: add.s32 a, b, c; /* x */ ret;"
    assert [shown_text(body, place)["statement"] for place in range(4)] == ["L1:", "L2:", "add.s32 a, b, c;", "ret;"]


def test_items_of_a_module_are_found_too() -> None:
    text = f"{HEADING}// c\n.global .b32 x; .visible .entry k() // d\n.reqntid 32\n{{ ret; }}"
    module = parse(text)
    assert module.source is not None
    spans = [statement_spans(module.source, start).statement for _, start in module.with_offsets()]
    assert [text[span.start : span.end] for span in spans[2:]] == [
        ".address_size 64",
        ".global .b32 x;",
        ".visible .entry k() // d\n.reqntid 32",
    ]


def test_a_place_at_which_nothing_begins_is_an_empty_span() -> None:
    source = SourceFile("k.ptx", kernel("ret;"))
    end = len(source.text)
    assert statement_spans(source, end) == StatementSpans(Span(end, end))


@pytest.mark.parametrize("path", corpus_files()[::7], ids=lambda path: path.name)
def test_the_spans_of_real_files_contain_the_text_of_the_tree(path: Path) -> None:
    module = parse(text_of(path))
    source = module.source
    assert source is not None
    for body in bodies(module):
        for statement, start in list(body.with_offsets())[:400]:
            spans = statement_spans(source, start)
            text = source.text[spans.statement.start : spans.statement.end]
            assert spans.statement.start == start
            match statement:
                case Instruction():
                    assert spans.opcode is not None
                    assert "".join(source.text[spans.opcode.start : spans.opcode.end].split()) == statement.opcode
                    assert len(spans.operands) == len(statement.operands)
                    for span, operand in zip(spans.operands, statement.operands, strict=True):
                        written = "".join(source.text[span.start : span.end].split())
                        if "+0]" not in written and "//" not in written:
                            assert written.replace("+-", "+-") == "".join(print_operand(operand).split())
                case LabelStatement(name):
                    assert text.startswith(name)
                    assert text.endswith(":")
                case Block():
                    assert text == "{"
    for item, start in module.with_offsets():
        if isinstance(item, Function):
            assert item.name in source.text[start : statement_spans(source, start).statement.end]


def test_the_spans_of_one_long_head_are_computed_once() -> None:
    text = ".version 8.0\n.target sm_80\n.entry k(" + ", ".join(["\n.param .u32 p"] * 50) + ")\n{\nret;\n}\n"
    source = SourceFile("k.ptx", text)
    start = text.index(".entry")
    assert statement_spans(source, start) is statement_spans(SourceFile("k.ptx", text), start)
    assert statement_spans(source, start).statement.start == start
