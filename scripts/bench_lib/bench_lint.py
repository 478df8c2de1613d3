"""`scripts/bench lint`: the time of a whole check of real kernels, compared with ptxas, part by part, and its
growth.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench_lib.bench_common import ROOT, fastest, processor_seconds, ptxas, ptxas_version

LARGE = 50_000
REPEATS = 3
#: The least processor seconds of ptxas of a file whose ratio counts.
COUNTED_SECONDS = 0.2
PARTS = ("start", "parse", "validate", "explore", "rules", "report")
SIZES = (0.1, 0.3, 1.0, 3.0, 10.0)
#: A kernel with copies, barriers and loops, which is repeated.
PATTERN = ROOT / "corpus" / "compilers" / "triton" / "matmul_s3.sm_80.ptx"
#: The steps of a process for `ptxkit lint FILE`, with a measurement of its processor time after each part.
STAGES = """
import gc, hashlib, json, sys
from time import process_time as clock
gc.set_threshold(20_000, 20, 50)  # as the command does
from ptxkit.analysis.context.happens_before import HappensBefore
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
counts = {"steps": 0, "events": 0, "order queries": 0}
execute, ask = Explorer.execute, HappensBefore.first_ordered_position
def counted(self, *arguments):
    left = self.budget.steps
    found = execute(self, *arguments)
    counts["steps"] += left - self.budget.steps
    counts["events"] += sum(len(group.events) for each in found.cluster for group in each.groups)
    return found
def asked(self, *arguments):
    counts["order queries"] += 1
    return ask(self, *arguments)
Explorer.execute, HappensBefore.first_ordered_position = counted, asked
text = open(sys.argv[1]).read()
module = parse(text, sys.argv[1]); marks.append(clock())
found = validate(module); marks.append(clock())
more = analyze(module); marks.append(clock())
verdicts = [FileResult.of(sys.argv[1], each) for each in (found, more)]
list(full_report(verdicts)); marks.append(clock())
start, parsed, valid, analyzed, done = marks
parts = (start, parsed - start, valid - parsed, exploring[0], analyzed - valid - exploring[0], done - analyzed)
reported = [(each.code, each.span.start, each.message) for each in (*found.diagnostics, *more.diagnostics)]
reported += [(each.code, each.span.start, each.reason) for each in more.undecided]
digest = hashlib.sha256(repr(sorted(map(str, reported))).encode()).hexdigest()[:12]
print(json.dumps({"parts": parts, "counts": counts, "digest": digest}))
"""


def large_files(folders: Iterable[Path]) -> list[Path]:
    """Returns the PTX files of 50 kB and more below these folders."""
    found = [path for folder in folders for path in sorted(folder.rglob("*.ptx"))]
    return [path for path in found if path.stat().st_size >= LARGE]


def compare(files: Sequence[Path]) -> list[Path]:
    """Prints two lines for each file, and the ratios of all that ptxas accepts.

    Returns the files for which lint takes more than half of ptxas's time. The second line of a file has the amounts of
    work, which are equal in each run, and a digest of the verdict, which a change of the speed leaves as it is.
    """
    print(f"Milliseconds of processor time, best of {REPEATS}, in turns: `ptxkit lint FILE`, and `ptxas -O3` of")
    print(f"{ptxas_version()}, whole processes; and what lint's are spent on (start: Python, imports, table).")
    print(f"Python {sys.version.split()[0]}, built with {sysconfig.get_config_var('CONFIG_ARGS') or 'unknown options'}")
    print(f"{'file':42} {'kB':>5} {'lint':>6} {'ptxas':>6} {'ratio':>6}   {''.join(f'{part:>9}' for part in PARTS)}")
    measured = {file: times for file in files if (times := _compare(file)) is not None}
    slower = [file for file, (mine, peer) in measured.items() if mine > peer / 2]
    print(f"{len(measured) - len(slower)} of {len(measured)} files take at most half of ptxas's time")
    for least in (COUNTED_SECONDS, 0):
        ratios = [mine / peer for mine, peer in measured.values() if peer >= least]
        if ratios:
            name = f"{len(ratios)} files with {least:g} s and more of ptxas"
            print(f"{name}: median ratio {statistics.median(ratios):.1f}, worst {max(ratios):.1f}")
    return slower


def _compare(file: Path) -> tuple[float, float] | None:
    """Prints the times of a file, and returns those of lint and of ptxas; None if ptxas does not accept it."""
    text = file.read_text()
    target = re.search(r"\.target\s+(sm_\w+)", text)
    with tempfile.NamedTemporaryFile() as output:
        assemble = [str(ptxas()), "-O3", f"-arch={target[1] if target else 'sm_90a'}", str(file), "-o", output.name]
        lint = [sys.executable, "-m", "ptxkit", "lint", str(file)]
        if subprocess.run(assemble, capture_output=True, check=False).returncode:
            print(f"{file.name}: ptxas does not accept it")
            return None
        mine, peer = fastest(lambda: _run(lint), lambda: _run(assemble), repeats=REPEATS)
    runs = [_examine_parts(file) for _ in range(REPEATS)]
    parts = min((each["parts"] for each in runs), key=sum)
    name = f"{file.parent.name}/{file.name}"[:42]
    ratio = mine / peer
    shown = "".join(f"{part * 1e3:9.0f}" for part in parts)
    print(f"{name:42} {len(text) / 1e3:5.0f} {mine * 1e3:6.0f} {peer * 1e3:6.0f} {ratio:6.2f}   {shown}", flush=True)
    counts = ", ".join(f"{count} {name}" for name, count in runs[0]["counts"].items())
    print(f"{'':42} {counts}, digest {runs[0]['digest']}", flush=True)
    return mine, peer


def _examine_parts(file: Path) -> dict[str, Any]:
    """Returns the seconds of the parts of a lint, the amounts of its work, and the digest of its verdict."""
    done = subprocess.run(
        [sys.executable, "-c", STAGES, str(file)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    found: dict[str, Any] = json.loads(done.stdout)
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
