"""The plugin of pytest, with the entry point `ptxkit`.

* Fixtures: `machine(source, launch)` and `device(source, launch)` return the arrays after a run on the reference
  machine and on the GPU; `ptx_lint(source, codes)` asserts the findings of the linter.
* `@pytest.mark.ptx_device` marks tests that need a GPU; `--ptx-device` determines what happens to them without one.
* `--ptx-budget` ends a property whose oracles have used their seconds, with the results so far.
* `*.ptx` files that state their expected findings are tests (`ptxkit.testing.corpus.expectation_files`).
* The last failing example of an oracle is saved when its test fails: after Hypothesis has shrunk it, the smallest one.

The plugin loads none of ptxkit's dependencies, such as NumPy and Hypothesis, before a test uses them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import pytest

from ptxkit.testing.corpus import expectation_files
from ptxkit.testing.limits import MAX_TEST_NAME_CHARS
from ptxkit.testing.oracles import session
from ptxkit.testing.oracles.session import BudgetSpentError, DeviceUse, OracleSession
from ptxkit.testing.plain_imports import import_plainly

if TYPE_CHECKING:
    from ptxkit.testing.corpus.examples import Example

_EXAMPLE_PROPERTY = "ptxkit example"
"""The property of a report that holds the folder of its example."""

_SECONDS_TO_SHRINK = 10.0


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptxkit", "PTX")
    group.addoption(
        "--ptx-device",
        choices=("auto", "require", "none"),
        default="auto",
        help="tests that need a GPU: skipped where none exists (auto), failing there (require), all skipped (none)",
    )
    group.addoption(
        "--ptx-budget",
        type=_parse_seconds,
        metavar="SECONDS",
        help="the time limit of the oracles of a test; at the limit it ends with its results so far",
    )
    group.addoption(
        "--ptx-failures",
        default=".ptxkit/failures",
        metavar="FOLDER",
        help="where failing examples are kept, relative to the root folder",
    )


def _parse_seconds(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise ValueError(f"{text} is not a time: write a number of seconds above zero")
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Precedes the first conftest.py, which may import all of ptxkit."""
    import_plainly(early_config)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ptx_device: needs an NVIDIA GPU; see --ptx-device")


# ------------------------------------------------------------------------------------------- fixtures


@pytest.fixture
def machine() -> Callable[..., Mapping[int, Any]]:
    """`machine(source, launch)`: returns the arrays among the arguments after a run on the reference machine, by
    number.
    """
    from ptxkit.testing.oracles import assertions

    return assertions.on_machine


@pytest.fixture
def device() -> Callable[..., Mapping[int, Any]]:
    """`device(source, launch, level="3")`: returns the arrays after a run on the GPU."""
    from ptxkit.testing.oracles import assertions

    assertions.require_device()
    return assertions.on_device


@pytest.fixture
def ptx_lint() -> Callable[..., None]:
    """`ptx_lint(source, codes=())`: asserts that the linter finds errors and warnings of these codes and no others."""
    from ptxkit.testing.oracles import assertions

    return assertions.assert_lints


# ------------------------------------------------------------------------------------------- tests with a GPU


def pytest_runtest_setup(item: pytest.Item) -> None:
    use = cast("DeviceUse", item.config.getoption("--ptx-device"))
    session.begin_session(OracleSession(use, item.config.getoption("--ptx-budget")))
    property_ = getattr(getattr(item, "obj", None), "hypothesis", None)
    if property_ is not None and item.config.getoption("--ptx-budget") is not None:
        property_.inner_test = session.track_failures(property_.inner_test)
    if item.get_closest_marker("ptx_device") is None:
        return
    if use == "none":
        pytest.skip(session.NO_GPU_WANTED)
    from ptxkit.device import DeviceError, check_device

    try:
        check_device()
    except DeviceError as error:
        if use == "require":
            pytest.fail(f"--ptx-device=require: {error}", pytrace=False)
        pytest.skip(str(error))


