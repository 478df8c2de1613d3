"""A lint that the resident process runs prints the same, returns the same, and changes the same files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import BROKEN, CLEAN
from tests.lint_server.support import ROOT, Site
from tests.ptxas_wrapper.support import FAULTY

UNUSED = "PTXKIT_NO_SERVER"


def compare(
    site: Site, *arguments: str | Path, status: int, stdin: bytes = b"", cwd: Path | None = None, **more: str
) -> bytes:
    """Returns what a lint prints with the server, which must be what it prints without it."""
    with_server = site.run("lint", *arguments, stdin=stdin, cwd=cwd, **more)
    assert site.was_served()
    without = site.run("lint", *arguments, stdin=stdin, cwd=cwd, **more, **{UNUSED: "1"})
    assert not site.was_served()
    assert (with_server.returncode, with_server.stdout, with_server.stderr) == (
        without.returncode,
        without.stdout,
        without.stderr,
    )
    assert with_server.returncode == status
    return with_server.stdout + with_server.stderr


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["faulty.ptx"], 1),
        (["clean.ptx"], 0),
        (["broken.ptx", "faulty.ptx", "clean.ptx"], 1),
        (["missing.ptx"], 2),
        (["."], 1),
        (["--format", "json", "faulty.ptx"], 1),
        (["--format", "sarif", "faulty.ptx"], 1),
        (["--statistics", "faulty.ptx"], 1),
        (["--obligations", "clean.ptx"], 0),
        (["--diff", "faulty.ptx"], 1),
        (["--jobs", "2", "clean.ptx", "faulty.ptx"], 1),
        (["--show-settings"], 0),
        (["--help"], 0),
        (["--no-such-option"], 2),
        (["--select", "PTX4", "--policy", "strict", "faulty.ptx"], 1),
    ],
)
def test_a_command_line_has_the_same_output_and_status(running: Site, arguments: list[str], status: int) -> None:
    for name, text in (("clean.ptx", CLEAN), ("broken.ptx", BROKEN), ("faulty.ptx", FAULTY)):
        (running.folder / name).write_text(text)
    assert compare(running, *arguments, status=status)


def test_standard_input_is_that_of_the_client(running: Site) -> None:
    assert b"PTX401" in compare(running, "-", status=1, stdin=FAULTY.encode())
    assert b"<stdin>" in compare(running, "-", status=1, stdin=BROKEN.encode())


def test_settings_are_those_of_the_folder_of_the_client(running: Site, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(FAULTY)
    assert b"PTX401" in compare(running, "k.ptx", status=1, cwd=tmp_path)
    (tmp_path / "ptxkit.toml").write_text('ignore = ["PTX401"]\n')
    assert b"PTX401" not in compare(running, "k.ptx", status=0, cwd=tmp_path)
    (tmp_path / "ptxkit.toml").write_text("ignore = 3\n")
    assert b"ptxkit.toml:1" in compare(running, "k.ptx", status=2, cwd=tmp_path)


def test_the_environment_is_that_of_the_client(running: Site, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(FAULTY)
    cache = tmp_path / "cache"
    compare(running, "k.ptx", status=1, cwd=tmp_path, PTXKIT_NO_CACHE="", PTXKIT_CACHE_DIR=str(cache))
    assert list(cache.glob("*.result"))
    report = json.loads(compare(running, "--format", "gitlab", "k.ptx", status=1, CI_PROJECT_DIR="/", cwd=tmp_path))
    assert str(tmp_path).lstrip("/") in report[0]["location"]["path"]
    compare(running, "k.ptx", status=2, cwd=tmp_path, PTXKIT_NO_CACHE="", PTXKIT_CACHE_DIR="k.ptx")


def test_a_path_outside_of_ascii_is_printed_in_the_encoding_of_the_client(running: Site, tmp_path: Path) -> None:
    (tmp_path / "kérnel.ptx").write_text(FAULTY)
    assert "kérnel".encode() in compare(running, "kérnel.ptx", status=1, cwd=tmp_path)
    printed = compare(running, "kérnel.ptx", status=1, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert b"k\\xe9rnel" in printed
    assert "kérnel".encode() not in printed


def test_a_file_is_written_with_the_permissions_of_the_client(running: Site, tmp_path: Path) -> None:
    page = tmp_path / "baseline.json"
    (tmp_path / "k.ptx").write_text(FAULTY)
    before = os.umask(0o027)
    try:
        found = []
        for value in ("", "1"):
            page.unlink(missing_ok=True)
            done = running.run(
                "lint", "--write-baseline", "--baseline", "baseline.json", "k.ptx", cwd=tmp_path, **{UNUSED: value}
            )
            assert done.returncode == 0
            assert running.was_served() == (not value)
            found.append((done.stdout, page.read_text(), page.stat().st_mode))
    finally:
        os.umask(before)
    assert found[0] == found[1]


def test_fixes_are_written(running: Site, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(FAULTY)
    assert running.run("lint", "--fix", "--unsafe-fixes", "k.ptx", cwd=tmp_path).returncode == 0
    assert running.was_served()
    fixed = path.read_text()
    assert "fence.proxy.async" in fixed
    path.write_text(FAULTY)
    running.run("lint", "--fix", "--unsafe-fixes", "k.ptx", cwd=tmp_path, **{UNUSED: "1"})
    assert path.read_text() == fixed


def test_a_reader_that_closes_the_output_is_reported_by_the_status(running: Site, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(FAULTY)
    found = []
    for value in ("", "1"):
        read, write = os.pipe()
        os.close(read)
        command = running.command("lint", "k.ptx")
        environment = running.environment(**{UNUSED: value})
        found.append(subprocess.run(command, stdout=write, env=environment, cwd=tmp_path, check=False).returncode)
        os.close(write)
        assert running.was_served() == (not value)
    assert found == [141, 141]


def test_the_output_ends_with_the_client(running: Site) -> None:
    """A process that waits for its next call keeps no pipe of a client open, or its reader would wait for it."""
    command = running.command("lint", ROOT / "corpus" / "kernels" / "bulk_add_one.sm_90.ptx")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=running.environment())
    assert process.stdout is not None
    with process.stdout as output:
        assert output.read().endswith(b"0 undecided\n")
    assert process.wait() == 0
    assert running.was_served()


def test_several_clients_are_served_at_the_same_time(running: Site, tmp_path: Path) -> None:
    names = [f"{number}.ptx" for number in range(6)]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(FAULTY if number % 2 else CLEAN)
    waiting = [
        subprocess.Popen(
            running.command("lint", name),
            stdout=subprocess.PIPE,
            cwd=tmp_path,
            env=running.environment(LOADED=str(tmp_path / f"{name}.loaded")),
        )
        for name in names
    ]
    for number, (name, process) in enumerate(zip(names, waiting, strict=True)):
        output, _ = process.communicate()
        assert process.returncode == number % 2
        assert (f"{name}:157:2: PTX401".encode() in output) == bool(number % 2)
        assert "ptxkit.source" not in (tmp_path / f"{name}.loaded").read_text().split()


def test_a_client_imports_little(running: Site) -> None:
    (running.folder / "clean.ptx").write_text(CLEAN)
    running.run("lint", "clean.ptx")
    ours = {name.removeprefix("ptxkit.") for name in running.read_modules() if name.startswith("ptxkit.")}
    assert ours == {
        *("cli", "cli.main", "content_store", "fast_dataclasses", "resources"),
        *("lint_server", "lint_server.client", "lint_server.limits", "lint_server.messages"),
        *("lint_server.process_context", "lint_server.socket_place"),
    }
    assert not {"click", "socket", "pickle", "subprocess", "typing"} & running.read_modules()
