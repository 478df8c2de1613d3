"""Texts are checked in the background, findings are printed once, and faults are one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxkit.batch import supervised_checker
from ptxkit.compile_hooks import background_linter
from ptxkit.compile_hooks.background_linter import BackgroundLinter
from tests.batch import planted
from tests.cli.support import CLEAN
from tests.compile_hooks.support import HEADER, OTHER_FUNCTION, ROOT
from tests.ptxas_wrapper.support import FAULTY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@pytest.fixture
def linter() -> Iterator[BackgroundLinter]:
    made = BackgroundLinter(100)
    yield made
    made.finish()


def test_a_finding_is_printed_with_the_name_of_its_text(
    linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]
) -> None:
    linter.submit("<compiler k.ptx>", FAULTY)
    linter.submit("clean.ptx", CLEAN)
    assert linter.wait()
    assert capsys.readouterr().err.startswith(f"<compiler k.ptx>:{HEADER}")
    assert [each.code for each in linter.findings] == ["PTX401"]
    linter.finish()
    assert capsys.readouterr().err == "ptxkit watch: checked 2 PTX modules: 1 error, 0 warnings\n"


def test_a_finding_is_printed_once(linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("a", FAULTY), ("b", FAULTY), ("c", FAULTY + "// changed\n"), ("d", OTHER_FUNCTION)):
        linter.submit(name, text)
    assert linter.wait()
    lines = capsys.readouterr().err.splitlines()
    assert [line[:10] for line in lines if "PTX401" in line] == [f"{name}:{HEADER}"[:10] for name in "ad"]


def test_findings_are_at_lines_of_the_program_and_once_for_all_configurations(
    linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiler makes several kernels of one function, with other names and statements, at the same lines."""
    text = (ROOT / "corpus" / "compilers" / "triton" / "gather_sum.sm_80.ptx").read_text()
    text = "".join(line for line in text.splitlines(keepends=True) if "cp.async.wait_group" not in line)
    linter.submit("a.ptx", text)
    linter.submit(
        "b.ptx", text.replace("gather_sum", "gather_sum_128").replace("%r39", "%r139").replace("<40>", "<240>")
    )
    assert linter.wait()
    printed = capsys.readouterr().err
    assert "triton_kernels.py:23:16: PTX302 error: " in printed
    assert "(14 places in the PTX)" in printed
    assert printed.count("PTX302 error") == 1
    linter.finish()
    assert capsys.readouterr().err == "ptxkit watch: checked 2 PTX modules: 1 error, 0 warnings\n"


def test_bytes_and_texts_that_are_made_later_are_checked(
    linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]
) -> None:
    linter.submit("bytes", FAULTY.encode() + b"\0")
    linter.submit("later", lambda: OTHER_FUNCTION)
    linter.submit("again", lambda: FAULTY)
    assert linter.wait()
    assert capsys.readouterr().err.count("PTX401 error") == 2


def test_each_text_is_checked_once(linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        linter.submit("k.ptx", CLEAN)
        linter.submit("made", lambda: CLEAN)
    assert linter.wait()
    linter.finish()
    assert capsys.readouterr().err == "ptxkit watch: checked 1 PTX module: 0 errors, 0 warnings\n"


def test_without_a_text_nothing_is_started_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    made = BackgroundLinter(100)
    assert made.wait()
    made.finish()
    assert capsys.readouterr() == ("", "")


def test_settings_are_those_of_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ptxkit.toml").write_text('ignore = ["PTX401"]\n')
    Path("other.toml").write_text('severity = { PTX401 = "warning" }\n')
    for config, expected in ((None, ""), ("other.toml", "PTX401 warning")):
        made = BackgroundLinter(100, config)
        made.submit("k.ptx", FAULTY)
        assert made.wait()
        assert expected in (printed := capsys.readouterr().err)
        assert ("PTX401" in printed) == bool(expected)
        made.finish()
        capsys.readouterr()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [("ignore = 3\n", "ptxkit.toml:1"), ('baseline = "missing.json"\n', "missing.json: cannot be read")],
)
def test_broken_settings_are_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ptxkit.toml").write_text(settings)
    made = BackgroundLinter(100)
    for text in (FAULTY, OTHER_FUNCTION):
        made.submit("k.ptx", text)
        assert made.wait()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("ptxkit watch: kernels were not checked: ")
    assert expected in line
    made.finish()


def test_a_check_that_does_not_end_is_one_line_and_others_follow(
    monkeypatch: pytest.MonkeyPatch, linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervised_checker, "WORKER", planted.serve)
    monkeypatch.syspath_prepend(str(ROOT))
    linter.submit("a.ptx", CLEAN + planted.HANGS)
    linter.submit("b.ptx", CLEAN + planted.DIES)
    linter.submit("c.ptx", FAULTY)
    assert linter.wait()
    first, second, third, *_ = capsys.readouterr().err.splitlines()
    assert first == (
        "ptxkit watch: a.ptx was not checked: the check of this file took longer than 100 seconds, and was terminated"
    )
    assert second.startswith("ptxkit watch: b.ptx was not checked: the process that checked this file ended with")
    assert third.startswith(f"c.ptx:{HEADER}")


def test_a_text_that_cannot_be_made_is_one_line(linter: BackgroundLinter, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> str:
        raise LookupError("no\ntext")

    linter.submit("k.ptx", fail)
    linter.submit("k.ptx", fail)
    assert linter.wait()
    assert capsys.readouterr().err == "ptxkit watch: kernels were not checked: no\\x0atext\n"


def test_the_end_does_not_wait_longer_than_its_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(background_linter, "MAX_EXIT_SECONDS", 0.01)
    monkeypatch.setattr(supervised_checker, "WORKER", planted.serve)
    monkeypatch.syspath_prepend(str(ROOT))
    made = BackgroundLinter(100)
    made.submit("a.ptx", CLEAN + planted.SLEEPS)
    made.submit("b.ptx", FAULTY)
    made.finish()
    assert capsys.readouterr().err == "ptxkit watch: the program ended before the check of 2 PTX modules\n"
    made.submit("c.ptx", FAULTY)
    assert made.findings == []


def test_texts_that_wait_have_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], linter: BackgroundLinter
) -> None:
    monkeypatch.setattr(background_linter, "MAX_PENDING_CHARS", len(FAULTY) + 10)
    linter.submit("k.ptx", FAULTY)
    linter.submit("long.ptx", FAULTY + "// " + "x" * len(FAULTY))
    assert linter.wait()
    linter.finish()
    printed = capsys.readouterr().err
    assert "the program ended before the check of 1 PTX module\n" in printed
    assert printed.endswith("checked 1 PTX module: 1 error, 0 warnings\n")


@pytest.mark.skipif(sys.platform != "linux", reason="only there a thread has a priority")
def test_checks_have_a_low_priority_and_the_program_keeps_its_own(linter: BackgroundLinter) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    found: list[int] = []
    linter.submit("k.ptx", lambda: found.append(os.getpriority(os.PRIO_PROCESS, 0)) or CLEAN)
    assert linter.wait()
    assert found[0] > before or before >= background_linter.LOW_PRIORITY
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
