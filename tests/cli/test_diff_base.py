"""`ptxkit lint --diff-base`: only what is new compared with a revision of git."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.cli import git_revision
from tests.cli.support import BROKEN, CLEAN
from tests.cli.test_compile import RACE

Run = Callable[..., Result]

NO_CACHE = ("--no-cache", "--isolated")


def git(*arguments: str) -> None:
    """Runs git in the working directory, without the settings of the user."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    names = ["-c", "user.name=tester", "-c", "user.email=tester@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], check=True, capture_output=True, env=environment)


def commit(*paths: str) -> None:
    git("add", *paths)
    git("commit", "-q", "-m", "change")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a kernel that has a race, and with an empty first commit that is named `first`."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("tag", "first")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "race.ptx").write_text(RACE)
    commit("sub/race.ptx")
    return tmp_path


def kernel_named(name: str) -> str:
    """The body of the kernel with a race, under another name."""
    return RACE[RACE.index(".visible") :].replace("race(", f"{name}(")


def codes(result: Result) -> list[str]:
    """The codes of a report in JSON."""
    return [each["code"] for each in json.loads(result.stdout)["files"][0]["diagnostics"]]


@pytest.mark.parametrize(
    "changed",
    [
        RACE,
        RACE.replace("\tmov.u32 %r1, %tid.x;", "\n// a comment\n\tmov.u32 %r1, %tid.x;\n\n"),
        RACE.replace("%r<4>", "%r<40>").replace("%r3", "%r31").replace("%r1,", "%r11,"),
        RACE.replace("race(", "other_race("),
        RACE.replace("\n", "\r\n"),
    ],
    ids=["unchanged", "moved lines", "other registers", "renamed kernel", "other line ends"],
)
def test_findings_of_the_revision_are_known(ptxkit: Run, folder: Path, changed: str) -> None:
    (folder / "sub" / "race.ptx").write_text(changed, newline="")
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "sub/race.ptx")
    assert (done.exit_code, done.stdout) == (
        0,
        "checked 1 file: 0 errors, 0 warnings, 0 undecided, 1 known\n",
    )
    assert ptxkit("lint", *NO_CACHE, "sub").exit_code == 1


def test_a_new_finding_is_reported(ptxkit: Run, folder: Path) -> None:
    (folder / "sub" / "race.ptx").write_text(RACE + kernel_named("second"))
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "--format", "json", "sub/race.ptx")
    assert (done.exit_code, codes(done)) == (1, ["PTX621"])
    assert json.loads(done.stdout)["files"][0]["diagnostics"][0]["line"] > RACE.count("\n")


def test_a_kernel_that_replaces_another_one_has_its_findings_once(ptxkit: Run, folder: Path) -> None:
    renamed = RACE.replace("race(", "first(")
    (folder / "sub" / "race.ptx").write_text(renamed + kernel_named("second"))
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "--format", "json", "sub/race.ptx")
    assert (done.exit_code, codes(done)) == (1, ["PTX621"])


def test_a_file_that_is_not_in_the_revision_is_new(ptxkit: Run) -> None:
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "first", "--format", "concise", "sub/race.ptx")
    assert done.exit_code == 1
    assert "PTX621" in done.stdout


@pytest.mark.parametrize("form", ["full", "concise", "json", "github", "gitlab", "sarif", "junit"])
def test_no_format_has_known_findings(ptxkit: Run, form: str) -> None:
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "main", "--format", form, "sub/race.ptx")
    assert done.exit_code == 0
    if form == "sarif":
        assert json.loads(done.stdout)["runs"][0]["results"] == []
    else:
        assert "PTX621" not in done.stdout


