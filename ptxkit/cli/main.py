"""What all commands share: a start without delay, quiet interruption, and output that cannot break."""

from __future__ import annotations

import gc
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from ptxkit.results import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
_COLLECTIONS = (20_000, 20, 50)
"""When to look for garbage: a command makes much and drops little, and looking takes a tenth of a short one's time."""
_PIPE_CLOSED = 141
"""128 + SIGPIPE: the reader of the output has closed it."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its status (`ptxkit.results.ExitStatus`). arguments: None is the process's own."""
    if arguments is None:
        gc.set_threshold(*_COLLECTIONS)
    _prepare_output()
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except ValueError as error:
        if not _is_mistake(error):
            raise
        sys.stderr.write(f"ptxkit: the instruction table has a mistake:\n{error}\n")
        status = ExitStatus.COULD_NOT_RUN
    except BrokenPipeError:
        _discard_output()
        status = _PIPE_CLOSED
    except OSError as error:  # inputs that cannot be read are results; this is the output
        _discard_output()
        sys.stderr.write(f"ptxkit: the output cannot be written: {error.strerror or error}\n")
        status = ExitStatus.COULD_NOT_RUN
    if arguments is None:
        gc.freeze()  # Python would traverse everything twice at exit, and all of it is freed
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    """The status of one command. `lint PATH...` does without click, which takes longer to load than a file to lint."""
    command, *paths = arguments or [""]
    if command == "lint" and paths and not any(path.startswith("-") and path != "-" for path in paths):
        from ptxkit.cli.lint_run import run_lint

        return run_lint(paths)
    from ptxkit.cli.commands import run

    return run(arguments)


def _is_mistake(error: ValueError) -> bool:
    """Whether it is the instruction table that cannot be read: its text says what, and where."""
    from ptxkit.isa.errors import NotationError

    return isinstance(error, NotationError)


def _prepare_output() -> None:
    """Spell out what the output's encoding lacks. Where a stream is closed, what would go there is dropped."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for as long as the process)
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Point standard output at nothing, so that Python's own flush at exit does not fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
