"""The statements that the help of a finding names are added to the small kernels: this fixes the finding, and adds no
other one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxkit.diagnostics import Diagnostic
from ptxkit.linter import lint_source
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"
FIXTURES = sorted(RULES.glob("PTX*_bad_*.ptx"))
ADDED = re.compile(r"add ((?:`[^`]+;`(?:, and | and then | and )?)+)([^`]*)$")
PLACE = re.compile(r"\b(after|behind|before)\b(?: the (?:fence|write|barrier) at)? line (\d+)")
LEAST = {"PTX312": 4, "PTX401": 10, "PTX402": 3, "PTX404": 3, "PTX405": 3, "PTX406": 3, "PTX507": 1, "PTX613": 3}
"""The minimum number of findings of each code whose help names statements and a line."""


def added_lines(text: str, help_: str) -> Iterator[str]:
    """Returns the text with the statements that a help names at the lines that it names: at both, if both need them,
    else at one of them, as they are the ends of the valid range."""
    found = ADDED.match(help_)
    if found is None or re.search(r"\[(map|bar)\]", found[1]):
        return
    statements = re.findall(r"`([^`]+;)`", found[1])
    places = [int(line) - (word == "before") for word, line in PLACE.findall(found[2])]
    both = re.search(r"line \d+ and before line", found[2]) is not None
    for chosen in [places] if both else [[place] for place in places]:
        lines = text.splitlines()
        for place in sorted(chosen, reverse=True):
            lines[place:place] = statements
        yield "\n".join(lines) + "\n"


def codes(diagnostics: tuple[Diagnostic, ...]) -> Counter[str]:
    return Counter(item.code for item in diagnostics)


@pytest.mark.parametrize("code", sorted({path.name[:6] for path in FIXTURES}))
def test_the_statements_in_the_help_fix_the_finding(code: str) -> None:
    asked = 0
    for path in FIXTURES:
        if not path.name.startswith(code):
            continue
        text = path.read_text()
        settings = Settings(policy="strict" if "expect(strict)" in text else "isa", notes="expect(notes)" in text)
        before = lint_source(SourceFile("k.ptx", text), settings)
        for item in before.diagnostics:
            tried = [
                lint_source(SourceFile("k.ptx", new), settings).diagnostics
                for new in added_lines(text, item.help or "")
            ]
            asked += bool(tried)
            old = codes(before.diagnostics)
            settled = (new[item.code] < old[item.code] and not new - old for new in map(codes, tried))
            assert not tried or any(settled), f"{path.name}: {item.help}"
    assert asked >= LEAST.get(code, 0)
