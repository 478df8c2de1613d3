"""`scripts/fuzz_hostile` in its short form: malicious inputs do not harm the linter or other files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(sys.platform != "linux", reason="needs pipes, devices and /proc")
def test_malicious_inputs_do_no_harm() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "fuzz_hostile"), "--count", "60"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.endswith("all held\n")
    checked = re.search(r"^  (\d+) texts with a verdict, (\d+) places without one", run.stdout, re.M)
    assert checked is not None, run.stdout
    assert min(map(int, checked.groups())) > 10
