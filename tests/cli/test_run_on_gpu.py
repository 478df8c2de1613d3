"""`ptxkit run --on gpu` and `--on both`, with a replacement of the GPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from ptxkit.device_runs import watched_launch
from ptxkit.processes import cpu_time
from ptxkit.processes.cpu_time import CpuUsage
from tests.cli import fake_gpu

Run = Callable[..., Result]
Behave = Callable[[str], None]

ADD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y, .param .u32 n)
{
\t.reg .b64 %rd<4>;
\t.reg .b32 %r<3>;
\t.reg .f32 %f<4>;
\t.reg .pred %p;
\tmov.u32 %r1, %tid.x;
\tld.param.u32 %r2, [n];
\tsetp.ge.u32 %p, %r1, %r2;
\t@%p bra $done;
\tld.param.u64 %rd1, [x];
\tld.param.u64 %rd2, [y];
\tmul.wide.u32 %rd3, %r1, 4;
\tadd.u64 %rd1, %rd1, %rd3;
\tadd.u64 %rd2, %rd2, %rd3;
\tld.global.f32 %f1, [%rd1];
\tld.global.f32 %f2, [%rd2];
\tfma.rn.f32 %f3, %f1, %f1, %f2;
\tst.global.f32 [%rd2], %f3;
$done:
\tret;
}
"""
PRINT = """\
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[13] = {115, 101, 118, 101, 110, 32, 105, 115, 32, 37, 100, 10, 0};
.visible .entry print(.param .u32 n)
.reqntid 1
{
\t.local .align 4 .b8 depot[4];
\t.reg .b64 %rd<5>;
\t.reg .b32 %r<3>;
\tld.param.u32 %r1, [n];
\tmov.u64 %rd1, depot;
\tst.local.u32 [%rd1], %r1;
\tcvta.local.u64 %rd2, %rd1;
\tmov.u64 %rd3, text;
\tcvta.global.u64 %rd4, %rd3;
\t{
\t.param .b64 a;
\t.param .b64 b;
\t.param .b32 c;
\tst.param.b64 [a], %rd4;
\tst.param.b64 [b], %rd2;
\tcall.uni (c), vprintf, (a, b);
\tld.param.b32 %r2, [c];
\t}
\tret;
}
"""
"""Prints a number."""
LAUNCH = ("--block", "16", "--arg", "x=f32[4,4]:iota", "--arg", "y=f32[4,4]:ones", "--arg", "n=16")


@pytest.fixture
def behave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Behave:
    """Chooses what the GPU does. No time passes for a process that does not hang."""
    (tmp_path / "add.ptx").write_text(ADD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watched_launch, "serve_launch", fake_gpu.serve)
    monkeypatch.setenv(fake_gpu.FOLDER, str(tmp_path))
    monkeypatch.setattr(
        cpu_time, "cpu_usage_of", lambda _: CpuUsage(0.0, is_runnable=not (tmp_path / "hangs").exists())
    )
    return lambda behavior: monkeypatch.setenv(fake_gpu.BEHAVIOR, behavior)


def is_gone(folder: Path) -> bool:
    """Returns whether the process of the GPU has ended."""
    try:
        os.kill(int((folder / "pid").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_a_kernel_runs_on_the_gpu(ptxkit: Run, behave: Behave, tmp_path: Path) -> None:
    behave("works")
    done = ptxkit("run", *LAUNCH, "--on", "gpu", "--out", "y=y.npy", "--out", "x", "add.ptx")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("[[ 0.  1.")
    expected = np.arange(16, dtype=np.float32).reshape(4, 4) ** 2 + 1
    assert np.array_equal(np.load("y.npy"), expected)
    assert is_gone(tmp_path)


def test_the_arrays_of_both_sides_are_equal(ptxkit: Run, behave: Behave) -> None:
    behave("works")
    done = ptxkit("run", *LAUNCH, "--on", "both", "--out", "y", "add.ptx")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.count("[[") == 1


def test_the_first_difference_is_named_with_its_bits(ptxkit: Run, behave: Behave) -> None:
    behave("differs")
    done = ptxkit("run", *LAUNCH, "--on", "both", "add.ptx")
    assert done.exit_code == 1
    assert done.stderr == (
        "ptxkit: error: `y` differs in 2 of 16 elements, first at [1, 1]: 26.0 (0x41d00000) on the machine, "
        "nan (0x7fc00001) on the GPU\n"
        "  = help: a race is a likely reason: `ptxkit verify` runs the kernel with other schedules\n"
    )


def test_a_difference_in_bits_that_the_manual_leaves_open_is_explained(
    ptxkit: Run, behave: Behave, tmp_path: Path
) -> None:
    behave("differs")
    (tmp_path / "add.ptx").write_text(ADD.replace("st.global", "ex2.approx.f32 %f3, %f3;\n\tst.global"))
    done = ptxkit("run", *LAUNCH, "--on", "both", "add.ptx")
    assert done.exit_code == 1
    assert "= help: the manual leaves bits of these results open: approximate functions (ex2.approx.f32)" in done.stderr


def test_nan_patterns_are_compared_bit_by_bit(ptxkit: Run, behave: Behave, tmp_path: Path) -> None:
    behave("differs")
    np.save("x.npy", np.full((4, 4), np.nan, np.float32))
    arguments = ("--block", "16", "--arg", "x=x.npy", "--arg", "y=f32[4,4]:ones", "--arg", "n=16")
    done = ptxkit("run", *arguments, "--on", "both", "add.ptx")
    assert done.exit_code == 1
    assert "nan (0x7fffffff) on the machine, nan (0x7fc00001) on the GPU" in done.stderr


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        ("fails", "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"),
        ("hangs", "no end within 1 s, so its process was ended"),
        ("dies", "the process broke down"),
    ],
)
@pytest.mark.parametrize("on", ["gpu", "both"])
def test_a_fault_or_a_hang_is_a_message_with_the_launch(
    ptxkit: Run, behave: Behave, tmp_path: Path, behavior: str, reason: str, on: str
) -> None:
    behave(behavior)
    done = ptxkit("run", *LAUNCH, "--on", on, "--seconds", "1", "add.ptx")
    assert done.exit_code == 2
    assert done.stderr == (
        f"ptxkit: error: the kernel `add` did not run to completion on the GPU: {reason}; grid 1, block 16, cluster 1; "
        "x=f32[4,4]:iota, y=f32[4,4]:ones, n=16\n"
        "  = help: run it on the reference machine, which names the access or the wait: `--on machine`\n"
    )
    assert is_gone(tmp_path)


