"""A type checker detects the errors that the builder rejects, before anything runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
from ptxkit.build import Global, Kernel, Shared, Register, f32, pred, s32, u32

k = Kernel("k")
data: Global[f32] = k.param(Global[f32], "data")
n: Register[u32] = k.param(u32, "n")
tile: Shared[f32] = k.shared(f32, 4)
value: Register[f32] = data[n].load()
small: Register[pred] = n < 3
with k.for_range(0, n) as i:
    index: Register[u32] = i + 1
tile[n].store(value * 2.0)
k.cp_async_cg(tile, data, 16)

other: s32 = n  # wrong
data.store(n)  # wrong
n + k.register(s32)  # wrong
n + "1"  # wrong
k.if_(n)  # wrong
place: Shared[f32] = data  # wrong
"""


def test_a_type_checker_knows_the_types_of_values_and_addresses(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")]
    assert [int(line.split(":")[1]) for line in done.stdout.splitlines()] == wrong, done.stdout + done.stderr
