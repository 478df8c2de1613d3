"""Shared by the tests of the rules: a kernel around a few lines of PTX, and the verdict that its comments expect.

`//! PTX401 a b` expects an error there, with labels at the lines marked `//= a` and `//= b`, in this order; `//? PTX303
a` a warning, `//~ PTX901` a note (those of PTX1xx are left out). A line may be marked in several ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import pytest

from ptxkit import Diagnostic, Severity, lint

_EXPECTED = re.compile(r"//([!?~]) (PTX\d{3})((?: [a-z]\w*)*)")
_NAMED = re.compile(r"//= (\w+)")
_MARKS = {"!": Severity.ERROR, "?": Severity.WARNING, "~": Severity.NOTE}

_HEAD = """.version 8.6
.target {target}
.address_size 64
{before}
.visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 n)
{bounds}
{{
.shared .align 128 .b8 tile[8192];
.shared .align 128 .b8 other[8192];
.shared .align 8 .b64 bars[4];
.reg .pred %p<10>; .reg .b32 %r<40>; .reg .b64 %rd<40>;
ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd1, %rd1; ld.param.u64 %rd2, [out]; cvta.to.global.u64 %rd2, %rd2;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32; ld.param.u32 %r6, [n];
mov.u32 %r2, tile; mov.u32 %r5, bars; mov.u32 %r8, other;
shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3; add.u32 %r9, %r8, %r3;
"""

StatedFinding = tuple[str, Severity, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel and its expected findings.

    name: a sentence. undecided: the codes of the questions. The body may use %r1 (tid.x), %p1 (thread 0), %p2 (thread
    32), %r2 (tile), %r4 (tile + 16*tid), %r8 (other), %r9 (other + 16*tid), %r5 (bars), %r6 (n), %rd1 (in), %rd2 (out).
    """

    name: str
    body: str
    policy: Literal["isa", "strict"] = "isa"
    undecided: tuple[str, ...] = ()
    bounds: str = ".reqntid 128, 1, 1"
    target: str = "sm_90a"
    before: str = ""
    notes: bool = False

    @property
    def text(self) -> str:
        head = _HEAD.format(target=self.target, before=self.before, bounds=self.bounds)
        return f"{head}{self.body.strip()}\nret;\n}}\n"


def each(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    """Runs a test for each case, under its name."""
    assert len({case.name for case in cases}) == len(cases)
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name.replace(" ", "-"))


def expected_findings(text: str) -> list[StatedFinding]:
    """Returns (code, severity, line, label lines) of every expectation in the comments."""
    lines = text.splitlines()
    named = {match[1]: number for number, line in enumerate(lines, 1) for match in _NAMED.finditer(line)}
    return sorted(
        (match[2], _MARKS[match[1]], number, tuple(named[name] for name in match[3].split()))
        for number, line in enumerate(lines, 1)
        for match in _EXPECTED.finditer(line)
    )


def stated_findings(diagnostics: tuple[Diagnostic, ...]) -> list[StatedFinding]:
    """Returns the same of a verdict's findings."""
    return sorted(
        (
            each.code,
            each.severity,
            each.source.position(each.span.start)[0],
            tuple(each.source.position(label.span.start)[0] for label in each.labels),
        )
        for each in diagnostics
        if each.severity is not Severity.NOTE or not each.code.startswith("PTX1")
    )


def holds(case: Case) -> None:
    """Asserts that the verdict on a case is exactly the one in its comments."""
    verdict = lint(case.text, path="case.ptx", policy=case.policy, notes=case.notes)
    assert stated_findings(verdict.diagnostics) == expected_findings(case.text), [
        found.message for found in verdict.diagnostics
    ]
    assert tuple(sorted({doubt.code for doubt in verdict.undecided})) == case.undecided, verdict.undecided