def test_the_time_is_the_median_with_the_bytes_of_the_arrays(ptxkit: Run, behave: Behave) -> None:
    behave("works")
    for on in ("gpu", "both"):
        done = ptxkit("run", *LAUNCH, "--on", on, "--time", "add.ptx")
        assert done.exit_code == 0
        assert done.stdout == (
            "median of 3 launches: 4.0 us; 128 bytes (the sizes of all array arguments, each once), 0.0 GB/s\n"
        )


@pytest.mark.parametrize("on", ["gpu", "both", "machine"])
def test_the_text_of_a_kernel_is_printed_once(ptxkit: Run, behave: Behave, tmp_path: Path, on: str) -> None:
    behave("works")
    (tmp_path / "print.ptx").write_text(PRINT)
    done = ptxkit("run", "--on", on, "--arg", "n=7", "print.ptx")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "seven is 7\n", "")


def test_without_a_gpu_the_reason_is_stated(ptxkit: Run, behave: Behave) -> None:
    behave("none")
    done = ptxkit("run", *LAUNCH, "--on", "gpu", "add.ptx")
    assert (done.exit_code, done.stderr) == (2, "ptxkit: error: no GPU here\n  = help: leave out `--on`\n")


def test_textures_are_refused_by_name(ptxkit: Run, behave: Behave, tmp_path: Path) -> None:
    behave("works")
    (tmp_path / "t.ptx").write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 s)\n{\n\tret;\n}\n"
    )
    arguments = ("--block", "1", "--arg", "t=u32[4]", "--arg", "s=texture:f32[8,8]:random", "t.ptx")
    done = ptxkit("run", "--on", "gpu", *arguments)
    assert (done.exit_code, done.stderr.splitlines()[0]) == (
        2,
        "ptxkit: error: `--arg s`: a texture is an argument of the reference machine only",
    )
    assert not (tmp_path / "pid").exists()
    assert ptxkit("run", *arguments).exit_code == 0


def test_code_for_another_gpu_is_refused(ptxkit: Run, behave: Behave, tmp_path: Path) -> None:
    behave("works")
    (tmp_path / "add.ptx").write_text(ADD.replace(".version 8.0\n.target sm_80", ".version 8.8\n.target sm_100a"))
    done = ptxkit("run", *LAUNCH, "--on", "gpu", "add.ptx")
    assert done.exit_code == 2
    assert "code for sm_100a does not run on this GPU" in done.stderr
    assert is_gone(tmp_path)


def test_an_error_on_the_machine_leaves_the_gpu_out(ptxkit: Run, behave: Behave, tmp_path: Path) -> None:
    behave("works")
    short = ("--block", "16", "--arg", "x=f32[4]", "--arg", "y=f32[16]", "--arg", "n=16")
    done = ptxkit("run", *short, "--on", "both", "add.ptx")
    assert done.exit_code == 1
    assert "PTX207 error" in done.stdout
    assert (
        done.stderr
        == "ptxkit: warning: the GPU did not run the kernel: the run on the machine has errors or is incomplete\n"
    )
    assert not (tmp_path / "pid").exists()
