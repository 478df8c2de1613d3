"""The modules that are compiled as a whole, and their compiler."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ptxkit import cuda_programs, parse
from ptxkit.build import Global, Kernel, u32
from ptxkit.device import (
    CompileError,
    Complaint,
    Cubin,
    MissingLibraryError,
    compiler,
    device_target,
    load,
    ptxas_program,
    to_device,
    use_device,
)
from ptxkit.device import compile as compile_kernel
from ptxkit.device.nvjitlink import UnknownTargetError
from ptxkit.kernels import bulk_add_one
from ptxkit.testing.oracles import compile_paths
from ptxkit.testing.oracles.compile_paths import compile_at_level, explain_missing_release


def kernel_with_roles() -> Kernel:
    k = Kernel("roles", threads=256, registers=128)
    with k.role(warps=range(4), registers=40):
        k.cta_sync(1, 128)
    with k.role(warps=range(4, 8), registers=200):
        k.cta_sync(2, 128)
    return k


def test_a_module_that_sets_registers_is_compiled_as_a_whole() -> None:
    assert ptxas_program.has_setmaxnreg(kernel_with_roles().module())
    assert not ptxas_program.has_setmaxnreg(bulk_add_one().module())


def test_its_machine_code_comes_from_ptxas_which_implements_the_instruction() -> None:
    found = compile_kernel(kernel_with_roles(), cache=False, options=("-v",))
    assert found.code.startswith(b"\x7fELF")
    assert "Used 128 registers" in found.log
    assert "ignored" not in found.log


def test_an_error_of_ptxas_is_reported_with_its_line() -> None:
    text = str(kernel_with_roles()).replace("bar.sync 1, 128;", "bar.sync 16, 128;")
    with pytest.raises(CompileError) as caught:
        compile_kernel(text, verify=False, cache=False)
    (complaint,) = caught.value.complaints
    assert complaint.ptx == "bar.sync 16, 128;"


def test_without_ptxas_one_sentence_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", tuple)
    with pytest.raises(MissingLibraryError, match="pip install nvidia-cuda-nvcc"):
        compile_kernel(kernel_with_roles(), cache=False)


def test_ptxas_is_found_by_the_environment_and_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "ptxas"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr(cuda_programs, "_FOLDERS", ())
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert ptxas_program.find_all_ptxas.__wrapped__() == (program,)
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("PATH", str(program.parent))
    assert ptxas_program.find_all_ptxas.__wrapped__() == (program,)
    monkeypatch.setenv("PATH", "")
    assert ptxas_program.find_all_ptxas.__wrapped__() == ()


def program(folder: Path, release: str, newest: str, targets: tuple[str, ...] = ("90a",)) -> Path:
    """A file that reports the version of some ptxas release, and compiles by the installed one."""
    folder.mkdir()
    found = folder / "ptxas"
    there = ptxas_program.find_ptxas()
    known = " ".join(f"'compute_{each}'" for each in targets)
    found.write_text(
        f"""#!/bin/sh
