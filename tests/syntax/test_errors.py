"""Diagnostics of text that is not PTX: the place, the expected text, and the fix."""

from __future__ import annotations

import pytest

from ptxkit import PTXSyntaxError
from ptxkit.source import Span
from ptxkit.syntax import parse
from ptxkit.syntax.limits import MAX_NESTING, MAX_SYNTAX_ERRORS
from tests.syntax.support import HEADING, complaints, kernel

FIRST = 6
"""The line on which the body of `kernel` begins."""


def test_a_missing_semicolon_is_reported_at_its_place_and_can_be_fixed() -> None:
    text = kernel("add.s32 %r1, %r2, %r3\nmov.u32 %r4, %r5;")
    with pytest.raises(PTXSyntaxError) as caught:
        parse(text)
    (found,) = caught.value.diagnostics
    assert found.message == "expected `;` or `,` after `%r3`, found `mov.u32`"
    assert found.help == "end the statement with `;`"
    assert text[found.span.start : found.span.end] == "3"
    assert found.fix is not None
    (edit,) = found.fix.edits
    fixed = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    assert parse(fixed) == parse(kernel("add.s32 %r1, %r2, %r3;\nmov.u32 %r4, %r5;"))


ADDRESS = "a name, a name with `+` and an integer constant, or an integer constant"


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("ret\nmov.u32 %r1, 4;", 3, "expected `;` after `ret`, found `mov.u32`"),
        ("@%p1 ret\nmov.u32 %r1, 4;", 8, "expected `;` after `ret`, found `mov.u32`"),
        ("add.s32 %r1 %r2, 3;", 13, "expected `;` or `,` after `%r1`, found `%r2`"),
        ("add.s32 %r1, %r2,;", 18, "expected an operand after `,`, found `;`"),
        ("add.s32 %r1,, %r2;", 13, "expected an operand after `,`, found `,`"),
        ("ld.global.b32 %r1, [%rd1;", 25, "expected `,` or `]` after `%rd1`, found `;`"),
        ("mov.b64 {%r1, %r2, %rd3;", 24, "expected `,` or `}` after `%rd3`, found `;`"),
        ("ld.b32 %r1, [g-4];", 13, f"an address is {ADDRESS}"),
        ("ld.b32 %r1, [g*4];", 13, f"an address is {ADDRESS}"),
        ("ld.b32 %r1, [-g];", 13, f"an address is {ADDRESS}"),
        ("ld.b32 %r1, [16+g];", 13, "the offset of an address must be an integer constant"),
        ("ld.b32 %r1, [-1.5];", 13, f"an address is {ADDRESS}"),
        ("ld.b32 %r1, [_];", 13, "the sink `_` is no address"),
        ("ld.b32 %r1, [g+1?g:2];", 13, "the offset of an address must be an integer constant"),
        ("\\ \\ret;", 3, "expected a name after `\\`, found `\\`"),
        ("\\{ ret; }", 2, "expected a name after `\\`, found `{`"),
        ("mov.u32 \\ %r1, 2;", 9, "expected `;`, `:` or an operand after `mov.u32`, found `\\`"),
        (".foo 3;", 1, "`.foo` is not a directive that is allowed here"),
        ('.file 1 "a"', 1, "`.file` is not a directive that is allowed here"),
        (";", 1, "`;` ends nothing: PTX has no empty statement"),
        ("mov.u32 %r1, 123abc;", 14, "`123abc` is no number"),
        ("mov.u32 %r1, 123u;", 14, "`123u` is no number"),
        ("mov.u32 %r1, 0199;", 14, "`0199` is no number"),
        ("mov.f32 %f1, 0f3F8;", 14, "`0f3F8` is no number"),
        ("@%p1 { ret; }", 6, "expected a name after `%p1`, found `{`"),
        (".reg .b32 =;", 11, "expected `;`, `.align`, a name or a type after `.b32`, found `=`"),
        (".loc 1 2\nret;", 1, "expected an integer after `2`, found `ret`"),
        ("# 3", 1, "`#` begins no word of PTX"),
        ("mov.u32 %r1, é;", 14, "U+00E9 is not allowed outside of comments and strings"),
        ("mov.u32 %r1, \udcff;", 14, "the byte 0xFF is not UTF-8"),
        ("mov.u32 \0 %r1, 4;", 9, "a NUL is allowed only at the very end of the text"),
        ("ld.b32 %r1, [g+%r2];", 13, "the offset of an address must be an integer constant"),
        ("mov.u32 %r1, (.u8) 5;", 14, "a constant can be cast to `.s64` or `.u64`, not to `.u8`"),
        ("mov.u32 %r1, 99999999999999999999;", 14, "an integer constant has at most 64 bits"),
    ],
)
def test_one_error_gives_one_diagnostic_at_its_place(body: str, column: int, message: str) -> None:
    (found,) = complaints(kernel(body))
    line = FIRST + (1 if message.startswith("expected an integer") else 0)
    assert found[:3] == (line, column, message)


