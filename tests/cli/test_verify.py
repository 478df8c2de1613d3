"""`ptxkit verify` and `ptxkit run`: inputs, formats, exit statuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from click.testing import Result

from ptxkit.emulator.driver.uninitialized_dependence import UninitializedDependence
from ptxkit.report.formats import FORMATS

Run = Callable[..., Result]

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 source, .param .u64 target, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [source];
	ld.param.u64 %rd2, [target];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra done;
	mul.wide.u32 %rd3, %r2, 4;
	add.u64 %rd4, %rd1, %rd3;
	ld.global.u32 %r3, [%rd4];
	shl.b32 %r4, %r3, 1;
	add.u64 %rd5, %rd2, %rd3;
	st.global.u32 [%rd5], %r4;
done:
	ret;
}
"""
GIVEN = ("--block", "32", "--arg", "source=u32[8]:iota", "--arg", "target=u32[8]", "--arg", "n=8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    return path


def test_a_clean_kernel_exits_with_0_and_lists_its_runs(file: Path, ptxkit: Run) -> None:
    result = ptxkit("verify", "--schedules", "3", str(file))
    assert result.exit_code == 0
    assert re.search(r"ran scale 3 times, (\d+) of \1 instructions: grid 2, block 128; ", result.stdout)
    assert "n=9/64/1" in result.stdout
    assert result.stdout.endswith("checked 1 file: 0 errors, 0 warnings, 0 undecided\n")


def test_a_buffer_that_is_too_small_is_an_error_with_its_witness_in_json(file: Path, ptxkit: Run) -> None:
    given = [*GIVEN[:-1], "n=9"]
    result = ptxkit("verify", "--schedules", "1", "--format", "json", *given, str(file))
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)["files"][0]["diagnostics"]
    assert (found["code"], found["severity"], found["line"]) == ("PTX207", "error", 17)
    witness = found["properties"]["witness"]
    assert witness["accesses"][0]["thread"] == [8, 0, 0]
    assert witness["arguments"] == ["source=u32[8]:iota", "target=u32[8]", "n=9"]
    assert (witness["block"], witness["policy"], witness["seed"]) == ([32], "late", 0)


@pytest.mark.parametrize("form", FORMATS)
def test_findings_of_a_run_are_printed_in_all_formats_of_lint(file: Path, ptxkit: Run, form: str) -> None:
    result = ptxkit("verify", "--schedules", "1", "--format", form, *GIVEN[:-1], "n=9", str(file))
    assert result.exit_code == 1
    assert "PTX207" in result.stdout
    assert "17" in result.stdout


def test_a_run_prints_the_requested_arrays(file: Path, ptxkit: Run) -> None:
    result = ptxkit("run", str(file), *GIVEN, "--out", "target")
    assert result.exit_code == 0
    assert result.stdout == "[ 0  2  4  6  8 10 12 14]\n"


def test_a_run_saves_an_array(file: Path, tmp_path: Path, ptxkit: Run) -> None:
    kept = tmp_path / "out.npy"
    assert ptxkit("run", str(file), *GIVEN, "--out", f"target={kept}").exit_code == 0
    assert numpy.load(kept).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_failing_run_exits_with_1(file: Path, ptxkit: Run) -> None:
    result = ptxkit("run", str(file), *GIVEN[:-1], "n=9")
    assert result.exit_code == 1
    assert "PTX207 error" in result.stdout


