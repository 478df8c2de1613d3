"""`ptxkit lint` and its settings: options, files, comments, baselines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.support import BROKEN, CLEAN, shell

Run = Callable[..., Result]

WRONG = CLEAN.replace("[%rd2], %r1;", "[%rd2], %missing;")
"""PTX106 in line 13."""
NEEDLESS = CLEAN.replace("ret;", "bar.sync 0;\n\tbar.sync 0;\n\tret;")
"""PTX903, a note that is off by default."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "wrong.ptx").write_text(WRONG)
    (tmp_path / "inner" / "wrong.ptx").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(result: Result) -> list[str]:
    document = json.loads(result.stdout)
    return [item["code"] for file in document["files"] for item in file["diagnostics"]]


def test_codes_are_selected_and_ignored_by_prefix(files: Path, ptxkit: Run) -> None:
    lint = ("lint", "--format", "json", "wrong.ptx")
    assert codes(ptxkit(*lint)) == ["PTX106"]
    assert codes(ptxkit(*lint, "--select", "PTX2,PTX4")) == []
    assert codes(ptxkit(*lint, "--select", "PTX2", "--extend-select", "undeclared-name")) == ["PTX106"]
    assert ptxkit(*lint, "--ignore", "PTX10").exit_code == 0


def test_notes_can_be_selected(files: Path, ptxkit: Run) -> None:
    (files / "needless.ptx").write_text(NEEDLESS)
    assert codes(ptxkit("lint", "--format", "json", "needless.ptx", "--extend-select", "PTX903")) == ["PTX903"]
    assert codes(ptxkit("lint", "--format", "json", "needless.ptx", "--select", "PTX901")) == []


def test_a_severity_decides_the_exit_status(files: Path, ptxkit: Run) -> None:
    assert ptxkit("lint", "wrong.ptx").exit_code == 1
    softer = ptxkit("lint", "--severity", "PTX106=note", "wrong.ptx")
    assert softer.exit_code == 0
    assert "PTX106 note" in softer.stdout
    assert ptxkit("lint", "--severity", "PTX1=note", "--severity", "PTX106=warning", "wrong.ptx").exit_code == 1


def test_a_syntax_error_remains_an_error(files: Path, ptxkit: Run) -> None:
    (files / "broken.ptx").write_text(BROKEN)
    assert ptxkit("lint", "--select", "PTX4", "--severity", "PTX=note", "broken.ptx").exit_code == 1


