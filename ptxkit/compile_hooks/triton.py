"""Triton: its listener is called for each kernel, whether it was compiled or was in the cache.

Source: Triton, `triton/knobs.py` (`CompilationListener`) and `triton/compiler/compiler.py`, release 3.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ptxkit.compile_hooks.hook import CompileHook, TextSink, UnsupportedCompilerError, attribute_of, call_safely


def _install(module: ModuleType, sink: TextSink) -> None:
    settings = attribute_of(module, "knobs.compilation")
    if not hasattr(settings, "listener"):
        raise UnsupportedCompilerError("`triton.knobs.compilation.listener` does not exist")
    earlier = settings.listener

    def listener(**named: Any) -> None:
        if earlier is not None:
            earlier(**named)
        call_safely(sink, _submit, sink, named["metadata_group"])

    settings.listener = listener


def _submit(sink: TextSink, files: Mapping[str, str]) -> None:
    for name, path in files.items():
        if name.endswith(".ptx"):
            sink.submit(path, Path(path).read_bytes())


HOOK = CompileHook("Triton", "triton", _install)
