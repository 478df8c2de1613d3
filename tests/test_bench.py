"""`scripts/bench` prints its figures. (The figures themselves are not tested: they depend on the machine.)"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_start_is_measured_part_by_part() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench"), "start", "--repeats", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    for part in ("python -c pass", "instruction table", "grammar", "ptxkit lint", "ptxkit-ptxas, known to be clean"):
        assert re.search(rf"^{part}.* +\d+ +-?\d+ +\d+$", run.stdout, re.M), run.stdout
    assert re.search(r"a memoized match.*: \d+\.\d\d microseconds", run.stdout)


def test_the_whole_check_of_a_file_is_measured_together_with_ptxas() -> None:
    file = ROOT / "corpus" / "kernels" / "bulk_add_one.sm_90.ptx"
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench"), "lint", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    assert re.search(rf"^kernels/{file.name}( +\d+){{3}} +\d+\.\d\d( +\d+){{6}}$", run.stdout, re.M), run.stdout
    assert re.search(r"^[01] of 1 files take at most half of ptxas's time$", run.stdout, re.M)


def test_undecided_items_are_counted_by_file_and_by_reason(tmp_path: Path) -> None:
    names = ("desc_copy.sm_90a.ptx", "softmax.sm_90a.ptx", "gather_sum.sm_80.ptx")
    for name in names:
        shutil.copy(ROOT / "corpus" / "compilers" / "triton" / name, tmp_path)
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench"), "undecided", "--corpus", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    total = re.search(rf"^{len(names)} files +(\d+) +(\d+) +(\d+\.\d)% +(\d+)$", run.stdout, re.M)
    assert total, run.stdout
    operations, doubtful, share, questions = int(total[1]), int(total[2]), float(total[3]), int(total[4])
    assert operations > 0
    assert questions > 0
    assert abs(share - 100 * doubtful / operations) < 0.06
    assert questions == sum(int(each) for each in re.findall(r"^ +(\d+)  PTX\d{3}  \S", run.stdout, re.M))


def test_many_files_are_measured_by_jobs_and_from_stored_results() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench"), "files", "--count", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    assert re.search(r"^two jobs are \d+\.\d\d times as fast as one", run.stdout, re.M), run.stdout
    assert re.search(r"^a second run is \d+\.\d times as fast as the first", run.stdout, re.M)
    assert run.stdout.endswith("all four print the same\n")


def test_strategies_are_measured_without_a_health_check_that_fails() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "bench"), "strategies", "--examples", "10"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    for name in (
        "instructions",
        "operands",
        "addresses",
        "modules",
        "launches",
        "arrays",
        "kernels",
        "pipelines",
        "litmus",
    ):
        assert re.search(rf"^{name}\(.* +\d+( +fewer than 100)?$", run.stdout, re.M), run.stdout