def test_another_target_and_version_can_be_selected(files: Path, ptxkit: Run) -> None:
    (files / "k.ptx").write_text(CLEAN.replace("ret;", "cp.async.wait_all;\n\tret;"))
    assert ptxkit("lint", "k.ptx").exit_code == 0
    older = ptxkit("lint", "--target", "sm_75", "k.ptx")
    assert (older.exit_code, "PTX801" in older.stdout) == (1, True)
    assert ptxkit("lint", "--ptx-version", "6.5", "k.ptx").exit_code == 1
    assert "did you mean" not in ptxkit("lint", "--target", "sm_75", "k.ptx").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "PTX41"], "there is no code `PTX41` = help: did you mean `PTX401`?"),
        (["--ignore", "PTX101"], "PTX101 cannot be ignored"),
        (["--severity", "PTX401"], "is not of the form CODE=LEVEL"),
        (["--target", "sm_91"], "there is no target `sm_91`"),
        (["--ptx-version", "8.9"], "there is no PTX version `8.9`"),
        (["--launch", "k:blok=3"], "a launch has no key `blok` = help: did you mean `block`?"),
        (["--config", "a.toml", "--isolated"], "exclude each other"),
        (["--write-baseline", "--add-ignores"], "exclude each other"),
        (["--reason", "x"], "`--reason` has no effect without `--add-ignores`"),
        (["--write-baseline"], "`--write-baseline` requires the name of a file = help: write `--baseline FILE`"),
        (["--baseline", "nowhere.json"], "nowhere.json: error: cannot be read"),
        (["--config", "nowhere.toml"], "nowhere.toml: error: cannot be read"),
        (["--launch", "kk:block=3"], "`--launch`: no input has a kernel `kk` = help: did you mean `k`?"),
    ],
)
def test_an_invalid_option_exits_with_2(files: Path, ptxkit: Run, arguments: list[str], message: str) -> None:
    result = ptxkit("lint", "wrong.ptx", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_each_input_has_the_settings_of_its_nearest_file(files: Path, ptxkit: Run) -> None:
    (files / "ptxkit.toml").write_text('ignore = ["PTX106"]\n')
    assert "checked 2 files: 0 errors" in ptxkit("lint", ".").stdout
    (files / "inner" / "pyproject.toml").write_text("[tool.ptxkit]\nnotes = true\n")
    result = ptxkit("lint", ".")
    assert "checked 2 files: 1 error" in result.stdout
    assert f"{Path('inner/wrong.ptx')}:13" in result.stdout
    assert "checked 2 files: 2 errors" in ptxkit("lint", "--isolated", ".").stdout
    assert "checked 2 files: 0 errors" in ptxkit("lint", "--config", "ptxkit.toml", ".").stdout
    assert "checked 2 files: 2 errors" in ptxkit("lint", "--extend-select", "PTX106", ".").stdout


def test_codes_are_ignored_for_files_by_pattern(files: Path, ptxkit: Run) -> None:
    (files / "ptxkit.toml").write_text('per-file-ignores = { "inner/*" = ["PTX1"] }\n')
    assert ptxkit("lint", "inner").exit_code == 0
    assert ptxkit("lint", "wrong.ptx").exit_code == 1
    assert ptxkit("lint", "--stdin-filename", "inner/x.ptx", "-", input=WRONG).exit_code == 0
    named = ptxkit("lint", "--stdin-filename", "x.ptx", "-", input=WRONG)
    assert (named.exit_code, named.stdout[:6]) == (1, "x.ptx:")


def test_an_error_in_a_settings_file_names_its_line_and_exits_with_2(files: Path) -> None:
    (files / "ptxkit.toml").write_text('# ours\nselcet = ["PTX4"]\n')
    done = shell("lint", "wrong.ptx", cwd=files)
    assert done.returncode == 2
    assert done.stderr == b"ptxkit.toml:2: error: there is no setting `selcet`\n  = help: did you mean `select`?\n"


def test_settings_are_shown_with_their_origin(files: Path, ptxkit: Run) -> None:
    (files / "ptxkit.toml").write_text(
        'ignore = ["PTX106"]\nseverity = { PTX4 = "note" }\nlaunch = ["k:block=64"]\n'
        'per-file-ignores = { "a\\"b" = ["PTX5"] }\nptx-version = "8.0"\n'
    )
    shown = ptxkit(
        "lint", "--show-settings", "--target", "sm_90a", "--baseline", "b.json", "--notes", "wrong.ptx"
    ).stdout
    assert shown == (
        "# wrong.ptx\n"
        'ignore = ["PTX106"]  # ptxkit.toml\n'
        'severity = { PTX4 = "note" }  # ptxkit.toml\n'
        'ptx-version = "8.0"  # ptxkit.toml\n'
        'launch = ["k:block=64"]  # ptxkit.toml\n'
        'per-file-ignores = { "a\\"b" = ["PTX5"] }  # ptxkit.toml\n'
        "notes = true  # command line\n"
        'target = "sm_90a"  # command line\n'
        'baseline = "b.json"  # command line\n'
        'select = ["PTX"]  # default\n'
        'policy = "isa"  # default\n'
        'effort = "normal"  # default\n'
    )
    assert "# ." in ptxkit("lint", "--show-settings").stdout
    assert 'ignore = ["PTX9"]  # default' in ptxkit("lint", "--show-settings", "--isolated").stdout
    (files / "ptxkit.toml").write_text("x = 1\n")
    assert ptxkit("lint", "--show-settings").exit_code == 2


def test_lint_without_paths_states_what_to_name(ptxkit: Run) -> None:
    result = ptxkit("lint")
    assert result.exit_code == 2
    assert "requires the argument PATH" in result.output


def test_a_baseline_is_written_and_then_known(files: Path, ptxkit: Run) -> None:
    wrote = ptxkit("lint", "--write-baseline", "--baseline", "known.json", ".")
    assert (wrote.exit_code, wrote.stdout) == (0, "2 findings in known.json\n")
    result = ptxkit("lint", "--baseline", "known.json", ".")
    assert (result.exit_code, result.stdout) == (0, "checked 2 files: 0 errors, 0 warnings, 0 undecided, 2 known\n")
    (files / "wrong.ptx").write_text("// moved\n" + WRONG)
    assert ptxkit("lint", "--baseline", "known.json", ".").exit_code == 0
    (files / "wrong.ptx").write_text(WRONG.replace("mov.u32 \t%r1, 7;", "mov.u32 \t%r1, %no;"))
    assert ptxkit("lint", "--baseline", "known.json", ".").exit_code == 1


def test_a_baseline_in_the_settings_is_relative_to_their_file(files: Path, ptxkit: Run) -> None:
    (files / "ptxkit.toml").write_text('baseline = "known.json"\n')
    assert ptxkit("lint", "--write-baseline", "inner").exit_code == 0
    assert "0 errors, 0 warnings, 0 undecided, 1 known" in ptxkit("lint", "inner").stdout


def test_writing_a_baseline_reports_what_could_not_be_checked(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "--write-baseline", "--baseline", "known.json", "nowhere.ptx", "wrong.ptx")
    assert result.exit_code == 2
    assert "nowhere.ptx: PTX100 error" in result.stderr
    assert list(json.loads((files / "known.json").read_text())["files"]) == ["wrong.ptx"]
    missing = ptxkit("lint", "--write-baseline", "--baseline", "no/folder.json", "wrong.ptx")
    assert (missing.exit_code, "cannot be written" in missing.stderr) == (2, True)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("\tst.global.u32 \t[%rd2], %missing;", "%missing;  // ptxkit: ignore[PTX106] not yet"),
        ("\tst.global.u32 [%rd2], %missing; /* x */  ", "%missing; /* x */  // ptxkit: ignore[PTX106] not yet"),
        ("\tst.global.u32 [%rd2], %missing; // x", "// ptxkit: ignore[PTX106] not yet\n\tst.global.u32 [%rd2],"),
        ("\tst.global.u32 [%rd2], %missing; /* x\n*/", "// ptxkit: ignore[PTX106] not yet\n\tst.global.u32"),
        ("st.global.u32 [%rd2], %missing; // ptxkit: ignore[PTX4] y", "// ptxkit: ignore[PTX4, PTX106] y"),
    ],
)  # fmt: skip
def test_ignores_are_added_where_they_hide_the_finding(files: Path, ptxkit: Run, line: str, after: str) -> None:
    path = files / "wrong.ptx"
    path.write_text(WRONG.replace("\tst.global.u32 \t[%rd2], %missing;", line))
    assert ptxkit("lint", "--ignore", "PTX191", "wrong.ptx").exit_code == 1
    added = ptxkit("lint", "--ignore", "PTX191", "--add-ignores", "--reason", "not  yet", "wrong.ptx")
    assert (added.exit_code, added.stdout) == (0, "wrong.ptx: 1 finding suppressed\n")
    assert after in path.read_text()
    assert ptxkit("lint", "--ignore", "PTX191", "wrong.ptx").exit_code == 0


