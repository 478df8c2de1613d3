"""The hooks with the compilers themselves, without a GPU, where they are installed.

They were run with Triton 3.9.0, PyTorch 2.14.1, CuTe DSL 4.8.1, numba-cuda 0.30.4, CuPy 14.2.0, and cuda.core 1.2.2
with NVRTC 13.0. The environment of the tests has only the last one, without NVRTC.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.compile_hooks.support import run_python

PROGRAMS = {
    "triton": """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=add, signature=signature, constexprs={(3,): 1024})
for _ in range(2):  # the second one is in the cache
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
""",
    "torch": """
import pickle
from torch._inductor.runtime.triton_heuristics import TritonCompileResult

result = TritonCompileResult.__new__(TritonCompileResult)
result.kernel = made
state = result.__getstate__()
state["kernel"]["asm"] = {"ptx": made.asm["ptx"] + "// from another process"}
TritonCompileResult.__new__(TritonCompileResult).__setstate__(state)
""",
    "cutlass": """
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor

@cute.kernel
def add(x: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x[i] = x[i] + 1.0

@cute.jit
def host(x: cute.Tensor):
    add(x).launch(grid=[1, 1, 1], block=[32, 1, 1])

made = cute.compile(host, make_fake_compact_tensor(cutlass.Float32, (32,)))
assert made.__ptx__ is None
""",
    "numba_cuda": """
from numba import cuda, types

def add(x):
    x[cuda.grid(1)] += 1

cuda.compile_ptx(add, (types.float32[:],), cc=(9, 0))
from numba.cuda import compiler
library = compiler.compile_cuda(add, types.void, (types.float32[:],), cc=(8, 0)).library
library._lto = True
library.get_ltoir(cc=(8, 0, ""))
""",
    "cupy": """
from cupy.cuda import compiler
source = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1; }'
compiler._NVRTCProgram(source, "k.cu", method="cubin").compile(("-arch=sm_90",))
""",
    "cuda.bindings.nvrtc": """
import cuda.core
source = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1; }'
cuda.core.Program(source, "c++", cuda.core.ProgramOptions(arch="sm_90")).compile("cubin")
""",
}
MODULES = {"torch": 2, "numba_cuda": 2}
"""The number of modules that are checked, where it is not one."""


def is_installed(name: str) -> bool:
    if name == "cuda.bindings.nvrtc":
        spec = find_spec("nvidia")
        return any(
            any(Path(each).glob("cu*/lib/libnvrtc.so*")) for each in (spec and spec.submodule_search_locations) or ()
        )
    return find_spec(name) is not None


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_are_checked_without_a_gpu(
    tmp_path: Path, cache: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = ["triton", "torch"] if name == "torch" else [name]
    if not all(map(is_installed, needed)):
        pytest.skip(f"needs {' and '.join(needed)}")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("CUTE_DSL_ARCH", "sm_90a")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "program.py").write_text("".join(PROGRAMS[each] for each in needed))
    done = run_python("-W", "ignore", "-m", "ptxkit", "watch", "program.py", cwd=tmp_path, cache=cache)
    assert done.returncode == 0, done.stderr
    count = MODULES.get(name, 1)
    assert done.stderr == f"ptxkit watch: checked {count} PTX module{'' if count == 1 else 's'}: 0 errors, 0 warnings\n"
    assert list(tmp_path.glob("ptxkit-*")) == []
