"""Decides whether the bytes that are expected on the mbarriers of a CTA equal those that copies transfer.

If one thread executes all expect-tx and copies of an mbarrier, each phase is checked; if several threads do, the whole
kernel is. Copies by one tensor map transfer the same number of bytes each time, so that phases are compared even where
this number is unknown.

Source: PTX ISA, "Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.awaited_phases import is_phase_awaited, last_awaited_phase
from ptxkit.analysis.mbarrier.mbarrier_objects import find_initializations, mbarrier_of
from ptxkit.analysis.mbarrier.tx_count import (
    PhaseTx,
    TxEntry,
    TxLedger,
    build_tx_ledgers,
    find_inconsistent_phase,
    find_outliers,
)
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.late_expect_tx import LateExpectTx, find_late_expect_tx
from ptxkit.analysis.sync.mbarrier_model import BoxEquation
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait

_TX_EFFECTS = (MbarrierArrive, MbarrierComplete, MbarrierExpect)


class UnknownBalance(Enum):
    """The reason why it is unknown whether the expected bytes match the copied ones."""

    TENSOR_MAP = "a tensor map decides the bytes of a copy"
    AWAITED_PHASE = "more bytes are expected than copied, and the phase may be one that no thread waits for"
    UNREACHED_ARRIVALS = "some arrivals are in code that no execution reaches"
    OTHER_MBARRIER = "an operation on an unknown mbarrier may expect or transfer bytes of this one"


@dataclass(frozen=True, slots=True)
class TxBalance:
    """The result for one mbarrier.

    step: the first instruction that expects or copies bytes. unbalanced: the phase whose bytes differ; None where they
    match, or where `unknown` gives the reason why this is not known. needed: if tensor maps decide whether the
    bytes match, what they must satisfy; empty if this is unknown.
    """

    step: Step
    is_certain: bool
    unbalanced: PhaseTx | None = None
    unknown: UnknownBalance | None = None
    needed: tuple[BoxEquation, ...] = ()


@dataclass(frozen=True, slots=True)
class TxConsistency:
    """The comparison of the phases whose bytes come from copies of the same tensor maps.

    inconsistent: phases that expect other bytes for the same boxes, each with the bytes to expect, if known. expects:
    the steps that expect bytes; where no phase is inconsistent, they all agree.
    """

    is_certain: bool
    inconsistent: tuple[tuple[PhaseTx, int | None], ...]
    expects: tuple[Step, ...]


class TxBalanceCheck:
    """Compares expected and copied bytes in one scenario."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self._facts = facts
        self._ledgers_by_thread = [(thread, build_tx_ledgers(thread.trace)) for thread in facts.threads.values()]
        self._by_mbarrier: dict[int, list[TxLedger]] = defaultdict(list)
        for _, ledgers in self._ledgers_by_thread:
            for address, ledger in ledgers.items():
                self._by_mbarrier[address].append(ledger)

    @property
    def sample(self) -> int:
        """The value that the scenario takes for the integer parameters that it does not override."""
        return self._facts.scenario.sample

    @property
    def has_overrides(self) -> bool:
        """Whether the scenario takes another value for some of them."""
        return bool(self._facts.scenario.overrides)

    @cached_property
    def balances(self) -> Sequence[TxBalance]:
        """The result for each mbarrier on which bytes are expected or copied."""
        found: list[TxBalance] = []
        for address, ledgers in self._by_mbarrier.items():
            if self._has_unknown_mbarrier:
                step = ledgers[0].entries[0].event.step
                found.append(TxBalance(step, is_certain=False, unknown=UnknownBalance.OTHER_MBARRIER))
                continue
            found.extend([self._balance_of_one(ledgers[0])] if len(ledgers) == 1 else self._balance_of_many(address))
        return found

    @cached_property
    def _has_unknown_mbarrier(self) -> bool:
        """Whether bytes are expected or copied on an mbarrier that is unknown, so that each ledger may lack entries."""
        return any(
            not isinstance(event.address, int)
            for thread in self._facts.threads.values()
            for _, event in thread.positions(*_TX_EFFECTS)
        )

    @cached_property
    def _lacks_threads(self) -> bool:
        """Whether the threads that only larger blocks have may expect or transfer further bytes."""
        launch = self._facts.scenario.launch
        return not (launch.is_exact or launch.is_limit or self._facts.executes_all(*_TX_EFFECTS))

    def copy_sizes(self) -> Iterator[tuple[Step, int]]:
        """Yields each copy whose number of bytes is known, with this number."""
        for ledgers in self._by_mbarrier.values():
            for entry in (entry for ledger in ledgers for entry in ledger.entries):
                if not entry.is_expect and isinstance(entry.size, int):
                    yield entry.event.step, entry.size

    def box_sizes(self) -> Iterator[tuple[Step, int]]:
        """Yields each copy of one box that transfers all bytes that its phases expect, with their number.

        Only mbarriers are considered that one thread uses, and for whose first such phase a thread waits.
        """
        if self._has_unknown_mbarrier:
            return
        users = Counter(address for _, by_mbarrier in self._all_threads for address in by_mbarrier)
        for address, ledgers in self._by_mbarrier.items():
            ledger = ledgers[0]
            if users[address] != 1 or not self._facts.threads[ledger.tid].trace.is_certain():
                continue
            groupings = [ledger.split_phases(copies_follow) for copies_follow in (True, False)]
            whole = [phases for phases in groupings if phases and all(phase.smallest_unit for phase in phases)]
            units = {phase.smallest_unit for phases in whole for phase in phases}
            unit = units.pop() if len(units) == 1 else None
            if unit is None or [count for _, count in unit[0]] != [1]:
                continue
            first = ledger.phase_number_of(whole[0][0])
            if any(last_awaited_phase(thread, address) >= first for thread in self._facts.threads.values()):
                yield from ((entry.event.step, unit[1]) for entry in ledger.entries if entry.size_is_in_map)

    def consistency_by_thread(self) -> Iterator[TxConsistency]:
        """Yields the comparison of each thread's own phases."""
        for thread, by_mbarrier in self._ledgers_by_thread:
            ledgers = list(by_mbarrier.values()) if not self._has_unknown_mbarrier else []
            outliers = [list(find_outliers(ledgers, copies_follow)) for copies_follow in (True, False)]
            entries = (entry for ledger in ledgers for entry in ledger.entries)
            found = tuple(outliers[0]) if all(outliers) else ()
            yield TxConsistency(thread.trace.is_certain(), found, _expects(entries))

    def consistency(self) -> TxConsistency | None:
        """Returns the comparison of all mbarriers over the whole kernel: no box sizes may make all of them match.

        The result is None where no copy takes its size from a tensor map, or not all threads end.
        """
        entries = (entry for ledgers in self._by_mbarrier.values() for each in ledgers for entry in each.entries)
        if self._has_unknown_mbarrier or not any(entry.size_is_in_map for entry in entries):
            return None
        found: dict[int, list[TxEntry]] = defaultdict(list)
        for thread, by_mbarrier in self._all_threads:
            if thread.trace.end_reason != "exit":
                return None
            for address, ledger in by_mbarrier.items():
                tail = ledger.open_last_phase
                is_left = tail is not None and self._is_unawaited(ledger, tail) is not False
                left = len(tail.entries) if tail is not None and is_left else 0
                found[address].extend(ledger.entries[: len(ledger.entries) - left])
        odd = find_inconsistent_phase(PhaseTx(tuple(entries)) for entries in found.values())
        is_certain = all(thread.trace.is_certain() for thread, _ in self._all_threads)
        expects = _expects(entry for entries in found.values() for entry in entries)
        return TxConsistency(is_certain, () if odd is None else (odd,), expects)

    @cached_property
    def _all_threads(self) -> Sequence[tuple[ThreadView, Mapping[int, TxLedger]]]:
        known_threads = self._facts.all_threads(*_TX_EFFECTS) or []
        return [(thread, build_tx_ledgers(thread.trace)) for thread in known_threads]

    def _balance_of_one(self, ledger: TxLedger) -> TxBalance:
        """Returns the result for an mbarrier that one thread uses: its phases must balance.

        The copies of a phase may either follow its arrival or precede it.
        """
        step = ledger.entries[0].event.step
        groupings = [ledger.split_phases(copies_follow) for copies_follow in (True, False)]
        adding = ledger.split_balanced_phases() if ledger.has_separate_expects else None
        if adding is not None:
            groupings.append(adding)
        uneven = [[phase for phase in phases if phase.is_balanced is False] for phases in groupings]
        is_certain = self._facts.threads[ledger.tid].trace.is_certain()
        checked = [(phase, self._is_unawaited(ledger, phase)) for phase in uneven[0]] if all(uneven) else []
        wrong = next((phase for phase, is_unawaited in checked if is_unawaited is False), None)
        if wrong is not None:
            is_silent = any(not phases[0].expected_bytes for phases in uneven)
            is_unseen = is_silent and not self._facts.executes_all(MbarrierArrive, MbarrierExpect)
            if is_unseen or self._lacks_threads:
                return TxBalance(step, is_certain, unknown=UnknownBalance.UNREACHED_ARRIVALS)
            return TxBalance(step, is_certain, unbalanced=wrong)
        if any(is_unawaited is None for _, is_unawaited in checked):
            return TxBalance(step, is_certain, unknown=UnknownBalance.AWAITED_PHASE)
        if any(phase.is_balanced is None for phases in groupings for phase in phases):
            # If copies come first, those of the first phase and of the second one would be in one group in which they
            # follow the arrival.
            needed = _needed_boxes(groupings[not ledger.entries[0].is_expect :][:1] + groupings[2:])
            return TxBalance(step, is_certain, unknown=UnknownBalance.TENSOR_MAP, needed=needed)
        return TxBalance(step, is_certain)

    def _balance_of_many(self, address: int) -> Iterator[TxBalance]:
        """Yields the result for an mbarrier that several threads use: all expected bytes must be copied."""
        found = [by_mbarrier[address] for _, by_mbarrier in self._all_threads if address in by_mbarrier]
        whole = PhaseTx(tuple(entry for ledger in found for entry in ledger.entries))
        if not found or not all(ledger.is_complete for ledger in found):
            return
        step = whole.entries[0].event.step
        is_certain = all(thread.trace.is_certain() for thread, _ in self._all_threads)
        if whole.is_balanced is None:
            if whole.expected_bytes is not None and whole.has_known_sizes:
                needed = _needed_boxes([[whole]])
                yield TxBalance(step, is_certain, unknown=UnknownBalance.TENSOR_MAP, needed=needed)
            return
        awaited = whole.is_balanced or not whole.is_pending or is_phase_awaited(self._facts, address, None)
        if awaited is None:
            yield TxBalance(step, is_certain, unknown=UnknownBalance.AWAITED_PHASE)
        elif awaited and not whole.is_balanced and self._lacks_threads:
            yield TxBalance(step, is_certain, unknown=UnknownBalance.UNREACHED_ARRIVALS)
        else:
            unbalanced = None if whole.is_balanced or not awaited else whole
            yield TxBalance(step, is_certain, unbalanced=unbalanced)

    def _is_unawaited(self, ledger: TxLedger, phase: PhaseTx) -> bool | None:
        """Returns whether more bytes are expected than copied in a phase for which no thread waits; None if unknown."""
        if not phase.is_pending or phase.expected_bytes is None:
            return False
        address = mbarrier_of(ledger.entries[0].event)
        awaited = None if address is None else is_phase_awaited(self._facts, address, ledger.phase_number_of(phase))
        return None if awaited is None else not awaited


