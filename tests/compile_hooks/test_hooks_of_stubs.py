"""The hooks of the compilers that the environment of the tests lacks, with stubs of their interfaces (`stubs`)."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from ptxkit.compile_hooks import cupy, cute_dsl, inductor, numba_cuda, triton
from ptxkit.compile_hooks.hook import CompileHook, UnsupportedCompilerError
from ptxkit.compile_hooks.watching import HOOKS
from tests.compile_hooks import stubs
from tests.compile_hooks.support import ListingSink

NAMES = ("triton", "torch", "cutlass", "numba", "cupy")
TEXT = ".version 8.0\n.target TARGET\n.address_size 64\n"

InstallHook = Callable[[dict[str, str], CompileHook], ModuleType]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sink: ListingSink) -> Iterator[InstallHook]:
    """Returns a function that writes a stub, imports it and installs its hook."""
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in NAMES}
    monkeypatch.syspath_prepend(str(tmp_path))

    def install_hook(files: dict[str, str], hook: CompileHook) -> ModuleType:
        stubs.write_package(tmp_path, files)
        importlib.invalidate_caches()
        module = importlib.import_module(hook.module)
        hook.install(module, sink)
        return module

    yield install_hook
    for name in [each for each in sys.modules if each.partition(".")[0] in NAMES]:
        del sys.modules[name]
    sys.modules.update(hidden)


def test_triton_reports_each_kernel_to_its_listener(install: InstallHook, sink: ListingSink, tmp_path: Path) -> None:
    install(stubs.TRITON, triton.HOOK)
    (tmp_path / "k.ptx").write_text(TEXT)
    compiler = importlib.import_module("triton.compiler")
    assert compiler.compile(None, str(tmp_path / "k.ptx")) == "kernel"
    assert sink.texts == [(str(tmp_path / "k.ptx"), TEXT)]


def test_an_earlier_listener_of_triton_is_called_as_well(
    install: InstallHook, sink: ListingSink, tmp_path: Path
) -> None:
    seen: list[object] = []
    stubs.write_package(tmp_path, stubs.TRITON)
    importlib.import_module("triton.knobs").compilation.listener = lambda **named: seen.append(named["metadata_group"])
    install(stubs.TRITON, triton.HOOK)
    importlib.import_module("triton.compiler").compile(None, str(tmp_path / "missing.ptx"))
    assert len(seen) == 1
    assert sink.texts == []
    [message] = sink.messages
    assert message.startswith("a kernel was not checked: triton: FileNotFoundError: ")


def test_results_of_inductor_are_submitted_when_they_arrive(
    install: InstallHook, sink: ListingSink, tmp_path: Path
) -> None:
    module = install(stubs.INDUCTOR, inductor.HOOK)
    result = module.TritonCompileResult()
    result.kernel = SimpleNamespace(asm={"ptx": TEXT}, metadata=SimpleNamespace(name="triton_fused"))
    assert sink.texts == []
    assert pickle.loads(pickle.dumps(result)).kernel.asm == {"ptx": TEXT}
    assert sink.texts == [("<inductor triton_fused.ptx>", TEXT)]
    (tmp_path / "k.ptx").write_text(TEXT)
    for name in ("k", "without_ptx"):
        static = module.StaticTritonCompileResult(SimpleNamespace(place=str(tmp_path / f"{name}.cubin")))
        static.reload_cubin_path()
        assert static.kernel.cubin_path == str(tmp_path / f"{name}.cubin")
    assert sink.texts[1:] == [(str(tmp_path / "k.ptx"), TEXT)]
    assert sink.messages == []


def test_cute_dsl_keeps_the_ptx_for_the_hook_and_not_for_the_program(
    install: InstallHook, sink: ListingSink, tmp_path: Path
) -> None:
    install(stubs.CUTE_DSL, cute_dsl.HOOK)
    made = importlib.import_module("cutlass.compiling").compile(TEXT, keep_ptx=False, dump_dir=str(tmp_path / "dump"))
    assert made.PTX is None
    assert sink.texts == [("<kernel_k.sm_90a.ptx>", TEXT)]
    assert not (tmp_path / "dump").exists()
    assert sink.messages == []


def test_cute_dsl_keeps_the_ptx_where_the_program_requests_it(
    install: InstallHook, sink: ListingSink, tmp_path: Path
) -> None:
    install(stubs.CUTE_DSL, cute_dsl.HOOK)
    made = importlib.import_module("cutlass.compiling").compile(TEXT, keep_ptx=True, dump_dir=str(tmp_path))
    assert made.PTX == TEXT
    assert sink.texts == [(str(tmp_path / "kernel_k.sm_90a.ptx"), TEXT)]


def test_numba_submits_ptx_and_makes_it_for_kernels_that_are_linked_from_lto_ir(
    install: InstallHook, sink: ListingSink
) -> None:
    module = install(stubs.NUMBA, numba_cuda.HOOK)
    library = module.CUDACodeLibrary("k", TEXT, {})
    assert library.get_asm_strs(cc=(8, 0, "")) == [TEXT.replace("TARGET", "sm_80")]
    assert library.get_ltoir(cc=(9, 0, "")) == b"LTO-IR"
    assert library.get_ltoir() == b"LTO-IR"
    targets = [text.split()[3] for name, text in sink.texts if name == "<numba k.ptx>"]
    assert targets == ["sm_80", "sm_90", "sm_90a"]
    module.CUDACodeLibrary("k", TEXT, {"gen-lto": None}).get_ltoir()
    assert len(sink.texts) == 3


@pytest.mark.parametrize("method", ["cubin", "ptx"])
def test_cupy_submits_the_ptx_that_nvrtc_has(install: InstallHook, sink: ListingSink, method: str) -> None:
    module = install(stubs.CUPY, cupy.HOOK)
    program = module._NVRTCProgram(TEXT, "k.cu", method)
    assert program.compile(("-arch=sm_90",)) == (b"cubin" if method == "cubin" else TEXT.encode(), None)
    assert sink.texts == [("<cupy k.cu.ptx>", TEXT)]
    with pytest.raises(RuntimeError, match="the source is not CUDA"):
        program.compile(options=("--broken",))
    assert len(sink.texts) == 1


def test_lto_ir_of_cupy_is_not_submitted(install: InstallHook, sink: ListingSink) -> None:
    install(stubs.CUPY, cupy.HOOK)._NVRTCProgram(TEXT, "k.cu", "lto").compile()
    assert (sink.texts, sink.messages) == ([], [])


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.compiler)
def test_a_compiler_with_another_interface_is_not_supported(
    sink: ListingSink, hook: CompileHook, install: InstallHook
) -> None:
    if hook is cute_dsl.HOOK:
        hollow = dict.fromkeys(stubs.CUTE_DSL, "")
        with pytest.raises(UnsupportedCompilerError, match=r"KeepPTX` does not exist"):
            install(hollow, hook)
    else:
        with pytest.raises(UnsupportedCompilerError, match="does not exist"):
            hook.install(ModuleType("hollow"), sink)
    assert sink.texts == []


def test_a_fault_of_a_hook_is_a_message_and_no_exception(install: InstallHook, sink: ListingSink) -> None:
    module = install(stubs.INDUCTOR, inductor.HOOK)
    result = module.TritonCompileResult()
    result.kernel = SimpleNamespace()
    pickle.loads(pickle.dumps(result))
    [message] = sink.messages
    assert message.startswith("a kernel was not checked: inductor: AttributeError: ")
