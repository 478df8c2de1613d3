"""Mutants that are equivalent to the correct kernel although their operator expects a violation, each with its reason.

There are two kinds of entries: `[[equivalent]]` explains one mutant by its identity (kernel, family, change, ordinals),
and `[[unreachable]]` describes code that no thread executes (kernel, the forward branches that are always taken).
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.mutation.campaign import MutantOutcome
from ptxkit.testing.mutation.mutant import Mutant


@dataclass(frozen=True, slots=True)
class EquivalentMutant:
    """One explained survivor. kernel, family, change, ordinal: the mutant's identity. isa: the manual's title."""

    kernel: str
    family: str
    change: str
    ordinal: int
    reason: str
    isa: str

    @property
    def identity(self) -> tuple[str, str, str, int]:
        return self.kernel, self.family, self.change, self.ordinal


@dataclass(frozen=True, slots=True)
class UnreachableCode:
    """Code between a conditional branch that is always taken and its target: faults and findings in it do not count."""

    kernel: str
    branch: str
    reason: str


@dataclass(frozen=True, slots=True)
class Explanations:
    """All entries of a file."""

    equivalents: tuple[EquivalentMutant, ...] = ()
    unreachable: tuple[UnreachableCode, ...] = ()

    def is_unreachable(self, mutant: Mutant) -> bool:
        """Returns whether a mutant changes code that is never executed."""
        return any(
            each.kernel == mutant.kernel and each.branch in mutant.skipping_branches for each in self.unreachable
        )

    @property
    def identities(self) -> frozenset[tuple[str, str, str, int]]:
        return frozenset(each.identity for each in self.equivalents)


def load_explanations(path: Path) -> Explanations:
    """Reads the entries of a file. Raises ValueError for an incomplete one."""
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    found, dead = [], []
    for entry in read.get("equivalent", []):
        _require_keys(path, entry, "kernel", "family", "change", "why", "isa")
        found += [
            EquivalentMutant(entry["kernel"], entry["family"], entry["change"], ordinal, entry["why"], entry["isa"])
            for ordinal in entry.get("ordinals", [1])
        ]
    for entry in read.get("unreachable", []):
        _require_keys(path, entry, "kernel", "branches", "why")
        dead += [UnreachableCode(entry["kernel"], branch, entry["why"]) for branch in entry["branches"]]
    return Explanations(tuple(found), tuple(dead))


def _require_keys(path: Path, entry: dict[str, object], *names: str) -> None:
    missing = [name for name in names if not entry.get(name)]
    if missing:
        raise ValueError(f"{path}: an entry lacks {', '.join(missing)}: {entry}")


def find_stale_entries(
    explanations: Explanations,
    kernels: Collection[str],
    families: Collection[str],
    mutants: Iterable[Mutant],
    outcomes: Iterable[MutantOutcome],
) -> list[str]:
    """Returns outdated entries: those without a mutant (of the examined kernels and families), or whose mutant is
    reported.
    """
    known = {mutant.identity: mutant for mutant in mutants}
    skipped = {(mutant.kernel, branch) for mutant in known.values() for branch in mutant.skipping_branches}
    reported = {outcome.mutant.identity: outcome for outcome in outcomes if outcome.is_detected}
    problems = []
    for entry in explanations.equivalents:
        if entry.kernel not in kernels or entry.family not in families:
            continue
        place = f"{entry.kernel}: {entry.family}: {entry.change} ({entry.ordinal})"
        if entry.identity not in known:
            problems.append(f"{place}: there is no such mutant")
        elif entry.identity in reported:
            codes = ", ".join(reported[entry.identity].rule_errors)
            problems.append(f"{place}: explained as breaking nothing, and reported: {codes}")
    problems += [
        f"{each.kernel}: {each.branch}: nothing is changed between this branch and its target"
        for each in explanations.unreachable
        if each.kernel in kernels and (each.kernel, each.branch) not in skipped
    ]
    return problems
