"""One backslash before an opcode is a warning: ptxas skips it, except before a call."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.build.support import ptxas
from tests.validate.modules import diagnostics, errors, whole

KERNEL = ".func f() {{ ret; }}\n.entry k() {{\n.reg .pred %p;\n.reg .b32 %r;\n{}\nret;\n}}"

SKIPPED = [
    "\\mov.b32 %r, 1;",
    "@%p \\ mov.b32 %r, 1;",
    "@!%p \\\n// on a line of its own\nmov.b32 %r, 1;",
    "L: \\bra L;",
    "{ { \\mov.b32 %r, 1; } \\exit; }",
    "@%p /* \\ */ \\ /* \\ */ mov.b32 %r, 1; // \\",
]
REFUSED = [
    "\\call f;",
    "@%p \\call f;",
    "\\\\ret;",
    "\\@%p ret;",
    "\\L: ret;",
    "\\{ ret; }",
    "\\.reg .b32 %q;",
    "{ ret; \\ }",
]


def is_accepted(text: str, folder: Path) -> bool:
    (folder / "k.ptx").write_text(text)
    command = [str(ptxas()), "-w", "-arch=compute_90a", str(folder / "k.ptx"), "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("body", SKIPPED)
def test_a_backslash_before_an_opcode_is_a_warning_at_its_place(body: str, tmp_path: Path) -> None:
    text = whole(KERNEL.format(body))
    found = diagnostics(text)
    assert {(each.code, each.severity) for each in found} == {("PTX101", Severity.WARNING)}
    for each in found:
        assert each.fix is not None
        assert [edit.span for edit in each.fix.edits] == [each.span]
        assert text[each.span.start : each.span.end] == "\\"
        text = text[: each.span.start] + " " + text[each.span.end :]
    assert diagnostics(text) == ()
    assert is_accepted(whole(KERNEL.format(body)), tmp_path)


def test_each_backslash_is_reported_once() -> None:
    assert len(diagnostics(whole(KERNEL.format("\\mov.b32 %r, 1; \\mov.b32 %r, 2; { \\mov.b32 %r, 3; }")))) == 3


@pytest.mark.parametrize("body", REFUSED)
def test_a_backslash_anywhere_else_is_an_error(body: str, tmp_path: Path) -> None:
    text = whole(KERNEL.format(body))
    assert len(errors(text)) == 1
    assert not is_accepted(text, tmp_path)
    assert errors(text.replace("\\", " ")) == []


def test_backslashes_in_strings_and_comments_are_ignored() -> None:
    text = whole('.file 1 "C:\\\\a.cu"\n' + KERNEL.format("mov.b32 %r, 1; // \\ret\n/* \\ */ ret;"))
    assert diagnostics(text) == ()
