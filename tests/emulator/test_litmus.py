"""`scripts/litmus` in its short form: the project's own litmus tests, compared with an enumeration of all
executions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_machine_agrees_with_the_executions_of_litmus_tests_and_reaches_most_of_their_states() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "litmus"), str(ROOT / "corpus" / "litmus")]
    done = subprocess.run([*command, "--seeds", "40", "--share", "0.8"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    figures = re.search(r"silent (\d+)/(\d+), racy reported (\d+)/(\d+) .* skipped 0", last)
    assert figures is not None, last
    silent, free, reported, racy = map(int, figures.groups())
    assert silent == free > 4
    assert reported == racy > 3
