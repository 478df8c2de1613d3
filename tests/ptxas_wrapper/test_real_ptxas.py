"""Which ptxas runs: never this program, and no other one twice."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from ptxkit import cuda_programs
from ptxkit.cuda_programs import find_programs
from ptxkit.ptxas_wrapper.real_ptxas import GUARD, NoPtxasError, find_real_ptxas
from tests.ptxas_wrapper.support import Build, ran, write_program

SOURCE = """\
__global__ void scale(float *out, const float *in) {
    __shared__ float tile[32];
    unsigned at = __cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(in + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");

    out[threadIdx.x] = tile[threadIdx.x] * 2;
}
"""
"""A kernel in CUDA C++ that reads what a copy may still be writing."""


def place(folder: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    return write_program(folder / name / "ptxas", text)


def test_the_first_other_ptxas_in_the_path_is_found_before_those_of_toolkits_and_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write_program(tmp_path / "own" / "ptxkit-ptxas", "")
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "ptxas").symlink_to(program)
    second, toolkit = place(tmp_path, "second"), place(tmp_path, "home/bin")
    place(tmp_path, "plain").chmod(0o644)
    path = os.pathsep.join(str(tmp_path / name) for name in ("first", "plain", "missing", "second"))
    environment = {"PATH": f"{path}{os.pathsep}", "CUDA_HOME": str(tmp_path / "home")}
    assert find_real_ptxas(str(tmp_path / "first" / "ptxas"), environment) == str(second)
    del environment["PATH"]
    assert find_real_ptxas(str(program), environment) == str(toolkit)
    assert find_real_ptxas(str(program), {}) == str(find_programs("ptxas")[0])
    monkeypatch.setattr(cuda_programs, "_FOLDERS", ())
    with pytest.raises(NoPtxasError, match="name one by `PTXKIT_REAL_PTXAS`, or `pip install nvidia-cuda-nvcc`"):
        find_real_ptxas(str(program), {})


def test_the_given_ptxas_is_run(build: Build) -> None:
    other = place(build.folder, "other", "#!/bin/sh\necho other\n")
    assert build.run("k.ptx", PTXKIT_REAL_PTXAS=str(other)).stdout == b"other\n"


def test_a_link_to_the_program_named_ptxas_runs_the_next_ptxas(build: Build) -> None:
    (build.folder / "links").mkdir()
    link = build.folder / "links" / "ptxas"
    link.symlink_to(build.program)
    done = build.run("-v", program=link, PATH=f"{link.parent}:{build.fake.parent}")
    assert done.stdout == ran(["-v"])


@pytest.mark.parametrize("name", ["itself", "link"])
def test_the_program_does_not_run_itself(build: Build, name: str) -> None:
    given = build.program
    if name == "link":
        given = build.folder / "ptxas"
        given.symlink_to(build.program)
    done = build.run(PTXKIT_REAL_PTXAS=str(given))
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr.decode() == (
        f"ptxkit-ptxas: error: `PTXKIT_REAL_PTXAS={given}` is a program that calls this one; name the real ptxas\n"
    )


def test_a_wrapper_that_calls_the_ptxas_in_the_path_is_run_once(build: Build) -> None:
    """As a script named ptxas does that calls `ptxas`, and another installation of this program."""
    log = build.folder / "log"
    wrapper = place(build.folder, "wrapper", f'#!/bin/sh\necho once >> {log}\nexec ptxas "$@"\n')
    links = build.folder / "links"
    links.mkdir()
    (links / "ptxas").symlink_to(build.program)
    path = f"{links}:{wrapper.parent}:{build.fake.parent}"
    build.write("k.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { nonsense; }\n")
    done = build.run("k.ptx", program=links / "ptxas", PATH=path)
    assert done.stdout == ran(["k.ptx"])
    assert log.read_text() == "once\n"
    assert done.stderr.count(b"PTX1") == 1  # checked by the first call only
    without = build.run(
        "k.ptx", program=links / "ptxas", PATH=f"{links}:{wrapper.parent}", PTXKIT_REAL_PTXAS=str(wrapper)
    )
    assert without.returncode == 127
    assert b"is a program that calls this one" in without.stderr


def test_a_ptxas_that_cannot_be_run_is_an_error(build: Build) -> None:
    broken = place(build.folder, "broken", "no program")
    done = build.run(PTXKIT_REAL_PTXAS=str(broken))
    assert (done.returncode, done.stdout) == (126, b"")
    assert done.stderr.decode() == f"ptxkit-ptxas: error: `{broken}` cannot be run: Exec format error\n"
    assert build.run(PTXKIT_REAL_PTXAS="/no/such/ptxas").returncode == 126


def test_the_environment_of_ptxas_has_one_more_variable(build: Build) -> None:
    program = place(build.folder, "printing", f"#!{sys.executable}\nimport os\nprint(sorted(os.environ.items()))\n")
    direct = build.run(program=program, PTXKIT_REAL_PTXAS=str(program))
    through = build.run(PTXKIT_REAL_PTXAS=str(program))
    added = set(eval(through.stdout)) - set(eval(direct.stdout))
    assert added == {(GUARD, os.path.realpath(program))}


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler for the host")
def test_nvcc_calls_a_link_in_its_folder(build: Build) -> None:
    """The folder of docs/howto/ptxas-front.md, with the nvcc of the package index."""
    toolkit = find_programs("ptxas")[0].parents[1]
    folder = build.folder / "nvcc"
    folder.mkdir()
    for path in (toolkit / "bin").iterdir():
        (folder / path.name).symlink_to(path)
    for name in ("ptxas", "nvcc.profile"):
        (folder / name).unlink()
    (folder / "ptxas").symlink_to(build.program)
    profile = (toolkit / "bin" / "nvcc.profile").read_text()
    profile = profile.replace("$(_HERE_)/..", str(toolkit)).replace("$(_HERE_):", "$(_HERE_):$(TOP)/bin:")
    (folder / "nvcc.profile").write_text(profile)
    build.write("broken.cu", SOURCE)
    arguments = ["-std=c++17", "-arch=sm_90a", "-lineinfo", "-cubin", "broken.cu", "-o", "broken.cubin"]
    search = f"{build.fake.parent}:{os.environ['PATH']}"
    done = build.run(*arguments, program=folder / "nvcc", PATH=search)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(b"broken.cu:7:")
    assert b"PTX302 error: " in done.stderr
    assert (build.work / "broken.cubin").read_bytes().startswith(b"\x7fELF")
    (build.work / "broken.cubin").unlink()
    failed = build.run(*arguments, program=folder / "nvcc", PATH=search, PTXKIT_PTXAS_FAIL_ON="error")
    assert failed.returncode == 1
    assert not (build.work / "broken.cubin").exists()
