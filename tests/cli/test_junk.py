"""Inputs that are not PTX, or hardly: a diagnostic with a place, a status, and never a traceback."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.support import CLEAN, shell

NOISE = random.Random(1).randbytes(20_000)

JUNK = {
    "binary noise": NOISE,
    "noise behind a header": CLEAN.encode() + NOISE,
    "a lone brace": b"{",
    "a lone closing brace": b"}",
    "a lone quote": b'"',
    "an unclosed comment": b"/* " + CLEAN.encode(),
    "a NUL": CLEAN.encode().replace(b"mov", b"m\x00ov"),
    "a trailing NUL": CLEAN.encode() + b"\x00",
    "only NULs": b"\x00" * 5_000,
    "invalid UTF-8 in the code": CLEAN.encode().replace(b"mov.u32", b"mov\xff\xfe.u32"),
    "100,000 nested braces": b"{" * 100_000,
    "100,000 nested braces in a function": CLEAN.encode().replace(b"\tret;", b"{" * 100_000 + b"}" * 100_000),
    "100,000 parentheses": CLEAN.encode().replace(b"7;", b"(" * 100_000 + b"7" + b")" * 100_000 + b";"),
    "a 10 MB line": b"x" * 10_000_000,
    "a 10 MB line of statements": CLEAN.replace("\n", " ").encode() + b"mov.u32 a, b; " * 700_000,
    "half a kernel": CLEAN.encode()[: len(CLEAN) // 2],
    "a source in another language": b"#include <cstdio>\nint main() { return 0; }\n",
    "a number too large": CLEAN.encode().replace(b"7;", b"9" * 10_000 + b";"),
}

NOT_PTX = {
    "an ELF file": b"\x7fELF\x02\x01\x01" + NOISE,
    "a fat binary": b"\x50\xed\x55\xba\x01\x00" + NOISE,
    "a zip": b"PK\x03\x04" + NOISE,
    "UTF-16": CLEAN.encode("utf-16"),
}

HARMLESS = {
    "a comment in Latin-1": CLEAN.encode() + "// déjà vu\n".encode("latin-1"),
    "a comment in UTF-8": CLEAN.encode() + "// déjà vu 日本\n".encode(),
    "carriage returns": CLEAN.replace("\n", "\r\n").encode(),
}


Run = Callable[..., Result]


def check(ptxkit: Run, path: Path, data: bytes) -> tuple[int, dict[str, object]]:
    """Returns exit status and document of linting `data`; both formats are run, and neither ends with an exception."""
    path.write_bytes(data)
    full = ptxkit("lint", path)
    done = ptxkit("lint", "--format", "json", path)
    assert full.exit_code == done.exit_code
    assert max(map(len, full.stdout.splitlines())) < 2_000
    document: dict[str, object] = json.loads(done.stdout)
    return done.exit_code, document


@pytest.mark.parametrize("name", JUNK)
def test_invalid_input_is_a_finding_with_a_place(name: str, ptxkit: Run, tmp_path: Path) -> None:
    status, document = check(ptxkit, tmp_path / "junk.ptx", JUNK[name])
    [file] = document["files"]  # type: ignore[misc]
    assert (status, file["status"]) == (1, "findings")
    assert 1 <= len(file["diagnostics"]) <= 51
    first = file["diagnostics"][0]
    assert first["code"].startswith("PTX1")
    assert first["line"] >= 1
    assert first["column"] >= 1
    assert len(first["message"]) < 500


@pytest.mark.parametrize("name", NOT_PTX)
def test_a_file_of_another_known_kind_is_named_as_such(name: str, ptxkit: Run, tmp_path: Path) -> None:
    status, document = check(ptxkit, tmp_path / "other.ptx", NOT_PTX[name])
    [file] = document["files"]  # type: ignore[misc]
    assert (status, file["status"]) == (2, "failed")
    message = file["diagnostics"][0]["message"]
    assert "not PTX text" in message or name.removeprefix("an ").removeprefix("a ") in message
    assert file["diagnostics"][0]["help"]


@pytest.mark.parametrize("name", HARMLESS)
def test_unusual_but_correct_input_is_clean(name: str, ptxkit: Run, tmp_path: Path) -> None:
    status, document = check(ptxkit, tmp_path / "odd.ptx", HARMLESS[name])
    assert (status, document["files"][0]["status"]) == (0, "clean")  # type: ignore[index]


@pytest.mark.parametrize("name", ["binary noise", "100,000 parentheses"])
def test_another_process_gives_the_same_results(name: str, tmp_path: Path) -> None:
    path = tmp_path / "junk.ptx"
    path.write_bytes(JUNK[name])
    done = shell("lint", path)
    assert (done.returncode, done.stderr) == (1, b"")


def test_an_empty_file_has_a_verdict(ptxkit: Run, tmp_path: Path) -> None:
    status, _ = check(ptxkit, tmp_path / "empty.ptx", b"")
    assert status in (0, 1)


def test_a_directory_named_like_a_file_is_searched(tmp_path: Path) -> None:
    (tmp_path / "folder.ptx").mkdir()
    done = shell("lint", tmp_path / "folder.ptx")
    assert done.returncode == 2
    assert b"holds no file named *.ptx" in done.stdout


def test_a_path_with_a_nul_or_a_control_character_is_shown_safely(tmp_path: Path) -> None:
    done = shell("lint", "no\x1b[31m.ptx")
    assert done.returncode == 2
    assert b"\x1b" not in done.stdout
    assert rb"no\x1b[31m.ptx" in done.stdout


def test_closed_output_encodings_do_not_break_the_report(tmp_path: Path) -> None:
    (tmp_path / "é.ptx").write_text("{ é", "utf-8")
    done = shell("lint", ".", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_a_truncated_kernel_never_breaks_the_linter(tmp_path: Path) -> None:
    for length in range(0, len(CLEAN), 7):
        (tmp_path / f"{length:04}.ptx").write_text(CLEAN[:length])
    done = shell("lint", "--format", "json", tmp_path)
    assert {file["status"] for file in json.loads(done.stdout)["files"]} <= {"clean", "findings", "undecided"}
