"""Comments that hide findings of a line, a function or a file, and unused ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ptxkit
from ptxkit.diagnostics import Severity, Verdict
from ptxkit.linter import lint_source
from ptxkit.settings.model import ConfigLayer, Settings
from ptxkit.source import SourceFile

ROOT = Path(__file__).resolve().parent.parent
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
WRONG = "add.f32 %r1, %r1, %q;"
"""PTX106: `%q` is declared nowhere."""


def kernel(body: str, name: str = "k") -> str:
    return f".entry {name}()\n{{\n.reg .f32 %r<4>;\n{body}\nret;\n}}\n"


def codes(text: str, level: ConfigLayer | None = None) -> list[str]:
    settings = Settings.of([level]) if level else Settings()
    return [item.code for item in lint_source(SourceFile("k.ptx", text), settings).diagnostics]


def test_without_a_comment_the_finding_is_reported() -> None:
    assert codes(HEAD + kernel(WRONG)) == ["PTX106"]


@pytest.mark.parametrize(
    "comment",
    [
        "// ptxkit: ignore[PTX106] the host defines it",
        "// ptxkit: ignore[PTX106]",
        "// ptxkit:ignore[PTX1]",
        "/* ptxkit: ignore[PTX106] */",
        "//ptxkit: ignore[ PTX106 ]",
    ],
)
def test_a_comment_after_a_statement_hides_its_findings(comment: str) -> None:
    assert codes(HEAD + kernel(f"{WRONG} {comment}")) == []


def test_a_comment_on_a_separate_line_is_for_the_next_line_of_code() -> None:
    above = "// ptxkit: ignore[PTX106] why\n// another comment\n\n"
    assert codes(HEAD + kernel(above + WRONG)) == []
    assert codes(HEAD + kernel(above + WRONG + "\n" + WRONG)) == ["PTX106"]


def test_a_comment_is_for_its_line_only() -> None:
    assert codes(HEAD + kernel(f"{WRONG}\nret; // ptxkit: ignore[PTX106]")) == ["PTX106", "PTX191"]


@pytest.mark.parametrize("place", ["before", "beside"])
def test_a_comment_at_the_head_of_a_function_is_for_the_function(place: str) -> None:
    comment = "// ptxkit: ignore[PTX106] generated"
    first = kernel(f"{WRONG}\n{WRONG}")
    first = f"{comment}\n{first}" if place == "before" else first.replace("k()", f"k() {comment}")
    assert codes(HEAD + first) == []
    assert codes(HEAD + first + kernel(WRONG, "other")) == ["PTX106"]
    assert codes(HEAD + kernel(WRONG, "other") + first) == ["PTX106"]


def test_a_comment_for_the_file_is_for_all_of_it_wherever_it_is() -> None:
    text = HEAD + kernel(WRONG) + kernel(WRONG, "other")
    comment = "// ptxkit: ignore-file[PTX106] old\n"
    assert codes(text) == ["PTX106", "PTX106"]
    assert codes(comment + text) == codes(text + comment) == []


def test_a_comment_hides_questions_too() -> None:
    call = ".extern .func f();\n" + kernel("ret;\n}\n.func g()\n{\n.reg .b64 %a;\ncp.async.wait_all;")
    asked = ptxkit.lint(HEAD + call)
    assert [item.code for item in asked.undecided] == ["PTX300"]
    assert ptxkit.lint(HEAD + call.replace("wait_all;", "wait_all; // ptxkit: ignore[PTX300] dead")) == Verdict(())


def test_another_code_is_not_hidden_and_the_comment_is_reported_as_unused() -> None:
    found = ptxkit.lint(HEAD + kernel(f"{WRONG} // ptxkit: ignore[PTX401]")).diagnostics
    assert [(item.code, item.severity) for item in found] == [
        ("PTX106", Severity.ERROR),
        ("PTX191", Severity.WARNING),
    ]


def test_of_two_codes_the_unused_one_is_reported_and_its_fix_removes_it() -> None:
    text = HEAD + kernel(f"{WRONG} // ptxkit: ignore[PTX106, PTX401] why")
    [idle] = ptxkit.lint(text).diagnostics
    assert (idle.code, text[idle.span.start : idle.span.end]) == ("PTX191", "PTX401")
    fixed = fix_text(text, Verdict((idle,)))
    assert "// ptxkit: ignore[PTX106] why" in fixed
    assert codes(fixed) == []


@pytest.mark.parametrize(
    "line", ["ret; // ptxkit: ignore[PTX401]", "// ptxkit: ignore[PTX401] why\nret;", "ret; /* ptxkit: ignore[PTX4] */"]
)
def test_an_unused_comment_is_removed_completely(line: str) -> None:
    text = HEAD + kernel(line)
    found = ptxkit.lint(text)
    assert [item.code for item in found.diagnostics] == ["PTX191"]
    assert fix_text(text, found) == HEAD + kernel("ret;")


def fix_text(text: str, verdict: Verdict) -> str:
    for item in reversed(verdict.diagnostics):
        assert item.fix is not None
        assert item.fix.safe
        for edit in item.fix.edits:
            text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def test_a_comment_for_a_code_that_is_off_by_default_is_not_unused() -> None:
    text = HEAD + kernel("ret; // ptxkit: ignore[PTX401]")
    assert codes(text) == ["PTX191"]
    assert codes(text, ConfigLayer("x", ignore=("PTX4",))) == []
    assert codes(text, ConfigLayer("x", ignore=("PTX191",))) == []
    assert codes(text.replace("PTX401", "PTX901")) == []
    assert codes(text.replace("PTX401", "PTX901"), ConfigLayer("x", notes=True)) == ["PTX191"]
    assert codes(text.replace("PTX401", "PTX651")) == []


def test_a_comment_for_a_warning_of_the_strict_policy_is_not_unused_under_the_other() -> None:
    path = next((ROOT / "corpus/rules").glob("PTX402_bad_*.ptx"))
    lines = path.read_text().split("\n")
    [line] = [number for number, each in enumerate(lines) if "expect(strict): PTX402" in each]
    lines[line] = re.sub(r"//.*", "// ptxkit: ignore[PTX402] known", lines[line])
    text = "\n".join(lines)
    assert codes(text) == []
    assert codes(text, ConfigLayer("x", policy="strict")) == []
    assert codes(text.replace("ignore[PTX402]", "ignore[PTX405]")) == ["PTX191"]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("// ptxkit: ignore", "the comment does not name the codes that it hides"),
        ("// ptxkit: ignore[]", "the comment does not name the codes that it hides"),
        ("// ptxkit: ignore[PTX106", "the comment does not name the codes that it hides"),
        ("// ptxkit: ignore[PTX166]", "there is no code `PTX166`; did you mean `PTX"),
        ("// ptxkit: ignore[ptx106]", "there is no code `ptx106`; did you mean `PTX106`?"),
        ("// ptxkit: ingore[PTX106]", "ptxkit knows no `ingore` in a comment"),
        ("// ptxkit: noqa", "ptxkit knows no `noqa` in a comment"),
    ],
)
def test_an_unreadable_comment_is_reported_and_hides_nothing(comment: str, message: str) -> None:
    found = ptxkit.lint(HEAD + kernel(f"{WRONG} {comment}")).diagnostics
    assert [item.code for item in found] == ["PTX106", "PTX192"]
    assert found[1].message.startswith(message)


@pytest.mark.parametrize("comment", ["// made by ptxkit: ignore[PTX401] it", "// ptxkit: 0.1", "// ptxkit: generated"])
def test_other_words_after_the_mark_are_ignored(comment: str) -> None:
    assert codes(HEAD + kernel(f"ret; {comment}")) == []


def test_the_mark_in_a_string_is_not_a_comment() -> None:
    assert codes(HEAD + '.file 1 "// ptxkit: ignore[PTX401]"\n' + kernel("ret;")) == []


def test_a_syntax_error_cannot_be_hidden() -> None:
    text = "// ptxkit: ignore-file[PTX101]\n" + HEAD + kernel("add.f32 %r1 %r2;")
    assert codes(text) == ["PTX101"]


def test_hidden_findings_are_counted() -> None:
    text = "// ptxkit: ignore-file[PTX106]\n" + HEAD + kernel(f"{WRONG}\nadd.f32 %r1, %r1, %z;")
    result = lint_source(SourceFile("k.ptx", text))
    assert (result.status, result.suppressed) == ("clean", 2)
    assert lint_source(SourceFile("k.ptx", HEAD + kernel("ret;"))).suppressed == 0


def test_many_comments_take_time_proportional_to_their_number() -> None:
    """Each of these took minutes; together they take some seconds."""
    import time

    begun = time.thread_time()
    many = 20_000
    one = "// ptxkit: ignore-file[" + ", ".join(f"PTX{n}" for n in range(many)) + "]\n"
    alone = "// ptxkit: ignore[PTX401]\n" * many
    on_one_line = "/* ptxkit: ignore[PTX401] */ " * many
    for text in (one, alone, on_one_line, alone.replace("ignore", "ignored"), "// ptxkit: ignore-file[PTX4]\n" * many):
        found = codes(HEAD + text + kernel("ret;"))
        assert 1 <= len(found) <= 100
        assert set(found) <= {"PTX191", "PTX192"}
    assert time.thread_time() - begun < 400


def test_a_repeated_code_in_one_comment_is_reported_once() -> None:
    assert codes(HEAD + kernel("ret; // ptxkit: ignore[PTX401, PTX401]")) == ["PTX191"]
