"""The tables of a campaign of deleted lines: by family of instructions and by file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.mutation.detection_report import Identities
from ptxkit.testing.mutation.line_deletions import DeletionOutcome, FileDeletions


@dataclass(frozen=True, slots=True)
class DeletionCounts:
    """The deletions of one family or file.

    strict: those that only `--policy strict` reports. equivalent: those of lines that a note calls redundant, and the
    others that are explained and not reported; the other numbers do not contain them. codes: of the findings.
    """

    name: str
    reported: int
    strict: int
    open: int
    silent: int
    equivalent: int
    codes: Counter[str]

    @property
    def total(self) -> int:
        return self.reported + self.strict + self.open + self.silent

    def share(self, kind: str, *, of_all: bool = False) -> float:
        """Returns the fraction of the deletions with an outcome.

        of_all: including those that break nothing, which count as silent then.
        """
        count = int(getattr(self, kind)) + (self.equivalent if of_all and kind == "silent" else 0)
        total = self.total + (self.equivalent if of_all else 0)
        return count / total if total else 0.0


def count_deletions(
    outcomes: Iterable[DeletionOutcome], explained: Identities, name: Callable[[DeletionOutcome], str]
) -> list[DeletionCounts]:
    """Returns the counts by a name, with the total at the end."""
    groups: dict[str, list[DeletionOutcome]] = {}
    every = list(outcomes)
    for each in every:
        groups.setdefault(name(each), []).append(each)
    return [_counts(*group, explained) for group in [*sorted(groups.items()), ("all", every)]]


def _counts(name: str, group: list[DeletionOutcome], explained: Identities) -> DeletionCounts:
    equivalent = [each for each in group if is_equivalent(each, explained)]
    kinds = Counter(each.kind for each in group if not is_equivalent(each, explained))
    codes = Counter(code for each in group if each.kind == "reported" for code in each.codes)
    return DeletionCounts(
        name, kinds["reported"], kinds["strict"], kinds["open"], kinds["silent"], len(equivalent), codes
    )


def is_equivalent(outcome: DeletionOutcome, explained: Identities) -> bool:
    """Returns whether a deletion breaks nothing, by a note or an explanation, and is not reported."""
    if outcome.kind == "redundant":
        return True
    return outcome.kind not in ("reported", "strict") and outcome.mutant.identity in explained


def count_lines(rows: Iterable[DeletionCounts], heading: str) -> Iterator[str]:
    """Yields a table. The shares are without the deletions that break nothing, and then, in parentheses, of all."""
    listed = list(rows)
    width = max([len(row.name) for row in listed] + [len(heading)])
    yield (
        f"{heading:<{width}}  deleted  reported  strict   open  silent  equivalent"
        f"  {'reported':<15}  {'silent':<15}  codes"
    )
    for row in listed:
        codes = " ".join(f"{code}:{count}" for code, count in sorted(row.codes.items()))
        yield (
            f"{row.name:<{width}}  {row.total + row.equivalent:7}  {row.reported:8}  {row.strict:6}  {row.open:5}  "
            f"{row.silent:6}  {row.equivalent:10}  {_shares(row, 'reported')}  {_shares(row, 'silent')}  {codes}"
        )


def _shares(row: DeletionCounts, kind: str) -> str:
    return f"{row.share(kind):6.1%} ({row.share(kind, of_all=True):6.1%})"


def original_lines(files: Iterable[FileDeletions]) -> Iterator[str]:
    """Yields what ptxkit reports for the unchanged files, and what was not checked."""
    for each in files:
        for finding in each.errors:
            yield f"error in the original: {each.name}: {finding}"
        if each.skipped:
            yield f"over the budget: {each.name}: {each.skipped} of {each.skipped + len(each.outcomes)} not checked"


def deletion_json(each: FileDeletions, explained: Identities) -> dict[str, object]:
    """Returns a JSON document about one file."""
    return {
        "file": each.name,
        "lines": each.found,
        "errors": each.errors,
        "warnings": each.warnings,
        "questions": each.questions,
        "skipped": each.skipped,
        "seconds": round(each.seconds, 2),
        "deletions": [
            {
                "line": outcome.mutant.line,
                "function": outcome.mutant.function,
                "family": outcome.mutant.family,
                "change": outcome.mutant.change,
                "ordinal": outcome.mutant.ordinal,
                "outcome": outcome.kind,
                "codes": outcome.codes,
                "equivalent": is_equivalent(outcome, explained),
                "seconds": round(outcome.seconds, 2),
            }
            for outcome in each.outcomes
        ],
    }
