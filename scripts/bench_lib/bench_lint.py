"""`scripts/bench lint`: the time of a whole check of real kernels, compared with ptxas, part by part, and its
growth.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bench_lib.bench_common import ROOT, fastest, processor_seconds, ptxas, ptxas_version

LARGE = 50_000
REPEATS = 3
PARTS = ("start", "parse", "validate", "explore", "rules", "report")
SIZES = (0.1, 0.3, 1.0, 3.0, 10.0)
#: A kernel with copies, barriers and loops, which is repeated.
PATTERN = ROOT / "corpus" / "compilers" / "triton" / "matmul_s3.sm_80.ptx"
#: The steps of a process for `ptxkit lint FILE`, with a measurement of its processor time after each part.
STAGES = """
import gc, json, sys
from time import process_time as clock
gc.set_threshold(20_000, 20, 50)  # as the command does
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.isa import table
from ptxkit.report import full_report
from ptxkit.results import FileResult
from ptxkit.rules import analyze
from ptxkit.syntax import parse
from ptxkit.validate import validate
table()
marks, exploring = [clock()], [0.0]
explore = Explorer.run
def timed(self):
    begun = clock()
    explore(self)
    exploring[0] += clock() - begun
Explorer.run = timed
text = open(sys.argv[1]).read()
module = parse(text, sys.argv[1]); marks.append(clock())
found = validate(module); marks.append(clock())
more = analyze(module); marks.append(clock())
verdicts = [FileResult.of(sys.argv[1], each) for each in (found, more)]
list(full_report(verdicts)); marks.append(clock())
start, parsed, valid, analyzed, done = marks
parts = (start, parsed - start, valid - parsed, exploring[0], analyzed - valid - exploring[0], done - analyzed)
print(json.dumps(parts))
"""


def large_files(folders: Iterable[Path]) -> list[Path]:
    """Returns the PTX files of 50 kB and more below these folders."""
    found = [path for folder in folders for path in sorted(folder.rglob("*.ptx"))]
    return [path for path in found if path.stat().st_size >= LARGE]


def compare(files: Sequence[Path]) -> list[Path]:
    """Prints one line for each file, and returns those for which lint takes more than half of ptxas's time."""
    print(f"Milliseconds of processor time, best of {REPEATS}, in turns: `ptxkit lint FILE`, and `ptxas -O3` of")
    print(f"{ptxas_version()}, whole processes; and what lint's are spent on (start: Python, imports, table).")
    print(f"{'file':42} {'kB':>5} {'lint':>6} {'ptxas':>6} {'ratio':>6}   {''.join(f'{part:>9}' for part in PARTS)}")
    slower = [file for file in files if not _compare(file)]
    print(f"{len(files) - len(slower)} of {len(files)} files take at most half of ptxas's time")
    return slower


def _compare(file: Path) -> bool:
    text = file.read_text()
    target = re.search(r"\.target\s+(sm_\w+)", text)
    with tempfile.NamedTemporaryFile() as output:
        assemble = [str(ptxas()), "-O3", f"-arch={target[1] if target else 'sm_90a'}", str(file), "-o", output.name]
        lint = [sys.executable, "-m", "ptxkit", "lint", str(file)]
        mine, peer = fastest(lambda: _run(lint), lambda: _run(assemble), repeats=REPEATS)
    parts = min((_time_parts(file) for _ in range(REPEATS)), key=sum)
    name = f"{file.parent.name}/{file.name}"[:42]
    ratio = mine / peer
    shown = "".join(f"{part * 1e3:9.0f}" for part in parts)
    print(f"{name:42} {len(text) / 1e3:5.0f} {mine * 1e3:6.0f} {peer * 1e3:6.0f} {ratio:6.2f}   {shown}", flush=True)
    return ratio <= 0.5


def _time_parts(file: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", STAGES, str(file)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    found: list[float] = json.loads(done.stdout)
    return found


def _run(command: Sequence[str]) -> None:
    """Runs a program; lint returns 1 if it has findings."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}\n{(done.stdout + done.stderr)[:1000]}")


# ------------------------------------------------------------------------------------------------ growth


def growth(made: Callable[[Path, float], Path]) -> None:
    """Prints seconds of `ptxkit lint` from 0.1 to 10 MB, and two fits: a power of the size, and a straight line.

    made: a function that writes a module of a number of megabytes to a folder.
    """
    kinds = {"many kernels": made, "one kernel, repeated": _repeat_kernel, "one long kernel": _lengthen_kernel}
    print("\nSeconds of processor time of `ptxkit lint` by megabytes, and what they grow with.")
    print(f"{'':22}{''.join(f'{size:>8g}' for size in SIZES)} {'exponent':>9} {'s/MB':>6} {'r2':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in kinds.items():
            points = [_time_size(make(Path(folder), size)) for size in SIZES]
            exponent = _fit_line([(math.log(x), math.log(y)) for x, y in points])[0]
            slope, certainty = _fit_line(points)
            shown = "".join(f"{seconds:8.2f}" for _, seconds in points)
            print(f"{name:22}{shown} {exponent:9.2f} {slope:6.2f} {certainty:7.4f}", flush=True)


def _time_size(file: Path) -> tuple[float, float]:
    start = processor_seconds()
    _run([sys.executable, "-m", "ptxkit", "lint", str(file)])
    return file.stat().st_size / 1e6, processor_seconds() - start


def _fit_line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Returns the slope of the straight line with the least squares, and its coefficient of determination."""
    middle_x, middle_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / spread
    left = sum((y - middle_y - slope * (x - middle_x)) ** 2 for x, y in points)
    return slope, 1 - left / sum((y - middle_y) ** 2 for _, y in points)


def _repeat_kernel(folder: Path, megabytes: float) -> Path:
    """Writes repeated copies of a kernel, with new names."""
    heading, kernel = _split_pattern()
    copies = range(max(1, round(megabytes * 1e6 / len(kernel))))
    path = folder / f"repeated_{megabytes:g}MB.ptx"
    path.write_text(heading + "".join(_rename_copy(kernel, copy) for copy in copies))
    return path


def _lengthen_kernel(folder: Path, megabytes: float) -> Path:
    """Writes one kernel whose body repeats that of another, each time between braces."""
    heading, kernel = _split_pattern()
    begin, end = kernel.index("{"), kernel.rindex("}")
    body = re.sub(r"^\s*ret;", "", kernel[begin + 1 : end], flags=re.M)
    copies = range(max(1, round(megabytes * 1e6 / len(body))))
    path = folder / f"long_{megabytes:g}MB.ptx"
    blocks = "".join(f"{{\n{_rename_copy(body, copy)}\n}}\n" for copy in copies)
    path.write_text(f"{heading}{kernel[:begin]}{{\n{blocks}ret;\n}}\n")
    return path


def _split_pattern() -> tuple[str, str]:
    """Returns the text before the kernel, and the kernel."""
    text = re.sub(r"^[ \t]*\.(?:file|loc)\b.*\n|^[ \t]*\.section[^{]*\{[^}]*\}", "", PATTERN.read_text(), flags=re.M)
    start = text.index(".visible .entry")
    return text[:start], text[start : text.index("\n}", start) + 3]


def _rename_copy(kernel: str, copy: int) -> str:
    """Returns a copy with its own labels, and its own name if it has one."""
    return re.sub(r"\$L\w+|(?<=\.entry )\w+", rf"\g<0>_{copy}", kernel)
