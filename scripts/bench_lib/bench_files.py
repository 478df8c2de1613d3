"""`scripts/bench files`: a folder of a hundred mixed files, checked by one process, by two, and from cached results."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_lib.bench_common import ROOT, processor_seconds

COUNT = 100
SOURCES = ("compilers", "kernels", "seeds")
JOBS_LIMIT, CACHED_LIMIT = 1.7, 20.0
"""The required ratios of the speed of two jobs and of one, and of a second run and the first."""


def bench_files(count: int = COUNT, repeats: int = 1) -> int:
    """Prints elapsed and processor seconds for each mode, and the ratios. Returns 1 if one is not reached."""
    with tempfile.TemporaryDirectory(prefix="ptxkit-files-") as name:
        folder, kept = Path(name, "ptx"), Path(name, "kept")
        folder.mkdir()
        chosen = sample_files(count)
        for number, path in enumerate(chosen):
            shutil.copy(path, folder / f"{number:03}.{path.name}")
        size = sum(path.stat().st_size for path in chosen)
        print(
            f"{len(chosen)} files of corpus/ ({', '.join(SOURCES)}), {size / 1e6:.2f} MB; best of {repeats}, in turns."
        )

        def lint(*options: str) -> Callable[[], tuple[int, bytes]]:
            return lambda: _run_lint(folder, *options)

        def cold() -> tuple[int, bytes]:
            shutil.rmtree(kept, ignore_errors=True)
            return _run_lint(folder, "--cache-dir", str(kept))

        modes = {
            "--jobs 1": lint("--no-cache", "--jobs", "1"),
            "--jobs 2": lint("--no-cache", "--jobs", "2"),
            "as it comes, nothing kept": cold,
            "the same again, results kept": lint("--cache-dir", str(kept)),
        }
        best = {mode: (float("inf"), float("inf")) for mode in modes}
        outputs = set()
        for _ in range(repeats):
            for mode, action in modes.items():
                begun, used = time.perf_counter(), processor_seconds()
                outputs.add(action())
                spent = time.perf_counter() - begun, processor_seconds() - used
                best[mode] = min(best[mode][0], spent[0]), min(best[mode][1], spent[1])
    for mode, (clock, processor) in best.items():
        print(f"{mode:32} {clock:8.2f} s by the clock {processor:8.2f} s of the processor", flush=True)
    one, two, first, second = (best[mode][0] for mode in modes)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"two jobs are {one / two:.2f} times as fast as one, on {cores} cores (wanted: {JOBS_LIMIT})")
    print(f"a second run is {first / second:.1f} times as fast as the first (wanted: {CACHED_LIMIT:g})")
    print("all four print the same" if len(outputs) == 1 else "THEY DO NOT PRINT THE SAME")
    return 1 if one / two < JOBS_LIMIT or first / second < CACHED_LIMIT or len(outputs) > 1 else 0


def sample_files(count: int) -> list[Path]:
    """Returns files of the corpus, in an arbitrary order."""
    found = [path for source in SOURCES for path in (ROOT / "corpus" / source).rglob("*.ptx")]
    return sorted(found, key=lambda path: hashlib.sha256(path.name.encode()).digest())[:count]


def _run_lint(folder: Path, *options: str) -> tuple[int, bytes]:
    """Returns exit status and report; status 2 would mean that something could not be checked."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PTXKIT_")}
    command = [sys.executable, "-m", "ptxkit", "lint", "--format", "concise", *options, str(folder)]
    done = subprocess.run(command, capture_output=True, check=False, env=environment, cwd=ROOT)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}\n{(done.stdout + done.stderr).decode()[:1000]}")
    return done.returncode, done.stdout
