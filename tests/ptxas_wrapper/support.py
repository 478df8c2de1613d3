"""Shared by the tests of `ptxkit-ptxas`: the program as an installation has it, and a ptxas that reports its calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNEL = (ROOT / "corpus" / "kernels" / "bulk_add_one.sm_90.ptx").read_text("utf-8")
FAULTY = "".join(line for line in KERNEL.splitlines(keepends=True) if "fence.proxy.async" not in line)
"""A kernel that ptxas accepts, and one line of it is missing: PTX401."""
PROGRAM = """\
#!{python}
import sys
{before}
from ptxkit.ptxas_wrapper.main import main
if __name__ == "__main__":
    sys.exit(main())
"""
FAKE = """\
#!{python}
import os, sys
data = sys.stdin.buffer.read()
sys.stdout.write(f"ran {{sys.argv[1:]}}\\nread {{data!r}}\\n")
sys.stderr.write("a remark of ptxas\\n")
sys.exit(int(os.environ.get("FAKE_STATUS", "0")))
"""


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


@dataclass
class Build:
    """A folder with the program, and a fake ptxas in `PATH`. cache: the folder of results, which tests share."""

    folder: Path
    cache: Path

    def __post_init__(self) -> None:
        self.program = write_program(
            self.folder / "installed" / "ptxkit-ptxas", PROGRAM.format(python=sys.executable, before="")
        )
        self.fake = write_program(self.folder / "toolkit" / "ptxas", FAKE.format(python=sys.executable))
        self.work = self.folder / "work"
        self.work.mkdir()

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PTXKIT", "CUDA"))}
        own = {"PYTHONPATH": str(ROOT), "PATH": str(self.fake.parent), "PTXKIT_CACHE_DIR": str(self.cache)}
        return {**kept, **own, **variables}

    def write(self, name: str, text: str) -> str:
        (self.work / name).write_text(text, "utf-8")
        return name

    def run(
        self, *arguments: str, program: Path | None = None, stdin: bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        command: Sequence[str] = [str(program or self.program), *arguments]
        environment = self.environment(**variables)
        return subprocess.run(command, input=stdin, capture_output=True, cwd=self.work, env=environment, check=False)


def ran(arguments: Sequence[str], stdin: bytes = b"") -> bytes:
    """Returns what the fake ptxas prints."""
    return f"ran {list(arguments)}\nread {stdin!r}\n".encode()
