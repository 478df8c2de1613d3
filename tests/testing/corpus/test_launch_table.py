"""The launches of the corpus: every kernel has one, and `ptxkit verify` finds nothing at any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Verdict
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.verifier import verify_source

CORPUS = Path(__file__).resolve().parent.parent.parent.parent / "corpus"
FILES = sorted([*(CORPUS / "kernels").glob("*.ptx"), *(CORPUS / "seeds").glob("*.ptx")])
LAUNCHES = load_launch_table()
LINTED = Verdict(())
"""The rules' verdicts of each file: tests/corpus/test_correct_kernels.py checks that they are clean."""


def test_every_kernel_has_a_launch() -> None:
    kernels = {
        function.name
        for path in FILES
        for function in parse(path.read_text("utf-8"), path.name).functions()
        if function.kind == "entry"
    }
    assert kernels == set(LAUNCHES.requests)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_correct_kernel_terminates_without_findings(path: Path) -> None:
    text = path.read_text("utf-8")
    for request in LAUNCHES.requests_for(text, path.name, schedules=2):
        result = verify_source(SourceFile(path.name, text), request, static=LINTED)
        assert [(each.code, each.message) for each in result.diagnostics] == []
        (run,) = result.runs
        reasons = [each.reason for each in result.undecided if "the machine cannot run it" in each.reason]
        assert run.whole == run.runs or reasons