def test_a_run_lists_its_undecided_questions(file: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(*_: object, **__: object) -> UninitializedDependence:
        return UninitializedDependence(incomplete_reason="it was cut")

    monkeypatch.setattr("ptxkit.cli.machine_run.find_significant_reads", cut_short)
    result = ptxkit("run", str(file), *GIVEN)
    assert result.exit_code == 0
    assert result.stderr == (
        "ptxkit: undecided: kernel `scale`: whether results depend on uninitialized registers is unknown: it was cut\n"
    )


@pytest.mark.parametrize("command", ["verify", "run"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--entry", "scala"), "there is no kernel `scala`"),
        (("--block", "0"), "is not a shape"),
        (("--arg", "n=three"), "is not a number"),
        (("--arg", "n=3", "--arg", "n=4"), "`--arg n` is given twice: `3` and `4`"),
        (("--arg", "source=u8[99999999999]"), "would have 99,999,999,999 bytes"),
        (("--seed", "-1"), "`-1` is too small"),
        (("--seconds", "0"), "`0` is not a time"),
        (("--seconds", "nan"), "`nan` is not a time"),
        (("--arg", "source=7.5", "--arg", "target=u32[8]", "--arg", "n=8", "--block", "32"), "source"),
    ],
)
def test_an_error_in_the_command_exits_with_2_and_is_described(
    file: Path, ptxkit: Run, command: str, options: tuple[str, ...], message: str
) -> None:
    result = ptxkit(command, str(file), *options)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--block", "32"), "requires a value for each of `source`, `target`, `n`"),
        ((*GIVEN, "--arg", "m=1"), "has no parameter `m`"),
        ((*GIVEN, "--out", "result"), "has no parameter `result`"),
        ((*GIVEN, "--out", "#3"), "has no parameter `#3`\n  = help: write one of the names in the PTX, or `#0` for"),
        ((*GIVEN, "--out", "n"), "`--out`: the argument of `n` is not an array"),
        (
            (*GIVEN, "--out", "target=none/t.npy"),
            "`--out`: the file `none/t.npy` cannot be written: No such file or directory",
        ),
        (GIVEN[2:], "the kernel `scale` has no .reqntid, so the number of threads of a CTA is unknown"),
    ],
)
def test_a_run_requires_its_whole_launch(file: Path, ptxkit: Run, options: tuple[str, ...], message: str) -> None:
    result = ptxkit("run", str(file), *options)
    assert result.exit_code == 2
    assert message in result.output


def test_an_argument_may_be_saved_by_its_number_as_it_is_given(file: Path, ptxkit: Run) -> None:
    assert ptxkit("run", file, *GIVEN, "--out", "#1").stdout == ptxkit("run", file, *GIVEN, "--out", "target").stdout


def test_an_argument_that_no_kernel_has_is_reported(file: Path, tmp_path: Path, ptxkit: Run) -> None:
    other = tmp_path / "other.ptx"
    other.write_text(KERNEL.replace("u64 target", "u64 where").replace("[target]", "[where]"))
    result = ptxkit("verify", "--schedules", "1", "--arg", "when=3", file, other)
    assert result.exit_code == 2
    assert "`--arg`: no input has a parameter `when`" in result.stderr
    assert "`scale` has `source` (.u64), `target` (.u64), `n` (.u32)" in result.stderr
    assert ptxkit("verify", "--schedules", "1", "--arg", "where=u32[64]", file, other).stderr == ""


def test_a_file_that_cannot_be_read_exits_with_2(tmp_path: Path, ptxkit: Run) -> None:
    for command in ("verify", "run"):
        result = ptxkit(command, str(tmp_path / "missing.ptx"))
        assert result.exit_code == 2
        assert "cannot be read" in result.output


def test_a_trace_is_one_page_with_the_findings(file: Path, tmp_path: Path, ptxkit: Run) -> None:
    page = tmp_path / "out.html"
    result = ptxkit("verify", "--schedules", "1", "--trace", page, *GIVEN[:-1], "n=9", file)
    assert result.exit_code == 1
    text = page.read_text("utf-8")
    assert "1 finding of the reference machine" in text
    assert "PTX207" in text
    assert ptxkit("verify", "--schedules", "1", "--trace", page, *GIVEN, file).exit_code == 0
    assert "found nothing" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "message"), [("k.ptx", "does not end in .html"), ("none/out.html", "cannot be written")]
)
def test_an_unwritable_trace_is_an_error_of_the_command(
    file: Path, tmp_path: Path, ptxkit: Run, name: str, message: str
) -> None:
    result = ptxkit("verify", "--schedules", "1", "--trace", tmp_path / name, *GIVEN, file)
    assert result.exit_code == 2
    assert message in result.output
    assert file.read_text() == KERNEL


SMALL = ("--block", "32", "--arg", "source=u32[8]:iota", "--arg", "target=u32[4]", "--arg", "n=8")
"""The same with a buffer that is too small: PTX207."""
HIDDEN = KERNEL.replace("\tst.global", "\t// ptxkit: ignore[PTX207] the host knows\n\tst.global")