def test_a_negative_offset_is_explained() -> None:
    ((*_, help_text),) = complaints(kernel("ld.b32 %r1, [g-4];"))
    assert help_text == "write a negative offset as `+-4`"
    parse(kernel("ld.b32 %r1, [g+-4];"))


@pytest.mark.parametrize("body", ["mov\\.u32 %r1, 2;", "\\\\ret;", "@\\%p1 ret;", "ret;\\", "\\.reg .b32 a;"])
def test_a_backslash_anywhere_but_before_an_opcode_is_to_be_removed(body: str) -> None:
    ((*_, help_text),) = complaints(kernel(body))
    assert help_text == "remove the backslash"
    parse(kernel("\\mov.u32 %r1, 2; @%p1 \\ ret;"))


def test_all_errors_are_reported_in_the_order_of_the_text() -> None:
    found = complaints(kernel("add.s32 %r1 %r2;\nret;\n.foo 3;\nld.b32 a, [b;\n{ mov.u32 c,, 3; }\nmov.u32 a, b;"))
    assert [line for line, *_ in found] == [FIRST, FIRST + 2, FIRST + 3, FIRST + 4]


def test_an_error_in_a_header_hides_no_error_in_the_body() -> None:
    text = f"{HEADING}.visible .entry k(.param .u64 a .param .u32 b)\n{{\nret;\nmov.u32 %r1,, 4;\n}}\n"
    assert [(line, column) for line, column, *_ in complaints(text)] == [(4, 33), (7, 13)]


def test_errors_stop_at_the_limit() -> None:
    assert len(complaints(kernel("add.s32 %r1 %r2;\n" * (MAX_SYNTAX_ERRORS + 10)))) == MAX_SYNTAX_ERRORS
    assert len(complaints(kernel("add.s32 %r1 %r2;\n" * (MAX_SYNTAX_ERRORS - 1)))) == MAX_SYNTAX_ERRORS - 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected `.version`: a module begins with `.version`, then `.target`"),
        ("\n// nothing\n", "expected `.version`: a module begins with `.version`, then `.target`"),
        (".version 9.4\n", "expected `.target`: a module begins with `.version`, then `.target`"),
        (".target sm_90\n.version 9.4\n", "expected `.version`: a module begins with `.version`, then `.target`"),
        (".version 9.4\n.entry k() { ret; }", "expected `.target`: a module begins with `.version`, then `.target`"),
        (f"{HEADING}.version 9.4\n", "`.version` occurs once in a module, at its start"),
        (f"{HEADING}ret;\n", "an instruction or label is not allowed outside of a function"),
        (f"{HEADING}}}\n", "`}` closes nothing"),
        (f"{HEADING}.entry k() {{ ret; }}\n}}\n", "`}` closes nothing"),
        (f"{HEADING}{{ }}", "expected the header of a function before `{`"),
        (f"{HEADING}.section .debug_x {{ .b8 1\n", "this section never ends, or is not well formed"),
        (f"{HEADING}.section .debug_x {{ .b8 1; }}\n", "expected `,`, `}` or a name after `1`, found `;`"),
    ],
)
def test_errors_of_the_module_are_named(text: str, message: str) -> None:
    ((_, _, found, _),) = complaints(text)
    assert found == message


