"""Every script starts from any folder, with its imports from the packages of `scripts/`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
PYTHON_SCRIPTS = sorted(
    path.name
    for path in SCRIPTS.iterdir()
    if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env python3")
)


def test_the_scripts_are_found() -> None:
    assert {"bench", "diff_ptxas", "fuzz_hostile", "isa_coverage", "semantics_coverage", "soak_emulator"} <= set(
        PYTHON_SCRIPTS
    )


@pytest.mark.parametrize("name", PYTHON_SCRIPTS)
def test_a_script_describes_itself(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / name), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage:")