def test_several_files_and_jobs_have_their_own_findings(ptxkit: Run, folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.ptx").write_text(CLEAN)
    commit("a.ptx", "b.ptx", "c.ptx")
    (folder / "b.ptx").write_text(RACE)
    (folder / "sub" / "race.ptx").write_text(RACE + "\n")
    done = ptxkit("lint", *NO_CACHE, "--jobs", "2", "--diff-base", "HEAD", "--format", "concise", ".")
    assert done.exit_code == 1
    assert [line.partition(":")[0] for line in done.stdout.splitlines() if "PTX" in line] == ["./b.ptx"]


def test_the_cache_of_results_does_not_change_the_report(ptxkit: Run, folder: Path) -> None:
    (folder / "sub" / "race.ptx").write_text(RACE + kernel_named("second"))
    runs = [
        ptxkit("lint", "--cache-dir", "cache", "--diff-base", "HEAD", "--format", "json", "sub/race.ptx").stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_with_a_baseline_the_findings_of_either_are_known(ptxkit: Run, folder: Path) -> None:
    (folder / "sub" / "race.ptx").write_text(RACE + kernel_named("second"))
    baseline = ("--baseline", "known.json")
    assert ptxkit("lint", *NO_CACHE, "--write-baseline", *baseline, "sub/race.ptx").exit_code == 0
    (folder / "sub" / "race.ptx").write_text(RACE + kernel_named("second") + kernel_named("third"))
    both = ("--diff-base", "HEAD", *baseline)
    assert codes(ptxkit("lint", *NO_CACHE, *both, "--format", "json", "sub/race.ptx")) == ["PTX621"]


def test_syntax_errors_are_compared_too(ptxkit: Run, folder: Path) -> None:
    (folder / "k.ptx").write_text(BROKEN)
    assert ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "k.ptx").exit_code == 1
    commit("k.ptx")
    assert ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "k.ptx").exit_code == 0


def test_standard_input_has_the_path_that_is_named(ptxkit: Run) -> None:
    options = ("--diff-base", "HEAD", "-")
    done = ptxkit("lint", *NO_CACHE, "--stdin-filename", "sub/race.ptx", *options, input=RACE)
    assert done.exit_code == 0
    done = ptxkit("lint", *NO_CACHE, *options, input=RACE)
    assert (done.exit_code, done.stderr) == (
        2,
        "ptxkit: error: standard input has no path in a revision\n  = help: write `--stdin-filename PATH`\n",
    )


@pytest.mark.parametrize("revision", ["nowhere", "--all", "-h", "HEAD:sub", "HEAD^{tree}", "", "$(id)", "main..first"])
def test_an_unknown_revision_is_refused(ptxkit: Run, revision: str) -> None:
    done = ptxkit("lint", *NO_CACHE, f"--diff-base={revision}", "sub/race.ptx")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == (
        f"ptxkit: error: `--diff-base`: the repository of `sub/race.ptx` has no revision `{revision}`"
    )


def test_a_file_outside_of_a_repository_is_refused(
    ptxkit: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(elsewhere.parent))
    (elsewhere / "k.ptx").write_text(CLEAN)
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", elsewhere / "k.ptx")
    assert done.exit_code == 2
    assert "is in no repository of git: not a git repository" in done.stderr


def test_without_git_the_reason_is_stated(ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "sub/race.ptx")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (
        2,
        "ptxkit: error: `--diff-base` needs git, which is not installed",
    )


def test_git_runs_no_program_of_the_repository(folder: Path, ptxkit: Run) -> None:
    """Hooks, filters and textconv programs of a repository would be executed with the rights of the user."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {folder}/executed\ncat\n")
    program.chmod(0o755)
    (folder / ".gitattributes").write_text("*.ptx filter=evil diff=evil\n")
    for name in ("filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "core.fsmonitor", "core.pager"):
        git("config", name, str(program))
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (folder / ".git" / "hooks" / hook).write_bytes(program.read_bytes())
        (folder / ".git" / "hooks" / hook).chmod(0o755)
    assert ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "sub/race.ptx").exit_code == 0
    assert not (folder / "executed").exists()


def test_a_hook_may_run_the_command(ptxkit: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index.lock")
    assert ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "sub/race.ptx").exit_code == 0


def test_a_link_stands_for_the_file_that_it_names(ptxkit: Run, folder: Path) -> None:
    (folder / "link.ptx").symlink_to("sub/race.ptx")
    assert ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "link.ptx").exit_code == 0


def test_a_damaged_object_is_refused(ptxkit: Run, folder: Path) -> None:
    blob = subprocess.run(["git", "rev-parse", "HEAD:sub/race.ptx"], capture_output=True, text=True, check=True).stdout
    (folder / ".git" / "objects" / blob[:2] / blob[2:].strip()).unlink()
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "sub/race.ptx")
    assert done.exit_code == 2
    assert "cannot be read in `HEAD`" in done.stderr


def test_a_git_that_does_not_end_is_refused(ptxkit: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("git", 60)

    monkeypatch.setattr(git_revision.subprocess, "run", run)
    done = ptxkit("lint", *NO_CACHE, "--diff-base", "HEAD", "sub/race.ptx")
    assert done.exit_code == 2
    assert "git cannot be used" in done.stderr
