"""What threads announce to an mbarrier and what their copies bring, phase by phase.

The bytes of a tensor copy stand in its tensor map. They are unknown, but copies by one map bring the same bytes each
time: they are counted as so many boxes of that map.
Source: PTX ISA, "Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import gcd
from typing import TypeAlias

from ptxkit.analysis.terms import Term, Value
from ptxkit.analysis.trace import Event, Trace
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect
from ptxkit.records import dataclass, field

#: So many boxes of each tensor map.
Boxes: TypeAlias = tuple[tuple[Term, int], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes announced (`expected`) or started on an object; arrives: the announcement is an arrival too."""

    event: Event
    size: Value | None
    expected: bool
    arrives: bool = False

    @property
    def size_is_in_map(self) -> bool:
        """Whether it is a copy of a box, whose size a tensor map holds."""
        effect = self.event.effect
        return isinstance(effect, MbarrierComplete) and effect.size is None


@dataclass(frozen=True, slots=True)
class Round:
    """The entries of one phase."""

    entries: tuple[Entry, ...]

    @property
    def announced(self) -> int | None:
        """Bytes announced; None where one of them is not known."""
        sizes = [entry.size for entry in self.entries if entry.expected]
        numbers = [size for size in sizes if isinstance(size, int)]
        return sum(numbers) if len(numbers) == len(sizes) else None

    @property
    def started(self) -> int | None:
        """Bytes of the copies; None where one of them is not known."""
        return self.plain if not self.boxes else None

    @property
    def plain(self) -> int:
        """Bytes of the copies whose size is a number."""
        return sum(entry.size for entry in self.entries if not entry.expected and isinstance(entry.size, int))

    @property
    def boxes(self) -> Boxes:
        """Copies whose size is not a number, by what it depends on."""
        found = Counter(entry.size for entry in self.entries if not entry.expected and isinstance(entry.size, Term))
        return tuple(sorted(found.items(), key=lambda item: item[0].identity))

    @property
    def is_counted(self) -> bool:
        """Whether all its copies bring bytes that are a number, or boxes, of which none is empty."""
        return all(entry.size_is_in_map for entry in self.entries if not isinstance(entry.size, int))

    @property
    def is_even(self) -> bool | None:
        """Whether as many bytes are announced as started; None where that is not known."""
        if self.announced is None:
            return None
        if self.started is not None:
            return self.announced == self.started
        return False if self.announced == 0 else None

    @property
    def waits(self) -> bool:
        """Whether bytes are announced that were not started, or nobody knows."""
        return self.announced is None or self.announced > (self.started or 0)

    @property
    def unit(self) -> tuple[Boxes, int] | None:
        """The smallest lot of boxes that the copies are a multiple of, and the bytes announced for one such lot."""
        if not self.boxes or not self.announced:
            return None
        lots = gcd(*(count for _, count in self.boxes))
        return tuple((box, count // lots) for box, count in self.boxes), (self.announced - self.plain) // lots


@dataclass(slots=True)
class Ledger:
    """What one thread announces and starts on one object, in order. complete: the walk reached the thread's end."""

    tid: int
    complete: bool
    entries: list[Entry] = field(default_factory=list)

    @property
    def announces_alone(self) -> bool:
        """Whether bytes are announced apart from arrivals."""
        return any(entry.expected and not entry.arrives for entry in self.entries)

    def ordinal_of(self, round_: Round) -> int:
        """The number of the phase, from 1, in which a round announces its bytes: one ends with each arrival before."""
        first = next(entry for entry in round_.entries if entry.expected)
        before = self.entries[: next(at for at, entry in enumerate(self.entries) if entry is first)]
        return 1 + sum(entry.arrives for entry in before)

    @property
    def tail(self) -> Round | None:
        """The last round, where bytes are announced first in each and no copy of the last one is started."""
        rounds = self.rounds(copies_follow=True) if self.complete and self.entries[0].expected else []
        return rounds[-1] if rounds and all(entry.expected for entry in rounds[-1].entries) else None

    def even_rounds(self) -> list[Round] | None:
        """The entries by phase, where bytes announced behind an arrival add to those that its phase waits for: it goes
        on until as many bytes were started as announced. None where no phase can be so, as one has no arrival.
        """
        rounds: list[list[Entry]] = [[]]
        for entry in self.entries:
            if any(other.arrives for other in rounds[-1]) and not Round(tuple(rounds[-1])).waits:
                rounds.append([])
            rounds[-1].append(entry)
        if not all(any(entry.arrives for entry in entries) for entries in rounds):
            return None
        return [Round(tuple(entries)) for entries in (rounds if self.complete else rounds[:-1])]

    def rounds(self, copies_follow: bool) -> list[Round]:
        """The entries by phase, whose copies follow its arrival, or come before it."""
        rounds: list[list[Entry]] = []
        for entry in self.entries:
            over = rounds and any(other.arrives for other in rounds[-1]) and (entry.expected or not copies_follow)
            if not rounds or over:
                rounds.append([entry])
            else:
                rounds[-1].append(entry)
        whole = rounds if self.complete else rounds[1 - copies_follow : -1]
        return [Round(tuple(entries)) for entries in whole]


def ledgers_of(trace: Trace, object_of: Callable[[Event], int | None]) -> dict[int, Ledger]:
    """By object: what a thread announces and starts. Objects it only arrives at are left out."""
    found: dict[int, Ledger] = {}
    for event in trace.events:
        if not isinstance(event, Event):
            continue
        address, entry = object_of(event), _entry(event)
        if address is not None and entry is not None:
            found.setdefault(address, Ledger(trace.tid, trace.ended == "exit")).entries.append(entry)
    return {address: ledger for address, ledger in found.items() if any(entry.size != 0 for entry in ledger.entries)}


def _entry(event: Event) -> Entry | None:
    effect = event.effect
    if isinstance(effect, MbarrierComplete):
        return Entry(event, event.size, expected=False)
    if isinstance(effect, MbarrierExpect):
        return Entry(event, event.size, expected=True)
    if isinstance(effect, MbarrierArrive):
        return Entry(event, event.expect if effect.expect is not None else 0, expected=True, arrives=True)
    return None


def odd_ones(ledgers: Iterable[Ledger], copies_follow: bool) -> Iterator[tuple[Round, int]]:
    """Rounds that announce other bytes for the same boxes than most rounds do, with what most announce for them."""
    by_lot: dict[Boxes, list[tuple[int, Round]]] = defaultdict(list)
    for ledger in ledgers:
        for round_ in ledger.rounds(copies_follow):
            unit = round_.unit
            if unit is not None:
                by_lot[unit[0]].append((unit[1], round_))
    for boxes, seen in by_lot.items():
        (usual, times), *others = Counter(size for size, _ in seen).most_common()
        if others and times > others[0][1]:
            for size, round_ in seen:
                if size != usual:
                    yield round_, round_.plain + usual * (round_.boxes[0][1] // boxes[0][1])


def at_odds(wholes: Iterable[Round]) -> tuple[Round, int | None] | None:
    """Of what is announced and copied on several objects in a whole kernel: one that cannot be even, whatever boxes the
    tensor maps describe, if the others are; with the bytes that it should announce, where they tell.

    Each object is an equation, so many bytes for so many boxes. What most objects agree on is taken for granted first.
    """
    by_lot: dict[tuple[Boxes, Fraction], list[Round]] = defaultdict(list)
    for whole in wholes:
        if whole.boxes and whole.announced and whole.is_counted:
            lots = gcd(*(count for _, count in whole.boxes))
            lot = tuple((box, count // lots) for box, count in whole.boxes)
            by_lot[(lot, Fraction(whole.announced - whole.plain, lots))].append(whole)
    known = _Equations()
    for (lot, announced), rounds in sorted(by_lot.items(), key=lambda item: -len(item[1])):
        due = known.due(dict(lot))
        if due is not None and due != announced:
            whole = rounds[0]
            usual = whole.plain + due * whole.boxes[0][1] / lot[0][1]
            return whole, int(usual) if usual.denominator == 1 and usual > 0 else None
        if due is None and not known.add(dict(lot), announced):
            return rounds[0], None
    return None


class _Equations:
    """Sums of boxes and their bytes, solved as far as they go: each unknown of `solved` stands in no other sum."""

    def __init__(self) -> None:
        self.solved: dict[Term, tuple[dict[Term, Fraction], Fraction]] = {}

    def _reduced(self, boxes: dict[Term, int]) -> tuple[dict[Term, Fraction], Fraction]:
        """A sum without the unknowns that are solved, and the bytes of those."""
        left: dict[Term, Fraction] = defaultdict(Fraction)
        found = Fraction(0)
        for box, count in boxes.items():
            others, constant = self.solved.get(box, ({box: Fraction(1)}, Fraction(0)))
            found += count * constant
            for other, factor in others.items():
                left[other] += count * factor
        return {box: factor for box, factor in left.items() if factor}, found

    def due(self, boxes: dict[Term, int]) -> Fraction | None:
        """The bytes of some boxes; None where they are not known."""
        left, found = self._reduced(boxes)
        return None if left else found

    def add(self, boxes: dict[Term, int], total: Fraction) -> bool:
        """Takes a sum for granted; whether all boxes may still hold something."""
        left, found = self._reduced(boxes)
        box, factor = left.popitem()
        solution = {other: -share / factor for other, share in left.items()}
        constant = (total - found) / factor
        for each, (others, bytes_) in self.solved.items():
            share = others.pop(box, Fraction(0))
            for other, more in solution.items():
                others[other] = others.get(other, Fraction(0)) + share * more
            self.solved[each] = ({o: f for o, f in others.items() if f}, bytes_ + share * constant)
        self.solved[box] = (solution, constant)
        return all(others or bytes_ > 0 for others, bytes_ in self.solved.values())
