"""Stubs of the interfaces that hooks use, as packages in a folder.

Triton, PyTorch, CuTe DSL, numba-cuda and CuPy are too large for the environment of the tests. The stubs have what the
hooks use of Triton 3.9.0, PyTorch 2.14.1, CuTe DSL 4.8.1, numba-cuda 0.30.4 and CuPy 14.2.0, in the same places.
`test_real_compilers` runs the packages themselves where they are installed.
"""

from __future__ import annotations

from pathlib import Path

TRITON = {
    "triton/__init__.py": "from triton import knobs\n__version__ = '3.9.0'\n",
    "triton/knobs.py": "class compilation_knobs:\n    listener = None\ncompilation = compilation_knobs()\n",
    "triton/compiler.py": """
from triton import knobs
def compile(source, path):
    if knobs.compilation.listener:
        group = {"k.json": path + ".json", "k.ptx": path}
        knobs.compilation.listener(src=source, metadata={}, metadata_group=group, times=None, cache_hit=False)
    return "kernel"
""",
}
OLD_TRITON = {"triton/__init__.py": "__version__ = '2.1.0'\n"}

INDUCTOR = {
    "torch/__init__.py": "__version__ = '2.14.1'\n",
    "torch/_inductor/__init__.py": "",
    "torch/_inductor/runtime/__init__.py": "",
    "torch/_inductor/runtime/triton_heuristics.py": """
class TritonCompileResult:
    def __setstate__(self, state):
        self.__dict__.update(state)
class StaticTritonCompileResult:
    def __init__(self, kernel):
        self.kernel = kernel
    def reload_cubin_path(self):
        self.kernel.cubin_path = self.kernel.place
""",
}

CUTE_DSL = {
    "cutlass/__init__.py": "from cutlass.base_dsl import compiler, jit_executor\n__version__ = '4.8.1'\n",
    "cutlass/base_dsl/__init__.py": "",
    "cutlass/base_dsl/compiler.py": """
import os
class KeepPTX:
    def __init__(self):
        self.value, self.dump_path, self.full_ptx_path = False, "", ""
class CompileOptions:
    gpu_arch = ""
    def __init__(self):
        self.options = {KeepPTX: KeepPTX()}
    @staticmethod
    def _set_artifact_dump_paths(option, dump_dir, function_name, arch, ext, full_attr):
        option.dump_path = os.path.join(dump_dir, function_name)
        setattr(option, full_attr, os.path.join(dump_dir, f"{function_name}.{arch}.{ext}"))
    def apply_envar_settings(self, envar, function_name):
        keep = self.options[KeepPTX]
        if envar.keep_ptx:
            keep.value = True
            self._set_artifact_dump_paths(keep, envar.dump_dir, function_name, envar.arch, "ptx", "full_ptx_path")
""",
    "cutlass/base_dsl/jit_executor.py": """
import os
from dataclasses import dataclass
@dataclass
class JitFunctionArtifacts:
    PTX: str | None
    def __post_init__(self):
        if self.PTX is not None and os.path.exists(self.PTX):
            with open(self.PTX) as file:
                self.PTX = file.read()
""",
    "cutlass/compiling.py": """
import types
from cutlass.base_dsl import compiler, jit_executor
def compile(text, keep_ptx, dump_dir):
    options = compiler.CompileOptions()
    envar = types.SimpleNamespace(keep_ptx=keep_ptx, dump_dir=dump_dir, arch="sm_90a")
    options.apply_envar_settings(envar, "kernel_k")
    keep = options.options[compiler.KeepPTX]
    if keep.value:
        with open(keep.full_ptx_path, "w") as file:
            file.write(text)
    return jit_executor.JitFunctionArtifacts(PTX=keep.full_ptx_path if keep.value else None)
""",
}

NUMBA = {
    "numba/__init__.py": "",
    "numba/cuda/__init__.py": "__version__ = '0.30.4'\n",
    "numba/cuda/codegen.py": """
class CUDACodeLibrary:
    def __init__(self, name, text, options):
        self.name, self._text, self._nvvm_options = name, text, options
    def _ensure_cc(self, cc):
        return cc or (9, 0, "a")
    def get_asm_strs(self, cc=None):
        return [self._text.replace("TARGET", "sm_%d%d%s" % self._ensure_cc(cc))]
    def get_ltoir(self, cc=None):
        return b"LTO-IR"
""",
}

CUPY = {
    "cupy/__init__.py": "__version__ = '14.2.0'\n",
    "cupy/cuda/__init__.py": "",
    "cupy/cuda/nvrtc.py": """
def getPTX(program):
    return program["ptx"]
def getCUBIN(program):
    return b"cubin"
""",
    "cupy/cuda/compiler.py": """
from cupy.cuda import nvrtc
class _NVRTCProgram:
    def __init__(self, text, name, method):
        self.ptr, self.name, self.method = {"ptx": text.encode()}, name, method
    def compile(self, options=(), log_stream=None):
        if "--broken" in options:
            raise RuntimeError("the source is not CUDA")
        return (nvrtc.getCUBIN if self.method == "cubin" else nvrtc.getPTX)(self.ptr), None
""",
}


def write_package(folder: Path, files: dict[str, str]) -> None:
    """Writes the files of a package below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
