"""`scripts/bench start` prints what it promises. (Its figures are no test: they depend on the machine's mood.)"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_start_is_measured_part_by_part() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench"), "start"], capture_output=True, text=True, check=False
    )
    assert run.returncode in (0, 1), run.stderr
    for part in ("python -c pass", "instruction table", "grammar", "ptxkit lint"):
        assert re.search(rf"^{part}.* +\d+ +-?\d+ +\d+$", run.stdout, re.M), run.stdout
    assert re.search(r"a memoised match.*: \d+\.\d\d microseconds", run.stdout)
