"""The litmus tests of asynchronous instructions in `corpus/litmus/async`: their verdicts, and that ptxas takes them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from ptxkit.memory_model import ISA, STRICT, check, read_tests
from ptxkit.testing.oracles.ptxas import installed_ptxas

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "corpus" / "litmus" / "async").glob("*.ptx"))


def test_the_model_has_the_verdict_of_each_test_under_both_policies() -> None:
    verdicts: Counter[str] = Counter()
    for file in FILES:
        (test,) = read_tests(file.read_text("utf-8"), file.name)
        for policy in (ISA, STRICT):
            found = check(test, policy)
            assert found.is_as_expected, (file.name, policy)
            assert found.ends or found.undefined, file.name
        assert test.sections, file.name
        verdicts[test.expected] += 1
    assert set(verdicts) == {"ok", "bad", "silent"}
    assert sum(verdicts.values()) == len(FILES) > 300


def test_ptxas_accepts_each_test() -> None:
    assert FILES
    texts = [file.read_text("utf-8").replace(".entry k(", f".entry k{at}(") for at, file in enumerate(FILES)]
    assert installed_ptxas()[0].refusals(texts, "sm_90a") == {}


def test_the_machine_agrees_with_a_part_of_the_tests_and_lint_reports_no_error_for_right_ones() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "litmus"), "--suite", "--every", "24"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bad)" in done.stdout


def test_the_files_are_those_of_the_table() -> None:
    code = (
        "from litmus_lib.async_suite import suite; from pathlib import Path; import sys;"
        "files = {path.stem: path.read_text('utf-8') for path in Path(sys.argv[1]).glob('*.ptx')};"
        "sys.exit(files != {name: test.module() for name, test in suite().items()})"
    )
    command = [sys.executable, "-c", code, str(ROOT / "corpus" / "litmus" / "async")]
    done = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or "run scripts/litmus --write"
