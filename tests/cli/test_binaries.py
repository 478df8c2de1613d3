"""PTX inside other files, on the command line: `lint libfoo.so`, `extract`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.cli.extract import file_name
from tests.cli.support import CLEAN, shell
from tests.inputs.building import CHIP, CODE, ZSTD, elf, entry, fatbin, zip_members

Run = Callable[..., Result]

WRONG = CLEAN.replace("[%rd2], %r1;", "[%rd2], %missing;").replace("sm_80", "sm_90a")
LIBRARY = elf([(".nv_fatbin", fatbin(entry(CLEAN.encode()), entry(WRONG.encode(), 90, flags=CHIP | ZSTD)))])
WITHOUT = fatbin(entry(b"\x7fELF", 90, kind=CODE, flags=CHIP))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "libfoo.so").write_bytes(LIBRARY)
    (tmp_path / "inner" / "foo.whl").write_bytes(zip_members({"foo/lib.so": LIBRARY, "foo/k.ptx": CLEAN.encode()}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def paths(result: Result) -> dict[str, str]:
    return {each["path"]: each["status"] for each in json.loads(result.stdout)["files"]}


def test_each_text_of_a_library_is_linted(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "libfoo.so")
    assert result.exit_code == 1
    assert "libfoo.so!2.sm_90a.ptx:13:" in result.stdout
    assert "checked 2 files: 1 error" in result.stdout
    assert paths(ptxkit("lint", "--format", "json", "inner/foo.whl")) == {
        "inner/foo.whl!foo/lib.so!1.sm_80.ptx": "clean",
        "inner/foo.whl!foo/lib.so!2.sm_90a.ptx": "findings",
        "inner/foo.whl!foo/k.ptx": "clean",
    }


def test_standard_input_may_be_a_library(ptxkit: Run) -> None:
    assert "<stdin>!2.sm_90a.ptx:13:" in ptxkit("lint", "-", input=LIBRARY).stdout
    assert "lib.so!2.sm_90a.ptx:13:" in ptxkit("lint", "--stdin-filename", "lib.so", "-", input=LIBRARY).stdout


def test_a_folder_includes_its_libraries_on_request(files: Path, ptxkit: Run) -> None:
    refused = ptxkit("lint", ".")
    assert (refused.exit_code, "--binaries" in refused.stdout) == (2, True)
    assert len(paths(ptxkit("lint", "--binaries", "--format", "json", "."))) == 5
    (files / "k.ptx").write_text(CLEAN)
    assert list(paths(ptxkit("lint", "--format", "json", "."))) == ["./k.ptx"]


def test_a_pattern_that_the_shell_did_not_expand_is_expanded(files: Path, ptxkit: Run) -> None:
    for name in ("a.ptx", "inner/b.ptx"):
        (files / name).write_text(CLEAN)
    assert list(paths(ptxkit("lint", "--format", "json", "**/*.ptx"))) == ["a.ptx", "inner/b.ptx"]
    assert ptxkit("lint", "*.nothing").exit_code == 2
    (files / "a[1].ptx").write_text(CLEAN)
    assert list(paths(ptxkit("lint", "--format", "json", "a[1].ptx"))) == ["a[1].ptx"]


def test_a_file_without_ptx_is_reported_with_its_contents(files: Path, ptxkit: Run) -> None:
    (files / "code.fatbin").write_bytes(WITHOUT)
    result = ptxkit("lint", "code.fatbin")
    assert result.exit_code == 2
    assert "code.fatbin: PTX100 error: holds no PTX, only machine code for sm_90a" in result.stdout
    (files / "host.o").write_bytes(elf([(".text", b"x")]))
    assert "host.o: PTX100 error: holds no PTX\n" in ptxkit("lint", "host.o").stdout


def test_damage_is_reported_and_the_rest_is_checked(files: Path, ptxkit: Run) -> None:
    (files / "cut.fatbin").write_bytes(fatbin(entry(CLEAN.encode()), entry(CLEAN.encode(), 90, payload=1 << 40)))
    result = ptxkit("lint", "cut.fatbin")
    assert result.exit_code == 2
    assert "checked 1 file: 0 errors, 0 warnings, 0 undecided, 1 not checked" in result.stdout
    assert "for sm_90 is truncated" in result.stdout


def test_settings_of_a_library_are_those_of_its_folder(files: Path, ptxkit: Run) -> None:
    (files / "ptxkit.toml").write_text('per-file-ignores = { "lib*.so" = ["PTX106"] }\n')
    assert ptxkit("lint", "libfoo.so").exit_code == 0
    assert ptxkit("lint", "inner/foo.whl").exit_code == 1


def test_a_cache_is_linted(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = files / "triton" / "abc"
    cache.mkdir(parents=True)
    (cache / "k.ptx").write_text(CLEAN)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(files / "triton"))
    result = ptxkit("lint", "--cache", "triton", "--format", "json")
    assert list(paths(result)) == [str(cache / "k.ptx")]
    monkeypatch.setenv("TRITON_CACHE_DIR", str(files / "nowhere"))
    assert ptxkit("lint", "--cache", "triton").exit_code == 2


def test_fmt_prints_what_is_inside_and_writes_nothing_into_it(files: Path, ptxkit: Run) -> None:
    (files / "one.fatbin").write_bytes(fatbin(entry(CLEAN.encode())))
    assert ptxkit("fmt", "one.fatbin").stdout.startswith(".version 8.0")
    refused = ptxkit("fmt", "--write", "one.fatbin")
    assert (refused.exit_code, "extract it first: `ptxkit extract`" in refused.stderr) == (2, True)
    assert ptxkit("lint", "--add-ignores", "libfoo.so").exit_code == 2
    assert (files / "libfoo.so").read_bytes() == LIBRARY
    assert {path.name for path in files.iterdir()} == {"inner", "libfoo.so", "one.fatbin"}


def test_extract_writes_each_text_to_a_separate_file(files: Path, ptxkit: Run) -> None:
    result = ptxkit("extract", "-o", "out", "libfoo.so", "inner")
    assert result.exit_code == 0
    assert {path.name for path in (files / "out").iterdir()} == {
        "libfoo.1.sm_80.ptx",
        "libfoo.2.sm_90a.ptx",
        "foo.foo.lib.so.1.sm_80.ptx",
        "foo.foo.lib.so.2.sm_90a.ptx",
        "foo.foo.k.ptx",
    }
    assert (files / "out" / "libfoo.2.sm_90a.ptx").read_text() == WRONG
    assert result.stdout.splitlines()[0] == str(Path("out") / "libfoo.1.sm_80.ptx")


def test_extract_overwrites_files_only_on_request(files: Path, ptxkit: Run) -> None:
    (files / "libfoo.1.sm_80.ptx").write_text("mine")
    result = ptxkit("extract", "libfoo.so")
    assert (result.exit_code, (files / "libfoo.1.sm_80.ptx").read_text()) == (2, "mine")
    assert "error: already exists\n  = help: `--force` overwrites it" in result.stderr
    result = ptxkit("extract", "-o", "libfoo.so", "libfoo.so")
    assert result.exit_code == 2
    assert "libfoo.so/libfoo.1.sm_80.ptx: error: cannot be written: `--output`" in result.stderr
    assert ptxkit("extract", "--force", "libfoo.so").exit_code == 0
    assert (files / "libfoo.1.sm_80.ptx").read_text() == CLEAN


def test_extract_lists_selects_and_prints(files: Path, ptxkit: Run) -> None:
    assert ptxkit("extract", "--list", "libfoo.so").stdout.split() == [
        "libfoo.so!1.sm_80.ptx",
        "libfoo.so!2.sm_90a.ptx",
    ]
    printed = shell("extract", "-o", "-", "--target", "sm_90a", "libfoo.so", cwd=files)
    assert (printed.returncode, printed.stdout.decode()) == (0, WRONG)
    several = shell("extract", "-o", "-", "libfoo.so", cwd=files)
    assert (several.returncode, several.stdout) == (2, b"")
    assert b"choose one by `--target SM`" in several.stderr
    missing = ptxkit("extract", "--target", "sm_70", "libfoo.so")
    assert missing.exit_code == 2
    assert missing.stderr.startswith("ptxkit: error: there is no PTX for `sm_70` in `libfoo.so`\n")
    assert [path.name for path in files.iterdir() if path.suffix == ".ptx"] == []


def test_extract_reports_unreadable_texts(files: Path, ptxkit: Run) -> None:
    (files / "code.fatbin").write_bytes(WITHOUT)
    result = ptxkit("extract", "nowhere.so", "code.fatbin", "libfoo.so")
    assert result.exit_code == 2
    assert "nowhere.so: PTX100" in result.stderr
    assert "holds no PTX, only machine code for sm_90a" in result.stderr
    assert (files / "libfoo.2.sm_90a.ptx").exists()
    (files / "k.ptx").write_text(CLEAN)
    assert ptxkit("extract", "--list", "k.ptx").exit_code == 2


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("dir/libfoo.so!1.sm_80.ptx", "libfoo.1.sm_80.ptx"),
        ("a.whl!../../etc/x.ptx", "a.etc.x.ptx"),
        ("a.whl!/etc/x.ptx", "a.etc.x.ptx"),
        ("a.whl!C:\\x y.ptx", "a.C_x_y.ptx"),
        ("a.whl!.ptx", "a.ptx"),
    ],
)
def test_the_name_of_a_file_remains_in_its_folder(title: str, name: str) -> None:
    assert file_name(title) == name


def test_a_long_name_is_truncated_at_its_beginning() -> None:
    assert len(file_name(f"a.whl!{'x' * 900}/1.sm_80.ptx")) <= 200
    assert file_name(f"a.whl!{'x' * 900}/1.sm_80.ptx").endswith("x.1.sm_80.ptx")


def test_an_error_in_one_file_does_not_affect_others(files: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise KeyError("sections")

    monkeypatch.setattr("ptxkit.elf.ElfFile.sections", crash)
    (files / "k.ptx").write_text(CLEAN)
    result = ptxkit("lint", "--format", "json", "libfoo.so", "k.ptx")
    assert (result.exit_code, paths(result)) == (2, {"libfoo.so": "failed", "k.ptx": "clean"})
    assert "KeyError: 'sections'" in result.stdout


def test_patterns_of_files_match_texts_inside_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("w.whl", "w") as wheel:
        for name in ("generated/a.ptx", "own/a.ptx"):
            wheel.writestr(name, CLEAN.replace("mov.u32", "mov.u33"))
    found = {}
    for pattern in ("w.whl!generated/*", "*.whl", "other/*", "w.whl!own/a.ptx", "a.ptx"):
        (tmp_path / "ptxkit.toml").write_text(f'per-file-ignores = {{ "{pattern}" = ["PTX10"] }}\n')
        done = shell("lint", "--format", "concise", "w.whl", cwd=tmp_path)
        found[pattern] = [name for name in ("generated", "own") if f"w.whl!{name}/a.ptx:".encode() in done.stdout]
    assert found == {
        "w.whl!generated/*": ["own"],
        "*.whl": [],
        "other/*": ["generated", "own"],
        "w.whl!own/a.ptx": ["generated"],
        "a.ptx": [],
    }


@pytest.mark.parametrize("command", ["lint", "transfers", "contract", "verify", "fmt", "run", "extract"])
def test_one_text_of_a_library_is_named_as_reports_name_it(files: Path, ptxkit: Run, command: str) -> None:
    options = {
        "run": ["--block", "32", "--arg", "p=u32[64]"],
        "extract": ["-o", "-"],
        "verify": ["--schedules", "1"],
    }.get(command, [])
    found = ptxkit(command, *options, "libfoo.so!1.sm_80.ptx")
    assert (found.exit_code == 2, "sm_90a" in found.output) == (False, False), found.output
    missing = ptxkit(command, *options, "libfoo.so!3.sm_90a.ptx")
    assert missing.exit_code == 2
    assert "holds no such text: libfoo.so!1.sm_80.ptx, libfoo.so!2.sm_90a.ptx" in missing.output


def test_standard_input_that_is_ptx_is_not_extracted_and_of_several_texts_none_can_be_named(files: Path) -> None:
    plain = shell("extract", "-", cwd=files, stdin=CLEAN.encode())
    assert plain.returncode == 2
    assert plain.stderr.startswith(b"ptxkit: error: there is no PTX in `-`\n")
    assert [path.name for path in files.iterdir() if "stdin" in path.name] == []
    library = (files / "libfoo.so").read_bytes()
    several = shell("view", "-", "-o", "-", cwd=files, stdin=library)
    assert several.returncode == 2
    assert b"<stdin>: PTX100 error: holds 2 texts, but one is required" in several.stderr
    assert b"ptxkit extract --target SM -o - -" in several.stderr
    chosen = shell("extract", "--target", "sm_80", "-o", "-", "-", cwd=files, stdin=library)
    assert (chosen.returncode, chosen.stdout.decode()) == (0, CLEAN)


def test_for_several_texts_a_run_requires_a_selection(files: Path, ptxkit: Run) -> None:
    result = ptxkit("run", "libfoo.so")
    assert result.exit_code == 2
    assert "holds 2 texts, but one is required: libfoo.so!1.sm_80.ptx, libfoo.so!2.sm_90a.ptx" in result.output