def _needed_boxes(groupings: Iterable[Sequence[PhaseTx]]) -> tuple[BoxEquation, ...]:
    """Returns what tensor maps must satisfy so that all phases are balanced, for one of the groupings.

    The result is empty if no boxes balance them.
    """
    for phases in groupings:
        if all(phase.is_balanced is not False for phase in phases):
            found = [phase.box_equation for phase in phases if phase.is_balanced is None]
            known = [each for each in found if each is not None]
            if known and len(known) == len(found):
                return tuple(dict.fromkeys(known))
    return ()


def _expects(entries: Iterable[TxEntry]) -> tuple[Step, ...]:
    return tuple(dict.fromkeys(entry.event.step for entry in entries if entry.is_expect and entry.size))


def find_late_expects(facts: ScenarioFacts) -> Iterator[tuple[ThreadView, LateExpectTx]]:
    """Yields the bytes that are expected after an arrival at an mbarrier whose phases one arrival completes."""
    single = {
        address
        for address, inits in find_initializations(facts.threads.values()).items()
        if all(event.amount == 1 for _, _, event in inits)
    }
    for thread in facts.threads.values() if single else ():
        if not any(thread.positions(MbarrierExpect)):
            continue
        others = {
            address
            for other in facts.threads.values()
            if other is not thread
            for address in _mbarriers_with_expects(other)
        }
        for late in find_late_expect_tx(thread.trace, single - others):
            yield thread, late


