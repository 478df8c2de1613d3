"""`ptxkit transfers`: inputs, exit statuses, formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.file_survey import survey_transfers
from ptxkit.source import SourceFile
from tests.cli.support import BROKEN, CLEAN, shell

Run = Callable[..., Result]
KERNELS = Path(__file__).resolve().parents[2] / "corpus/kernels"
BULK = KERNELS / "bulk_add_one.sm_90.ptx"


def test_the_table_of_a_file_exits_with_0(ptxkit: Run) -> None:
    result = ptxkit("transfers", str(BULK))
    assert result.exit_code == 0
    assert "mbarrier bar" in result.stdout
    assert result.stdout.endswith("\n2 transfers in 1 kernel: 2 TMA\n")


def test_standard_input_is_accepted_too() -> None:
    done = shell("transfers", "-", stdin=BULK.read_bytes())
    assert done.returncode == 0
    assert done.stdout.startswith(b"<stdin> for sm_90\n")


def test_a_folder_includes_its_files_in_order(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "b.ptx").write_text(CLEAN)
    (tmp_path / "a.ptx").write_text(BULK.read_text("utf-8"))
    document = json.loads(ptxkit("transfers", "--format", "json", str(tmp_path)).stdout)
    assert [Path(each["path"]).name for each in document["files"]] == ["a.ptx", "b.ptx"]
    assert [len(each["kernels"][0]["transfers"]) for each in document["files"]] == [2, 0]


def test_a_kernel_without_copies_is_listed_with_none(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(CLEAN)
    result = ptxkit("transfers", str(tmp_path / "k.ptx"))
    assert result.exit_code == 0
    assert "k: no transfers\n" in result.stdout
    assert result.stdout.endswith("0 transfers in 1 kernel\n")


def test_a_syntax_error_exits_with_1_and_has_its_diagnostic(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(BROKEN)
    result = ptxkit("transfers", str(tmp_path / "k.ptx"))
    assert result.exit_code == 1
    assert "PTX101 error" in result.stdout
    document = json.loads(ptxkit("transfers", "--format", "json", str(tmp_path / "k.ptx")).stdout)
    assert [(file["status"], file["target"], file["kernels"]) for file in document["files"]] == [("findings", None, [])]


def test_an_unknown_instruction_is_reported_with_the_table(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(BULK.read_text("utf-8").replace("bar.sync", "bar.snyc"))
    result = ptxkit("transfers", str(tmp_path / "k.ptx"))
    assert result.exit_code == 1
    assert "mbarrier bar" in result.stdout
    assert "PTX103 error" in result.stdout


def test_an_unreadable_file_exits_with_2_and_the_rest_is_listed(ptxkit: Run) -> None:
    result = ptxkit("transfers", "lost.ptx", str(BULK))
    assert result.exit_code == 2
    assert "lost.ptx: PTX100 error" in result.stdout
    assert "2 transfers" in result.stdout


def test_a_crash_in_the_analysis_fails_one_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("ptxkit.analysis.inventory.transfer_table.collect_transfers", fail)
    (found,) = survey_transfers(SourceFile("k.ptx", CLEAN)).diagnostics
    assert found.code == "PTX100"
    assert found.message.startswith("the analysis of this file broke: KeyError: 'x' (test_transfers.py:")


@pytest.mark.parametrize("text", ["", "// nothing\n", ".version 8.0\n.target sm_80\n.address_size 64\n"])
def test_a_text_without_kernels_is_not_an_error(text: str) -> None:
    assert shell("transfers", "-", stdin=text.encode()).returncode in (0, 1)


OF_THE_BLOCK = """.version 8.0
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 in) {
	.shared .align 16 .b8 tile[4096];
	.shared .align 8 .b64 bar;
	.reg .b32 %bytes;
	.reg .b64 %g;
	ld.param.u64 %g, [in];
	mov.u32 %bytes, %ntid.x;
	shl.b32 %bytes, %bytes, 4;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%g], %bytes, [bar];
	ret;
}
"""


def test_a_launch_sets_the_number_of_threads(tmp_path: Path, ptxkit: Run) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(OF_THE_BLOCK)

    def sizes(*options: str) -> list[object]:
        document = json.loads(ptxkit("transfers", "--format", "json", *options, str(path)).stdout)
        return [each["bytes"] for each in document["files"][0]["kernels"][0]["transfers"]]

    assert sizes() == [None]
    assert sizes("--launch", "rows:block=64") == [1024]
    assert sizes("--launch", "block=16x2") == [256]


def test_an_impossible_launch_is_reported(tmp_path: Path, ptxkit: Run) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(OF_THE_BLOCK.replace(".param .u64 in)", ".param .u64 in) .reqntid 32"))
    result = ptxkit("transfers", "--launch", "rows:block=64", str(path))
    assert result.exit_code == 2
    assert "contradicts its `.reqntid 32, 1, 1`" in result.stdout
    result = ptxkit("transfers", "--launch", "row:block=64", str(path))
    assert result.exit_code == 2
    assert "no input has a kernel `row`\n  = help: did you mean `rows`?" in result.stderr
