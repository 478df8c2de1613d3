"""The entry point of the program: fast start, quiet interruption, and safe output."""

from __future__ import annotations

import gc
import os
import sys
from io import TextIOWrapper

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
COLLECTIONS = (20_000, 20, 50)
"""Thresholds of the garbage collector: a command allocates much and frees little, so collecting wastes time."""
_PIPE_CLOSED = 141
"""128 + SIGPIPE: the reader of the output has closed it."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits with its status (`ptxkit.exit_status.ExitStatus`).

    arguments: None for those of the process. Only these may be run by a resident process (`ptxkit lint --server`).
    """
    if arguments is None:
        gc.set_threshold(*COLLECTIONS)
    _prepare_output()
    try:
        served = _served_status(sys.argv[1:]) if arguments is None else None
        status = _run(sys.argv[1:] if arguments is None else list(arguments)) if served is None else served
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except ValueError as error:
        if not _is_mistake(error):
            raise
        status = _refuse("the instruction table has an error", "install ptxkit again, or correct the table")
        sys.stderr.write(f"{error}\n")
    except BrokenPipeError:
        _discard_output()
        status = _PIPE_CLOSED
    except OSError as error:  # unreadable inputs are results; this is the output
        _discard_output()
        status = _refuse(f"the output cannot be written: {error.strerror or error}", "write it to another place")
    if arguments is None:
        gc.freeze()  # skip the traversal of all objects at exit, because everything is freed anyway
        if sys.argv[1:2] == ["lint"]:
            _exit_at_once(status)
    sys.exit(status)


def _exit_at_once(status: int) -> None:
    """Ends the process without freeing its objects one by one, which is a twentieth of the time for a small file.

    Returns if something else must be done at the end: threads still run, or a profiler reports.
    """
    import atexit

    threading = sys.modules.get("threading")
    has_threads = threading is not None and threading.active_count() > 1
    if not has_threads and sys.getprofile() is None and sys.gettrace() is None:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _served_status(arguments: list[str]) -> int | None:
    """The exit status of a lint that a resident process has run; None if there is no such process."""
    if arguments[:1] != ["lint"] or any(each.startswith("--server") for each in arguments):
        return None
    from ptxkit.lint_server.client import begin_call

    call = begin_call("lint", arguments, shares_context=True, reads_input="-" in arguments)
    if call is None:
        return None
    try:
        status = call.wait()
    except KeyboardInterrupt:
        call.interrupt()
        status = call.wait()
        if status is None:
            raise
    return status if isinstance(status, int) else None


def _run(arguments: list[str]) -> int:
    """The exit status of one command. `lint PATH...` bypasses click, whose import takes longer than linting a file."""
    command, *paths = arguments or [""]
    if command == "lint" and paths and not any(path.startswith("-") and path != "-" for path in paths):
        from ptxkit.cli.lint_run import run_lint

        return run_lint(paths)
    from ptxkit.cli.commands import run

    return run(arguments)


def _refuse(message: str, remedy: str) -> int:
    from ptxkit.cli.refusals import write_refusal

    return write_refusal(message, remedy)


def _is_mistake(error: ValueError) -> bool:
    """Returns whether the instruction table cannot be read; the error names the reason and the place."""
    from ptxkit.isa.errors import NotationError

    return isinstance(error, NotationError)


def _prepare_output() -> None:
    """Escapes characters that the output encoding lacks. Output to a closed stream is discarded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for as long as the process)
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Redirects standard output to the null device, so that the flush at exit does not fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