def test_ignores_keep_line_ends_and_bytes(files: Path, ptxkit: Run) -> None:
    path = files / "wrong.ptx"
    path.write_bytes(b"// caf\xe9\r\n" + WRONG.replace("\n", "\r\n").encode())
    assert ptxkit("lint", "--add-ignores", "wrong.ptx").exit_code == 0
    text = path.read_bytes()
    assert text.startswith(b"// caf\xe9\r\n")
    assert b"%missing;  // ptxkit: ignore[PTX106]\r\n" in text
    assert text.count(b"\n") == text.count(b"\r\n")


def test_a_syntax_error_gets_no_comment(files: Path, ptxkit: Run) -> None:
    (files / "broken.ptx").write_text(BROKEN)
    result = ptxkit("lint", "--add-ignores", "broken.ptx", "nowhere.ptx")
    assert (result.exit_code, (files / "broken.ptx").read_text()) == (2, BROKEN)
    assert "PTX101 error" in result.stdout
    assert ptxkit("lint", "--add-ignores", "broken.ptx").exit_code == 1


def test_hidden_findings_are_counted_at_the_end(files: Path, ptxkit: Run) -> None:
    (files / "wrong.ptx").write_text("// ptxkit: ignore-file[PTX1]\n" + WRONG)
    result = ptxkit("lint", "wrong.ptx")
    assert result.stdout == "checked 1 file: 0 errors, 0 warnings, 0 undecided, 1 suppressed\n"
    assert json.loads(ptxkit("lint", "--format", "json", "wrong.ptx").stdout)["summary"]["suppressed"] == 1


@pytest.mark.parametrize("form", ["concise", "json-lines", "github", "gitlab", "junit", "sarif"])
def test_every_format_shows_the_finding_and_keeps_the_exit_status(files: Path, ptxkit: Run, form: str) -> None:
    result = ptxkit("lint", "--format", form, "wrong.ptx", "inner")
    assert result.exit_code == 1
    assert result.stdout.count("PTX106") >= 2
    assert ptxkit("lint", "--format", form, "--ignore", "PTX1", "wrong.ptx").exit_code == 0


