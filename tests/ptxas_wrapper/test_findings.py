"""Where findings go, what they can stop, and which settings apply."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ptxkit.batch.clean_texts import CleanTexts, clean_key
from ptxkit.settings.file_state import settings_state
from tests.cli.support import BROKEN, CLEAN
from tests.ptxas_wrapper.support import FAULTY, KERNEL, Build, ran

REMARK = b"a remark of ptxas\n"
CODE = b"k.ptx:157:2: PTX401 error: "


@pytest.mark.parametrize(
    ("severity", "fail_on", "is_run"),
    [
        ("error", "error", False),
        ("error", "warning", False),
        ("error", "never", True),
        ("warning", "error", True),
        ("warning", "warning", False),
        ("note", "warning", True),
    ],
)
def test_ptxas_is_not_run_for_findings_of_the_given_severity(
    build: Build, severity: str, fail_on: str, is_run: bool
) -> None:
    build.write("ptxkit.toml", f'severity = {{ PTX401 = "{severity}" }}\n')
    done = build.run(build.write("k.ptx", FAULTY), PTXKIT_PTXAS_FAIL_ON=fail_on)
    stopped = f"ptxkit-ptxas: 1 finding: ptxas was not run, because `PTXKIT_PTXAS_FAIL_ON` is `{fail_on}`\n"
    assert done.returncode == (0 if is_run else 1)
    assert done.stdout == (ran(["k.ptx"]) if is_run else b"")
    assert done.stderr.endswith(REMARK if is_run else stopped.encode())


def test_findings_are_printed_in_each_call(build: Build) -> None:
    build.write("k.ptx", FAULTY)
    first, second = build.run("k.ptx"), build.run("k.ptx")
    assert first.stderr.startswith(CODE)
    assert first.stderr == second.stderr


def test_a_file_receives_the_findings_of_all_calls(build: Build) -> None:
    for name in ("k.ptx", "other.ptx"):
        done = build.run(build.write(name, FAULTY), PTXKIT_PTXAS_REPORT="found.txt")
        assert done.stderr == REMARK
    found = (build.work / "found.txt").read_bytes()
    assert found.startswith(CODE)
    assert found.count(b"PTX401 error") == 2
    assert b"\x1b" not in found


def test_a_folder_receives_a_sarif_file_for_each_text_with_findings(build: Build) -> None:
    for name, text in (("k.ptx", FAULTY), ("again.ptx", FAULTY), ("broken.ptx", BROKEN), ("clean.ptx", KERNEL)):
        build.run(build.write(name, text), PTXKIT_PTXAS_SARIF="new/sarif")
    documents = [json.loads(path.read_bytes()) for path in (build.work / "new" / "sarif").iterdir()]
    found = sorted(each["ruleId"] for document in documents for run in document["runs"] for each in run["results"])
    assert len(documents) == 2
    assert found[-1] == "PTX401"
    assert {rule["id"] for each in documents for rule in each["runs"][0]["tool"]["driver"]["rules"]} == set(found)


def test_the_settings_are_those_of_the_working_directory(build: Build) -> None:
    """Compilers pass files in the folder for temporary files, where other users may write."""
    elsewhere = build.folder / "temporary"
    elsewhere.mkdir()
    (elsewhere / "k.ptx").write_text(FAULTY)
    (elsewhere / "ptxkit.toml").write_text('ignore = ["PTX4"]\n')
    name = str(elsewhere / "k.ptx")
    assert b"PTX401" in build.run(name).stderr
    build.write("ptxkit.toml", 'severity = { PTX401 = "warning" }\n')
    assert b"PTX401 warning" in build.run(name).stderr
    assert build.run(name, PTXKIT_PTXAS_CONFIG=str(elsewhere / "ptxkit.toml")).stderr == REMARK


def test_a_clean_text_is_checked_again_with_other_settings(build: Build) -> None:
    """Whether a text is known to be clean depends on all files that may hold settings, also on those that appear."""
    build.write("k.ptx", FAULTY)
    build.write("ptxkit.toml", 'ignore = ["PTX401"]\n')
    assert [build.run("k.ptx").stderr for _ in range(2)] == [REMARK, REMARK]
    build.write("ptxkit.toml", 'ignore = ["PTX402"]\n')
    assert build.run("k.ptx").stderr.startswith(CODE)
    build.write("ptxkit.toml", 'ignore = ["PTX401"]\n')
    assert build.run("k.ptx").stderr == REMARK
    (build.work / "ptxkit.toml").unlink()
    assert build.run("k.ptx").stderr.startswith(CODE)


def test_patterns_of_names_are_compared_with_each_input(build: Build) -> None:
    build.write("ptxkit.toml", '[per-file-ignores]\n"old*" = ["PTX401"]\n')
    assert [build.run(build.write("old.ptx", FAULTY)).stderr for _ in range(2)] == [REMARK, REMARK]
    assert b"PTX401" in build.run(build.write("new.ptx", FAULTY)).stderr


def test_a_baseline_hides_the_findings_that_it_contains(build: Build) -> None:
    build.write("ptxkit.toml", 'baseline = "known.json"\n')
    entry = {"code": "PTX401", "function": "bulk_add_one", "statement": "", "count": 1}
    build.write("known.json", json.dumps({"version": 1, "files": {"k.ptx": [entry]}}))
    done = build.run(build.write("k.ptx", FAULTY))
    assert done.stderr.startswith(CODE)  # of another statement
    [statement] = [line.strip() for line in FAULTY.splitlines() if "cp.async.bulk.global" in line]
    from ptxkit.baseline import baseline_entries
    from ptxkit.linter import lint

    [(_, function, known)] = baseline_entries(lint(FAULTY).diagnostics)
    assert statement.split()[0] in known
    build.write(
        "known.json",
        json.dumps({"version": 1, "files": {"k.ptx": [{**entry, "function": function, "statement": known}]}}),
    )
    assert [build.run("k.ptx").stderr for _ in range(2)] == [REMARK, REMARK]
    build.write("known.json", json.dumps({"version": 1, "files": {}}))
    assert build.run("k.ptx").stderr.startswith(CODE)


def test_comments_suppress_findings_as_in_lint(build: Build) -> None:
    assert build.run(build.write("k.ptx", f"// ptxkit: ignore-file[PTX401] known\n{FAULTY}")).stderr == REMARK


def test_calls_at_the_same_time_have_the_results_of_single_ones(build: Build) -> None:
    """They write the same entries of the cache, the same report, and the same SARIF file."""
    build.write("k.ptx", FAULTY)
    build.write("clean.ptx", KERNEL)
    own = {"PTXKIT_CACHE_DIR": str(build.folder / "new")}
    variables = build.environment(PTXKIT_PTXAS_REPORT="found.txt", PTXKIT_PTXAS_SARIF="sarif", **own)
    calls = [
        subprocess.Popen(
            [build.program, name], cwd=build.work, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        for name in ("k.ptx", "clean.ptx") * 2
    ]
    for call, name in zip(calls, ("k.ptx", "clean.ptx") * 2, strict=True):
        assert (call.communicate()[0], call.returncode) == (ran([name]), 0)
    one, other = (build.work / "found.txt").read_text().split("\n\n")[:2]
    assert one == other
    [document] = (build.work / "sarif").iterdir()
    assert json.loads(document.read_bytes())["runs"]
    assert [path.name for path in (build.folder / "new").rglob(".part-*")] == []
    assert build.run("clean.ptx", **own).stderr == REMARK


def test_the_key_of_a_clean_text_has_the_text_and_the_conditions(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    state = settings_state(str(tmp_path))
    conditions = [("", ()), ("c", ()), ("c", (("/ptxkit.toml", 1, 2, 3),))]
    assert len({clean_key(data, each) for data in (b"", b"a") for each in conditions}) == 6
    known = CleanTexts(str(tmp_path))
    key = clean_key(CLEAN.encode(), ("", state))
    assert key not in known
    known.add(key)
    assert key in CleanTexts(str(tmp_path))
    assert clean_key(CLEAN.encode() + b"\n", ("", state)) not in known


def test_an_entry_of_another_kind_is_no_clean_text(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    key = clean_key(b"", ())
    known = CleanTexts(str(tmp_path))
    known.add(key)
    [entry] = tmp_path.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert key not in known


def test_without_a_cache_each_call_checks(build: Build) -> None:
    build.write("k.ptx", KERNEL)
    own = {"PTXKIT_CACHE_DIR": str(build.folder / "none"), "PTXKIT_NO_CACHE": "1"}
    assert [build.run("k.ptx", **own).stderr for _ in range(2)] == [REMARK, REMARK]
    assert not (build.folder / "none").exists()


def test_a_folder_of_the_environment_holds_the_cache(build: Build) -> None:
    build.write("k.ptx", KERNEL)
    build.run("k.ptx", PTXKIT_CACHE_DIR=str(build.folder / "mine"))
    assert len(list((build.folder / "mine").glob("*.result"))) == 2


def test_the_state_of_settings_has_each_file_that_may_hold_them(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    before = settings_state(str(inner))
    seen = [before]
    for path in (inner / "ptxkit.toml", tmp_path / "pyproject.toml", tmp_path / "given.toml"):
        path.write_text("")
        seen.append(settings_state(str(inner), [str(tmp_path / "given.toml")]))
    (inner / "ptxkit.toml").write_text("notes = true")
    seen.append(settings_state(str(inner), [str(tmp_path / "given.toml")]))
    assert len(set(seen)) == len(seen)
    assert settings_state(str(inner), [str(tmp_path / "given.toml")]) == seen[-1]
    assert settings_state(str(inner), ["a\0b"]) == settings_state(str(inner))
