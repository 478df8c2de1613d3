"""PTX to cubin without a GPU and driver."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ptxkit import PTXSyntaxError, parse
from ptxkit.build import Global, Kernel, VerificationError, f32, u32
from ptxkit.device import (
    CompileError,
    DeviceError,
    compile,  # noqa: A004
    link,
    ptxas_program,
)
from ptxkit.kernels import bulk_add_one
from ptxkit.syntax.tree import Name
from tests.build.support import marked_line
from tests.build.test_verification import build_stages

PLAIN = """\
.version 8.0
.target sm_80
.address_size 64

.visible .entry plain(.param .u64 .ptr .global .align 8 data, .param .f32 factor)
.maxntid 64, 1, 1
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [data];
	ret;
}
"""


@pytest.mark.parametrize("target", ["sm_90", "sm_90a", "sm_100a"])
def test_a_kernel_becomes_machine_code_of_the_target(target: str) -> None:
    cubin = compile(bulk_add_one(), target)
    assert cubin.code.startswith(b"\x7fELF")
    assert cubin.target == target
    assert cubin.ptx == str(bulk_add_one())


def test_a_module_and_a_text_compile_too() -> None:
    assert compile(PLAIN).code.startswith(b"\x7fELF")
    assert compile(parse(PLAIN)).code.startswith(b"\x7fELF")


def test_the_signature_of_a_built_kernel_has_its_elements() -> None:
    kernel = compile(bulk_add_one()).kernel()
    assert kernel.threads == (128, 1, 1)
    assert [(each.name, each.type, each.space, each.element, each.alignment) for each in kernel.arguments] == [
        ("source", "u64", "global", "f32", 16),
        ("target", "u64", "global", "f32", 16),
        ("count", "u32", None, None, 1),
    ]


def test_the_signature_of_a_text_has_its_declared_types() -> None:
    kernel = compile(PLAIN).kernel("plain")
    assert kernel.threads is None
    assert [(each.name, each.type, each.space, each.element, each.alignment) for each in kernel.arguments] == [
        ("data", "u64", "global", None, 8),
        ("factor", "f32", None, None, 1),
    ]


def test_a_missing_kernel_is_reported_with_the_existing_ones() -> None:
    with pytest.raises(DeviceError, match="no kernel is called 'other'; the cubin holds plain"):
        compile(PLAIN).kernel("other")


def test_a_kernel_with_an_error_is_not_compiled() -> None:
    with pytest.raises(VerificationError, match="nothing was compiled"):
        compile(build_stages(wait=False))


def test_verification_can_be_omitted_intentionally() -> None:
    assert compile(build_stages(wait=False), verify=False).code.startswith(b"\x7fELF")


def test_text_that_is_not_ptx_is_a_syntax_error() -> None:
    with pytest.raises(PTXSyntaxError):
        compile("this is no PTX")


def test_an_error_of_the_compiler_is_reported_at_the_users_line() -> None:
    k = Kernel("needs_more", target="sm_90a")
    k.setmaxnreg_inc(64)  # not for sm_80
    with pytest.raises(CompileError) as caught:
        compile(k, "sm_80", verify=False)
    assert "needs_more does not compile for sm_80" in str(caught.value)

    k = Kernel("unknown")
    k.emit("mov.u32", k.register(u32), Name("%nothing"))  # no such register
    with pytest.raises(CompileError) as caught:
        compile(k, verify=False)
    complaint = next(each for each in caught.value.complaints if each.line is not None)
    assert complaint.ptx == "mov.u32 %r0, %nothing;"
    assert complaint.location == marked_line("no such register")
    assert "k.emit(" in str(caught.value)


def test_unknown_targets_and_options_of_nvjitlink_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ptxas_program, "select_ptxas", lambda *_: None)  # an older ptxas may support an older target
    with pytest.raises(DeviceError, match="'hopper' is not a target"):
        compile(PLAIN, "hopper")
    with pytest.raises(DeviceError, match=r"nvJitLink \d+\.\d+ makes no machine code for 'sm_50'; use for"):
        compile(PLAIN.replace("sm_80", "sm_50"), "sm_50")
    with pytest.raises(DeviceError, match=r"nvJitLink \d+\.\d+ does not take the options .* -no-such-option"):
        compile(PLAIN, options=["-no-such-option"])
    with pytest.raises(DeviceError, match="not int"):
        compile(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["sm_9", "sm_1", "sm_09", "compute_90", "sm_9000"])
def test_options_that_end_the_process_in_nvjitlink_and_unknown_chips_are_rejected_before(target: str) -> None:
    with pytest.raises(DeviceError, match=f"'{target}' is not a target for machine code"):
        compile(PLAIN, target)
    with pytest.raises(DeviceError, match=f"'{target}' is not a target for machine code"):
        link([PLAIN], target)


def test_debugging_lines_reach_the_cubin() -> None:
    plain, debug = compile(bulk_add_one()), compile(bulk_add_one(debug=True))
    assert b"bulk_add_one.py" in debug.code
    assert b"bulk_add_one.py" not in plain.code


def test_a_cubin_is_written_as_a_file(tmp_path: Path) -> None:
    cubin = compile(PLAIN)
    cubin.write(tmp_path / "plain.cubin")
    assert (tmp_path / "plain.cubin").read_bytes() == cubin.code


def test_importing_the_package_imports_nothing_of_cuda() -> None:
    script = "import ptxkit.device, sys; print('cuda' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_text_without_kernels_compiles_and_offers_none() -> None:
    cubin = compile(".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 number = 5;\n")
    assert cubin.kernels == ()


def test_errors_in_a_text_have_the_lines_of_that_text() -> None:
    text = "// first line\n" + str(build_stages(wait=False))
    with pytest.raises(VerificationError) as caught:
        compile(text)
    (found,) = caught.value.diagnostics
    assert found.source.text == text
    assert "ld.shared.v4" in found.source.line_text(found.source.position(found.span.start)[0])
    assert caught.value.blames[0].location is None


def test_a_function_of_another_module_must_be_linked() -> None:
    k = Kernel("k", threads=32)
    norm = k.external("norm", params=(f32,), results=f32)
    k.param(Global[f32], "out").store(norm(k, 1.0))
    with pytest.raises(CompileError, match=r"'norm' is of another module: link the two, `ptxkit.link"):
        compile(k, "sm_90")