def test_statistics_replace_findings(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "--statistics", ".")
    assert result.exit_code == 1
    assert result.stdout.startswith("2  PTX106 error    undeclared-name\n\nchecked 2 files: 2 errors")
    [row] = json.loads(ptxkit("lint", "--statistics", "--format", "json", ".").stdout)["statistics"]
    assert (row["code"], row["count"]) == ("PTX106", 2)
    assert ptxkit("lint", "--statistics", "--format", "sarif", ".").exit_code == 2


def test_findings_name_the_line_of_the_source_code(files: Path, ptxkit: Run) -> None:
    body = WRONG.replace("\tst.global", "\t.loc 1 7 0\n\t.loc 2 9 0, function_name $n, inlined_at 1 7 0\n\tst.global")
    (files / "wrong.ptx").write_text(body + '.file 1 "k.cu"\n.file 2 "lib.h"\n')
    assert "  = source: lib.h:9, inlined at k.cu:7\n" in ptxkit("lint", "--isolated", "wrong.ptx").stdout


def test_rule_prints_all_pages_in_every_format(ptxkit: Run) -> None:
    text, marked = ptxkit("rule", "--all").stdout, ptxkit("rule", "--all", "--format", "markdown").stdout
    assert all(f"{code}: " in text for code in ("PTX100", "PTX401", "PTX906"))
    assert marked.count("\n## PTX") + 1 == text.count("-" * 80) + 1
    document = json.loads(ptxkit("rule", "PTX401", "--format", "json").stdout)
    assert [(rule["code"], rule["name"]) for rule in document["rules"]] == [("PTX401", "missing-proxy-fence")]
    assert ptxkit("rule", "PTX401", "--format", "markdown").stdout.startswith("## PTX401: missing-proxy-fence")
    assert ptxkit("rule", "--all", "PTX401").exit_code == 2


PROFILE = "export PATH\n"


@pytest.fixture
def profile(files: Path) -> Path:
    """A file of the user outside of a malicious folder, in which the commands run."""
    path = files / "profile"
    path.write_text(PROFILE)
    (files / "inner" / "link.json").symlink_to("../profile")
    return path


@pytest.mark.parametrize(
    "named", ["../profile", "../new.json", "link.json", "/FILES/profile", "a/../../profile", "x\\u0000y"]
)
def test_settings_name_no_baseline_outside_of_their_folder(
    files: Path, profile: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(files / "inner")
    Path("ptxkit.toml").write_text(f'baseline = "{named.replace("/FILES", str(files))}"\n')
    result = ptxkit("lint", "--write-baseline", ".")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is outside the folder of these settings" in result.stderr
    assert profile.read_text() == PROFILE
    assert sorted(os.listdir("..")) == ["inner", "profile", "wrong.ptx"]


def test_a_baseline_overwrites_a_baseline_or_nothing(files: Path, profile: Path, ptxkit: Run) -> None:
    others = {"k.ptx": CLEAN, "x.json": "{}", "empty": ""}
    for name, text in others.items():
        (files / name).write_text(text)
    for name in (*others, "profile", "inner/link.json", "inner"):
        result = ptxkit("lint", "--write-baseline", "--baseline", name, "wrong.ptx")
        assert (result.exit_code, result.stdout) == (2, ""), name
        assert name in result.stderr
    assert {name: (files / name).read_text() for name in others} == others
    assert profile.read_text() == PROFILE
    for _ in range(2):
        assert ptxkit("lint", "--write-baseline", "--baseline", "known.json", "wrong.ptx").exit_code == 0


def test_a_baseline_is_written_in_one_step(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ptxkit("lint", "--write-baseline", "--baseline", "known.json", "wrong.ptx").exit_code == 0
    before, names = (files / "known.json").read_text(), sorted(os.listdir(files))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    result = ptxkit("lint", "--write-baseline", "--baseline", "known.json", "inner")
    assert (result.exit_code, "No space left on device" in result.stderr) == (2, True)
    assert ((files / "known.json").read_text(), sorted(os.listdir(files))) == (before, names)


def test_an_unusable_baseline_is_not_written(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.limits.MAX_SETTINGS_BYTES", 50)
    result = ptxkit("lint", "--write-baseline", "--baseline", "known.json", "wrong.ptx")
    assert (result.exit_code, "the limit is 50" in result.stderr) == (2, True)
    assert not (files / "known.json").exists()
