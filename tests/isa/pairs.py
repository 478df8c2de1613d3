"""Pairs of instructions, one correct and one wrong, that differ in one property; ptxkit and ptxas check both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ptxkit.diagnostics import Severity
from ptxkit.isa.harness_module import harness_module
from ptxkit.syntax import parse
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.oracles.ptxas import Version, installed_ptxas
from ptxkit.validate import validate

NEWEST = ((9, 5), "sm_107a")


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence about instructions, one that satisfies it and one that does not; names are those of the scaffold."""

    sentence: str
    right: str
    wrong: str
    version: Version = NEWEST[0]
    target: str = NEWEST[1]

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Gated:
    """An instruction, the version and target that introduced it, and a version and target without it."""

    text: str
    version: Version
    target: str
    older: tuple[Version, str]

    def __str__(self) -> str:
        return self.text


Case = tuple[str, Version, str]
"""An instruction, a version and a target."""

_EXPECTED: set[Case] = set()


def will_be_asked(cases: Iterable[Case]) -> None:
    """Registers the instructions that tests check: ptxas receives all of a target at the first of them, in two
    processes, because a process for each is slow."""
    _EXPECTED.update(cases)


def cases_of(each: Pair | Gated) -> list[Case]:
    """The instructions that `holds` and `opens` check."""
    if isinstance(each, Gated):
        return [(each.text, each.version, each.target), (each.text, *each.older)]
    return [(text, each.version, each.target) for text in (each.right, each.wrong)]


@cache
def _answers(target: str) -> dict[Case, str | None]:
    """Returns the diagnostics of ptxas for all registered instructions of a target."""
    cases = sorted(case for case in _EXPECTED if case[2] == target)
    refused = installed_ptxas()[0].refusals(
        [harness_module([text], version, target) for text, version, _ in cases], target
    )
    return {case: refused.get(place) for place, case in enumerate(cases)}


def _refusal(text: str, version: Version, target: str) -> str | None:
    """Returns the diagnostic of ptxas for an instruction, or None if it accepts it."""
    if (text, version, target) in _EXPECTED:
        return _answers(target)[text, version, target]
    return installed_ptxas()[0].refusal(harness_module([text], version, target), target)


def holds(pair: Pair) -> None:
    """Asserts that both accept the correct instruction and reject the wrong one."""
    agree(pair.right, pair.version, pair.target, accepted=True)
    agree(pair.wrong, pair.version, pair.target, accepted=False)


def opens(gated: Gated) -> None:
    """Asserts that both accept it from its version and target on, and reject it before."""
    agree(gated.text, gated.version, gated.target, accepted=True)
    agree(gated.text, *gated.older, accepted=False)


def agree(text: str, version: Version, target: str, *, accepted: bool) -> None:
    """Asserts that ptxkit and the newest ptxas both accept the instruction, or both reject it."""
    theirs, ours = _refusal(text, version, target), ptxkit_refusal(harness_module([text], version, target))
    assert (theirs is None) == accepted, f"ptxas: {text} {theirs}"
    assert (ours is None) == accepted, f"ptxkit: {text} {ours}"


def is_taken(text: str, version: Version = NEWEST[0], target: str = NEWEST[1]) -> None:
    """Asserts that both accept the instruction, and that ptxkit reports nothing."""
    agree(text, version, target, accepted=True)
    assert not validate(parse(harness_module([text], version, target))).diagnostics


def is_tolerated(text: str, version: Version = NEWEST[0], target: str = NEWEST[1]) -> str:
    """Returns the warning for an instruction that ptxas accepts and the manual does not have."""
    agree(text, version, target, accepted=True)
    found = validate(parse(harness_module([text], version, target))).diagnostics
    warnings = [each.message for each in found if each.severity is Severity.WARNING]
    assert len(warnings) == 1, warnings
    assert "tolerated" in warnings[0]
    return warnings[0]