# ------------------------------------------------------------------------------------------- what failed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    raised = call.excinfo.value if call.excinfo is not None else None  # pytest replaces a SkipTest by another exception
    report = yield
    if call.when == "call" and isinstance(raised, BudgetSpentError):
        report.outcome, report.longrepr = "passed", None
        report.sections.append(("ptxkit", str(raised)))
    elif call.when == "call" and report.failed:
        _save_example(item, report)
    return report


def _save_example(item: pytest.Item, report: pytest.TestReport) -> None:
    """Saves the last example for which an oracle failed in this test, if there is one."""
    failure = session.current_session().failure
    if failure is None:
        return
    from ptxkit.testing.corpus.examples import build_example

    example = build_example(failure.oracle, failure.arguments, failure.error)
    folder = item.config.rootpath / item.config.getoption("--ptx-failures") / _folder_name(item.nodeid)
    if getattr(getattr(item, "obj", None), "hypothesis", None) is None and len(example.texts) == 1:
        example = _minimize_example(example)  # Hypothesis has minimized an example that it made
    try:
        example.save(folder)
        message = f"kept; again: ptxkit fuzz --replay {_relative_to_root(folder, item.config.rootpath)}"
        report.user_properties.append((_EXAMPLE_PROPERTY, message))
    except (OSError, TypeError) as error:
        message = f"the failing example could not be kept in {folder}: {error}"
    report.sections.append(("ptxkit", message))


def _minimize_example(example: Example) -> Example:
    from ptxkit.testing.fuzz.example_replay import can_minimize
    from ptxkit.testing.fuzz.executor import recheck_cause
    from ptxkit.testing.fuzz.minimize import minimize

    return minimize(example, recheck_cause, _SECONDS_TO_SHRINK) if can_minimize(example) else example


def _folder_name(nodeid: str) -> str:
    bare = re.sub(r"[^\w.\-]+", "-", nodeid.removesuffix("]")).strip("-")
    return (
        bare
        if len(bare) <= MAX_TEST_NAME_CHARS
        else f"{bare[-MAX_TEST_NAME_CHARS:]}-{sha256(nodeid.encode()).hexdigest()[:8]}"
    )


def _relative_to_root(folder: Path, root: Path) -> Path:
    return folder.relative_to(root) if folder.is_relative_to(root) else folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    kept = [
        (report.nodeid, message)
        for report in terminalreporter.stats.get("failed", ())
        for name, message in getattr(report, "user_properties", ())
        if name == _EXAMPLE_PROPERTY
    ]
    if kept:
        terminalreporter.section("failing examples (ptxkit)")
        for nodeid, message in kept:
            terminalreporter.write_line(f"{nodeid}: {message}")


# ------------------------------------------------------------------------------------------- PTX files as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".ptx" and expectation_files.is_test(file_path):
        return cast("pytest.Collector", PtxFile.from_parent(parent, path=file_path))
    return None


class PtxFile(pytest.File):
    """A PTX file that states its expected findings, as one test."""

    def collect(self) -> Iterable[pytest.Item]:
        yield PtxItem.from_parent(self, name="findings")


class PtxItem(pytest.Item):
    """Runs the linter, and compares its findings. funcargs: empty; plugins such as pytest_lsp read it."""

    funcargs: Mapping[str, object] = MappingProxyType({})

    def runtest(self) -> None:
        text = self.path.read_text(encoding="utf-8", errors="surrogateescape")
        mismatches = expectation_files.find_mismatches(text, str(_relative_to_root(self.path, self.config.rootpath)))
        if mismatches:
            raise UnexpectedFindingsError("\n".join(mismatches))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, UnexpectedFindingsError | expectation_files.ExpectationError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{_relative_to_root(self.path, self.config.rootpath)}"


class UnexpectedFindingsError(Exception):
    """A file's expectations and the linter's findings differ."""
