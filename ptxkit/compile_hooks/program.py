"""Runs a program with the hooks, as Python would run it: as `__main__`, which remains until the process ends.

The functions of `runpy` for programs remove `__main__` when they return, but functions that are called at the end of
the process use it.
"""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType

from ptxkit.compile_hooks.watching import watch

MODULE, SCRIPT = "module", "script"

_CODE = "import sys; sys.path[:] = {path!r}; from ptxkit.compile_hooks.program import main; main()"
"""What a new interpreter executes. It imports nothing from the working directory, which may be that of a stranger."""


def command_line(kind: str, name: str, arguments: Sequence[str], seconds: float, config: str | None) -> list[str]:
    """Returns the command that runs a program. kind: MODULE or SCRIPT."""
    # The options of this interpreter, as `multiprocessing` passes them to its processes.
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    code = _CODE.format(path=sys.path)
    return [sys.executable, *flags, "-c", code, str(seconds), config or "", kind, name, *arguments]


def main() -> None:
    """Runs the program of the command line: seconds, settings file, kind, name, and its arguments."""
    seconds, config, kind, name, *arguments = sys.argv[1:]
    watch(seconds=float(seconds), config=config or None)
    sys.argv = [name, *arguments]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        if kind == MODULE:
            _set_first_folder(os.getcwd())
            _run_module(name, alter_argv=True)
        else:
            _run_path(name)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        trace = _without_own_frames(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)


def _run_path(name: str) -> None:
    from zipfile import is_zipfile

    path = os.path.abspath(name)
    if os.path.isdir(path) or is_zipfile(path):
        _set_first_folder(path)
        _run_module("__main__", alter_argv=False)
        return
    _set_first_folder(os.path.dirname(os.path.realpath(name)))
    program = sys.modules["__main__"]
    program.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, program.__dict__)


def _set_first_folder(folder: str) -> None:
    """Replaces the folder of this program, which Python has put first, unless an option prevents that."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_module(name: str, *, alter_argv: bool) -> None:
    """Does what the option `-m` of Python does, by its function."""
    runpy._run_module_as_main(name, alter_argv)  # type: ignore[attr-defined]


def _without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Returns the part of a trace that begins in the program; None if it does not reach it."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in (__name__, runpy.__name__):
        trace = trace.tb_next
    return trace
