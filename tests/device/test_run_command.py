"""`ptxkit run` and `ptxkit compile` with a GPU."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ptxkit.device import Cubin, load, to_device, use_device
from ptxkit.device.cubin_reader import read_cubin
from tests.cli.support import shell
from tests.cli.test_run_on_gpu import ADD, LAUNCH, PRINT

pytestmark = pytest.mark.device

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FAULT = f"""{HEAD}
.visible .entry fault(.param .u64 p)
{{
\t.reg .b64 %rd<2>;
\tld.param.u64 %rd1, [p];
\tst.global.u32 [%rd1+1099511627776], 7;
\tret;
}}
"""
HANG = f"""{HEAD}
.visible .entry hang(.param .u64 p)
{{
\t.reg .b64 %rd<2>;
\t.reg .b32 %r<2>;
\t.reg .pred %p;
\tld.param.u64 %rd1, [p];
$again:
\tld.volatile.global.u32 %r1, [%rd1];
\tsetp.eq.u32 %p, %r1, 0;
\t@%p bra $again;
\tret;
}}
"""
COUNT = f"""{HEAD}
.visible .entry count(.param .u64 p, .param .s32 step, .param .f32 scale, .param .align 4 .b8 trio[12])
.reqntid 32
{{
\t.reg .b64 %rd<4>;
\t.reg .b32 %r<6>;
\t.reg .f32 %f<4>;
\tld.param.u64 %rd1, [p];
\tld.param.s32 %r1, [step];
\tld.param.f32 %f1, [scale];
\tld.param.u32 %r2, [trio+4];
\tmov.u32 %r3, %tid.x;
\tmul.wide.u32 %rd2, %r3, 4;
\tadd.u64 %rd1, %rd1, %rd2;
\tcvt.rn.f32.s32 %f2, %r1;
\tcvt.rn.f32.u32 %f3, %r2;
\tfma.rn.f32 %f2, %f2, %f1, %f3;
\tld.global.f32 %f3, [%rd1];
\tadd.f32 %f2, %f2, %f3;
\tst.global.f32 [%rd1], %f2;
\tret;
}}
"""
TABLE = f"""{HEAD}
.visible .entry swap(.param .u64 table)
.reqntid 32
{{
\t.reg .b64 %rd<6>;
\t.reg .b32 %r<4>;
\tld.param.u64 %rd1, [table];
\tld.global.u64 %rd2, [%rd1];
\tld.global.u64 %rd3, [%rd1+8];
\tmov.u32 %r1, %tid.x;
\tmul.wide.u32 %rd4, %r1, 4;
\tadd.u64 %rd2, %rd2, %rd4;
\tadd.u64 %rd3, %rd3, %rd4;
\tld.global.u32 %r2, [%rd2];
\tld.global.u32 %r3, [%rd3];
\tst.global.u32 [%rd2], %r3;
\tst.global.u32 [%rd3], %r2;
\tret;
}}
"""

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `ptxkit run` on a text."""

    def run_text(text: str, *arguments: str) -> Done:
        (tmp_path / "k.ptx").write_text(text)
        return shell("run", "k.ptx", *arguments, cwd=tmp_path)

    return run_text


def test_a_kernel_has_the_results_of_the_machine(run: Run, tmp_path: Path) -> None:
    done = run(ADD, *LAUNCH, "--on", "both")
    assert (done.returncode, done.stderr) == (0, b"")
    done = run(ADD, *LAUNCH, "--on", "gpu", "--out", "y=y.npy")
    assert (done.returncode, done.stderr) == (0, b"")
    assert np.array_equal(np.load(tmp_path / "y.npy").reshape(-1), np.arange(16, dtype=np.float32) ** 2 + 1)


