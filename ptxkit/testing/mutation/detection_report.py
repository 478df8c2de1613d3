"""The detection rates of a campaign: by family, by rule of the catalogue, and by code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.mutation.campaign import MutantOutcome
from ptxkit.testing.mutation.mutant import Mutant

Identities = frozenset[tuple[str, str, str, int]]


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The breaking mutants of one family or rule: the total, the found and explained ones, and the codes."""

    name: str
    mutants: int
    detected_count: int
    equivalent: int
    undecided: int
    codes: Counter[str]

    @property
    def survivors(self) -> int:
        return self.mutants - self.detected_count - self.equivalent

    @property
    def rate(self) -> float:
        """The fraction of the breaking mutants that is found; 1 if none exist."""
        real = self.mutants - self.equivalent
        return self.detected_count / real if real else 1.0


def by_family(outcomes: Iterable[MutantOutcome], explained: Identities) -> list[MutationScore]:
    return _scores(outcomes, explained, lambda mutant: (mutant.family,))


def by_rule(outcomes: Iterable[MutantOutcome], explained: Identities) -> list[MutationScore]:
    return _scores(outcomes, explained, lambda mutant: mutant.rules)


def overall(outcomes: Iterable[MutantOutcome], explained: Identities) -> MutationScore:
    rows = _scores(outcomes, explained, lambda _: ("all",))
    return rows[0] if rows else MutationScore("all", 0, 0, 0, 0, Counter())


def survivors(outcomes: Iterable[MutantOutcome], explained: Identities) -> list[MutantOutcome]:
    """Returns the breaking mutants that were not found, without the explained ones."""
    return [
        each
        for each in outcomes
        if not each.mutant.is_harmless and not each.is_detected and each.mutant.identity not in explained
    ]


def false_alarms(outcomes: Iterable[MutantOutcome]) -> list[MutantOutcome]:
    """Returns the harmless mutants that were reported."""
    return [each for each in outcomes if each.is_false_alarm]


def _scores(
    outcomes: Iterable[MutantOutcome], explained: Identities, names: Callable[[Mutant], Iterable[str]]
) -> list[MutationScore]:
    groups: dict[str, list[MutantOutcome]] = {}
    for outcome in outcomes:
        if not outcome.mutant.is_harmless:
            for name in names(outcome.mutant):
                groups.setdefault(name, []).append(outcome)
    return [_score(name, group, explained) for name, group in sorted(groups.items())]


def _score(name: str, group: Sequence[MutantOutcome], explained: Identities) -> MutationScore:
    lost = [each for each in group if not each.is_detected]
    equivalent = [each for each in lost if each.mutant.identity in explained]
    open_ = [each for each in lost if each.undecided > 0 and each.mutant.identity not in explained]
    codes = Counter(code for each in group for code in each.rule_errors)
    return MutationScore(name, len(group), len(group) - len(lost), len(equivalent), len(open_), codes)


def score_lines(rows: Sequence[MutationScore], heading: str) -> Iterator[str]:
    """Yields a table. `undecided` counts survivors for which the analysis has at least one more undecided question."""
    width = max([len(row.name) for row in rows] + [len(heading)])
    yield f"{heading:<{width}}  mutants  found  equivalent  survive  undecided    rate  codes"
    for row in rows:
        codes = " ".join(f"{code}:{count}" for code, count in sorted(row.codes.items()))
        yield (
            f"{row.name:<{width}}  {row.mutants:7}  {row.detected_count:5}  {row.equivalent:10}  {row.survivors:7}  "
            f"{row.undecided:9}  {row.rate:6.1%}  {codes}"
        )


@dataclass(frozen=True, slots=True)
class DetectionCounts:
    """The breaking mutants of one family, without the explained ones, by what finds them. unfinished: those that
    neither finds and whose runs did not complete.
    """

    name: str
    rules: int
    machine: int
    both: int
    neither: int
    unfinished: int

    @property
    def mutants(self) -> int:
        return self.rules + self.machine + self.both + self.neither

    @property
    def rate(self) -> float:
        """The fraction that the rules or the machine find."""
        return 1 - self.neither / self.mutants if self.mutants else 1.0


def detection_counts(outcomes: Iterable[MutantOutcome], explained: Identities) -> list[DetectionCounts]:
    """Returns the counts by family, with the total at the end."""
    groups: dict[str, list[MutantOutcome]] = {}
    every: list[MutantOutcome] = []
    for each in outcomes:
        if not each.mutant.is_harmless and (each.mutant.identity not in explained or each.is_detected):
            groups.setdefault(each.mutant.family, []).append(each)
            every.append(each)
    return [_count_detections(name, group) for name, group in [*sorted(groups.items()), ("all", every)]]


def _count_detections(name: str, group: Sequence[MutantOutcome]) -> DetectionCounts:
    kinds = Counter((each.is_detected, bool(each.emulator_codes)) for each in group)
    lost = [each for each in group if not each.is_detected and not each.emulator_codes]
    unfinished = sum(bool(each.unfinished) for each in lost)
    return DetectionCounts(name, kinds[True, False], kinds[False, True], kinds[True, True], len(lost), unfinished)


def detection_lines(rows: Sequence[DetectionCounts]) -> Iterator[str]:
    """Yields a table: found by the rules only, by the machine only, by both, by neither."""
    width = max([len(row.name) for row in rows] + [len("family")])
    yield f"{'family':<{width}}  mutants  rules  machine   both  neither  unfinished    rate"
    for row in rows:
        yield (
            f"{row.name:<{width}}  {row.mutants:7}  {row.rules:5}  {row.machine:7}  {row.both:5}  {row.neither:7}  "
            f"{row.unfinished:10}  {row.rate:6.1%}"
        )


def find_undetected(outcomes: Iterable[MutantOutcome], explained: Identities) -> list[MutantOutcome]:
    """Returns the mutants that neither the rules nor the machine find."""
    return [each for each in survivors(outcomes, explained) if not each.emulator_codes]


def find_refuted_equivalents(outcomes: Iterable[MutantOutcome], explained: Identities) -> list[MutantOutcome]:
    """Returns the mutants that are explained as harmless, but in which the machine finds something."""
    return [each for each in outcomes if each.mutant.identity in explained and each.emulator_codes]
