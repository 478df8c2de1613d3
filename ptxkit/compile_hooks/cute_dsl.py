"""CuTe DSL: it writes the PTX of a function to a file if that is requested, so the hook requests it.

If the program does not keep PTX itself, the files are in a folder for temporary files that is removed at the end of
the process, and the compiled function has no `__ptx__`, as without the hook.

Source: CUTLASS, CuTe DSL, `base_dsl/compiler.py` (`KeepPTX`) and `base_dsl/jit_executor.py`
(`JitFunctionArtifacts`), release 4.8.
"""

from __future__ import annotations

import importlib
import os
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from ptxkit.compile_hooks.hook import CompileHook, TextSink, attribute_of, call_after


def _install(module: ModuleType, sink: TextSink) -> None:
    compiler = importlib.import_module(f"{module.__name__}.base_dsl.compiler")
    executor = importlib.import_module(f"{module.__name__}.base_dsl.jit_executor")
    keep = attribute_of(compiler, "KeepPTX")
    attribute_of(compiler, "CompileOptions._set_artifact_dump_paths")
    artifacts = attribute_of(executor, "JitFunctionArtifacts.__post_init__") and executor.JitFunctionArtifacts
    folder = TemporaryDirectory(prefix="ptxkit-")

    def request_file(_: object, options: Any, environment: Any, function_name: str) -> None:
        option = options.options[keep]
        if not option.value:
            option.value = True
            architecture = options.gpu_arch or environment.arch
            options._set_artifact_dump_paths(option, folder.name, function_name, architecture, "ptx", "full_ptx_path")

    def submit(_: object, made: Any) -> None:
        path = paths.pop(id(made), None)
        if path and made.PTX and path != made.PTX:
            is_own = os.path.dirname(path) == folder.name
            sink.submit(f"<{os.path.basename(path)}>" if is_own else path, made.PTX)
            if is_own:
                made.PTX = None

    paths: dict[int, str] = {}
    read_files = artifacts.__post_init__

    def remember_path(made: Any) -> None:
        paths[id(made)] = made.PTX
        read_files(made)

    artifacts.__post_init__ = remember_path
    call_after(artifacts, "__post_init__", sink, submit)
    call_after(compiler.CompileOptions, "apply_envar_settings", sink, request_file)


HOOK = CompileHook("CuTe DSL", "cutlass", _install)
