"""`scripts/bench build`: the time of building, verifying and compiling a kernel. It needs no GPU.

Each figure is the median of several new processes: seconds on the clock, and of the processor in brackets, since a busy
machine makes the clock unreliable. The timed interval begins when the packages are loaded, and ends with the cubin;
starting Python and loading the packages have separate lines. Three states of the user's cache folder are
distinguished:

* nothing: nothing is compiled, including the instruction table, as when a checkout is used for the first time;
* installed: there are the compiled table and grammar, which a wheel contains, and nothing of any kernel;
* from the cache: the kernel was built and compiled before, by another process.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

KERNELS = ("transpose", "gemm")
PER_KERNEL_FILES = ("cubin.*", "matches.*")
"""The files of the cache folder that no wheel contains."""
_SCRIPT = """
import time
def now(): return time.perf_counter(), time.process_time()
marks = [now()]
from ptxkit.device import compiler, use_device
from ptxkit.device.cuda_libraries import import_nvjitlink
from ptxkit.kernels import {name}
import_nvjitlink()
for _ in range(2):
    marks.append(now())
    {name}().compile("sm_90a")
marks.append(now())
for before, after in zip(marks, marks[1:]):
    print(*(late - early for early, late in zip(before, after)))
"""

Times = list[tuple[float, float]]
"""Elapsed and processor seconds of the imports, of the first build, and of the next."""


def bench_build() -> int:
    """Prints all figures."""
    print("seconds on the clock (of the processor), medians")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    print(f"{'starting Python':52} {_median_text(_startup_times(environment))}")
    for name in KERNELS:
        with tempfile.TemporaryDirectory() as top:
            _bench_kernel(name, Path(top), environment)
    return 0


def _bench_kernel(name: str, top: Path, environment: Mapping[str, str]) -> None:
    full, repeats = top / "full", 3
    nothing = [_time_process(name, top / f"nothing{turn}", environment) for turn in range(repeats)]
    _time_process(name, full, environment)
    installed = [
        _time_process(name, _copy_as_installed(full, top / f"installed{turn}"), environment) for turn in range(repeats)
    ]
    kept = [_time_process(name, full, environment) for _ in range(3 * repeats)]
    print(f"{f'loading the packages that {name} needs':52} {_median_text(times[0] for times in kept)}")
    for what, runs in (("nothing kept", nothing), ("as installed", installed), ("from the cache", kept)):
        print(f"{f'{name} built, verified, compiled, {what}':52} {_median_text(times[1] for times in runs)}", end="")
        print(f", again in that process {_median_text(times[2] for times in runs)}", flush=True)


def _copy_as_installed(full: Path, folder: Path) -> Path:
    shutil.copytree(full, folder, ignore=shutil.ignore_patterns(*PER_KERNEL_FILES))
    return folder


def _time_process(name: str, cache: Path, environment: Mapping[str, str]) -> Times:
    """Returns the times of one process with this cache folder."""
    cache.mkdir(exist_ok=True)
    command = [sys.executable, "-c", _SCRIPT.format(name=name)]
    own = {**environment, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [(float(clock), float(processor)) for clock, processor in lines]


def _startup_times(environment: Mapping[str, str]) -> Times:
    script = "import time; print(time.process_time())"
    found = []
    for _ in range(5):
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        found.append((time.perf_counter() - begin, float(done.stdout)))
    return found


def _median_text(times: Iterable[tuple[float, float]]) -> str:
    clock, processor = (statistics.median(each) for each in zip(*times, strict=True))
    return f"{clock:.3f} s ({processor:.3f})"
