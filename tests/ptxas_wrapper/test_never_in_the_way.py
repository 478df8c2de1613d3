"""Nothing in ptxkit makes a build fail: one line states what was not checked, and ptxas runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.batch import planted
from tests.cli.support import CLEAN
from tests.ptxas_wrapper.support import FAULTY, PROGRAM, Build, ran, write_program

REMARK = b"a remark of ptxas\n"
PLANTED = """\
from ptxkit.batch import supervised_checker
from tests.batch import planted
supervised_checker.WORKER = planted.serve
"""


def planted_program(build: Build, before: str = PLANTED) -> Path:
    """The program, after some code that makes it misbehave."""
    return write_program(
        build.folder / "planted" / "ptxkit-ptxas", PROGRAM.format(python=sys.executable, before=before)
    )


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (planted.HANGS, "the check of this file took longer than 2 seconds, and was terminated"),
        (planted.DIES, "the process that checked this file ended with signal SIGSEGV"),
        (planted.FILLS, "the check of this file ran out of memory"),
        (planted.BREAKS, "the process that checked this file ended with status 1"),
    ],
)
def test_a_check_that_cannot_end_stops_nothing(build: Build, harm: str, expected: str) -> None:
    build.write("k.ptx", CLEAN + harm)
    variables = {"PTXKIT_PTXAS_TIMEOUT": "2", "PTXKIT_PTXAS_FAIL_ON": "warning"}
    done = build.run("k.ptx", program=planted_program(build), **variables)
    assert (done.returncode, done.stdout) == (0, ran(["k.ptx"]))
    assert done.stderr == f"ptxkit-ptxas: k.ptx was not checked: {expected}\n".encode() + REMARK


def test_other_inputs_are_checked_after_one_that_was_not(build: Build) -> None:
    build.write("a.ptx", CLEAN + planted.EXITS)
    build.write("b.ptx", FAULTY)
    done = build.run("a.ptx", "b.ptx", program=planted_program(build))
    first, second, *_ = done.stderr.decode().splitlines()
    assert first.startswith("ptxkit-ptxas: a.ptx was not checked: ")
    assert second.startswith("b.ptx:157:2: PTX401 error")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("import ptxkit.batch.single_check as m; m.SingleChecker.check = lambda *_: 1 / 0", "division by zero"),
        ("import ptxkit.batch.single_check as m; m.SingleChecker.check = lambda *_: [].pop()", "pop from empty list"),
        ("import sys; sys.modules['ptxkit.batch.clean_texts'] = None", "import of ptxkit.batch.clean_texts halted"),
        ("import ptxkit.installation as m; m.installation_stamp = lambda: None or {}['a\\nb']", "'a\\nb'"),
    ],
)
def test_a_fault_of_ptxkit_is_one_line(build: Build, before: str, expected: str) -> None:
    build.write("k.ptx", FAULTY)
    done = build.run("k.ptx", program=planted_program(build, before), FAKE_STATUS="4")
    assert (done.returncode, done.stdout) == (4, ran(["k.ptx"]))
    first, second = done.stderr.decode().splitlines()
    assert first.startswith(f"ptxkit-ptxas: the inputs were not checked: {expected}".replace("'a\\nb'", "'a"))
    assert second + "\n" == REMARK.decode()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PTXKIT_PTXAS_FAIL_ON": "eror"}, "`PTXKIT_PTXAS_FAIL_ON=eror` is no severity; write `error`, `warning` or"),
        ({"PTXKIT_PTXAS_TIMEOUT": "soon"}, "`PTXKIT_PTXAS_TIMEOUT=soon` is no number of seconds; write a number"),
        ({"PTXKIT_PTXAS_TIMEOUT": "nan"}, "`PTXKIT_PTXAS_TIMEOUT=nan` is no number of seconds"),
        ({"PTXKIT_PTXAS_CONFIG": "missing.toml"}, "missing.toml: cannot be read: No such file or directory"),
        ({"PTXKIT_PTXAS_REPORT": "no/such/folder"}, "[Errno 2] No such file or directory: 'no/such/folder'"),
        ({"PTXKIT_PTXAS_SARIF": "k.ptx"}, "[Errno 17] File exists: 'k.ptx'"),
        ({"PTXKIT_CACHE_DIR": "k.ptx"}, "the cache folder `k.ptx` cannot be created"),
    ],
)
def test_a_value_that_cannot_be_used_is_one_line(build: Build, variables: dict[str, str], expected: str) -> None:
    build.write("k.ptx", FAULTY)
    done = build.run("k.ptx", **variables)
    assert (done.returncode, done.stdout) == (0, ran(["k.ptx"]))
    first, *_, last = done.stderr.decode().splitlines()
    assert first.startswith(f"ptxkit-ptxas: the inputs were not checked: {expected}")
    assert last + "\n" == REMARK.decode()


@pytest.mark.parametrize("settings", ["ignore = 3\n", "= =\n", "\xff", 'baseline = "missing.json"\n'])
def test_broken_settings_are_one_line(build: Build, settings: str) -> None:
    build.write("k.ptx", FAULTY)
    (build.work / "ptxkit.toml").write_text(settings, "latin-1")
    done = build.run("k.ptx", FAKE_STATUS="5")
    assert (done.returncode, done.stdout) == (5, ran(["k.ptx"]))
    first, second = done.stderr.decode().splitlines()
    assert first.startswith("ptxkit-ptxas: the inputs were not checked: ")
    assert "ptxkit.toml" in first or "missing.json" in first
    assert second + "\n" == REMARK.decode()


def test_a_very_long_input_is_not_checked(build: Build) -> None:
    before = "import ptxkit.limits as m; m.MAX_FILE_BYTES = 1000"
    build.write("k.ptx", FAULTY)
    done = build.run("k.ptx", "-", program=planted_program(build, before), stdin=FAULTY.encode())
    assert done.stdout == ran(["k.ptx", "-"], FAULTY.encode())
    assert done.stderr.decode().splitlines()[:2] == [
        f"ptxkit-ptxas: {name} was not checked: longer than 1,000 bytes, the limit" for name in ("k.ptx", "-")
    ]


def test_the_program_works_without_standard_streams(build: Build) -> None:
    """Daemons start compilers without them."""
    import subprocess

    write_program(build.fake, "#!/bin/sh\n: > done\n")
    build.write("k.ptx", FAULTY)
    command = ["/bin/sh", "-c", '"$0" k.ptx <&- >&- 2>&-', str(build.program)]
    subprocess.run(command, cwd=build.work, env=build.environment(), check=True)
    assert (build.work / "done").exists()
