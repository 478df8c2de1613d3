"""A NUL after the text, or in a comment, is an error: ptxas ends the file there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.build.support import ptxas
from tests.validate.modules import diagnostics, whole

TEXT = whole(".entry k() {\nret;\n}\n")
ODD = [f"{TEXT}\0", f"{TEXT}\0\0\0", f"{TEXT}\0\n", f"{TEXT}// a\0b\0\n", TEXT.replace("ret;", "/* \0 */ ret;")]


def is_accepted(text: str, folder: Path) -> bool:
    (folder / "k.ptx").write_bytes(text.encode())
    command = [str(ptxas()), "-w", "-arch=compute_90a", str(folder / "k.ptx"), "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("text", ODD)
def test_the_first_one_is_reported_and_the_fix_removes_all(text: str, tmp_path: Path) -> None:
    [found] = diagnostics(text)
    assert (found.code, found.span.start) == ("PTX101", text.index("\0"))
    assert found.fix is not None
    for edit in reversed(found.fix.edits):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    assert diagnostics(text) == ()
    assert is_accepted(text, tmp_path)


@pytest.mark.parametrize("text", ODD)
def test_ptxas_rejects_the_file(text: str, tmp_path: Path) -> None:
    assert not is_accepted(text, tmp_path)
