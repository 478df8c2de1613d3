"""`python -OO` drops docstrings, which contain the pages of the rules: the commands that show them print the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = "corpus/rules/PTX401_bad_store_then_bulk_copy.ptx"
COMMANDS = [
    ["rule", "PTX401"],
    ["rule", "--all", "--format", "json"],
    ["lint", "--no-cache", "--format", "sarif", FILE],
    ["view", FILE, "-o", "-"],
]
SCRIPT = f"""
import sys
from ptxkit.cli.main import main
for command in {COMMANDS}:
    try:
        main(command)
    except SystemExit as end:
        print("exit status of the command:", end.code, flush=True)
"""


def print_report(*options: str) -> str:
    """Returns the output of the commands, in one process."""
    done = subprocess.run(
        [sys.executable, *options, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_commands_that_show_the_pages_of_rules_need_no_docstrings() -> None:
    optimized = print_report("-OO")
    assert optimized == print_report()
    assert optimized.count("exit status of the command:") == len(COMMANDS)
    assert "a generic write is read through the async proxy" in optimized