def _mbarriers_with_expects(thread: ThreadView) -> Iterator[int | None]:
    """Yields the mbarriers on which a thread expects bytes."""
    for _, event in thread.positions(MbarrierArrive, MbarrierExpect):
        if not isinstance(event.effect, MbarrierArrive) or event.effect.expect is not None:
            yield mbarrier_of(event)


def find_waits_and_arrivals(facts: ScenarioFacts) -> Iterator[tuple[TraceEvent, bool, bool]]:
    """Yields the first wait of each thread at each mbarrier.

    The result has the event, whether some thread arrives there, and whether the path to the wait is certain. A wait for
    the phase before the first one needs no arrival and is omitted, as is a wait where it is unknown whether a thread
    arrives.
    """
    arrived = _arrival_mbarriers(facts.threads.values())
    if None in arrived:
        return
    by_any_thread: set[int | None] | None = None
    for thread in facts.threads.values():
        seen: set[int] = set()
        for at, event in thread.positions(MbarrierWait):
            address, effect = mbarrier_of(event), event.effect
            is_fresh = isinstance(effect, MbarrierWait) and effect.by == "parity" and event.amount == 1
            if address is None or address in seen or is_fresh:
                continue
            seen.add(address)
            if address in arrived:
                yield event, True, thread.trace.is_certain(at)
                continue
            if arrived and by_any_thread is None:
                known_threads = facts.distinct_threads(MbarrierArrive, MbarrierTrack)
                by_any_thread = {None} if known_threads is None else _arrival_mbarriers(known_threads)
            if not arrived or not {address, None} & (by_any_thread or set()):
                yield event, False, thread.trace.is_certain(at)


def find_expects_at(facts: ScenarioFacts, mbarrier: Value | None) -> Iterator[Step]:
    """Yields the expect-tx operations at an mbarrier that are no arrivals, for each thread in turn."""
    for thread in facts.threads.values():
        yield from (event.step for _, event in thread.positions(MbarrierExpect) if event.address == mbarrier)


def _arrival_mbarriers(threads: Iterable[ThreadView]) -> set[int | None]:
    """Returns the mbarriers at which threads arrive; None is among them where not all are known."""
    return {mbarrier_of(event) for thread in threads for _, event in thread.positions(MbarrierArrive, MbarrierTrack)}