case "$*" in
*--version*) echo "release {release}, V{release}" ;;
*--help*) echo "{known}" ;;
*probe.ptx*) echo "Unsupported .version 99.0; current version is '{newest}'" ;;
*) exec "{there}" "$@" ;;
esac
"""
    )
    found.chmod(0o755)
    return found


def test_the_first_ptxas_that_supports_the_module_and_the_target_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old, new = program(tmp_path / "old", "12.8", "7.8"), program(tmp_path / "new", "13.0", "9.0", ("90a", "100a"))
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", lambda: (old, new))
    k = kernel_with_roles()
    assert ptxas_program.version_of(k.module()) == (8, 0)
    found = compile_kernel(k, cache=False)
    assert found.compiler == f"ptxas 13.0 ({new})"
    older = parse(str(k).replace(".version 8.0", ".version 7.8"))
    first = ptxas_program.select_ptxas(older, "sm_90a")
    assert first is not None
    assert str(first) == f"ptxas 12.8 ({old})"
    assert ptxas_program.select_ptxas(k.module(), "sm_120a") is None


def test_a_file_that_is_not_ptxas_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken, new = tmp_path / "ptxas", program(tmp_path / "new", "13.0", "9.0")
    broken.write_text("")
    broken.chmod(0o755)
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", lambda: (broken, new))
    assert compile_kernel(kernel_with_roles(), cache=False).compiler == f"ptxas 13.0 ({new})"


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("kill -SEGV $$", r"ptxas 13\.0 \(.*\) was ended by the signal SIGSEGV$"),
        ("echo no memory; kill -KILL $$", r"was ended by the signal SIGKILL\nno memory$"),
        ("exit 4", r"ptxas 13\.0 \(.*\) ended with status 4 and without a message$"),
        ("echo wrong; exit 4", r"^wrong$"),
    ],
)
def test_a_ptxas_that_ends_without_a_message_is_an_error_with_its_status(
    end: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failing = program(tmp_path / "failing", "13.0", "9.0")
    failing.write_text(failing.read_text().replace("*) exec", f"*) {end} ;;\nnever) exec"))
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", lambda: (failing,))
    assert re.search(message, str(compile_at_level(str(bulk_add_one()), "sm_90a", "3")))


def test_a_module_of_a_version_that_no_compiler_knows_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old, new = program(tmp_path / "old", "12.8", "8.7"), program(tmp_path / "new", "13.0", "9.0")
    newer = parse(str(bulk_add_one()).replace(".version 8.0", ".version 9.4"))
    roles = parse(str(kernel_with_roles()).replace(".version 8.0", ".version 9.4"))
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", lambda: (new, old))
    monkeypatch.setattr(compile_paths, "newest_nvjitlink_version", lambda _: (9, 4))
    assert explain_missing_release(newer, "sm_90a") == ""
    missing = "needs PTX 9.4; the newest compiler here knows 9.0"
    assert explain_missing_release(roles, "sm_90a") == missing
    monkeypatch.setattr(compile_paths, "newest_nvjitlink_version", lambda _: (9, 0))
    assert explain_missing_release(newer, "sm_90a") == missing
    assert explain_missing_release(bulk_add_one().module(), "sm_90a") == ""


def test_where_every_ptxas_is_too_old_nvjitlink_compiles_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = program(tmp_path / "old", "12.8", "7.8")
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", lambda: (old,))
    with pytest.warns(UserWarning, match=r"no ptxas here compiles PTX 8\.0 for sm_90a: ptxas 12\.8 .* up to 7\.8"):
        found = compile_kernel(kernel_with_roles(), cache=False)
    assert found.compiler.startswith("nvJitLink ")
    assert found.code.startswith(b"\x7fELF")
    text = str(bulk_add_one())
    linked = compile_at_level(text, "sm_90a", "3")
    assert isinstance(linked, Cubin)
    assert linked.compiler.startswith("nvJitLink ")
    assert "no ptxas here compiles" in str(compile_at_level(text, "sm_90a", "1"))


@pytest.mark.parametrize(
    "refusal",
    [
        CompileError("k", "sm_90a", [Complaint("Unsupported .version 9.9; current version is '9.0'")]),
        UnknownTargetError("nvJitLink 12.8 makes no machine code for 'sm_90a'"),
    ],
)
def test_where_nvjitlink_is_too_old_ptxas_compiles(monkeypatch: pytest.MonkeyPatch, refusal: Exception) -> None:
    def refuse(*_: object) -> None:
        raise refusal

    monkeypatch.setattr(compiler, "_link_single", refuse)
    found = compile_kernel(bulk_add_one(), cache=False)
    assert found.compiler.startswith("ptxas ")
    monkeypatch.setattr(ptxas_program, "find_all_ptxas", tuple)
    with pytest.raises(type(refusal)):
        compile_kernel(bulk_add_one(), cache=False)


def test_a_stored_program_names_its_compiler() -> None:
    made = [compile_kernel(bulk_add_one()).compiler for _ in range(2)]
    assert made[0] == made[1]
    assert made[0].startswith("nvJitLink ")


@pytest.mark.device
def test_code_by_each_compiler_runs() -> None:
    text = str(kernel_with_out())
    target = device_target(use_device().compute_capability)
    codes = [compile_at_level(text, target, level) for level in ("3", "link")]
    assert [code.compiler.partition(" ")[0] for code in codes if isinstance(code, Cubin)] == ["ptxas", "nvJitLink"]
    for code in codes:
        assert isinstance(code, Cubin)
        data = to_device(np.zeros(32, np.uint32))
        load(code).launch(use_device().create_stream(), data, grid=1)
        assert data.to_host().tolist() == list(range(32))


def kernel_with_out() -> Kernel:
    k = Kernel("numbers", threads=32)
    k.param(Global[u32], "out")[k.tid.x].store(k.tid.x)
    return k
