"""`scripts/bench parse` runs on files that ptxas also accepts, and prints the figures of both."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.syntax.support import ROOT


def test_the_benchmark_prints_figures_for_ptxkit_and_for_ptxas() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "bench"), "parse", "--size", "0.1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"made_0\.1MB\.ptx +0\.\d +\d+% +[\d.]+ +[\d.]+ +[\d.]+\n", run.stdout), run.stdout
