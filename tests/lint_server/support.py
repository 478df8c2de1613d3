"""Shared by the tests of the resident process: a server with a separate folder, and clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT = """\
import atexit, os, sys
from ptxkit.cli.main import main

@atexit.register
def write_modules():
    with open(os.environ["LOADED"], "w") as file:
        file.write(" ".join(sys.modules))

main()
"""
"""What the script of an installation does; and it writes the names of the loaded modules."""
PLACE = "from ptxkit.lint_server.socket_place import *; print(socket_path(runtime_folder()))"
PLANTED = (
    "import ptxkit.batch.in_process as m; from tests.batch import planted; m.run_job = planted.answer_job; "
    "from ptxkit.resident_process import run_server; run_server(sys.argv[1])"
)
"""The program of a server in whose processes comments of a text cause misbehavior."""


@dataclass
class Site:
    """folder: for the socket, and for files of a test."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PTXKIT")}
        own = {"PYTHONPATH": str(ROOT), "PTXKIT_NO_CACHE": "1", "XDG_RUNTIME_DIR": str(self.folder)}
        return {**kept, **own, "LOADED": str(self.folder / "loaded"), **variables}

    def command(self, *arguments: str | Path, flags: Sequence[str] = ()) -> list[str]:
        return [sys.executable, *flags, "-c", CLIENT, *map(str, arguments)]

    def run(
        self,
        *arguments: str | Path,
        stdin: bytes = b"",
        flags: Sequence[str] = (),
        cwd: Path | None = None,
        **variables: str,
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs `ptxkit`, perhaps as a client of the server."""
        (self.folder / "loaded").unlink(missing_ok=True)
        return subprocess.run(
            self.command(*arguments, flags=flags),
            input=stdin,
            capture_output=True,
            cwd=cwd or self.folder,
            env=self.environment(**variables),
            check=False,
        )

    def read_modules(self) -> set[str]:
        """The modules that the last client had loaded at its end."""
        return set((self.folder / "loaded").read_text().split())

    def was_served(self) -> bool:
        return "ptxkit.source" not in self.read_modules()

    def start(self) -> int:
        """Starts the server. Returns the number of its process."""
        done = self.run("lint", "--server")
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[-1])

    def launch(self, program: str) -> int:
        """Starts a process of this program at the place of the server, and waits until it is ready."""
        command = [sys.executable, "-c", PLACE]
        path = subprocess.check_output(command, env=self.environment(), text=True).strip()
        Path(path).parent.mkdir(mode=0o700)
        code = [sys.executable, "-c", f"import sys; {program}", path]
        process = subprocess.Popen(code, stdout=subprocess.PIPE, env=self.environment(), cwd=self.folder)
        self.processes.append(process)
        assert process.stdout is not None
        with process.stdout as output:
            assert output.readline() == b"ready\n"
        return process.pid

    def close(self) -> None:
        """Ends the server."""
        process = self.process()
        if process is not None:
            end(process)
        for each in self.processes:
            each.kill()
            each.wait()

    def process(self) -> int | None:
        """The number of the process of the server; None if none runs."""
        done = self.run("lint", "--server", "status")
        return int(done.stdout.split()[-1]) if done.returncode == 0 else None


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def end(pid: int) -> None:
    """Kills a process that may have ended."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
