"""numba-cuda: its library of a kernel compiles to PTX, or to LTO-IR, from which the linker makes machine code.

With LTO, which is the default, there is no PTX: the kernel is compiled to PTX as well, in the thread of the checks.
libNVVM may be used by several threads.

Source: numba-cuda, `numba_cuda/numba/cuda/codegen.py` (`CUDACodeLibrary`), release 0.30; libNVVM API, "Thread Safety".
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ptxkit.compile_hooks.hook import CompileHook, TextSink, attribute_of, call_after


def _install(module: ModuleType, sink: TextSink) -> None:
    library = attribute_of(module, "CUDACodeLibrary")
    compile_to_ptx = attribute_of(library, "get_asm_strs")
    attribute_of(library, "get_ltoir")

    def submit_ptx(texts: list[str], compiled: Any, *_: object, **__: object) -> None:
        for text in texts:
            sink.submit(_name_of(compiled), text)

    def submit_later(_: object, compiled: Any, cc: Any = None) -> None:
        if "gen-lto" in compiled._nvvm_options:  # LTO-IR is the product, as of `numba.cuda.compile`
            return
        target = compiled._ensure_cc(cc)
        sink.submit(_name_of(compiled), lambda: "\n".join(compile_to_ptx(compiled, cc=target)))

    call_after(library, "get_asm_strs", sink, submit_ptx)
    call_after(library, "get_ltoir", sink, submit_later)


def _name_of(compiled: Any) -> str:
    return f"<numba {compiled.name}.ptx>"


HOOK = CompileHook("numba-cuda", "numba.cuda.codegen", _install)
