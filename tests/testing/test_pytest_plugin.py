"""The plugin of pytest, in separate runs of pytest: the features that it adds, the examples that it stores, and the
modules that it does not load.

A run is within this process where nothing about processes or loaded modules is tested.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ptxkit.content_store import user_cache_folder
from ptxkit.device import NoDeviceError, check_device
from ptxkit.testing.oracles import session
from tests.testing.oracles.test_assertions import DOUBLE

pytest_plugins = ["pytester"]

FENCED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to) .reqntid 1 {
.reg .b32 %r<4>; .reg .b64 %d<2>;
.shared .align 128 .b8 tile[1024];
ld.param.u64 %d1, [to];
mov.u32 %r1, tile;
st.shared.u32 [%r1], 7;
FENCE
cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16; COMMENT
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
ret;
}
"""


ROOT = Path(__file__).resolve().parents[2]
_PATH = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
_PLUGIN = () if entry_points(group="pytest11", name="ptxkit") else ("-p", "ptxkit.testing.pytest_plugin")
"""Pytest finds the plugin by its entry point where ptxkit is installed; where it is only on the path it is named."""

_USED = {"ptxkit", "hypothesispytest"}
_OTHERS = [f"no:{each.name}" for each in entry_points(group="pytest11") if each.name not in _USED]
"""Installed plugins of others: some take longer to load than all that is tested here."""


@dataclass(frozen=True, slots=True)
class PytestRun:
    """The output and the status of a run of pytest."""

    returncode: int
    stdout: str
    stderr: str


def prepare_folder(folder: Path, files: dict[str, str]) -> list[str]:
    """Returns the arguments of a run of pytest in a folder, after these test files are written."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    without = [part for name in ("no:cacheprovider", *_OTHERS) for part in ("-p", name)]
    return [*without, *_PLUGIN]


def pytest_in(folder: Path, *arguments: str, **files: str) -> PytestRun:
    """Runs pytest in a folder with these test files, in a separate process."""
    command = [sys.executable, "-m", "pytest", *prepare_folder(folder, files), *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env={**os.environ, "COLUMNS": "150", "NO_COLOR": "1", "PYTHONPATH": _PATH},
    )
    return PytestRun(done.returncode, done.stdout, done.stderr)


Here = Callable[..., PytestRun]


@pytest.fixture
def cache_home() -> str:
    """The folder of compiled tables, before pytester gives this process another home, where they would be made again.
    Empty where it does not exist.
    """
    return os.path.dirname(user_cache_folder() or "")


@pytest.fixture
def pytest_here(cache_home: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Here:
    """The same as `pytest_in` in this process and in pytester's folder, which is the current one."""
    monkeypatch.setenv("XDG_CACHE_HOME", cache_home)
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setenv("NO_COLOR", "1")

    def pytest_in_process(*arguments: str, **files: str) -> PytestRun:
        done = pytester.runpytest_inprocess(*prepare_folder(pytester.path, files), *arguments)
        return PytestRun(int(done.ret), done.stdout.str(), done.stderr.str())

    return pytest_in_process


def outcomes(done: PytestRun) -> dict[str, int]:
    """Returns `{"passed": 2, "failed": 1}` of the last line."""
    last = next(line for line in reversed(done.stdout.splitlines()) if " in " in line)
    return {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped|error)", last)}


def has_gpu() -> bool:
    try:
        check_device()
    except NoDeviceError:
        return False
    return True


def test_a_run_that_does_not_use_ptxkit_loads_no_dependency_of_it(tmp_path: Path) -> None:
    test = (
        "import sys\ndef test_loaded():\n"
        "    assert not {'numpy', 'lark', 'cuda', 'ptxkit.device', 'ptxkit.emulator', 'ptxkit.isa'} & "
        "set(sys.modules)\n"
        "    assert 'ptxkit.testing.pytest_plugin' in sys.modules\n"
    )
    done = pytest_in(tmp_path, "-p", "no:hypothesispytest", test_nothing=test)
    assert outcomes(done) == {"passed": 1}, done.stdout
    hypothesis_itself = "import sys\ndef test_it():\n    assert 'ptxkit.testing.strategies' not in sys.modules\n"
    assert outcomes(pytest_in(tmp_path, test_nothing=hypothesis_itself)) == {"passed": 1}