def test_numbers_structures_and_tables_are_passed_with_the_same_bits(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "trio.npy", np.array([3, 5, 7], np.uint32))
    values = ("--arg", "step=-7", "--arg", "scale=0.5", "--arg", "trio=trio.npy")
    done = run(COUNT, "--arg", "p=f32[32]:iota", *values, "--on", "both")
    assert (done.returncode, done.stderr) == (0, b"")
    done = run(TABLE, "--arg", "table=2*u32[32]", "--on", "both")
    assert (done.returncode, done.stderr) == (0, b"")
    unsigned = COUNT.replace(".param .s32 step", ".param .u32 step")
    done = run(unsigned, "--arg", "p=f32[32]:iota", *values, "--on", "both")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_structure_of_the_size_of_an_address_is_an_array_for_both(run: Run) -> None:
    text = ADD.replace(".param .u64 .ptr .global .align 4 x", ".param .align 8 .b8 x[8]")
    done = run(text, *LAUNCH, "--on", "both")
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_text_of_a_kernel_is_printed_once(run: Run) -> None:
    for options in (["--on", "gpu"], ["--on", "both"]):
        done = run(PRINT, "--arg", "n=7", *options)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"seven is 7\n", b"")
    done = run(PRINT, "--arg", "n=7", "--on", "gpu", "--time")
    assert (done.returncode, done.stderr, done.stdout.count(b"seven")) == (0, b"", 1)


def test_a_fault_is_a_message_and_the_next_run_works(run: Run) -> None:
    done = run(FAULT, "--block", "1", "--arg", "p=u32[8]", "--on", "gpu")
    assert done.returncode == 2
    (message, remedy) = done.stderr.decode().splitlines()
    assert message.startswith("ptxkit: error: the kernel `fault` did not run to completion on the GPU: CUDA_ERROR_")
    assert message.endswith("; grid 1, block 1, cluster 1; p=u32[8]")
    assert remedy.startswith("  = help: ")
    assert run(ADD, *LAUNCH, "--on", "both").returncode == 0


def test_a_hang_ends_and_the_next_run_works(run: Run) -> None:
    done = run(HANG, "--block", "32", "--arg", "p=u32[1]:zeros", "--on", "gpu", "--seconds", "3")
    assert done.returncode == 2
    assert b"no end within 3 s, so its process was ended; grid 1, block 32" in done.stderr
    assert run(ADD, *LAUNCH, "--on", "both").returncode == 0


def test_a_launch_that_the_gpu_cannot_do_is_a_message(run: Run) -> None:
    done = run(ADD, *LAUNCH, "--shared", "1000000", "--on", "gpu")
    assert done.returncode == 2
    assert b"shared memory" in done.stderr


def test_the_time_of_many_launches_is_measured_with_the_same_data(run: Run) -> None:
    values = ("--arg", "step=1", "--arg", "scale=1.0", "--arg", "trio=u32[3]:zeros")
    done = run(COUNT, "--arg", "p=f32[32]:zeros", *values, "--on", "both", "--time", "--out", "p")
    assert (done.returncode, done.stderr) == (0, b"")
    found = re.search(r"median of (\d+) launches: ([\d.]+) us; 128 bytes", done.stdout.decode())
    assert found is not None, done.stdout
    assert int(found[1]) >= 5
    assert 0 < float(found[2]) < 10_000


def test_a_tensor_map_is_encoded_by_the_driver(run: Run) -> None:
    if use_device().compute_capability.major != 9:
        pytest.skip("the kernel is for sm_90a")
    text = Path("corpus/kernels/hand_tensor_maps.sm_90a.ptx").read_text("utf-8")
    from ptxkit.testing.corpus.launch_table import load_launch_table

    (request, *_) = load_launch_table().requests_for(text, "kernels/hand_tensor_maps.sm_90a")
    extents = [
        part
        for name in ("grid", "block", "cluster")
        if (shape := getattr(request, name)) is not None
        for part in (f"--{name}", "x".join(map(str, shape)))
    ]
    given = [part for name, value in request.arguments.items() for part in ("--arg", f"{name}={value.text}")]
    shared = ["--shared", str(request.shared)] if request.shared else []
    done = run(text, "--entry", request.entries[0], *extents, *shared, *given, "--on", "both")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_cubin_of_the_command_runs(tmp_path: Path) -> None:
    (tmp_path / "add.ptx").write_text(ADD)
    major, minor = use_device().compute_capability
    done = shell("compile", "add.ptx", "--target", f"sm_{major}{minor}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    code = (tmp_path / "add.cubin").read_bytes()
    loaded = load(Cubin(code, f"sm_{major}{minor}", read_cubin(code).kernels, ""))
    x, y = (to_device(np.full(16, value, np.float32)) for value in (2, 1))
    loaded.launch(use_device().create_stream(), x, y, 16, grid=1, block=16)
    assert y.to_host().tolist() == [5.0] * 16
