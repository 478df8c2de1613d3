"""PTX files that state the expected findings of the linter, as tests.

    st.shared.u32 [%r1], %r2;                 // ptxkit: expect[PTX621]
    // ptxkit: expect[PTX401, PTX303]
    cp.async.bulk.global.shared::cta.bulk_group [%rd7], [%r55], %r56;
    // ptxkit: policy[strict]

A comment after code applies to its line; a comment on its own line applies to the next line of code. `expect[]`
anywhere makes a file without findings a test. Every other error or warning fails the test, and so does an expected note
that is not reported; notes that are not expected are ignored. Files without such a comment are not tests.
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx4xx

import re
from pathlib import Path

from ptxkit.fast_dataclasses import dataclass

MARK = b"ptxkit: expect["
"""The bytes that mark a file as a test."""

_DIRECTIVE = re.compile(r"//\s*ptxkit:\s*([\w-]+)\s*(?:\[([^\]\n]*)\])?")
_CODE = re.compile(r"PTX\d{3}")
_OTHER_DIRECTIVES = ("ignore", "ignore-file")
_COMMENT_OR_BLANK = re.compile(r"\s*(?://|$)")


class ExpectationError(ValueError):
    """A comment for ptxkit that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class ExpectedFindings:
    """The expectations of a file. findings: (line, code), lines from 1. policy: of the linter."""

    findings: frozenset[tuple[int, str]]
    policy: str = "isa"


def is_test(path: Path) -> bool:
    """Returns whether a file holds an expectation."""
    try:
        return MARK in path.read_bytes()
    except OSError:
        return False


def parse_expectations(text: str) -> ExpectedFindings:
    """Parses the comments of a file. Raises ExpectationError with the line."""
    lines = text.splitlines()
    findings: set[tuple[int, str]] = set()
    policy = "isa"
    for number, line in enumerate(lines, 1):
        for directive in _DIRECTIVE.finditer(line):
            word, inside = directive[1], directive[2]
            values = [each.strip() for each in (inside or "").split(",") if each.strip()]
            if word in _OTHER_DIRECTIVES:
                continue
            if word == "expect" and inside is not None and all(map(_CODE.fullmatch, values)):
                target = _target_line(lines, number) if values else 0
                findings |= {(target, code) for code in values}
            elif word == "policy" and values in (["isa"], ["strict"]):
                policy = values[0]
            else:
                raise ExpectationError(
                    f"line {number}: {directive[0]!r}: write expect[{ptx4xx.MISSING_PROXY_FENCE}, ...], expect[] or policy[strict]"
                )
    return ExpectedFindings(frozenset(findings), policy)


def _target_line(lines: list[str], number: int) -> int:
    """Returns the line to which a comment refers."""
    if not _COMMENT_OR_BLANK.match(lines[number - 1]):
        return number
    for following in range(number, len(lines)):
        if not _COMMENT_OR_BLANK.match(lines[following]):
            return following + 1
    raise ExpectationError(f"line {number}: no code follows that this could stand for")


def find_mismatches(text: str, path: str) -> list[str]:
    """Returns the differences between the expectations of a file and the findings of the linter, a sentence each.

    Raises ExpectationError.
    """
    from ptxkit.diagnostics import Severity
    from ptxkit.linter import POLICIES, lint

    try:
        wanted = parse_expectations(text)
    except ExpectationError as error:
        raise ExpectationError(f"{path}: {error}") from None
    policy = next(each for each in POLICIES if each == wanted.policy)
    open_ones = set(wanted.findings)
    mismatches: list[tuple[int, str]] = []
    for found in lint(text, path=path, policy=policy, notes=True).diagnostics:
        first, last = (found.source.position(at)[0] for at in (found.span.start, found.span.end))
        met = {(line, code) for line, code in wanted.findings if code == found.code and first <= line <= last}
        open_ones -= met
        if not met and found.severity is not Severity.NOTE:
            mismatches.append((first, f"{found.code} {found.severity}: {found.message}, which is not expected"))
    mismatches += [(line, f"{code} is expected, and not found") for line, code in open_ones]
    return [f"{path}:{line}: {sentence}" for line, sentence in sorted(mismatches)]
