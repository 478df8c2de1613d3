"""`ptxkit.watch`: installs the hooks of all compilers."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable
from types import ModuleType

from ptxkit.compile_hooks import cuda_core, cupy, cute_dsl, inductor, numba_cuda, triton
from ptxkit.compile_hooks.background_linter import BackgroundLinter
from ptxkit.compile_hooks.hook import CompileHook, UnsupportedCompilerError
from ptxkit.compile_hooks.limits import DEFAULT_CHECK_SECONDS
from ptxkit.compile_hooks.post_import import PostImportFinder

HOOKS: tuple[CompileHook, ...] = (
    triton.HOOK,
    inductor.HOOK,
    cute_dsl.HOOK,
    numba_cuda.HOOK,
    cupy.HOOK,
    cuda_core.HOOK,
)

_active: list[BackgroundLinter] = []
"""The linter of this process, once `watch` was called."""


def watch(*, seconds: float = DEFAULT_CHECK_SECONDS, config: str | None = None) -> BackgroundLinter:
    """Checks each kernel that this process compiles from now on, and prints findings to standard error.

    The checks are in the background. It works with Triton, Inductor (`torch.compile`), CuTe DSL, numba-cuda, CuPy and
    cuda.core, whether they are imported before or after this call. Each finding is printed once, when it is found, and
    the counts at the end of the process. A later call changes nothing.

    seconds: the limit of processor time for one kernel. config: a settings file that is used instead of the nearest one
    of the working directory.

    Returns the linter: `wait()` waits for the kernels that were compiled so far, and `findings` are those of all.
    """
    if not _active:
        linter = BackgroundLinter(seconds, config)
        _active.append(linter)
        finder = PostImportFinder({hook.module: _installer(hook, linter) for hook in HOOKS})
        finder.install()
        # Finalizers end the process of the checks at the exit. The first one registers all of them with `atexit`, which
        # calls functions in the reverse order, so that `finish` is called before them.
        weakref.finalize(linter, finder.remove)
        atexit.register(linter.finish)
    return _active[0]


def _installer(hook: CompileHook, linter: BackgroundLinter) -> Callable[[ModuleType], None]:
    def install(module: ModuleType) -> None:
        try:
            hook.install(module, linter)
        except UnsupportedCompilerError as error:
            version = getattr(module, "__version__", "")
            linter.complain(f"kernels of {hook.compiler} {version}".rstrip() + f" are not checked: {error}")
        except Exception as error:
            linter.complain(f"kernels of {hook.compiler} are not checked: {type(error).__name__}: {error}")

    return install
