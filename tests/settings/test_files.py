"""Settings files: their precedence, their contents, and the places of errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.files import SettingsFiles, read_level
from ptxkit.settings.model import ConfigLayer
from ptxkit.settings.toml_locations import line_of


def level(folder: Path) -> ConfigLayer | None:
    return SettingsFiles().find_level(str(folder))


def test_only_the_nearest_file_applies(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "ptxkit.toml").write_text('policy = "strict"\nnotes = true\n')
    (tmp_path / "a" / "ptxkit.toml").write_text("notes = false\n")
    outer, nearest = level(tmp_path), level(inner)
    assert outer is not None
    assert (outer.policy, outer.notes) == ("strict", True)
    assert nearest is not None
    assert (nearest.policy, nearest.notes, nearest.folder) == (None, False, str(tmp_path / "a"))


def test_a_ptxkit_file_takes_precedence_over_pyproject_in_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ptxkit]\nnotes = true\n")
    shared = level(tmp_path)
    assert shared is not None
    assert shared.notes is True
    (tmp_path / "ptxkit.toml").write_text("notes = false\n")
    own = level(tmp_path)
    assert own is not None
    assert own.notes is False


def test_a_pyproject_without_settings_is_skipped(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "ptxkit.toml").write_text("notes = true\n")
    for text in ("[project]\nname = 'x'\n", "[project]\ndependencies = ['ptxkit']\n", "no TOML at all ["):
        (inner / "pyproject.toml").write_text(text)
        found = level(inner)
        assert found is not None, text
        assert found.notes is True


def test_a_settings_file_may_contain_every_setting(tmp_path: Path) -> None:
    (tmp_path / "ptxkit.toml").write_text("""\
select = ["PTX4"]
extend-select = ["PTX501", "PTX9"]
ignore = ["PTX403"]
severity = { PTX402 = "note" }
policy = "strict"
notes = true
effort = 2
target = "sm_100a"
ptx-version = "8.7"
launch = ["k:block=128"]
baseline = "sub/known.json"

