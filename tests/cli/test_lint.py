"""`ptxkit lint`: inputs, exit statuses, formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote

import pytest
from click.testing import Result

from ptxkit.linter import lint_source
from ptxkit.source import SourceFile
from tests.cli.support import BROKEN, CLEAN, shell

Run = Callable[..., Result]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a clean file, a broken one in a subfolder, and one that is not PTX; it is the working directory."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "clean.ptx").write_text(CLEAN)
    (tmp_path / "inner" / "broken.ptx").write_text(BROKEN)
    (tmp_path / "notes.txt").write_text("not PTX")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_clean_file_exits_with_0(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "clean.ptx")
    assert result.exit_code == 0
    assert result.stdout == "checked 1 file: 0 errors, 0 warnings, 0 undecided\n"


def test_a_syntax_error_exits_with_1_and_has_place_and_caret(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "inner/broken.ptx")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{Path('inner/broken.ptx')}:12:")
    assert "PTX101 error" in result.stdout
    assert "^" in result.stdout
    assert result.stdout.endswith("checked 1 file: 1 error, 0 warnings, 0 undecided\n")


def test_a_folder_includes_its_ptx_files_in_order(files: Path, ptxkit: Run) -> None:
    document = json.loads(ptxkit("lint", "--format", "json", ".").stdout)
    assert [Path(each["path"]) for each in document["files"]] == [Path("clean.ptx"), Path("inner/broken.ptx")]


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes and links")
def test_in_a_folder_pipes_are_skipped_and_broken_links_are_reported(files: Path, ptxkit: Run) -> None:
    os.mkfifo("pipe.ptx")
    Path("link.ptx").symlink_to("nowhere.ptx")
    document = json.loads(ptxkit("lint", "--format", "json", ".").stdout)
    statuses = {Path(each["path"]).name: each["status"] for each in document["files"]}
    assert statuses == {"clean.ptx": "clean", "broken.ptx": "findings", "link.ptx": "failed"}


def test_a_file_named_twice_is_checked_once(files: Path, ptxkit: Run) -> None:
    assert "checked 1 file:" in ptxkit("lint", "clean.ptx", "clean.ptx").stdout


def test_a_dash_is_standard_input(ptxkit: Run) -> None:
    assert ptxkit("lint", "-", input=CLEAN).exit_code == 0
    broken = ptxkit("lint", "-", input=BROKEN)
    assert broken.exit_code == 1
    assert broken.stdout.startswith("<stdin>:12:")


def test_a_missing_file_exits_with_2_and_the_others_are_still_checked(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "nowhere.ptx", "inner/broken.ptx", "clean.ptx")
    assert result.exit_code == 2
    assert "nowhere.ptx: PTX100 error: cannot be read: no such file or directory" in result.stdout
    assert "= help: check the spelling" in result.stdout
    assert "PTX101" in result.stdout
    assert "checked 2 files: 1 error, 0 warnings, 0 undecided, 1 not checked" in result.stdout


def test_json_stays_valid_when_a_file_fails(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "--format", "json", "nowhere.ptx", "clean.ptx")
    document = json.loads(result.stdout)
    assert result.exit_code == 2
    assert document["version"] == 1
    assert [each["status"] for each in document["files"]] == ["failed", "clean"]
    [reason] = document["files"][0]["diagnostics"]
    assert (reason["code"], reason["path"], reason["line"]) == ("PTX100", "nowhere.ptx", 1)
    assert document["summary"]["failed"] == 1


def test_every_diagnostic_in_json_has_the_whole_schema(files: Path, ptxkit: Run) -> None:
    document = json.loads(ptxkit("lint", "--format", "json", "inner/broken.ptx").stdout)
    [file] = document["files"]
    assert file["status"] == "findings"
    assert set(file) == {"path", "status", "diagnostics", "undecided", "conditions"}
    [found] = file["diagnostics"]
    assert {
        "code",
        "severity",
        "message",
        "path",
        "line",
        "column",
        "end_line",
        "end_column",
        "labels",
        "help",
        "isa",
        "properties",
    } <= set(found)
    assert (found["severity"], found["line"]) == ("error", 12)


def test_a_folder_without_ptx_is_reported(tmp_path: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", tmp_path)
    assert result.exit_code == 2
    assert "the folder holds no file named *.ptx" in result.stdout
    assert "--binaries" in result.stdout
    for command in ("fmt", "transfers", "contract", "verify"):
        reported = ptxkit(command, tmp_path)
        assert (reported.exit_code, "--binaries" in reported.output) == (2, False)


def test_cuda_source_must_be_compiled_and_ptx_of_that_name_is_read(tmp_path: Path, ptxkit: Run) -> None:
    path = tmp_path / "my k.cu"
    path.write_text("__global__ void k() {}\n")
    result = ptxkit("lint", path)
    assert result.exit_code == 2
    assert "my k.cu: PTX100 error: not PTX text: CUDA C++" in result.stdout
    command = f"nvcc -ptx -lineinfo -arch=sm_90a {quote(str(path))} -o {quote(str(tmp_path / 'my k.ptx'))}"
    assert f"  = help: compile it, and name the PTX: {command}\n" in result.stdout
    whole_folder = ptxkit("lint", tmp_path).stdout
    assert "the folder holds no file named *.ptx" in whole_folder
    assert command in whole_folder
    path.write_text(".version 8.0\n.target sm_80\n.address_size 64\n")
    assert ptxkit("lint", path).exit_code == 0


@pytest.mark.parametrize(
    ("name", "language", "remedy"),
    [
        ("k.py", "Python", "run it, and check what its compiler kept: ptxkit lint --cache triton, or inductor, or"),
        ("k.cuh", "CUDA C++", "check the PTX of a .cu file that includes it: nvcc -ptx -lineinfo -arch=sm_90a FILE.cu"),
    ],
)
def test_for_source_code_the_compiler_command_is_shown(
    name: str, language: str, remedy: str, tmp_path: Path, ptxkit: Run
) -> None:
    (tmp_path / name).write_text("\n")
    result = ptxkit("lint", tmp_path / name)
    assert result.exit_code == 2
    assert f"{name}: PTX100 error: not PTX text: {language}\n  = help: {remedy}" in result.stdout


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_reported(files: Path, ptxkit: Run) -> None:
    Path("clean.ptx").chmod(0)
    result = ptxkit("lint", "clean.ptx")
    assert result.exit_code == 2
    assert "permission denied" in result.stdout


def test_a_failed_read_fails_this_file_only(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: str, mode: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", deny)
    result = ptxkit("lint", "clean.ptx")
    assert result.exit_code == 2
    assert "clean.ptx: PTX100 error: cannot be read: permission denied" in result.stdout


def test_a_file_over_the_limit_is_reported(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.cli.input_files.MAX_FILE_BYTES", 100)
    result = ptxkit("lint", "clean.ptx")
    assert result.exit_code == 2
    assert "longer than 100 bytes" in result.stdout


def test_a_crash_in_the_analysis_fails_one_file_only(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyError("%r1")

    monkeypatch.setattr("ptxkit.rules.analyze", crash)
    result = ptxkit("lint", "--format", "json", ".")
    document = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [each["status"] for each in document["files"]] == ["failed", "findings"]
    [reason] = document["files"][0]["diagnostics"]
    assert "KeyError: '%r1' (test_lint.py:" in reason["message"]
    assert "report" in reason["help"]
    assert "Traceback" in reason["properties"]["traceback"]


def test_a_crash_is_not_hidden_from_callers_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    import ptxkit as library

    def crash(*_: object, **__: object) -> None:
        raise KeyError("%r1")

    monkeypatch.setattr("ptxkit.rules.analyze", crash)
    with pytest.raises(KeyError):
        library.lint(CLEAN)
    assert lint_source(SourceFile("k.ptx", CLEAN)).status == "failed"


def test_an_unknown_option_or_policy_suggests_or_lists_the_known(files: Path, ptxkit: Run) -> None:
    wrong_option = ptxkit("lint", "--formt", "json", "clean.ptx")
    assert (wrong_option.exit_code, "--format" in wrong_option.output) == (2, True)
    wrong_policy = ptxkit("lint", "--policy", "lax", "clean.ptx")
    assert wrong_policy.exit_code == 2
    assert "write `isa` or `strict`" in wrong_policy.output


def test_both_policies_run(files: Path, ptxkit: Run) -> None:
    for policy in ("isa", "strict"):
        assert ptxkit("lint", "--policy", policy, "clean.ptx").exit_code == 0


NEEDLESS = CLEAN.replace("ret;", "bar.sync 0;\nbar.sync 0;\nret;", 1)


def test_notes_are_printed_on_request_and_do_not_change_the_status(files: Path, ptxkit: Run) -> None:
    (files / "needless.ptx").write_text(NEEDLESS)
    silent, asked = ptxkit("lint", "needless.ptx"), ptxkit("lint", "--notes", "needless.ptx")
    assert ("PTX903" in silent.output, "PTX903" in asked.output) == (False, True)
    assert (silent.exit_code, asked.exit_code) == (0, 0)


def test_lint_in_a_separate_process_gives_the_same_results(files: Path) -> None:
    assert shell("lint", "clean.ptx").returncode == 0
    assert shell("lint", "inner/broken.ptx").returncode == 1
    assert shell("lint", "nowhere.ptx").returncode == 2


def loaded_by(*arguments: str) -> set[str]:
    """Returns the packages and top modules that a command loads; run once before, so that the caches are filled."""
    script = (
        "import sys\nfrom ptxkit.cli.main import main\n"
        f"try: main({list(arguments)})\n"
        "except SystemExit as done: assert done.code == 0\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_lint_loads_nothing_that_it_does_not_need(files: Path) -> None:
    """Each of these takes as long to load as linting a small file."""
    slow = {
        "rich",
        "cuda",
        "numpy",
        "click",
        "lark",
        "dataclasses",
        "inspect",
        "pathlib",
        "tempfile",
        "json",
        "hashlib",
    }
    assert loaded_by("lint", "clean.ptx") & slow == set()


def test_lint_with_options_reads_them_with_click(files: Path) -> None:
    assert "click" in loaded_by("lint", "--policy", "strict", "clean.ptx")
    assert "json" in loaded_by("lint", "--format", "json", "clean.ptx")


def test_lint_with_options_loads_no_other_command(files: Path) -> None:
    """numpy, which `run` and `verify` need, takes as long to load as the rest together."""
    assert {"numpy", "rich", "zstandard", "lz4"} & loaded_by("lint", "--select", "PTX4", "clean.ptx") == set()


def test_options_after_the_paths_are_read_too(files: Path) -> None:
    assert json.loads(shell("lint", "clean.ptx", "--format", "json").stdout)["summary"]["files"] == 1
    assert b"Usage" in shell("lint", "clean.ptx", "--help").stdout
    assert shell("lint", "clean.ptx", "--nonsense").returncode == 2
    assert shell("lint").returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("variable", "colored"), [("NOTHING", True), ("NO_COLOR", False)])
def test_color_is_for_terminals_with_color_support(files: Path, variable: str, colored: bool) -> None:
    import pty

    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "ptxkit", "lint", "inner/broken.ptx"]
    with subprocess.Popen(command, stdout=inner, env={**environment, "TERM": "xterm", variable: "1"}) as process:
        os.close(inner)
        shown = b""
        while chunk := _read(outer):
            shown += chunk
    os.close(outer)
    assert process.returncode == 1
    assert b"PTX101" in shown
    assert (b"\x1b[" in shown) is colored


def _read(terminal: int) -> bytes:
    """Returns the contents of the terminal; an error at its end, which Linux reports, is ignored."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_closed_pipe_is_quiet(files: Path) -> None:
    for index in range(400):
        (files / f"{index}.ptx").write_text(BROKEN)
    done = subprocess.run(
        f"'{sys.executable}' -m ptxkit lint . | head -n 1", shell=True, capture_output=True, check=True, timeout=900
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("form", ["full", "json"])
def test_an_unwritable_output_is_reported_and_exits_with_2(files: Path, form: str) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "ptxkit", "lint", "--format", form, "clean.ptx"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        b"ptxkit: error: the output cannot be written: No space left on device\n  = help: write it to another place\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("redirection", "status"), [("clean.ptx >&-", 0), ("inner/broken.ptx >&- 2>&-", 1), ("- <&-", 2)]
)
def test_closed_streams_change_no_verdict(files: Path, redirection: str, status: int) -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m ptxkit lint {redirection}", shell=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (status, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_is_quiet() -> None:
    import signal

    command = [sys.executable, "-m", "ptxkit", "lint", "-"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it at first
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stdin is not None
        process.stdin.write(b"// the command is now waiting for more\n" * 10_000)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=900)
    assert process.returncode == 130
    assert (output, errors) == (b"", b"")


def test_obligations_are_listed_with_their_number_by_code(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(CLEAN.replace("mov.u32 \t%r1, 7;", "bar.sync \t0;"))
    done = shell("lint", "--obligations", path)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert f"{path}:12:2: PTX601 discharged: cta: uniform: nothing that differs" in lines[0]
    assert any(line.startswith("  PTX601     1: 0 violated, 1 discharged, 0 open") for line in lines)
    document = json.loads(shell("lint", "--obligations", "--format", "json", path).stdout)
    [found] = [each for each in document["files"][0]["obligations"] if each["code"] == "PTX601"]
    assert (found["verdict"], found["line"], found["evidence"]) == ("discharged", 12, "uniform")
    assert "obligations" not in json.loads(shell("lint", "--format", "json", path).stdout)["files"][0]


@pytest.mark.parametrize("others", [["--format", "sarif"], ["--statistics"], ["--fix"], ["--write-baseline"]])
def test_obligations_are_listed_separately(tmp_path: Path, others: list[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(CLEAN)
    done = shell("lint", "--obligations", *others, path)
    assert done.returncode == 2
    assert b"--obligations" in done.stderr
