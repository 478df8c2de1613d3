"""`ptxkit run`: the conditions of the kernel's contract that a launch does not satisfy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.rules.test_box_conditions import ONE_MAP

Run = Callable[..., Result]
SIZED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry n(.param .u32 count, .param .u64 in)
.reqntid 32
{
\t.shared .align 128 .b8 tile[4096];
\t.shared .align 8 .b64 full;
\t.reg .b32 %r<4>;
\t.reg .b64 %rd<3>;
\t.reg .pred %p<3>;
\tmov.u32 %r1, %tid.x;
\tsetp.ne.u32 %p1, %r1, 0;
\t@%p1 bra $done;
\tld.param.u32 %r2, [count];
\tld.param.u64 %rd1, [in];
\tmbarrier.init.shared.b64 [full], 1;
\tmbarrier.arrive.expect_tx.shared.b64 _, [full], %r2;
\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], %r2, [full];
$wait:
\tmbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
\t@!%p2 bra $wait;
$done:
\tret;
}
"""


def warnings(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("ptxkit: warning: ")]


@pytest.mark.parametrize("count", [32, 40])
def test_a_number_that_breaks_a_condition_is_named_with_its_line(tmp_path: Path, ptxkit: Run, count: int) -> None:
    (tmp_path / "k.ptx").write_text(SIZED)
    result = ptxkit("run", str(tmp_path / "k.ptx"), "--arg", f"count={count}", "--arg", "in=u32[64]")
    assert warnings(result) == [
        "ptxkit: warning: kernel `n`: the launch does not satisfy a condition of line 19: Parameter 0, `count`, must "
        "be a multiple of 16."
    ] * (count % 16 != 0)
    assert result.exit_code == (1 if count % 16 else 0)


@pytest.mark.parametrize(("box", "is_right"), [("32x32", True), ("32x16", False)])
def test_a_tensor_map_with_another_box_breaks_a_condition(
    tmp_path: Path, ptxkit: Run, box: str, is_right: bool
) -> None:
    (tmp_path / "k.ptx").write_text(ONE_MAP)
    maps = [f"{name}=f32[64,64]:random:box={box}" for name in ("a", "b")]
    given = [word for each in (*maps, "maps=u64[1]") for word in ("--arg", each)]
    found = warnings(ptxkit("run", str(tmp_path / "k.ptx"), *given))
    assert [line.endswith("for loads, with boxes of 4096 bytes.") for line in found] == ([] if is_right else [True])


def test_a_finding_names_the_block_that_the_kernel_declares(tmp_path: Path, ptxkit: Run) -> None:
    (tmp_path / "k.ptx").write_text(SIZED.replace("[tile], [%rd1], %r2", "[tile], [%rd1], 64"))
    result = ptxkit("run", str(tmp_path / "k.ptx"), "--arg", "count=32", "--arg", "in=u32[64]")
    assert "seen in a run of n: grid 1, block 32, count=32" in result.stdout
