"""CuPy: the program object of NVRTC has the PTX after each compilation, also if machine code was requested.

Kernels in CuPy's cache on disk are machine code, and are not found.

Source: CuPy, `cupy/cuda/compiler.py` (`_NVRTCProgram`), release 14.2; NVRTC, "nvrtcGetPTX".
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ptxkit.compile_hooks.hook import CompileHook, TextSink, attribute_of, call_after


def _install(module: ModuleType, sink: TextSink) -> None:
    read_ptx = attribute_of(module, "nvrtc.getPTX")

    def submit(_: object, program: Any, *__: object, **___: object) -> None:
        if program.method in ("cubin", "ptx"):
            sink.submit(f"<cupy {program.name}.ptx>", read_ptx(program.ptr))

    call_after(attribute_of(module, "_NVRTCProgram"), "compile", sink, submit)


HOOK = CompileHook("CuPy", "cupy.cuda.compiler", _install)
