"""The hook of cuda.core, with the package itself: it assembles PTX without a GPU."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ptxkit.compile_hooks import cuda_core
from tests.compile_hooks.support import ListingSink
from tests.ptxas_wrapper.support import KERNEL


@pytest.fixture
def module(sink: ListingSink) -> Iterator[Any]:
    """The package with the hook, and without it at the end."""
    core = importlib.import_module("cuda.core")
    kept = {name: getattr(core, name) for name in ("Program", "ObjectCode")}
    cuda_core.HOOK.install(core, sink)
    yield core
    for name, value in kept.items():
        setattr(core, name, value)


def test_a_program_in_ptx_is_submitted_and_compiled(module: Any, sink: ListingSink) -> None:
    program = module.Program(KERNEL, "ptx", module.ProgramOptions(arch="sm_90"))
    made = program.compile("cubin")
    assert bytes(made.code).startswith(b"\x7fELF")
    assert sink.texts == [("<cuda.core program.ptx>", KERNEL)]
    assert sink.messages == []


def test_ptx_that_is_loaded_is_submitted_from_bytes_and_from_a_file(
    module: Any, sink: ListingSink, tmp_path: Path
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL)
    for given in (KERNEL.encode(), str(path), path):
        assert module.ObjectCode.from_ptx(given, name="k").code_type == "ptx"
    assert sink.texts == [("<cuda.core module.ptx>", KERNEL), (str(path), KERNEL), (str(path), KERNEL)]


def test_objects_are_instances_of_the_classes_of_the_package(module: Any, sink: ListingSink) -> None:
    code = module.ObjectCode.from_ptx(KERNEL.encode())
    program = module.Program(KERNEL, "ptx", module.ProgramOptions(arch="sm_90"))
    assert isinstance(code, module.ObjectCode)
    assert isinstance(program, module.Program)
    assert issubclass(type(code), module.ObjectCode)
    assert not isinstance(code, module.Program)
    assert not isinstance(1, module.ObjectCode)
    assert module.ObjectCode.from_cubin(b"\x7fELF").code_type == "cubin"
    assert pickle.loads(pickle.dumps(code)).code == code.code
    assert "Represent a compilation machinery" in module.Program.__doc__


def test_errors_are_those_of_the_package(module: Any, sink: ListingSink) -> None:
    with pytest.raises(TypeError):
        module.Program(KERNEL)
    with pytest.raises(RuntimeError):
        module.ObjectCode()
    with pytest.raises(Exception, match="PTX"):
        module.Program(".version 8.0\nnonsense", "ptx", module.ProgramOptions(arch="sm_90")).compile("cubin")
    assert [name for name, _ in sink.texts] == ["<cuda.core program.ptx>"]


@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_a_program_in_c_is_submitted_as_the_ptx_of_nvrtc(
    sink: ListingSink, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """NVRTC is not in the environment, so that its functions are stubs here, as in cuda.bindings 13.5."""

    def write(_: object, buffer: bytes) -> None:
        assert len(buffer) == len(KERNEL) + 1

    nvrtc = SimpleNamespace(
        nvrtcResult=SimpleNamespace(NVRTC_SUCCESS=0),
        nvrtcGetPTXSize=lambda handle: (0, len(KERNEL) + 1 if handle == "handle" else 0),
        nvrtcGetPTX=write,
    )
    real = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", lambda name: nvrtc if name.endswith("nvrtc") else real(name))

    class Program:
        backend, handle = "NVRTC", "handle"

        def __init__(self, code: str, code_type: str) -> None: ...

        def compile(self, target_type: str) -> object:
            return SimpleNamespace(code_type=target_type, code=KERNEL.encode())

    stub = ModuleType("core")
    stub.__dict__.update(Program=Program, ObjectCode=type("ObjectCode", (), {"from_ptx": staticmethod(bytes)}))
    cuda_core.HOOK.install(stub, sink)
    made = stub.Program("int x;", "c++").compile(target)
    assert made.code_type == target
    [(name, text)] = sink.texts
    assert name == "<cuda.core program.ptx>"
    assert text == (KERNEL if target == "ptx" else "")
