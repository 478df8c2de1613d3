"""Mutants that break nothing although their operator says so, each with its reason."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from ptxkit.records import dataclass
from ptxkit.testing.faults.campaign import Outcome
from ptxkit.testing.faults.mutant import Mutant


@dataclass(frozen=True, slots=True)
class Equivalent:
    """One explained survivor. kernel, family, change, ordinal: the mutant's identity. why: in words. isa: the title."""

    kernel: str
    family: str
    change: str
    ordinal: int
    why: str
    isa: str

    @property
    def identity(self) -> tuple[str, str, str, int]:
        return self.kernel, self.family, self.change, self.ordinal


def load(path: Path) -> list[Equivalent]:
    """The entries of a file. Raises ValueError for one that is incomplete."""
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []):
        missing = {"kernel", "family", "change", "why", "isa"} - entry.keys()
        if missing:
            raise ValueError(f"{path}: an entry lacks {', '.join(sorted(missing))}: {entry}")
        found += [
            Equivalent(entry["kernel"], entry["family"], entry["change"], ordinal, entry["why"], entry["isa"])
            for ordinal in entry.get("ordinals", [1])
        ]
    return found


def mistakes(
    entries: Iterable[Equivalent],
    kernels: Collection[str],
    families: Collection[str],
    mutants: Iterable[Mutant],
    outcomes: Iterable[Outcome],
) -> list[str]:
    """Entries that no longer hold: without a mutant (of the kernels and families that were looked at), or reported."""
    known = {mutant.identity for mutant in mutants}
    reported = {outcome.mutant.identity: outcome for outcome in outcomes if outcome.found}
    said = []
    for entry in entries:
        if entry.kernel not in kernels or entry.family not in families:
            continue
        place = f"{entry.kernel}: {entry.family}: {entry.change} ({entry.ordinal})"
        if entry.identity not in known:
            said.append(f"{place}: there is no such mutant")
        elif entry.identity in reported:
            codes = ", ".join(reported[entry.identity].codes)
            said.append(f"{place}: explained as breaking nothing, and reported: {codes}")
    return said
