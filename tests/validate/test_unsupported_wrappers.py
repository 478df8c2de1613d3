"""Calls of `cuda::ptx` that were compiled for the wrong target."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.build.support import ptxas
from tests.validate.modules import diagnostics, whole

MMA = "__cuda_ptx_tcgen05_mma_is_not_supported_before_SM_100a_SM_101a__"
BARRIER = "__cuda_ptx_mbarrier_arrive_is_not_supported_before_SM_90__"


def program(name: str, *, called: bool) -> str:
    call = f"call.uni {name}, ();\n" if called else ""
    return whole(f".extern .func {name}\n()\n;\n.entry k() {{\n{call}{call}ret;\n}}")


def test_a_call_is_an_error_that_names_operation_targets_and_fix() -> None:
    (found,) = diagnostics(program(MMA, called=True))
    assert (found.code, found.severity) == ("PTX802", Severity.ERROR)
    assert "`cuda::ptx::tcgen05_mma` needs the target sm_100a or sm_101a" in found.message
    assert "was compiled for sm_90a" in found.message
    assert "2 times" in found.message
    assert found.source.text[found.span.start : found.span.end] == MMA
    assert found.source.position(found.span.start)[0] == 8
    assert found.help is not None
    assert "nvcc -arch=sm_100a" in found.help


def test_a_feature_of_all_later_targets_is_reported_as_such() -> None:
    (found,) = diagnostics(program(BARRIER, called=True))
    assert "needs the target sm_90 or later" in found.message


def test_a_declaration_without_a_call_is_a_warning() -> None:
    (found,) = diagnostics(program(MMA, called=False))
    assert (found.code, found.severity) == ("PTX802", Severity.WARNING)


def test_another_undefined_function_is_left_to_the_linker() -> None:
    assert diagnostics(program("__cuda_ptx_is_supported", called=True)) == ()


@pytest.mark.parametrize("called", [True, False])
def test_ptxas_rejects_a_whole_program_with_such_a_call(tmp_path: Path, called: bool) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(program(MMA, called=called))
    command = [str(ptxas()), "-arch=sm_90a", str(path), "-o", str(tmp_path / "k.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == called
