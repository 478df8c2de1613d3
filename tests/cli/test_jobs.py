"""Many files: the report does not depend on how they are checked, and a harmful text is one failed result."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.batch import local_pool, supervised_checker
from ptxkit.report import progress
from tests.batch import planted
from tests.cli.support import BROKEN, CLEAN, shell

Run = Callable[..., Result]
ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


SETTINGS = """\
severity = { PTX401 = "warning" }
per-file-ignores = { "b1.ptx" = ["PTX4"] }
"""
INPUTS = (".", "w.whl", "nowhere.ptx")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all kinds of inputs: clean, broken, with findings, unreadable, without PTX, and a wheel of
    texts."""
    bad = sorted((ROOT / "corpus" / "rules").glob("PTX401_bad_*.ptx"))[:2]
    for number, path in enumerate(bad):
        (tmp_path / f"b{number}.ptx").write_bytes(path.read_bytes())
    for number in range(6):
        (tmp_path / f"c{number}.ptx").write_text(CLEAN + f"// {number}\n")
    (tmp_path / "a.ptx").write_text(BROKEN)
    (tmp_path / "utf16.ptx").write_bytes(CLEAN.encode("utf-16"))
    (tmp_path / "x.ptx").symlink_to("nowhere")
    (tmp_path / "ptxkit.toml").write_text(SETTINGS)
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as wheel:
        for number in range(4):
            wheel.writestr(f"w/{number}.ptx", BROKEN if number == 2 else CLEAN + f"// w{number}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_any_number_of_jobs_gives_the_same_bytes_and_status(files: Path, ptxkit: Run) -> None:
    """In the format with all details; the formats do not depend on which process checked a file."""
    job_options = (["--jobs", "1"], ["--jobs", "2"], ["--jobs", "3"], [])
    first, *others = (ptxkit("lint", *jobs, "--format", "json", *INPUTS) for jobs in job_options)
    assert {(each.stdout, each.exit_code) for each in others} == {(first.stdout, 2)}
    assert "PTX401" in first.stdout
    assert "PTX101" in first.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--show-undecided", "--show-fixes"],
        ["--format", "sarif"],
        ["--statistics"],
        ["--diff"],
    ],
    ids=lambda options: options[-1],
)
def test_two_processes_report_the_same_as_this_one(files: Path, ptxkit: Run, options: list[str]) -> None:
    """All formats are written from the same results, which the test before compares; here the other requirements are
    checked."""
    one, two = (ptxkit("lint", *jobs, *options, *INPUTS) for jobs in ([], ["--jobs", "2"]))
    assert (one.stdout, one.exit_code) == (two.stdout, 2)
    assert one.stdout


def test_fixes_made_by_two_jobs_are_those_of_one(files: Path, ptxkit: Run) -> None:
    texts = []
    for jobs in (1, 2):
        before = {path: path.read_text() for path in files.glob("b*.ptx")}
        result = ptxkit("lint", "--isolated", "--fix", "--jobs", str(jobs), "b0.ptx", "b1.ptx")
        texts.append((result.stdout, {path: path.read_text() for path in before}))
        for path, text in before.items():
            assert path.read_text() != text
            path.write_text(text)
    assert texts[0] == texts[1]


def test_results_of_an_earlier_run_are_the_same_bytes(files: Path, ptxkit: Run) -> None:
    folder = files / "kept"
    options = ("--cache-dir", folder, "--jobs", "2", "--format", "json")
    first, second = (ptxkit("lint", *options, *INPUTS) for _ in range(2))
    without = ptxkit("lint", "--no-cache", "--format", "json", *INPUTS)
    assert first.stdout == second.stdout == without.stdout
    assert len(list(folder.glob("*.result"))) == 12  # the broken text occurs there twice


def test_where_all_results_are_cached_the_analysis_is_not_loaded(files: Path) -> None:
    environment = {"PTXKIT_NO_CACHE": "", "PTXKIT_CACHE_DIR": str(files / "kept")}
    script = (
        "import sys\nfrom ptxkit.cli.main import main\n"
        "try: main(['lint', 'c0.ptx', 'a.ptx'])\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    import subprocess

    for expected in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            cwd=files,
            env={**os.environ, **environment},
        )
        assert done.returncode == 1
        assert ("ptxkit.rules" in done.stderr.split()) is expected


