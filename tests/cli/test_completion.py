"""The completions of a command line that click passes to shells."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from ptxkit.cli.commands import COMPLETION_VARIABLE
from tests.cli.support import shell


def offer_words(words: str) -> list[str]:
    """Returns the completions of the last word of a command line, in the notation of bash: kind and value."""
    done = shell(
        **{COMPLETION_VARIABLE: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ptxkit l", ["plain,lint", "plain,litmus", "plain,lsp"]),
        ("ptxkit lint --show-u", ["plain,--show-undecided"]),
        ("ptxkit lint --format gi", ["plain,github", "plain,gitlab"]),
        ("ptxkit lint --select PTX40", [f"plain,PTX40{number}" for number in range(1, 9)]),
        ("ptxkit lint --ignore PTX101,PTX62", [f"plain,PTX101,PTX62{number}" for number in range(1, 5)]),
        ("ptxkit lint --target sm_90", ["plain,sm_90", "plain,sm_90a"]),
        ("ptxkit rule missing-pr", ["plain,missing-proxy-fence"]),
        ("ptxkit lint ker", ["file,ker"]),
        ("ptxkit verify ker", ["file,ker"]),
        ("ptxkit nothing ker", []),
    ],
)
def test_possible_words_are_offered(words: str, expected: list[str]) -> None:
    assert offer_words(words) == expected


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(name: str) -> None:
    done = shell(**{COMPLETION_VARIABLE: f"{name}_source"})
    assert done.returncode == 0
    assert b"_PTXKIT_COMPLETE" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_accepts_the_script() -> None:
    line = f"ptxkit() {{ '{sys.executable}' -m ptxkit \"$@\"; }}; export -f ptxkit; "
    line += f'eval "$({COMPLETION_VARIABLE}=bash_source ptxkit)" && complete -p ptxkit'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("ptxkit\n")


def test_for_another_shell_the_supported_ones_are_listed() -> None:
    done = shell(**{COMPLETION_VARIABLE: "tcsh_source"})
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "ptxkit: error: `_PTXKIT_COMPLETE=tcsh_source` names no shell that completion is known for\n"
        "  = help: write `bash_source`, `zsh_source` or `fish_source`\n"
    )
