"""`ptxkit contract`: inputs, exit statuses, formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from click.testing import Result

from ptxkit.model.launch_contract import KINDS
from tests.cli.support import BROKEN, shell
from tests.rules.test_cluster_size_trials import COPY

Run = Callable[..., Result]
ROOT = Path(__file__).resolve().parents[2]
BULK = ROOT / "corpus/kernels/hand_bulk_tile.sm_90.ptx"
TENSORS = ROOT / "corpus/kernels/tensor_copies.sm_90.ptx"
PAGE = ROOT / "docs/howto/contracts.md"


def test_the_conditions_of_a_file_exit_with_0(ptxkit: Run) -> None:
    result = ptxkit("contract", str(BULK))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == [
        "",
        "hand_bulk_tile",
        "  line 9: The block must have exactly 128 threads.",
        "  line 31: Parameter 0, `in`, must be a multiple of 16 bytes.",
        "  line 47: Parameter 1, `out`, must be a multiple of 16 bytes.",
        "",
    ]


def test_a_kernel_without_conditions_is_listed_with_none(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")
    result = ptxkit("contract", str(tmp_path / "k.ptx"))
    assert (result.exit_code, "\nk: no conditions\n" in result.stdout) == (0, True)


def test_the_line_of_the_program_is_named() -> None:
    path = ROOT / "corpus/compilers/triton/gather_sum.sm_80.ptx"
    found = shell("contract", path).stdout.decode()
    assert "(triton_kernels.py:" in found


def test_a_launch_on_the_command_line_counts_as_declared(ptxkit: Run) -> None:
    path = ROOT / "corpus/seeds/launch_sized.sm_80.ptx"
    bare, given = (
        ptxkit("contract", *options, str(path)).stdout for options in ([], ["--launch", "launch_sized:block=256"])
    )
    assert "exactly 256" not in bare
    assert "exactly 256" in given
    assert ptxkit("contract", "--launch", "launch_sized:block=512", str(path)).exit_code == 2


ROWS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 in, .param .u32 n)
.reqntid 32
{
.reg .b32 %r<10>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1;
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.lo.u32 %r3, %r1, %r2;
mul.wide.u32 %rd2, %r3, 8; add.u64 %rd1, %rd1, %rd2;
ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];
ret;
}
"""


def test_the_conditions_that_suffice_follow_the_necessary_ones(ptxkit: Run) -> None:
    """The necessary alignment of `in` and `out` implies that which other accesses need."""
    path = ROOT / "corpus/seeds/launch_sized.sm_80.ptx"
    lines = ptxkit("contract", str(path), str(BULK)).stdout.splitlines()
    suffices = [line for line in lines if "It suffices for" in line]
    assert "  line 76: It suffices for PTX205 that parameter 0, `param_0`, is a multiple of 4 bytes." in suffices
    assert not [line for line in suffices if "`in`" in line or "`out`" in line]
    document = json.loads(ptxkit("contract", "--format", "json", str(path)).stdout)
    found = [each for file in document["files"] for kernel in file["kernels"] for each in kernel["sufficient"]]
    assert ("multiple", ["PTX205"], 76, 4) in [
        (each["kind"], each["codes"], each["line"], each["requires"].get("divisor")) for each in found
    ]


def test_the_length_of_aligned_rows_suffices(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(ROWS)
    lines = ptxkit("contract", str(tmp_path / "k.ptx")).stdout.splitlines()
    assert "  line 13: It suffices for PTX205 that parameter 1, `n`, is a multiple of 2." in lines
    assert "  line 13: It suffices for PTX205 that parameter 0, `in`, is a multiple of 16 bytes." in lines


def test_the_size_of_the_cluster_that_suffices_is_a_condition(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(COPY)
    lines = ptxkit("contract", str(tmp_path / "k.ptx")).stdout.splitlines()
    assert "  line 26: It suffices for PTX503 that the cluster has 1 or 2 CTAs." in lines


def test_a_syntax_error_exits_with_1_and_has_its_diagnostic(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(BROKEN)
    result = ptxkit("contract", str(tmp_path / "k.ptx"))
    assert (result.exit_code, "PTX101 error" in result.stdout) == (1, True)
    document = json.loads(ptxkit("contract", "--format", "json", str(tmp_path / "k.ptx")).stdout)
    [file] = document["files"]
    assert (file["status"], file["target"], file["kernels"]) == ("findings", None, [])


def test_each_printed_key_and_kind_is_documented(ptxkit: Run) -> None:
    document = json.loads(ptxkit("contract", "--format", "json", str(BULK), str(TENSORS)).stdout)
    page = PAGE.read_text("utf-8")
    conditions = [each for file in document["files"] for kernel in file["kernels"] for each in kernel["conditions"]]
    assert len(conditions) > 10
    seen: list[Mapping[str, object]] = [document, *document["files"], *(each["requires"] for each in conditions)]
    assert {key for each in (*seen, *conditions) for key in each if key not in page} == set()
    assert all(f'"{kind}"' in page for kind in KINDS.values())
    assert [each for each in conditions if f'"{each["kind"]}"' not in page] == []
