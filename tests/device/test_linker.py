"""Several inputs, one program: every kind of input, names across them, and the errors where they do not match."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit import elf, parse
from ptxkit.build import Function, Global, Kernel, VerificationError, f32, u32
from ptxkit.device import (
    ArgumentError,
    CompileError,
    DeviceError,
    LinkError,
    NoDeviceError,
    Program,
    compile,  # noqa: A004
    cubin_reader,
    link,
    linker,
    to_device,
    use_device,
)
from ptxkit.device.nvjitlink import NvJitLinkInput, link_cubin
from ptxkit.kernels import gemm
from tests.build.support import ptxas
from tests.device.conftest import reason

HEADING = ".version 8.0\n.target sm_90\n.address_size 64\n"
CALLER = (
    HEADING
    + """.extern .func (.param .b32 result) scale_by(.param .b32 value, .param .b32 factor);
.visible .entry scaled(.param .u64 .ptr .global .align 4 data, .param .f32 factor)
.reqntid 32, 1, 1
{
    .reg .f32 %f<4>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.f32 %f1, [factor];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    {
        .param .b32 value;
        .param .b32 by;
        .param .b32 result;
        st.param.f32 [value], %f2;
        st.param.f32 [by], %f1;
        call.uni (result), scale_by, (value, by);
        ld.param.f32 %f3, [result];
    }
    st.global.f32 [%rd3], %f3;
    ret;
}
"""
)
FUNCTION = (
    HEADING
    + """.visible .func (.param .b32 result) scale_by(.param .b32 value, .param .b32 factor)
{
    .reg .f32 %f<4>;
    ld.param.f32 %f1, [value];
    ld.param.f32 %f2, [factor];
    mul.f32 %f3, %f1, %f2;
    st.param.f32 [result], %f3;
    ret;
}
"""
)
KERNEL = (
    HEADING
    + """.visible .entry other(.param .u64 data, .param .u32 count, .param .align 64 .b8 map[128]) .reqntid 64, 1, 1
{
    ret;
}
"""
)
LLVM = b"""target datalayout = "\
e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define float @scale_by(float %x, float %f) {
  %r = fmul float %x, %f
  ret float %r
}
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0, i32 3, i32 1}
"""
CUDA = 'extern "C" __device__ float scale_by(float value, float factor) { return value * factor; }\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache is not used."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@cache
def relocatable(text: str) -> bytes:
    """Returns a cubin as `ptxas -c` writes it."""
    source = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip()
    folder = Path(source)
    (folder / "f.ptx").write_text(text)
    command = [str(ptxas()), "-arch=sm_90", "-c", str(folder / "f.ptx"), "-o", str(folder / "f.cubin")]
    subprocess.run(command, check=True)
    data = (folder / "f.cubin").read_bytes()
    shutil.rmtree(folder)
    return data


def fat(folder: Path) -> bytes:
    """Returns the same inside a fat binary."""
    (folder / "f.cubin").write_bytes(relocatable(FUNCTION))
    program = ptxas().parent / "fatbinary"
    image = f"--image3=kind=elf,sm=90,file={folder / 'f.cubin'}"
    subprocess.run([str(program), "-64", f"--create={folder / 'f.fatbin'}", image], check=True)
    return (folder / "f.fatbin").read_bytes()


@cache
def intermediate(text: bytes = LLVM) -> bytes:
    """Returns LTO-IR, of LLVM's text."""
    nvvm: Any = importlib.import_module("cuda.bindings.nvvm")
    program = nvvm.create_program()
    nvvm.add_module_to_program(program, text, len(text), "f")
    nvvm.compile_program(program, 2, ["-arch=compute_90", "-gen-lto"])
    data = bytearray(nvvm.get_compiled_result_size(program))
    nvvm.get_compiled_result(program, data)
    return bytes(data)


