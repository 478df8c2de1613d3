"""Inductor (`torch.compile`): kernels that other processes compiled, or that are in its cache, arrive as results.

Kernels that this process compiles are found by the hook of Triton.

Source: PyTorch, `torch/_inductor/runtime/triton_heuristics.py` (`TritonCompileResult`, `StaticTritonCompileResult`),
release 2.14.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from ptxkit.compile_hooks.hook import CompileHook, TextSink, attribute_of, call_after


def _install(module: ModuleType, sink: TextSink) -> None:
    def submit_unpickled(_: object, result: Any, *__: object) -> None:
        text = result.kernel.asm.get("ptx")
        if text:
            sink.submit(f"<inductor {result.kernel.metadata.name}.ptx>", text)

    def submit_next_to_cubin(_: object, result: Any, *__: object) -> None:
        """The machine code is in the cache of Triton, and so is the PTX."""
        path = getattr(result.kernel, "cubin_path", None)
        ptx = Path(path).with_suffix(".ptx") if path else None
        if ptx is not None and ptx.is_file():
            sink.submit(str(ptx), ptx.read_bytes())

    static = attribute_of(module, "StaticTritonCompileResult")
    attribute_of(static, "reload_cubin_path")
    call_after(attribute_of(module, "TritonCompileResult"), "__setstate__", sink, submit_unpickled)
    call_after(static, "reload_cubin_path", sink, submit_next_to_cubin)


HOOK = CompileHook("PyTorch", "torch._inductor.runtime.triton_heuristics", _install)
