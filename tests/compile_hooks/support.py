"""Shared by the tests of hooks: a sink that lists what it receives, and programs in another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.ptxas_wrapper.support import FAULTY

ROOT = Path(__file__).resolve().parents[2]
HEADER = "157:2: PTX401 error: "
"""How the report of `FAULTY` begins, after the name of the text."""
OTHER_FUNCTION = FAULTY.replace("bulk_add_one", "another")


class ListingSink:
    """Collects the texts and messages of hooks."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.messages: list[str] = []

    def submit(self, name: str, text: str | bytes | Callable[[], str]) -> None:
        made = text() if callable(text) else text
        self.texts.append((name, made.rstrip(b"\0 ").decode() if isinstance(made, bytes) else made))

    def complain(self, message: str) -> None:
        self.messages.append(message)


def run_python(
    *arguments: str, cwd: Path, cache: Path, path: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs Python with ptxkit, and `path` before other packages."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PTXKIT")}
    found = os.pathsep.join(map(str, [path, ROOT] if path else [ROOT]))
    environment = {**kept, "PYTHONPATH": found, "PTXKIT_CACHE_DIR": str(cache)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True, text=True, check=False)
