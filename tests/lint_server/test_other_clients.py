"""`ptxkit-ptxas` and `ptxkit watch` use the resident process, with the same results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit.batch.job import Job
from ptxkit.batch.supervised_checker import SupervisedChecker
from ptxkit.results import FileResult, Status
from ptxkit.settings.model import DEFAULT
from ptxkit.source import SourceFile
from tests.batch import planted
from tests.cli.support import BROKEN, CLEAN
from tests.lint_server.support import PLANTED, ROOT, Site, children_of
from tests.ptxas_wrapper.support import FAKE, FAULTY, write_program

WRAPPER = """\
import os, sys
import ptxkit.ptxas_wrapper.main as wrapper
run = wrapper._run_ptxas
def run_after_report(arguments):
    with open(os.environ["LOADED"], "w") as file:
        file.write(" ".join(sys.modules))
    return run(arguments)
wrapper._run_ptxas = run_after_report
wrapper.main()
"""
CHECK = """\
import sys
from ptxkit.batch.job import Job
from ptxkit.batch.resident_check import ResidentChecker
from ptxkit.settings.model import DEFAULT
from ptxkit.source import SourceFile
checker = ResidentChecker(100)
result = checker.run_job(Job(SourceFile("k.ptx", sys.stdin.read()), DEFAULT)).result
print(checker._otherwise._process is None)
print(repr(result))
checker.close()
"""


def wrap(site: Site, *arguments: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    fake = write_program(site.folder / "ptxas", FAKE.format(python=sys.executable))
    (site.folder / "loaded").unlink(missing_ok=True)
    return subprocess.run(
        [sys.executable, "-c", WRAPPER, *arguments],
        input=stdin,
        capture_output=True,
        cwd=site.folder,
        env=site.environment(PTXKIT_REAL_PTXAS=str(fake), **variables),
        check=False,
    )


@pytest.mark.parametrize(
    ("variables", "status"),
    [
        ({}, 3),
        ({"PTXKIT_PTXAS_FAIL_ON": "error"}, 1),
        ({"PTXKIT_PTXAS_FAIL_ON": "often"}, 3),
        ({"PTXKIT_PTXAS_CONFIG": "quiet.toml"}, 3),
        ({"PTXKIT_PTXAS_REPORT": "report.txt"}, 3),
    ],
)
def test_a_text_that_is_passed_to_ptxas_is_checked_by_the_server(
    running: Site, variables: dict[str, str], status: int
) -> None:
    (running.folder / "k.ptx").write_text(FAULTY)
    (running.folder / "quiet.toml").write_text('ignore = ["PTX401"]\n')
    report = running.folder / "report.txt"
    found = []
    for unused in ("", "1"):
        report.unlink(missing_ok=True)
        done = wrap(running, "k.ptx", FAKE_STATUS="3", PTXKIT_NO_SERVER=unused, **variables)
        text = report.read_bytes() if report.exists() else b""
        assert (b"PTX401" in text) == ("PTXKIT_PTXAS_REPORT" in variables)
        found.append((done.returncode, done.stdout, done.stderr, text))
        if done.returncode == 3:
            assert running.was_served() == (not unused)
    assert found[0] == found[1]
    assert found[0][0] == status


def test_ptxas_reads_its_standard_input_after_the_server(running: Site) -> None:
    done = wrap(running, "-", stdin=FAULTY.encode())
    assert repr(FAULTY.encode()).encode() in done.stdout
    assert b"PTX401" in done.stderr
    assert running.was_served()


def test_a_new_text_without_findings_is_known_after_its_check_by_the_server(running: Site, tmp_path: Path) -> None:
    (running.folder / "k.ptx").write_text(CLEAN)
    variables = {"PTXKIT_NO_CACHE": "", "PTXKIT_CACHE_DIR": str(tmp_path / "cache")}
    for is_known in (False, True):
        assert wrap(running, "k.ptx", **variables).returncode == 0
        assert ("ptxkit.lint_server.client" not in running.read_modules()) == is_known
        assert running.was_served()


@pytest.mark.parametrize("harm", [planted.DIES, planted.FILLS])
def test_a_check_that_the_server_does_not_complete_stops_no_build(site: Site, harm: str) -> None:
    site.launch(PLANTED)
    (site.folder / "k.ptx").write_text(CLEAN + harm)
    done = wrap(site, "k.ptx", PTXKIT_PTXAS_FAIL_ON="warning")
    assert done.returncode == 0
    assert (b"ran out of memory" in done.stderr) == (harm == planted.FILLS)


def check(site: Site, text: str, **variables: str) -> tuple[bool, str]:
    """Returns whether a text was checked by the server, and the result as text."""
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        input=text,
        capture_output=True,
        text=True,
        env=site.environment(**variables),
        cwd=site.folder,
        check=True,
    )
    first, _, result = done.stdout.partition("\n")
    return first == "True", result


@pytest.mark.parametrize("text", [CLEAN, BROKEN, FAULTY])
def test_the_server_returns_the_result_of_a_supervised_process(running: Site, text: str) -> None:
    assert check(running, text) == (True, check(running, text, PTXKIT_NO_SERVER="1")[1])
    assert not check(running, text, PTXKIT_NO_SERVER="1")[0]


def test_a_check_that_ends_its_process_is_repeated_in_a_supervised_process(site: Site) -> None:
    server = site.launch(PLANTED)
    is_served, result = check(site, CLEAN + planted.DIES)
    assert not is_served
    assert "status=<Status.CLEAN: 'clean'>" in result
    assert check(site, CLEAN)[0]
    assert len(children_of(server)) == 1


def test_a_checker_that_was_ended_checks_nothing() -> None:
    from ptxkit.batch.resident_check import ResidentChecker

    checker = ResidentChecker(100)
    checker.kill()
    result: FileResult = checker.run_job(Job(SourceFile("k.ptx", CLEAN), DEFAULT)).result
    assert result.status is Status.FAILED
    other = SupervisedChecker(100)
    other.kill()
    assert result == other.run_job(Job(SourceFile("k.ptx", CLEAN), DEFAULT)).result
    checker.close()


def test_a_program_that_is_watched_has_its_kernels_checked_by_the_server(running: Site) -> None:
    path = min((ROOT / "corpus" / "rules").glob("PTX401_bad_*.ptx"))
    program = (
        "import ptxkit, sys; linter = ptxkit.watch(); linter.submit('k.ptx', open(sys.argv[1]).read()); linter.wait(); "
        "print(linter._checker._checker._otherwise._process is None)"
    )
    found = []
    for unused in ("", "1"):
        environment = running.environment(PTXKIT_NO_SERVER=unused)
        command = [sys.executable, "-c", program, path]
        done = subprocess.run(command, capture_output=True, env=environment, cwd=running.folder, check=True)
        assert done.stdout == (b"False\n" if unused else b"True\n")
        found.append(done.stderr)
    assert b"PTX401" in found[0]
    assert found[0] == found[1]