@pytest.mark.parametrize("command", ["verify", "run"])
def test_settings_of_the_nearest_file_apply_to_findings_of_runs(file: Path, ptxkit: Run, command: str) -> None:
    assert ptxkit(command, *SMALL, str(file)).exit_code != 0
    (file.parent / "ptxkit.toml").write_text('severity = { PTX207 = "note" }\n')
    result = ptxkit(command, *SMALL, str(file))
    assert "PTX207 note" in result.stdout
    assert "PTX207 error" in ptxkit(command, *SMALL, "--isolated", str(file)).stdout
    (file.parent / "ptxkit.toml").write_text('per-file-ignores = { "k.*" = ["PTX207"] }\n')
    assert "PTX207" not in ptxkit(command, *SMALL, str(file)).stdout
    (file.parent / "ptxkit.toml").write_text("unknown = 1\n")
    result = ptxkit(command, *SMALL, str(file))
    assert result.exit_code == 2
    assert "unknown" in result.stderr


def test_options_of_lint_apply_to_verify(file: Path, ptxkit: Run) -> None:
    assert ptxkit("verify", "--schedules", "1", *SMALL, str(file)).exit_code == 1
    assert ptxkit("verify", "--schedules", "1", *SMALL, "--ignore", "PTX207", str(file)).exit_code == 0
    assert ptxkit("verify", "--schedules", "1", *SMALL, "--severity", "PTX2=note", str(file)).exit_code == 0


def test_a_launch_of_the_settings_is_run(file: Path, ptxkit: Run) -> None:
    result = ptxkit("verify", "--schedules", "1", "--launch", "scale:block=96", str(file))
    assert "block 96" in result.stdout
    assert ptxkit("verify", "--schedules", "1", "--launch", "other:block=96", str(file)).exit_code == 2


@pytest.mark.parametrize("command", ["verify", "run"])
def test_comments_hide_findings_of_runs(file: Path, ptxkit: Run, command: str) -> None:
    file.write_text(HIDDEN)
    assert "PTX207" not in ptxkit(command, *SMALL, str(file)).stdout


def test_a_comment_for_findings_of_runs_is_not_unused_in_other_runs(file: Path, ptxkit: Run) -> None:
    file.write_text(HIDDEN)
    assert ptxkit("lint", str(file)).exit_code == 0
    assert ptxkit("verify", "--schedules", "2", *SMALL, str(file)).exit_code == 0
    unused = ptxkit("verify", "--schedules", "2", *GIVEN, str(file))
    assert unused.exit_code == 1
    assert "PTX191" in unused.stdout


def test_verify_reads_a_baseline(file: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    known = {"version": 1, "files": {"k.ptx": [entry("PTX207")]}}
    (file.parent / "known.json").write_text(json.dumps(known))
    result = ptxkit("verify", "--schedules", "1", *SMALL, "--baseline", "known.json", "k.ptx")
    assert (result.exit_code, "1 known" in result.stdout) == (0, True)


def entry(code: str) -> dict[str, object]:
    return {"code": code, "function": "scale", "statement": "st.global.u32 [%rd], %r;", "count": 1}


def test_a_kernel_is_named_as_its_author_did(file: Path, ptxkit: Run) -> None:
    file.write_text(KERNEL.replace("scale(", "_Z5scalePfS_i("))
    reported = ptxkit("verify", "--schedules", "3", "--entry", "scale", "--launch", "scale:block=64", str(file))
    assert reported.exit_code == 0
    assert "ran scale 3 times" in reported.stdout
    assert "block 64" in reported.stdout
    assert "ran _Z5scalePfS_i 3 times" in ptxkit("verify", "--schedules", "3", "--verbose", str(file)).stdout
    assert (
        ptxkit("run", *GIVEN, "--entry", "scale", "--out", "target", str(file)).stdout == "[ 0  2  4  6  8 10 12 14]\n"
    )


def test_a_short_name_of_several_kernels_chooses_none_to_run(file: Path, ptxkit: Run) -> None:
    twin = KERNEL.partition(".visible")[2].replace(" .entry scale(", "")
    file.write_text(KERNEL.replace("scale(", "_Z5scaleIfEvPT_S_i(") + f".visible .entry _Z5scaleIdEvPT_S_i({twin}")
    result = ptxkit("run", *GIVEN, "--entry", "scale", str(file))
    assert result.exit_code == 2
    assert "has several kernels `scale`" in result.stderr
    assert "`_Z5scaleIdEvPT_S_i`" in result.stderr
