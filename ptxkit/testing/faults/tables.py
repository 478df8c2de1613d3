"""What a campaign found, in figures: by family, by rule of the catalogue, by code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptxkit.records import dataclass
from ptxkit.testing.faults.campaign import Outcome
from ptxkit.testing.faults.mutant import Mutant

Identities = frozenset[tuple[str, str, str, int]]


@dataclass(frozen=True, slots=True)
class Row:
    """The mutants of one family or rule that break something: how many, found, explained, at which codes."""

    name: str
    mutants: int
    found: int
    equivalent: int
    undecided: int
    codes: Counter[str]

    @property
    def survivors(self) -> int:
        return self.mutants - self.found - self.equivalent

    @property
    def rate(self) -> float:
        """The found part of those that break something; 1 where there is none."""
        real = self.mutants - self.equivalent
        return self.found / real if real else 1.0


def by_family(outcomes: Iterable[Outcome], explained: Identities) -> list[Row]:
    return _rows(outcomes, explained, lambda mutant: (mutant.family,))


def by_rule(outcomes: Iterable[Outcome], explained: Identities) -> list[Row]:
    return _rows(outcomes, explained, lambda mutant: mutant.rules)


def overall(outcomes: Iterable[Outcome], explained: Identities) -> Row:
    rows = _rows(outcomes, explained, lambda _: ("all",))
    return rows[0] if rows else Row("all", 0, 0, 0, 0, Counter())


def survivors(outcomes: Iterable[Outcome], explained: Identities) -> list[Outcome]:
    """What broke something and was not found, without what is explained."""
    return [
        each
        for each in outcomes
        if not each.mutant.harmless and not each.found and each.mutant.identity not in explained
    ]


def alarms(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """What breaks nothing and was reported nevertheless."""
    return [each for each in outcomes if each.alarm]


def _rows(outcomes: Iterable[Outcome], explained: Identities, names: Callable[[Mutant], Iterable[str]]) -> list[Row]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.mutant.harmless:
            for name in names(outcome.mutant):
                groups.setdefault(name, []).append(outcome)
    return [_row(name, group, explained) for name, group in sorted(groups.items())]


def _row(name: str, group: Sequence[Outcome], explained: Identities) -> Row:
    lost = [each for each in group if not each.found]
    equivalent = [each for each in lost if each.mutant.identity in explained]
    open_ = [each for each in lost if each.undecided > 0 and each.mutant.identity not in explained]
    codes = Counter(code for each in group for code in each.codes)
    return Row(name, len(group), len(group) - len(lost), len(equivalent), len(open_), codes)


def lines(rows: Sequence[Row], heading: str) -> Iterator[str]:
    """A table. `undecided` counts survivors for which the analysis at least asks one more question."""
    width = max([len(row.name) for row in rows] + [len(heading)])
    yield f"{heading:<{width}}  mutants  found  equivalent  survive  undecided    rate  codes"
    for row in rows:
        codes = " ".join(f"{code}:{count}" for code, count in sorted(row.codes.items()))
        yield (
            f"{row.name:<{width}}  {row.mutants:7}  {row.found:5}  {row.equivalent:10}  {row.survivors:7}  "
            f"{row.undecided:9}  {row.rate:6.1%}  {codes}"
        )


@dataclass(frozen=True, slots=True)
class Shares:
    """The mutants of one family that break something, without what is explained: who finds how many.

    unfinished: of those that neither finds, the ones whose runs did not come to their ends.
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
        """The part that is found by either."""
        return 1 - self.neither / self.mutants if self.mutants else 1.0


def shares(outcomes: Iterable[Outcome], explained: Identities) -> list[Shares]:
    """By family, and of all together at the end."""
    groups: dict[str, list[Outcome]] = {}
    every: list[Outcome] = []
    for each in outcomes:
        if not each.mutant.harmless and (each.mutant.identity not in explained or each.found):
            groups.setdefault(each.mutant.family, []).append(each)
            every.append(each)
    return [_shares(name, group) for name, group in [*sorted(groups.items()), ("all", every)]]


def _shares(name: str, group: Sequence[Outcome]) -> Shares:
    kinds = Counter((each.found, bool(each.seen)) for each in group)
    lost = [each for each in group if not each.found and not each.seen]
    unfinished = sum(bool(each.unfinished) for each in lost)
    return Shares(name, kinds[True, False], kinds[False, True], kinds[True, True], len(lost), unfinished)


def share_lines(rows: Sequence[Shares]) -> Iterator[str]:
    """A table: found by the rules alone, by the machine alone, by both, by neither."""
    width = max([len(row.name) for row in rows] + [len("family")])
    yield f"{'family':<{width}}  mutants  rules  machine   both  neither  unfinished    rate"
    for row in rows:
        yield (
            f"{row.name:<{width}}  {row.mutants:7}  {row.rules:5}  {row.machine:7}  {row.both:5}  {row.neither:7}  "
            f"{row.unfinished:10}  {row.rate:6.1%}"
        )


def missed(outcomes: Iterable[Outcome], explained: Identities) -> list[Outcome]:
    """What neither the rules nor the machine find."""
    return [each for each in survivors(outcomes, explained) if not each.seen]


def contradicted(outcomes: Iterable[Outcome], explained: Identities) -> list[Outcome]:
    """What is explained as breaking nothing, and the machine finds something."""
    return [each for each in outcomes if each.mutant.identity in explained and each.seen]
