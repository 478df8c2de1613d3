"""Pairs of instructions, one right and one wrong, that differ in one thing; ptxkit and ptxas are asked about both."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.diagnostics import Severity
from ptxkit.isa.scaffold import scaffold
from ptxkit.syntax import parse
from ptxkit.testing.agreement import why_refused
from ptxkit.testing.ptxas import Version, installed
from ptxkit.validate import validate

NEWEST = ((9, 5), "sm_107a")


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence about instructions, one that keeps to it and one that does not; names are those of the scaffold."""

    says: str
    right: str
    wrong: str
    version: Version = NEWEST[0]
    target: str = NEWEST[1]

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True, slots=True)
class Gated:
    """An instruction, where it came in, and a version and target that lack it."""

    text: str
    version: Version
    target: str
    older: tuple[Version, str]

    def __str__(self) -> str:
        return self.text


def holds(pair: Pair) -> None:
    """Both sides take the right instruction and refuse the wrong one."""
    agree(pair.right, pair.version, pair.target, accepted=True)
    agree(pair.wrong, pair.version, pair.target, accepted=False)


def opens(gated: Gated) -> None:
    """Both sides take it from its version and target on, and refuse it before."""
    agree(gated.text, gated.version, gated.target, accepted=True)
    agree(gated.text, *gated.older, accepted=False)


def agree(text: str, version: Version, target: str, *, accepted: bool) -> None:
    """ptxkit and the newest ptxas take the instruction, or both refuse it."""
    module = scaffold([text], version, target)
    newest, *_ = installed()
    theirs, ours = newest.refusal(module, target), why_refused(module)
    assert (theirs is None) == accepted, f"ptxas: {text} {theirs}"
    assert (ours is None) == accepted, f"ptxkit: {text} {ours}"


def is_taken(text: str, version: Version = NEWEST[0], target: str = NEWEST[1]) -> None:
    """Both sides take the instruction, and ptxkit says nothing about it."""
    agree(text, version, target, accepted=True)
    assert not validate(parse(scaffold([text], version, target))).diagnostics


def is_tolerated(text: str, version: Version = NEWEST[0], target: str = NEWEST[1]) -> str:
    """The warning for an instruction that ptxas takes and the manual does not have."""
    agree(text, version, target, accepted=True)
    found = validate(parse(scaffold([text], version, target))).diagnostics
    warnings = [each.message for each in found if each.severity is Severity.WARNING]
    assert len(warnings) == 1, warnings
    assert "tolerated" in warnings[0]
    return warnings[0]