def test_a_body_that_never_ends_is_shown_at_both_places() -> None:
    text = f"{HEADING}.entry k()\n{{\nret;\n.entry j()\n{{\nret;\n}}\n"
    with pytest.raises(PTXSyntaxError) as caught:
        parse(text, "k.ptx")
    (found,) = caught.value.diagnostics
    assert found.message == "expected `}`: a function begins inside the body of another"
    assert [found.source.position(label.span.start) for label in found.labels] == [(5, 1)]
    assert str(caught.value) == "k.ptx:7:1: expected `}`: a function begins inside the body of another"


def test_the_end_of_the_text_inside_of_a_body_names_the_brace() -> None:
    with pytest.raises(PTXSyntaxError) as caught:
        parse(f"{HEADING}.entry k()\n{{\nret;\n")
    (found,) = caught.value.diagnostics
    assert found.message == "expected `}`, found the end of the text"
    assert found.labels[0].span == Span(len(HEADING) + 11, len(HEADING) + 12)


def test_an_unterminated_comment_and_string_are_reported_where_they_begin() -> None:
    found = complaints(kernel("/* x"))
    assert found[0][:3] == (FIRST, 1, "this comment never ends")
    found = complaints(kernel('.pragma "x;'))
    assert found[0][:3] == (FIRST, 9, "this string never ends")


def test_nesting_up_to_the_limit_is_read_and_beyond_it_is_reported() -> None:
    within = MAX_NESTING - 5
    parse(kernel("{" * within + "ret;" + "}" * within))
    ((_, _, message, _),) = complaints(kernel("{" * 300 + "ret;" + "}" * 300))
    assert message == f"blocks nest deeper than {MAX_NESTING} levels, the most that is read"
    parse(kernel(f"mov.u32 %r1, {'(' * 20}1{')' * 20};"))
    ((_, _, message, _),) = complaints(kernel(f"mov.u32 %r1, {'(' * 300}1{')' * 300};"))
    assert message == f"brackets nest deeper than {MAX_NESTING} levels, the most that is read"
    ((_, _, message, _),) = complaints(kernel(f"mov.u32 %r1, 1{'+1' * 300};"))
    assert message == f"an expression has more than {MAX_NESTING} operators, the most that is read"


FOREIGN = {
    "prose": "# A title\n\nIt stands; like this; and so on; for long.\n",
    "Python": '"""A module."""\n\nimport os;\nprint(os.environ);\n',
    "C++": "#include <x>\n__global__ void k(int *p) {\n  p[0] = 1;\n  p[1] = 2;\n}\n",
    "JSON": '{"a": 3, "b": [1, 2]}\n',
    "assembler of a CPU": "\t.text\n\t.globl main\nmain:\n\tpushq %rbp\n\tret\n",
    "instructions alone": "add.s32 %r1, %r2, %r3;\nret;\n",
    "bytes": "".join(map(chr, range(1, 256))) * 9,
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_text_that_is_not_ptx_has_one_error(text: str) -> None:
    with pytest.raises(PTXSyntaxError) as caught:
        parse(text)
    (found,) = caught.value.diagnostics
    assert found.message == "this is no PTX: a module begins with `.version`"
    assert found.help == "name a file of PTX, such as `nvcc --ptx` writes, or a binary that holds PTX"


def test_text_before_a_module_is_one_error_that_states_where_the_module_begins() -> None:
    with pytest.raises(PTXSyntaxError) as caught:
        parse(f"Fatbin ptx code:\n================\n{HEADING}.entry k() {{ add; }}\n")
    (found,) = caught.value.diagnostics
    assert found.help == "a `.version` is at line 3: remove the text before it"


def test_all_errors_of_a_module_without_its_version_are_reported() -> None:
    with pytest.raises(PTXSyntaxError) as caught:
        parse(".target sm_80\n.entry k()\n{\n  add.s32 %r1 %r2;\n  )\n}\n")
    assert len(caught.value.diagnostics) == 3