def test_a_cache_folder_of_others_is_rejected(files: Path, ptxkit: Run) -> None:
    (files / "shared").mkdir(mode=0o777)
    (files / "shared").chmod(0o777)
    result = ptxkit("lint", "--cache-dir", "shared", "c0.ptx")
    assert result.exit_code == 2
    assert "is writable by other users" in result.stderr


@pytest.mark.parametrize(
    "options", [["--jobs", "2", "--cluster", "local:2"], ["--no-cache", "--cache-dir", "kept"], ["--jobs", "0"]]
)
def test_contradictory_options_are_reported(files: Path, ptxkit: Run, options: list[str]) -> None:
    assert ptxkit("lint", *options, "c0.ptx").exit_code == 2


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_harmful_texts_among_others_fail_and_the_status_is_2(
    files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.setattr(supervised_checker, "WORKER", planted.serve)
    monkeypatch.syspath_prepend(str(ROOT))
    Path("c1.ptx").write_text(CLEAN + planted.DIES)
    Path("c3.ptx").write_text(CLEAN + planted.HANGS)
    with zipfile.ZipFile("w.whl", "a") as wheel:
        wheel.writestr("w/9.ptx", CLEAN + planted.EXITS)
    inputs = [f"c{number}.ptx" for number in range(6)]
    result = ptxkit("lint", "--jobs", jobs, "--timeout", "100", "--format", "json", *inputs, "w.whl")
    document = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [each["path"] for each in document["files"]] == [
        *inputs,
        *(f"w.whl!w/{number}.ptx" for number in (0, 1, 2, 3, 9)),
    ]
    failed = [each for each in document["files"] if each["status"] == "failed"]
    assert {each["path"]: each["diagnostics"][0]["message"] for each in failed} == {
        "c1.ptx": "the process that checked this file ended with signal SIGSEGV",
        "c3.ptx": "the check of this file took longer than 100 seconds, and was terminated",
        "w.whl!w/9.ptx": "the process that checked this file ended with status 3",
    }
    assert document["summary"]["clean"] == 7


@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"]])
def test_a_file_that_takes_too_long_fails_in_this_process_too(files: Path, ptxkit: Run, jobs: list[str]) -> None:
    Path("long.ptx").write_text(CLEAN.replace("\tret;", "\tadd.u32 \t%r1, %r1, %r1;\n" * 20_000 + "\tret;"))
    result = ptxkit("lint", *jobs, "--timeout", "0.001", "long.ptx")
    assert result.exit_code == 2
    assert "long.ptx: PTX100 error: the check of this file took longer than 0.001 seconds" in result.stdout
    assert "--timeout" in result.stdout


def test_small_inputs_start_no_process(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def begins(*_: object) -> None:
        pytest.fail("a process was begun")

    monkeypatch.setattr("subprocess.Popen", begins)
    assert ptxkit("lint", "c0.ptx", "c1.ptx").exit_code == 0
    Path("large.ptx").write_text(CLEAN + "// large\n" * local_pool.MAX_IN_PROCESS_CHARS)
    assert ptxkit("lint", "large.ptx").exit_code == 0


def test_a_wrong_settings_file_stops_the_run_where_it_applies(files: Path, ptxkit: Run) -> None:
    Path("inner").mkdir()
    Path("inner/ptxkit.toml").write_text("unknown = 1\n")
    Path("inner/k.ptx").write_text(CLEAN)
    outputs = [ptxkit("lint", "--jobs", jobs, "a.ptx", "inner/k.ptx", "b0.ptx") for jobs in ("1", "2")]
    assert {(each.exit_code, each.stdout, each.stderr) for each in outputs} == {
        (2, outputs[0].stdout, outputs[0].stderr)
    }
    assert "PTX101" in outputs[0].stdout
    assert "b0.ptx" not in outputs[0].stdout
    assert "unknown" in outputs[0].stderr


def test_a_closed_pipe_ends_the_run(files: Path) -> None:
    import subprocess

    for number in range(40):
        Path(f"d{number}.ptx").write_text(BROKEN + f"// {number}\n" * 4_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "ptxkit", "lint", "--jobs", "2", "."], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(900) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_bar_is_drawn_only_on_a_terminal(files: Path) -> None:
    done = shell("lint", "--jobs", "2", *INPUTS, cwd=files)
    assert done.stderr == b""


def in_terminal(files: Path, *arguments: str, out: bool, **more: str) -> str:
    """Returns the output of a run on a terminal; out: standard output is the terminal, too.

    more: of the environment.
    """
    import pty
    import subprocess

    leader, follower = pty.openpty()
    program = "import sys; from ptxkit.report import progress\n"
    program += "progress.FIRST_SHOWN_AFTER = progress.SHOWN_AGAIN_AFTER = 0.0\n"
    program += "from ptxkit.cli.main import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=follower if out else subprocess.DEVNULL,
        stderr=follower,
        cwd=files,
        env={
            **{name: text for name, text in os.environ.items() if name != "CI"},
            "TERM": "xterm",
            "NO_COLOR": "1",
            **more,
        },
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    process.wait()
    return shown.decode()


def test_a_long_run_shows_its_progress_on_a_terminal(files: Path) -> None:
    shown = in_terminal(files, "lint", "--jobs", "1", *INPUTS, out=False)
    assert "/13" in shown


@pytest.mark.parametrize("more", [{"CI": "true"}, {"TERM": "dumb"}])
def test_the_log_of_continuous_integration_has_no_bar(files: Path, more: dict[str, str]) -> None:
    assert in_terminal(files, "lint", "--jobs", "1", *INPUTS, out=False, **more) == ""


@pytest.mark.parametrize("cluster", [["--jobs", "1"], ["--cluster", "local:1"]])
def test_other_runners_show_progress_too(files: Path, cluster: list[str]) -> None:
    assert "/13" in in_terminal(files, "lint", *cluster, *INPUTS, out=False)


def test_a_verification_shows_its_runs(files: Path) -> None:
    Path("one.ptx").write_text(CLEAN)
    Path("two.ptx").write_text(CLEAN.replace("entry k", "entry j"))
    shown = in_terminal(files, "verify", "--schedules", "3", "one.ptx", "two.ptx", out=False)
    assert "verified" in shown
    assert "/2" in shown
    assert "one.ptx, run 1" in shown
    assert "two.ptx, run 3" in shown
    plain = shell("verify", "--schedules", "3", "one.ptx", "two.ptx", cwd=files)
    assert plain.stderr == b""


def test_a_campaign_shows_its_examples(files: Path) -> None:
    arguments = ["fuzz", "--oracle", "linter", "--count", "2", "--hang", "1000", "--jobs", "1", "--folder", "campaign"]
    shown = in_terminal(files, *arguments, out=False)
    assert "examples" in shown
    assert "/2" in shown
    assert "2 examples, 0 failed" in shown
    plain = shell(*arguments, "--seed", "1", cwd=files)
    assert (plain.returncode, plain.stderr) == (0, b"")


def test_on_one_terminal_the_report_is_complete_despite_the_bar(files: Path) -> None:
    shown = in_terminal(files, "lint", "--jobs", "1", "--format", "concise", *INPUTS, out=True)
    assert "/13" in shown
    plain = shell("lint", "--format", "concise", *INPUTS, cwd=files).stdout.decode()
    assert [line for line in plain.splitlines() if line not in shown] == []


def test_a_machine_readable_report_on_the_terminal_contains_no_bar(files: Path) -> None:
    assert "/13" not in in_terminal(files, "lint", "--jobs", "1", "--format", "json", *INPUTS, out=True)


def test_a_short_run_shows_no_bar(files: Path) -> None:
    assert progress.FIRST_SHOWN_AFTER >= 2


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1", "1e3", "99999999h", "soon", "1 m", "\u0663"])
def test_an_unrepresentable_time_limit_is_an_error_of_the_command(files: Path, ptxkit: Run, seconds: str) -> None:
    result = ptxkit("lint", "--timeout", seconds, "long.ptx")
    assert result.exit_code == 2
    assert f"`{seconds}` is not a time" in result.output
