"""Which modules are compiled as a whole, and by what."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import Kernel
from ptxkit.device import CompileError, MissingLibraryError, assembler
from ptxkit.device import compile as compile_kernel
from ptxkit.kernels import bulk_add_one


def kernel_with_roles() -> Kernel:
    k = Kernel("roles", threads=256, registers=128)
    with k.role(warps=range(4), registers=40):
        k.cta_sync(1, 128)
    with k.role(warps=range(4, 8), registers=200):
        k.cta_sync(2, 128)
    return k


def test_a_module_that_sets_registers_is_compiled_as_a_whole() -> None:
    assert assembler.sets_registers(kernel_with_roles().module())
    assert not assembler.sets_registers(bulk_add_one().module())


def test_its_machine_code_comes_from_ptxas_which_heeds_the_instruction() -> None:
    found = compile_kernel(kernel_with_roles(), cache=False, options=("-v",))
    assert found.code.startswith(b"\x7fELF")
    assert "Used 128 registers" in found.log
    assert "ignored" not in found.log


def test_what_ptxas_refuses_is_told_with_its_line() -> None:
    text = str(kernel_with_roles()).replace("bar.sync 1, 128;", "bar.sync 16, 128;")
    with pytest.raises(CompileError) as caught:
        compile_kernel(text, verify=False, cache=False)
    (complaint,) = caught.value.complaints
    assert complaint.ptx == "bar.sync 16, 128;"


def test_without_ptxas_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler, "ptxas", lambda: None)
    with pytest.raises(MissingLibraryError, match="pip install nvidia-cuda-nvcc"):
        assembler.assembled("", "sm_90a", ())


def test_ptxas_is_found_by_the_environment_and_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "ptxas"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr(assembler, "_PACKAGES", ())
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert assembler.ptxas.__wrapped__() == program
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setenv("PATH", str(program.parent))
    assert assembler.ptxas.__wrapped__() == program
    monkeypatch.setenv("PATH", "")
    assert assembler.ptxas.__wrapped__() is None