[per-file-ignores]
"gen/*" = ["PTX401"]
""")
    found = level(tmp_path)
    assert found is not None
    assert (found.select, found.extend_select, found.ignore) == (("PTX4",), ("PTX501", "PTX9"), ("PTX403",))
    assert (found.severity, found.policy, found.notes) == ((("PTX402", Severity.NOTE),), "strict", True)
    assert found.effort == 2.0
    assert (found.target, found.ptx_version, found.launch[0].block) == ("sm_100a", (8, 7), (128, 1, 1))
    assert found.baseline == str(tmp_path / "sub" / "known.json")
    assert found.per_file_ignores == (("gen/*", ("PTX401",)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('# head\n\nslect = ["PTX4"]\n', "ptxkit.toml:3: there is no setting `slect`; did you mean `select`?"),
        (
            '\n[tool.ptxkit]\nselect = ["PTX4"]\n',
            "ptxkit.toml:2: has `tool`, which is for pyproject.toml: in a settings file of ptxkit",
        ),
        (
            'notes = true\npolicy = "lax"\n',
            "ptxkit.toml:2: `policy`: `lax` is not a policy; valid ones are `isa`, `strict`",
        ),
        (
            'select = "PTX4"\n',
            'ptxkit.toml:1: `select` is a string, but must be a list of strings; write `select = ["PTX4", "PTX501"]`',
        ),
        ("select = [4]\n", "ptxkit.toml:1: `select` is a list, but must be a list of strings"),
        ('select = [\n  "PTX4",\n  "PTX77",\n]\n', "ptxkit.toml:1: `select`: there is no code `PTX77`; did you mean"),
        ('notes = "yes"\n', "ptxkit.toml:1: `notes` is a string, but must be true or false"),
        (
            "ptx-version = 8.7\n",
            'ptxkit.toml:1: `ptx-version` is a number, but must be a string; write `ptx-version = "8.7"`',
        ),
        (
            "effort = true\n",
            "ptxkit.toml:1: `effort` is true or false, but must be a word or a number; write `effort =",
        ),
        ('effort = "most"\n', "ptxkit.toml:1: `effort`: `most` is not an effort; write `low`, `normal`, `high`, or"),
        ("effort = 0\n", "ptxkit.toml:1: `effort`: `0` is not an effort"),
        ('\n[severity]\nPTX4 = "note"\nPTX5 = "bad"\n', "ptxkit.toml:4: `severity`: `bad` is not a severity"),
        ('severity = ["PTX4"]\n', "ptxkit.toml:1: `severity` is a list, but must be a table"),
        (
            '[per-file-ignores]\n"a" = ["PTX4"]\n"b" = "PTX4"\n',
            "ptxkit.toml:3: `per-file-ignores` is a string, but must be",
        ),
        ('launch = ["k:threads=4"]\n', "ptxkit.toml:1: `launch`: a launch has no key `threads`"),
        ('ignore = ["PTX100"]\n', "ptxkit.toml:1: `ignore`: PTX100 cannot be ignored"),
        ("select = [\n", "ptxkit.toml: is not TOML: "),
        (f"x = {'[' * 5000}{']' * 5000}\n", "ptxkit.toml: is not TOML: lists or tables are nested too deeply"),
        (f"x = {'{a=' * 5000}1{'}' * 5000}\n", "ptxkit.toml: is not TOML: lists or tables are nested too deeply"),
        (f"x = {'9' * 5000}\n", "ptxkit.toml: is not TOML: an integer has more than 4,300 digits"),
        (f"{'a.' * 200_000}a = 1\n", "ptxkit.toml: is not TOML: a key has more than 64 parts"),
        (f"[{'.'.join(['a'] * 70)}]\n", "ptxkit.toml: is not TOML: a key has more than 64 parts"),
        ("notes = 1e999\n", "ptxkit.toml:1: `notes` is a number, but must be true or false"),
        (f"{'a' * 5000} = 1\n", "ptxkit.toml:1: there is no setting `aaaa"),
        ('"\\u001b[2J\\n::error::x" = 1\n', "ptxkit.toml:1: there is no setting `\\x1b[2J\\x0a::error::x`; valid ones"),
        (f"# {'x' * (1 << 20)}\n", "ptxkit.toml: is longer than 1,048,576 bytes"),
    ],
)
def test_an_error_names_file_line_and_a_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ptxkit.toml").write_text(text)
    with pytest.raises(SettingsError) as raised:
        level(tmp_path)
    assert str(raised.value).startswith(message)
    assert len(str(raised.value)) < 1100
    assert str(raised.value).isprintable()


def test_an_error_in_pyproject_has_a_place_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'select'\n\n[tool.ptxkit]\n\nselekt = []\n")
    with pytest.raises(SettingsError, match=r"^pyproject\.toml:6: there is no setting `selekt`"):
        level(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool]\nptxkit = 3\n")
    with pytest.raises(SettingsError, match=r"^pyproject\.toml:2: `tool\.ptxkit` must be a table"):
        level(tmp_path)


def test_the_search_for_a_line_is_fast_in_a_long_file(tmp_path: Path) -> None:
    """It would take the square of the length."""
    text = "".join(f"a{number} = 1\n" for number in range(60_000))
    assert line_of(f"b = 1\n{text}", ("b",)) == 1
    assert line_of(f"# b\n{text}b = 1\n", ("b",)) is None
    (tmp_path / "ptxkit.toml").write_text(f"# slect\n[severity]\n{text}")
    with pytest.raises(SettingsError, match="there is no code `a0`"):
        level(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["ptxkit.toml", "pyproject.toml"])
def test_a_pipe_or_a_device_in_place_of_settings_is_reported(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(SettingsError, match=rf"{name}: is not a regular file"):
        level(tmp_path)
    with pytest.raises(SettingsError, match=rf"{name}: is not a regular file"):
        read_level(str(tmp_path / name))
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(SettingsError, match=rf"{name}: is not a regular file"):
        level(tmp_path)


def test_text_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    (tmp_path / "ptxkit.toml").write_bytes(b"select = ['\xff']")
    with pytest.raises(SettingsError, match=r"is not UTF-8 text"):
        level(tmp_path)


def test_a_named_file_must_exist_and_contain_settings(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.toml: cannot be read: No such file"):
        read_level(str(tmp_path / "nowhere.toml"))
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    with pytest.raises(SettingsError, match=r"has no table \[tool\.ptxkit\]"):
        read_level(str(tmp_path / "pyproject.toml"))
    (tmp_path / "other.toml").write_text("notes = true\n")
    assert read_level(str(tmp_path / "other.toml")).notes is True


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb = 2\n", ("b",), 2),
        ("# b\n\nb = [\n 1,\n 2]\n", ("b",), 3),
        ("[t]\nx = 1\n[u]\nx = 2\n", ("u", "x"), 4),
        ("t.u.x = 1\n", ("t", "u", "x"), 1),
        ('s = """\nb = 1\n"""\nb = 2\n', ("b",), 4),
        ("[t]\n# words\n\n  'b' = 1", ("t", "b"), 4),
        ("a = 1\n", ("b",), None),
    ],
)
def test_the_line_of_a_key_is_found_in_any_notation(text: str, path: tuple[str, ...], line: int | None) -> None:
    assert line_of(text, path) == line
