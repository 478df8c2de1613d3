"""cuda.core: programs in C++ and PTX, and PTX that is loaded.

Its classes cannot be changed, so that subclasses take their place in the module; objects of the original classes are
instances of these as well.

Source: cuda.core, "Program", "ObjectCode", release 1.2; NVRTC, "nvrtcGetPTX".
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from ptxkit.compile_hooks.hook import CompileHook, TextSink, attribute_of, call_safely


def _install(module: ModuleType, sink: TextSink) -> None:
    program, code = attribute_of(module, "Program"), attribute_of(module, "ObjectCode")
    attribute_of(program, "compile")
    read_file = attribute_of(code, "from_ptx")

    def compile_program(self: Any, *arguments: Any, **named: Any) -> Any:
        made = program.compile(self, *arguments, **named)
        call_safely(sink, _submit_program, sink, self, made)
        return made

    def make_program(self: Any, text: Any, code_type: Any, *arguments: Any, **named: Any) -> None:
        if str(code_type).lower() == "ptx":  # before the linker rejects it
            call_safely(sink, sink.submit, "<cuda.core program.ptx>", text)
        program.__init__(self, text, code_type, *arguments, **named)

    def from_ptx(given: Any, *arguments: Any, **named: Any) -> Any:
        made = read_file(given, *arguments, **named)
        call_safely(sink, _submit_module, sink, given)
        return made

    module.__dict__["Program"] = _replacement_of(program, compile=compile_program, __init__=make_program)
    module.__dict__["ObjectCode"] = _replacement_of(code, from_ptx=staticmethod(from_ptx))


def _replacement_of(original: type, **attributes: object) -> type:
    """Returns a subclass with other attributes, of which all objects of the original class are instances."""

    class Replacing(type(original)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, original)

    kept = {"__doc__": original.__doc__, "__module__": original.__module__}
    made: type = Replacing(original.__name__, (original,), {**kept, **attributes})
    return made


def _submit_program(sink: TextSink, program: Any, made: Any) -> None:
    """Submits the PTX of a program in C++: the result, or what NVRTC keeps with the machine code."""
    if str(program.backend) != "NVRTC":
        return
    if made.code_type == "ptx":
        sink.submit("<cuda.core program.ptx>", made.code)
    elif made.code_type == "cubin":
        from importlib import import_module

        nvrtc = import_module("cuda.bindings.nvrtc")
        error, size = nvrtc.nvrtcGetPTXSize(program.handle)
        if error == nvrtc.nvrtcResult.NVRTC_SUCCESS and size > 1:
            text = b" " * size
            nvrtc.nvrtcGetPTX(program.handle, text)
            sink.submit("<cuda.core program.ptx>", text)


def _submit_module(sink: TextSink, given: Any) -> None:
    if isinstance(given, bytes):
        sink.submit("<cuda.core module.ptx>", given)
    else:
        path = os.fspath(given)
        sink.submit(path, Path(path).read_bytes())


HOOK = CompileHook("cuda.core", "cuda.core", _install)
