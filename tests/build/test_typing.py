"""A type checker detects the errors that the builder rejects, before anything runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
from ptxkit.build import Global, Kernel, Shared, Register, bf16, bf16x2, f32, pred, s32, u32

k = Kernel("k", threads=64)
data: Global[f32] = k.param(Global[f32], "data", align=16)
n: Register[u32] = k.param(u32, "n")
tile: Shared[f32] = k.shared(f32, 4, align=16)
value: Register[f32] = data[n].load()
small: Register[pred] = n < 3
with k.for_range(0, n) as i:
    index: Register[u32] = i + 1
tile[n].store(value * 2.0)
k.cp_async_cg(tile, data, 16)

# the types of results follow those of operands
vector: tuple[Register[f32], ...] = data.load(4)
largest: Register[f32] = k.max(value, 0.5)
power: Register[f32] = k.ex2_approx_ftz(value)
moved: Register[f32] = k.shfl_sync_bfly(value, 1, 31, -1)
other_lane: Register[u32] = k.shuffle_xor(n, 1)
old: Register[u32] = k.param(Global[u32], "counts").atomic_add(1)
total: Register[f32] = k.block_reduce("add", value)
four: tuple[Register[f32], ...] = k.ld(data, vec="v4")
sink: Register[u32] = k.ld_acquire_gpu(k.param(Global[u32], "flag"))
pair: Register[bf16x2] = k.pack_convert(bf16x2, value, 1.0)
low, high = k.unpack(pair)
part: Register[bf16] = low
chosen: Register[f32] = k.where(small, value, 1)
k.st(data, value, sem="release", sc="gpu")
k.fence_proxy_async_shared_cta()
k.mbarrier_init(k.mbarrier(), 1)

other: s32 = n  # wrong
data.store(n)  # wrong
n + k.register(s32)  # wrong
n + "1"  # wrong
k.if_(n)  # wrong
place: Shared[f32] = data  # wrong
k.fence_proxy_asynk()  # wrong
k.mbarier_init(k.mbarrier(), 1)  # wrong
k.shuffle_xr(n, 1)  # wrong
k.ld(data, vec="v3")  # wrong
k.max(value, n)  # wrong
k.ex2_approx(n)  # wrong
k.mbarrier_init(data, 1)  # wrong
data.load(order="release")  # wrong
data.atomic_ad(1.0)  # wrong
k.warp_reduce("sum", n)  # wrong
k.shfl_sync_bfly(1.5, 1, 31, -1)  # wrong
wrong: Register[u32] = k.max(value, 0.5)  # wrong
"""


def test_the_types_at_run_time_are_those_that_a_type_checker_knows() -> None:
    right = PROGRAM.split("other: s32", maxsplit=1)[0]
    names: dict[str, Any] = {}
    exec(right, names)
    assert "shfl.sync" in str(names["k"])
    typed = re.findall(r"^ *(\w+): (tuple\[)?Register\[(\w+)\]", right, re.MULTILINE)
    assert len(typed) > 14
    for name, several, word in typed:
        value = names[name][0] if several else names[name]
        assert value.type.word == word, name


def test_a_type_checker_knows_the_types_of_values_and_addresses(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")]
    errors = [int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line]
    assert errors == wrong, done.stdout + done.stderr
