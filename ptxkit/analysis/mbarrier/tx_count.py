"""Collects the bytes that threads expect on an mbarrier and those that their copies transfer, phase by phase.

The size of a tensor copy is defined by its tensor map. It is unknown, but copies by one map have the same size each
time and are therefore counted in boxes of that map.

Source: PTX ISA, "Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import gcd
from typing import Generic, TypeAlias, TypeVar

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.mbarrier_objects import mbarrier_of
from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent
from ptxkit.analysis.sync.mbarrier_model import BoxEquation
from ptxkit.analysis.values.symbolic_values import SymbolicValue, Value
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect

BoxT = TypeVar("BoxT", bound=Hashable)
"""What identifies the boxes of one tensor map."""
#: The number of boxes of each tensor map.
BoxCounts: TypeAlias = tuple[tuple[SymbolicValue, int], ...]


@dataclass(frozen=True, slots=True)
class TxEntry:
    """Bytes expected (`is_expect`) or copied on an mbarrier.

    is_arrival: whether the expect-tx is also an arrival.
    """

    event: TraceEvent
    size: Value | None
    is_expect: bool
    is_arrival: bool = False

    @property
    def size_is_in_map(self) -> bool:
        """Whether the entry is a copy of a box, whose size is in a tensor map."""
        effect = self.event.effect
        return isinstance(effect, MbarrierComplete) and effect.size is None


@dataclass(frozen=True, slots=True)
class PhaseTx:
    """The entries of one phase."""

    entries: tuple[TxEntry, ...]

    @property
    def expect_steps(self) -> list[Step]:
        """The instruction of each entry that expects bytes."""
        return [entry.event.step for entry in self.entries if entry.is_expect]

    @property
    def copy_steps(self) -> list[Step]:
        """The instructions that copy bytes, each once."""
        return list(dict.fromkeys(entry.event.step for entry in self.entries if not entry.is_expect))

    @property
    def expected_bytes(self) -> int | None:
        """The number of expected bytes; None where a part of it is unknown."""
        sizes = [entry.size for entry in self.entries if entry.is_expect]
        numbers = [size for size in sizes if isinstance(size, int)]
        return sum(numbers) if len(numbers) == len(sizes) else None

    @property
    def copied_bytes(self) -> int | None:
        """The number of copied bytes; None where a part of it is unknown."""
        return self.known_copied_bytes if not self.box_counts else None

    @property
    def known_copied_bytes(self) -> int:
        """The number of bytes of the copies whose size is a number."""
        return sum(entry.size for entry in self.entries if not entry.is_expect and isinstance(entry.size, int))

    @property
    def box_counts(self) -> BoxCounts:
        """The number of copies whose size is not a number, by the unknown on which the size depends."""
        found = Counter(
            entry.size for entry in self.entries if not entry.is_expect and isinstance(entry.size, SymbolicValue)
        )
        return tuple(sorted(found.items(), key=lambda item: item[0].identity))

    @property
    def has_known_sizes(self) -> bool:
        """Whether the size of each copy is a number or in a tensor map, so that no copy may be empty."""
        return all(entry.size_is_in_map for entry in self.entries if not isinstance(entry.size, int))

    @property
    def is_balanced(self) -> bool | None:
        """Whether the expected bytes equal the bytes of the started copies; None where this is unknown."""
        if self.expected_bytes is None:
            return None
        if self.copied_bytes is not None:
            return self.expected_bytes == self.copied_bytes
        return False if self.expected_bytes == 0 else None

    @property
    def missing_bytes(self) -> int | None:
        """The expected bytes minus the copied ones; None where either is unknown."""
        expected, copied = self.expected_bytes, self.copied_bytes
        return None if expected is None or copied is None else expected - copied

    @property
    def is_pending(self) -> bool:
        """Whether more bytes are expected than copied, or this is unknown."""
        return self.expected_bytes is None or self.expected_bytes > (self.copied_bytes or 0)

    @property
    def smallest_unit(self) -> tuple[BoxCounts, int] | None:
        """The numbers of boxes of the copies, divided by their common divisor, and the bytes expected for these."""
        if not self.box_counts or not self.expected_bytes:
            return None
        lots = gcd(*(count for _, count in self.box_counts))
        return tuple((box, count // lots) for box, count in self.box_counts), (
            self.expected_bytes - self.known_copied_bytes
        ) // lots

    @property
    def box_equation(self) -> BoxEquation | None:
        """The number of bytes that the boxes have if the phase is balanced; None if this is unknown or impossible."""
        unit = self.smallest_unit
        if unit is None or not self.has_known_sizes or self.expected_bytes is None:
            return None
        boxes, size = unit
        lots = self.box_counts[0][1] // boxes[0][1]
        if size <= 0 or size * lots != self.expected_bytes - self.known_copied_bytes:
            return None
        copies = {entry.size: entry.event.step for entry in reversed(self.entries) if not entry.is_expect}
        return tuple((copies[box], count) for box, count in boxes), size


@dataclass(slots=True)
class TxLedger:
    """One thread's expect-tx and copies on one mbarrier, in order.

    is_complete: whether its trace reached the thread's end.
    """

    tid: int
    is_complete: bool
    entries: list[TxEntry] = field(default_factory=list)

    @property
    def has_separate_expects(self) -> bool:
        """Whether some bytes are expected by an operation that is not an arrival."""
        return any(entry.is_expect and not entry.is_arrival for entry in self.entries)

    def phase_number_of(self, round_: PhaseTx) -> int:
        """Returns the number of the phase, from 1, in which a round expects its bytes.

        Each earlier arrival ends a phase.
        """
        first = next(entry for entry in round_.entries if entry.is_expect)
        before = self.entries[: next(at for at, entry in enumerate(self.entries) if entry is first)]
        return 1 + sum(entry.is_arrival for entry in before)

    @property
    def open_last_phase(self) -> PhaseTx | None:
        """The last round, if each round begins with an expect-tx and no copy of the last one is started."""
        rounds = self.split_phases(copies_follow=True) if self.is_complete and self.entries[0].is_expect else []
        return rounds[-1] if rounds and all(entry.is_expect for entry in rounds[-1].entries) else None

    def split_balanced_phases(self) -> list[PhaseTx] | None:
        """Returns the entries by phase, where bytes expected after an arrival count in the phase of that arrival.

        A phase lasts until the started copies supply all expected bytes. The result is None where this is impossible,
        because some phase has no arrival.
        """
        rounds: list[list[TxEntry]] = [[]]
        for entry in self.entries:
            if any(other.is_arrival for other in rounds[-1]) and not PhaseTx(tuple(rounds[-1])).is_pending:
                rounds.append([])
            rounds[-1].append(entry)
        if not all(any(entry.is_arrival for entry in entries) for entries in rounds):
            return None
        return [PhaseTx(tuple(entries)) for entries in (rounds if self.is_complete else rounds[:-1])]

    def split_phases(self, copies_follow: bool) -> list[PhaseTx]:
        """Returns the entries by phase.

        copies_follow: whether the copies of a phase follow its arrival or precede it.
        """
        rounds: list[list[TxEntry]] = []
        for entry in self.entries:
            over = rounds and any(other.is_arrival for other in rounds[-1]) and (entry.is_expect or not copies_follow)
            if not rounds or over:
                rounds.append([entry])
            else:
                rounds[-1].append(entry)
        whole = rounds if self.is_complete else rounds[1 - copies_follow : -1]
        return [PhaseTx(tuple(entries)) for entries in whole]


def build_tx_ledgers(trace: ThreadTrace) -> dict[int, TxLedger]:
    """Returns, by mbarrier, the bytes that a thread expects and copies, without mbarriers at which it only arrives."""
    found: dict[int, TxLedger] = {}
    for event in trace.events:
        if not isinstance(event, TraceEvent):
            continue
        address, entry = mbarrier_of(event), _tx_entry_of(event)
        if address is not None and entry is not None:
            found.setdefault(address, TxLedger(trace.tid, trace.end_reason == "exit")).entries.append(entry)
    return {address: ledger for address, ledger in found.items() if any(entry.size != 0 for entry in ledger.entries)}


def _tx_entry_of(event: TraceEvent) -> TxEntry | None:
    effect = event.effect
    if isinstance(effect, MbarrierComplete):
        return TxEntry(event, event.size, is_expect=False)
    if isinstance(effect, MbarrierExpect):
        return TxEntry(event, event.size, is_expect=True)
    if isinstance(effect, MbarrierArrive):
        return TxEntry(event, event.expect if effect.expect is not None else 0, is_expect=True, is_arrival=True)
    return None


def find_outliers(ledgers: Iterable[TxLedger], copies_follow: bool) -> Iterator[tuple[PhaseTx, int]]:
    """Yields the rounds that expect other bytes for the same boxes than most rounds do, with the usual bytes."""
    by_lot: dict[BoxCounts, list[tuple[int, PhaseTx]]] = defaultdict(list)
    for ledger in ledgers:
        for round_ in ledger.split_phases(copies_follow):
            unit = round_.smallest_unit
            if unit is not None:
                by_lot[unit[0]].append((unit[1], round_))
    for boxes, seen in by_lot.items():
        (usual, times), *others = Counter(size for size, _ in seen).most_common()
        if others and times > others[0][1]:
            for size, round_ in seen:
                if size != usual:
                    yield round_, round_.known_copied_bytes + usual * (round_.box_counts[0][1] // boxes[0][1])


def find_inconsistent_phase(wholes: Iterable[PhaseTx]) -> tuple[PhaseTx, int | None] | None:
    """Returns an mbarrier whose expected and copied bytes cannot match if those of the others do.

    This holds whatever the boxes are. The second element of the result is the number of bytes that it should expect,
    where this is determined. Each mbarrier is an equation between a number of bytes and a sum of boxes. The equations
    that most mbarriers share are assumed first.
    """
    by_lot: dict[tuple[BoxCounts, Fraction], list[PhaseTx]] = defaultdict(list)
    for whole in wholes:
        if whole.box_counts and whole.expected_bytes and whole.has_known_sizes:
            lots = gcd(*(count for _, count in whole.box_counts))
            lot = tuple((box, count // lots) for box, count in whole.box_counts)
            by_lot[(lot, Fraction(whole.expected_bytes - whole.known_copied_bytes, lots))].append(whole)
    known = BoxSystem[SymbolicValue]()
    for (lot, expected), rounds in sorted(by_lot.items(), key=lambda item: -len(item[1])):
        due = known.bytes_of(dict(lot))
        if due is not None and due != expected:
            whole = rounds[0]
            usual = whole.known_copied_bytes + due * whole.box_counts[0][1] / lot[0][1]
            return whole, int(usual) if usual.denominator == 1 and usual > 0 else None
        if due is None and not known.add_equation(dict(lot), expected):
            return rounds[0], None
    return None


class BoxSystem(Generic[BoxT]):
    """Linear equations between sums of boxes and bytes.

    `solutions` expresses solved unknowns by unsolved ones.
    """

    def __init__(self) -> None:
        self.solutions: dict[BoxT, tuple[dict[BoxT, Fraction], Fraction]] = {}

    def _reduce(self, boxes: Mapping[BoxT, int]) -> tuple[dict[BoxT, Fraction], Fraction]:
        """Returns a sum without the solved unknowns, and the bytes of those."""
        left: dict[BoxT, Fraction] = defaultdict(Fraction)
        found = Fraction(0)
        for box, count in boxes.items():
            others, constant = self.solutions.get(box, ({box: Fraction(1)}, Fraction(0)))
            found += count * constant
            for other, factor in others.items():
                left[other] += count * factor
        return {box: factor for box, factor in left.items() if factor}, found

    def bytes_of(self, boxes: Mapping[BoxT, int]) -> Fraction | None:
        """Returns the bytes of some boxes; None where they are not known."""
        left, found = self._reduce(boxes)
        return None if left else found

    def add_equation(self, boxes: Mapping[BoxT, int], total: Fraction) -> bool:
        """Adds an equation, and returns whether it is possible that no box is empty."""
        left, found = self._reduce(boxes)
        box, factor = left.popitem()
        solution = {other: -share / factor for other, share in left.items()}
        constant = (total - found) / factor
        for each, (others, bytes_) in self.solutions.items():
            share = others.pop(box, Fraction(0))
            for other, more in solution.items():
                others[other] = others.get(other, Fraction(0)) + share * more
            self.solutions[each] = ({o: f for o, f in others.items() if f}, bytes_ + share * constant)
        self.solutions[box] = (solution, constant)
        return all(others or bytes_ > 0 for others, bytes_ in self.solutions.values())
