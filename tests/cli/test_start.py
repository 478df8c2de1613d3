"""The imports of the help and the completion: these must be fast, which modules show better than clocks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ptxkit.cli.commands import COMPLETION_VARIABLE
from tests.cli.support import CLEAN

MODULES = (
    "import sys\n"
    "from ptxkit.cli.main import main\n"
    "try:\n"
    "    main(sys.argv[1:])\n"
    "except SystemExit:\n"
    "    print(*sys.modules, file=sys.stderr)\n"
)
HEAVY = {"asyncio", "dask", "hypothesis", "lark", "multiprocessing", "numpy", "rich", "sqlite3"}


def imported_modules(*arguments: str, **environment: str) -> set[str]:
    """Returns the modules that a command line imports."""
    command = [sys.executable, "-c", MODULES, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, input=CLEAN)
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_help_imports_no_command(arguments: list[str]) -> None:
    found = imported_modules(*arguments)
    assert found & HEAVY == set()
    ours = {name for name in found if name.startswith("ptxkit.cli.")}
    assert ours == {"ptxkit.cli.main", "ptxkit.cli.commands", "ptxkit.cli.usage_errors"}
    assert not {"ptxkit.results", "ptxkit.diagnostics"} & found
    assert len(found) < 250


def test_the_completion_of_a_command_imports_no_command() -> None:
    line = {COMPLETION_VARIABLE: "bash_complete", "COMP_WORDS": "ptxkit l", "COMP_CWORD": "1"}
    assert imported_modules(**line) & (HEAVY | {"ptxkit.cli.lint"}) == set()


@pytest.mark.parametrize("command", ["lint", "fmt", "explain", "transfers", "contract"])
def test_the_help_of_a_command_without_runs_imports_no_numpy(command: str) -> None:
    assert imported_modules(command, "--help") & HEAVY == set()
    assert "click" in imported_modules(command, "--help")


def test_a_lint_without_options_imports_no_click() -> None:
    assert "click" not in imported_modules("lint", "-", PTXKIT_NO_CACHE="1")


def test_a_lint_imports_only_the_rules_that_it_checks() -> None:
    """Also what these rules import: the bound is a little above the number of today, for all other modules as well."""
    found = imported_modules("lint", "-", PTXKIT_NO_CACHE="1")
    rules = {name for name in found if name.startswith("ptxkit.rules.ptx")}
    assert len(rules) > 50
    assert not {name for name in rules if name.startswith("ptxkit.rules.ptx9")}
    assert not {name for name in found if name.startswith("ptxkit.analysis.redundancy")}
    assert found & HEAVY == set()
    assert len(found) < 660
    assert any(
        name.startswith("ptxkit.rules.ptx9") for name in imported_modules("lint", "--notes", "-", PTXKIT_NO_CACHE="1")
    )