def compile_files(folder: Path, *options: str) -> Path:
    """Returns nvcc's output for C++, which needs a compiler for the host."""
    program = ptxas().parent / "nvcc"
    if shutil.which("gcc") is None or not program.exists():
        pytest.skip("nvcc needs a host compiler")
    (folder / "f.cu").write_text(CUDA)
    result = folder / "f.o"
    command = [str(program), "-arch=sm_90", "-rdc=true", *options, "-c", str(folder / "f.cu"), "-o", str(result)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("nvcc does not work with the host compiler here")
    return result


def library(folder: Path) -> Path:
    result = folder / "libf.a"
    program = ptxas().parent / "nvcc"
    subprocess.run([str(program), "-lib", str(compile_files(folder)), "-o", str(result)], check=True)
    return result


def file(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


class ObjectCode:
    """Returns code as an object of `cuda.core`."""

    name, code_type = "f", "ltoir"

    def __init__(self) -> None:
        self.code = intermediate()


INPUTS: dict[str, Any] = {
    "text": lambda _: FUNCTION,
    "module": lambda _: parse(FUNCTION),
    "PTX in bytes": lambda _: FUNCTION.encode() + b"\0",
    "PTX in a file": lambda folder: file(folder, "f.ptx", FUNCTION.encode()),
    "cubin": lambda _: relocatable(FUNCTION),
    "cubin in a file": lambda folder: file(folder, "f.cubin", relocatable(FUNCTION)),
    "cubin of ours": lambda _: compile(FUNCTION, "sm_90"),
    "fat binary": fat,
    "LTO-IR": lambda _: intermediate(),
    "LTO-IR of cuda.core": lambda _: ObjectCode(),
    "object file": compile_files,
    "object file with LTO-IR": lambda folder: compile_files(folder, "-dlto"),
    "library": library,
}


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("first", [True, False])
def test_a_function_is_found_in_an_input_of_any_kind(kind: str, first: bool, folder: Path) -> None:
    other = INPUTS[kind](folder)
    program = link([CALLER, other] if first else [other, CALLER], "sm_90")
    assert list(program) == ["scaled"]
    assert not cubin_reader.read_cubin(program.cubin.code).is_relocatable
    assert cubin_reader.read_cubin(program.cubin.code).undefined_names == frozenset()
    signature = program["scaled"].signature
    assert [(each.name, each.type, each.space) for each in signature.arguments] == [
        ("data", "u64", "global"),
        ("factor", "f32", None),
    ]
    assert signature.threads == (32, 1, 1)


def test_kernels_of_the_builder_are_linked_with_the_rest() -> None:
    program = link([double(), KERNEL, CALLER, FUNCTION], "sm_90")
    assert set(program) == {"double", "other", "scaled"}
    assert program["double"].signature.threads == (64, 1, 1)
    assert program["double"].signature.arguments[0].element == "f32"
    with pytest.raises(DeviceError, match="no kernel is called 'scale'; the program holds"):
        program["scale"]


OTHER_KERNEL = b"""
define void @beside(float* %p) {
  ret void
}
@llvm.used = appending global [1 x i8*] [i8* bitcast (void (float*)* @beside to i8*)], section "llvm.metadata"
!nvvm.annotations = !{!1}
!1 = !{void (float*)* @beside, !"kernel", i32 1}
"""


def link_as_before_13_3(pieces: Sequence[NvJitLinkInput], options: Sequence[str]) -> tuple[bytes, str]:
    """Links only LTO-IR as a whole program in all cases, and removes its functions if it has a kernel."""
    if not any(piece.kind == "PTX" for piece in pieces):
        options = [each for each in options if each != "-r" or "-lto" not in options]
    code, log = link_cubin(pieces, options)
    if "-lto" in options and b"beside" in code:
        code = code.replace(b"scale_by", b"scale_no")  # no other input needs this name
    return code, log


@pytest.fixture
def before_13_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linker, "link_cubin", link_as_before_13_3)
    monkeypatch.setattr(linker, "nvjitlink_release", lambda: (13, 0))


@pytest.mark.usefixtures("before_13_3")
@pytest.mark.parametrize("kind", ["LTO-IR", "object file with LTO-IR"])
def test_releases_before_13_3_keep_functions_of_intermediate_code(kind: str, folder: Path) -> None:
    assert list(link([CALLER, INPUTS[kind](folder)], "sm_90")) == ["scaled"]


@pytest.mark.usefixtures("before_13_3")
def test_releases_before_13_3_compile_each_input_of_intermediate_code_separately() -> None:
    others = intermediate(LLVM.replace(b"scale_by", b"unused") + OTHER_KERNEL)
    assert set(link([CALLER, intermediate(), others], "sm_90")) == {"scaled", "beside"}


@pytest.mark.usefixtures("before_13_3")
def test_functions_that_releases_before_13_3_remove_are_reported() -> None:
    others = intermediate(LLVM + OTHER_KERNEL)
    message = (
        r"input 1 \(PTX\) needs 'scale_by', which no input defines; if input 2 defines it with a kernel, nvJitLink "
        r"13\.0 removed it: install 13\.3 or newer, or define it in LTO-IR without kernels$"
    )
    with pytest.raises(LinkError, match=message):
        link([CALLER, others], "sm_90")


def test_only_intermediate_code_is_one_program() -> None:
    assert link([intermediate()], "sm_90").cubin.code.startswith(elf.MAGIC)


def test_a_kernel_in_machine_code_has_its_parameters() -> None:
    signature = link([relocatable(KERNEL)], "sm_90")["other"].signature
    assert [(each.name, each.type, each.size) for each in signature.arguments] == [
        ("parameter 0", "b64", None),
        ("parameter 1", "b32", None),
        ("parameter 2", None, 128),
    ]
    assert signature.threads == (64, 1, 1)


def test_a_kernel_in_machine_code_has_its_cluster() -> None:
    k = Kernel("together", threads=(32, 2), cluster=(2, 2))
    k.cluster_sync()
    signature = link([relocatable(str(k))], "sm_90")["together"].signature
    assert (signature.threads, signature.cluster) == ((32, 2, 1), (2, 2, 1))


def test_a_linked_program_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    first = link([CALLER, FUNCTION], "sm_90")
    monkeypatch.setattr(linker, "link_cubin", lambda *_: pytest.fail("it was linked again"))
    assert link([CALLER, FUNCTION], "sm_90").cubin.code == first.cubin.code
    with pytest.raises(pytest.fail.Exception):
        link([CALLER, FUNCTION.replace("mul.f32", "add.f32")], "sm_90")
    with pytest.raises(pytest.fail.Exception):
        link([CALLER, FUNCTION], "sm_90", cache=False)


# -------------------------------------------------------------------------------------------------- errors


def test_a_missing_name_is_reported_with_the_input_that_needs_it(folder: Path) -> None:
    with pytest.raises(LinkError, match=r"^input 1 \(PTX\) needs 'scale_by', which no input defines$"):
        link([CALLER], "sm_90")
    path = file(folder, "caller.cubin", relocatable(CALLER))
    with pytest.raises(LinkError, match=r"caller\.cubin and input 2 need 'scale_by'"):
        link([path, relocatable(CALLER.replace("scaled", "again")), KERNEL], "sm_90")


def test_a_name_with_a_cpp_signature_is_pointed_out() -> None:
    with pytest.raises(LinkError, match=r"input 2 \(PTX\) defines '_Z8scale_byff', the same with a C\+\+ signature"):
        link([CALLER, FUNCTION.replace("scale_by", "_Z8scale_byff")], "sm_90")


def test_a_name_that_two_inputs_define_is_reported_with_both() -> None:
    with pytest.raises(LinkError, match=r"^input 2 \(PTX\) and input 3 both define 'scale_by'$"):
        link([CALLER, FUNCTION, relocatable(FUNCTION)], "sm_90")


def test_weak_names_may_be_defined_twice() -> None:
    weak = FUNCTION.replace(".visible", ".weak")
    assert list(link([CALLER, weak, weak + KERNEL.removeprefix(HEADING)], "sm_90")) == ["scaled", "other"]


def test_functions_with_two_different_signatures_are_reported() -> None:
    with pytest.raises(LinkError, match=r"disagree about 'scale_by': \(4, 4\) to \(4\) bytes and \(8, 4\) to \(4\)"):
        link([CALLER, FUNCTION.replace(".param .b32 value", ".param .b64 value")], "sm_90", verify=False)


def test_ptx_that_does_not_compile_is_reported_with_its_line() -> None:
    wrong = FUNCTION.replace("mul.f32", "mul.f77")
    with pytest.raises(CompileError, match=r"input 2 \(PTX\) does not compile for sm_90") as caught:
        link([CALLER, wrong], "sm_90", verify=False)
    assert caught.value.complaints[0].ptx == "mul.f77 %f3, %f1, %f2;"


def test_ptx_is_verified_first() -> None:
    with pytest.raises(VerificationError):
        link([CALLER, FUNCTION.replace("mul.f32", "mul.f77")], "sm_90")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "there is nothing to link"),
        (CALLER, r"the inputs are a list, link\(\[kernel, ...\]\), not as one str"),
        (Kernel("alone"), r"the inputs are a list, link\(\[kernel, ...\]\), not as one Kernel"),
        ([b"hello"], "input 1 is neither PTX nor a cubin"),
        (["kernel.ptx"], "input 1 is text without .version, so it is not PTX; a file is given as a Path"),
        ([CALLER, 7], "input 2: kernels, PTX, bytes and paths can be linked, not int"),
    ],
)
def test_an_unlinkable_input_is_reported(inputs: Any, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        link(inputs, "sm_90")


@pytest.mark.parametrize("others", [[], [CALLER]])
def test_damaged_intermediate_code_is_reported_with_its_name(others: list[str], folder: Path) -> None:
    wrong = file(folder, "wrong.ltoir", intermediate()[:100])
    with pytest.raises(LinkError, match=r"wrong\.ltoir cannot be linked"):
        link([*others, wrong], "sm_90")


def test_an_already_linked_cubin_is_reported() -> None:
    with pytest.raises(LinkError, match="input 2 is linked already; inputs must be relocatable"):
        link([CALLER, compile(FUNCTION, "sm_90").code], "sm_90")
    program = link([CALLER, FUNCTION], "sm_90")
    with pytest.raises(DeviceError, match="input 1 is a linked cubin, which cannot be linked again"):
        link([program.cubin], "sm_90")


def test_registers_that_a_kernel_sets_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="kernel 'gemm' sets its registers"):
        link([gemm(), KERNEL], verify=False)


