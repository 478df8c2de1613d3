"""Runs the commands of `console` blocks: `ptxkit` and `python` in this process, a few tools of the system."""

from __future__ import annotations

import io
import os
import runpy
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from ptxkit.cli.main import main

TOOLS = frozenset({"cat", "cp", "diff", "grep", "head", "ls", "mkdir", "mv", "rm", "sed", "sort", "tail", "wc"})
"""Programs of the system that pages may use: POSIX has them."""


class UnknownCommand(Exception):  # noqa: N818 (a name that reads well where it is raised)
    """A page uses a command that `ShellSession` does not run."""


@dataclass
class ShellSession:
    """A folder in which commands run in sequence."""

    folder: Path
    status: int = 0

    def run(self, command: str) -> str:
        """Returns the output of a line on both streams. `a | b`, `a > file` and `echo $?` are supported."""
        if command.strip() == "echo $?":
            return f"{self.status}\n"
        lexer = shlex.shlex(command, posix=True, punctuation_chars="|>&;<")
        lexer.whitespace_split = True
        lexer.commenters = ""
        stages: list[list[str]] = [[]]
        target: Path | None = None
        tokens = iter(lexer)
        for token in tokens:
            if token == "|":
                stages.append([])
            elif token == ">":
                target = self.folder / next(tokens)
            elif set(token) <= set("|>&;<"):
                raise UnknownCommand(f"`{token}` in `{command}`")
            else:
                stages[-1].append(token)
        data, printed = b"", b""
        for stage in stages:
            data, errors = self._run_stage(stage, data)
            printed += errors
        if target is not None:
            target.write_bytes(data)
            data = b""
        return (printed + data).decode()

    def _run_stage(self, words: Sequence[str], data: bytes) -> tuple[bytes, bytes]:
        """Returns the output and the errors of one command; commands of this process have one output, in its order."""
        program, *arguments = words
        if program == "ptxkit":
            return self._run_here(lambda: main(arguments), data, [program, *arguments]), b""
        if program == "python" and arguments and arguments[0].endswith(".py"):
            script = self.folder / arguments[0]
            return self._run_here(lambda: runpy.run_path(str(script), run_name="__main__"), data, arguments), b""
        if program == "pytest":
            words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        elif program not in TOOLS:
            raise UnknownCommand(f"`{program}`: pages run ptxkit, python FILE.py, pytest, {', '.join(sorted(TOOLS))}")
        done = subprocess.run(words, input=data, capture_output=True, cwd=self.folder, check=False)
        self.status = done.returncode
        return done.stdout, done.stderr

    def _run_here(self, action: object, data: bytes, arguments: list[str]) -> bytes:
        printed = io.BytesIO()
        stream = io.TextIOWrapper(printed, "utf-8", write_through=True)
        self.status = 0
        with (
            chdir(self.folder),
            patch.object(sys, "stdout", stream),
            patch.object(sys, "stderr", stream),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8")),
            patch.object(sys, "argv", arguments),
            patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}),
            _modules_of(self.folder),
        ):
            try:
                assert callable(action)
                action()
            except SystemExit as end:
                self.status = end.code if isinstance(end.code, int) else int(end.code is not None)
            except Exception:  # as the interpreter does
                self.status = 1
                traceback.print_exc(file=stream)
            stream.flush()
        return printed.getvalue()


@contextmanager
def _modules_of(folder: Path) -> Iterator[None]:
    """Lets Python import files of the folder, and forgets them afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