def test_pytest_does_not_rewrite_ptxkit(tmp_path: Path) -> None:
    test = (
        "import importlib.machinery, sys\nimport ptxkit.linter\n"
        "def test_loaders():\n"
        "    module = sys.modules['ptxkit.linter']\n"
        "    assert isinstance(module.__loader__, importlib.machinery.SourceFileLoader), module.__loader__\n"
        "    assert not isinstance(sys.modules[__name__].__loader__, importlib.machinery.SourceFileLoader)\n"
    )
    done = pytest_in(tmp_path, test_it=test, conftest="import ptxkit.linter\n")
    assert outcomes(done) == {"passed": 1}, done.stdout


def test_the_machine_and_the_linter_are_fixtures(
    pytest_here: Here, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptxkit.testing.pytest_plugin._SECONDS_TO_SHRINK", 3600.0)
    test = f"""
import numpy as np
from ptxkit.testing.oracles.assertions import DeviceLaunch
DOUBLE = {DOUBLE!r}
def test_doubles(machine):
    [out] = machine(DOUBLE, DeviceLaunch("double", 1, 32, (np.arange(32, dtype=np.uint32),))).values()
    assert out.tolist() == [2 * each for each in range(32)]
def test_is_clean(ptx_lint):
    ptx_lint(DOUBLE)
def test_is_found(ptx_lint):
    ptx_lint(DOUBLE.replace("shl.b32", "shl.f32"), ["PTX103"])
def test_is_not_found(ptx_lint):
    ptx_lint(DOUBLE, ["PTX401"])
def test_is_not_expected(ptx_lint):
    ptx_lint(DOUBLE.replace("shl.b32", "shl.f32"))
"""
    done = pytest_here(test_fixtures=test)
    assert outcomes(done) == {"passed": 3, "failed": 2}, done.stdout
    assert "PTX401 is not found" in done.stdout
    assert "PTX103 error in line 7: " in done.stdout
    kept = pytester.path / ".ptxkit" / "failures" / "test_fixtures.py-test_is_not_expected" / "kernel.ptx"
    assert "shl.f32" in kept.read_text()
    assert len(kept.read_text().splitlines()) < len(DOUBLE.splitlines())


NEEDS_GPU = """
import pytest
@pytest.mark.ptx_device
def test_marked():
    pass
def test_by_fixture(device):
    pass
def test_neither():
    pass
"""


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
@pytest.mark.parametrize(
    ("use", "expected"), [("auto", {"passed": 1, "skipped": 2}), ("require", {"passed": 1, "failed": 1, "error": 1})]
)
def test_without_a_gpu_its_tests_are_skipped_or_fail(pytest_here: Here, use: str, expected: dict[str, int]) -> None:
    done = pytest_here(f"--ptx-device={use}", test_gpu=NEEDS_GPU)
    found = outcomes(done)
    found = {"failed": 1, "error": 1, "passed": 1} if found == {"passed": 1, "error": 2} else found
    assert found == expected, done.stdout


def test_where_no_gpu_is_requested_its_tests_are_skipped_for_that_reason(pytest_here: Here) -> None:
    done = pytest_here("--ptx-device=none", "-rs", test_gpu=NEEDS_GPU)
    assert outcomes(done) == {"passed": 1, "skipped": 2}
    assert done.stdout.count("--ptx-device=none)") == 2


@pytest.mark.skipif(not has_gpu(), reason="there is no GPU")
def test_with_a_gpu_they_run(pytest_here: Here) -> None:
    assert outcomes(pytest_here("--ptx-device=require", test_gpu=NEEDS_GPU)) == {"passed": 3}


PROPERTY = f"""
from hypothesis import HealthCheck, given, settings
from ptxkit.testing import oracles, strategies
DOUBLE = {DOUBLE!r}

@settings(deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.arrays("u32", 32))
def test_wrong_optimizer(data):
    launch = oracles.DeviceLaunch("double", 1, 32, (data,))
    oracles.assert_same_kernel(DOUBLE, DOUBLE.replace("shl.b32 %r2, %r1, 1", "mul.hi.u32 %r2, %r1, 2"), launch)
"""


def test_a_failing_example_is_stored_and_replayed_by_one_command(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, test_property=PROPERTY)
    assert outcomes(done) == {"failed": 1}, done.stdout
    found = re.search(r"ptxkit (fuzz --replay (\S+))", done.stdout)
    assert found is not None, done.stdout
    kept = tmp_path / found[2]
    assert kept.parent == tmp_path / ".ptxkit" / "failures"
    launch = json.loads((kept / "launch.json").read_text())
    assert launch["oracle"] == "assert_same_kernel"
    assert launch["launch"]["name"] == "double"
    assert (kept / "kernel.ptx").read_text() == DOUBLE
    assert "mul.hi.u32" in (kept / "kernel_1.ptx").read_text()
    data = np.load(kept / "argument_0.npy")
    assert sorted(data.tolist()) == [0] * 31 + [1]
    again = subprocess.run(
        [sys.executable, "-m", "ptxkit", *found[1].split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": _PATH},
    )
    assert again.returncode == 1
    assert "bytes differ" in again.stdout


def test_a_budget_ends_a_property_that_holds(pytest_here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that advances by a hundredth of a second whenever it is read, which is once an example."""
    checks = count()
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: next(checks) / 100))
    test = """
from hypothesis import given, settings, strategies as st
from ptxkit.testing import oracles
TEXT = ".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }\\n"
@settings(deadline=None, database=None, derandomize=True, max_examples=100000)
@given(st.integers())
def test_holds(number):
    oracles.assert_round_trips(TEXT)
@settings(deadline=None, database=None, derandomize=True, max_examples=100000)
@given(st.integers())
def test_does_not(number):
    oracles.assert_round_trips(TEXT)
    assert number < 1000
"""
    done = pytest_here("--ptx-budget=1", "-rP", test_budget=test)
    assert outcomes(done) == {"passed": 1, "failed": 1}, done.stdout
    assert "the budget of 1 s is used up after 101 examples" in done.stdout


def test_a_budget_is_a_number_of_seconds(pytest_here: Here) -> None:
    done = pytest_here("--ptx-budget=0")
    assert done.returncode == 4
    assert "--ptx-budget" in done.stderr


# ------------------------------------------------------------------------------------------- PTX files


def ptx(fence: str = "", comment: str = "") -> str:
    return FENCED.replace("FENCE", fence).replace("COMMENT", comment)


PROXY = "fence.proxy.async.shared::cta;"


FILES = {
    "same_line": ptx("", "// ptxkit: expect[PTX401]"),
    "line_below": ptx("// ptxkit: expect[PTX401]\n// of the line below"),
    "clean": ptx(PROXY) + "// ptxkit: expect[]\n",
    "hidden": ptx("", "// ptxkit: ignore[PTX401] a test\n// ptxkit: expect[]"),
    "not_there": ptx(PROXY, "// ptxkit: expect[PTX401]"),
    "not_clean": ptx() + "// ptxkit: expect[]\n",
    "elsewhere": ptx("// ptxkit: expect[PTX401]\nmov.u32 %r2, 0;"),
    "misspelled": ptx("", "// ptxkit: expect[PTX401]") + "// ptxkit: expct[]",
    "no_code": ptx("", "// ptxkit: expect[PTX401, PTX40]"),
    "nothing_follows": ptx(PROXY) + "// ptxkit: expect[PTX401]\n",
}
PASS = {"same_line", "line_below", "clean", "hidden"}


def test_files_are_compared_with_their_expectations(pytest_here: Here, pytester: pytest.Pytester) -> None:
    for name, text in FILES.items():
        (pytester.path / f"{name}.ptx").write_text(text)
    done = pytest_here("-rA")
    passed = set(re.findall(r"^PASSED (\w+)\.ptx::findings", done.stdout, re.MULTILINE))
    failed = set(re.findall(r"^FAILED (\w+)\.ptx::findings", done.stdout, re.MULTILINE))
    assert (passed, failed) == (PASS, FILES.keys() - PASS), done.stdout
    assert "Traceback" not in done.stdout
    assert "misspelled.ptx: line 16: '// ptxkit: expct[]': write expect[PTX401, ...]" in done.stdout
    assert "nothing_follows.ptx: line 16: no code follows" in done.stdout


def test_a_failing_file_is_reported_with_the_lines(pytest_here: Here, pytester: pytest.Pytester) -> None:
    (pytester.path / "k.ptx").write_text(ptx("mov.u32 %r2, 0; // ptxkit: expect[PTX302]"))
    done = pytest_here()
    assert "k.ptx:10: PTX302 is expected, and not found" in done.stdout
    assert "k.ptx:11: PTX401 error: " in done.stdout


def test_files_without_expectations_are_not_tests(pytest_here: Here, pytester: pytest.Pytester) -> None:
    (pytester.path / "k.ptx").write_text(ptx())
    assert pytest_here().returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_no_file_of_the_corpus_is_unintentionally_a_test() -> None:
    from ptxkit.testing.corpus.expectation_files import is_test

    corpus = Path(__file__).resolve().parent.parent.parent / "corpus"
    assert [path for path in corpus.rglob("*.ptx") if is_test(path)] == []