@pytest.mark.skipif(reason() is None, reason="this machine has a GPU")
def test_without_a_gpu_a_program_is_linked_and_not_launched() -> None:
    with pytest.raises(NoDeviceError, match="so kernels can be compiled but not launched"):
        link([CALLER, FUNCTION], "sm_90")["scaled"][1](None, 2.0)


# ---------------------------------------------------------------------------------------------- on a device


def double() -> Kernel:
    k = Kernel("double", threads=64)
    data, count = k.param(Global[f32], "data"), k.param(u32, "count")
    i = k.ctaid.x * 64 + k.tid.x
    with k.if_(i < count):
        data[i].store(data[i].load() * 2.0)
    return k


def calling() -> Kernel:
    """A kernel that calls a function of another module."""
    k = Kernel("calling", threads=32)
    scale_by = k.external("scale_by", params=(f32, f32), results=f32)
    data = k.param(Global[f32], "data")
    data[k.tid.x].store(scale_by(k, data[k.tid.x].load(), k.param(f32, "factor")))
    return k


def test_a_kernel_of_the_builder_calls_what_another_input_defines() -> None:
    for other in (FUNCTION, relocatable(FUNCTION)):
        assert list(link([calling(), other], "sm_90")) == ["calling"]
    with pytest.raises(LinkError, match="kernel 'calling' needs 'scale_by', which no input defines"):
        link([calling()], "sm_90")


def scale_by() -> Function[Any]:
    """The function that is called, of the builder."""
    f = Function("scale_by", results=f32, visible=True)
    f.return_(f.param(f32, "value") * f.param(f32, "factor"))
    return f


def test_functions_of_the_builder_are_called_by_others() -> None:
    program = link([CALLER, scale_by(), calling()], "sm_90")
    assert set(program) == {"scaled", "calling"}
    with pytest.raises(LinkError, match=r"function 'scale_by' and input 2 \(PTX\) both define 'scale_by'"):
        link([scale_by(), FUNCTION], "sm_90")


@pytest.mark.device
def test_linked_kernels_run() -> None:
    stream = use_device().create_stream()
    program: Program = link([double(), calling(), CALLER, FUNCTION])
    data = to_device(np.arange(32, dtype=np.float32))
    program["scaled"].launch(stream, grid=1)(data, 3.0)
    program["double"].launch(stream, grid=1)(data, 32)
    program["calling"].launch(stream, grid=1)(data, 0.5)
    stream.sync()
    assert np.array_equal(data.to_host(), np.arange(32, dtype=np.float32) * 3)
    with pytest.raises(ArgumentError, match=r"points to \.f32"):
        program["double"][1](to_device(np.arange(32)), 32)
