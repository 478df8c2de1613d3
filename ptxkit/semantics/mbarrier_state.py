"""The state machine of an mbarrier object: its phases, and the arrivals and bytes that complete them.

A phase completes when no arrival is pending and the tx-count is zero; the next phase begins immediately. The phase
before the first one counts as complete, with parity 1.

Source: PTX ISA, "Contents of the mbarrier object", "Lifecycle of the mbarrier object", "Phases of the mbarrier object",
"Tracking asynchronous operations by the mbarrier object", "mbarrier.arrive_drop".
"""

from __future__ import annotations

from enum import Enum

MAX_ARRIVALS = (1 << 20) - 1
"""The maximum number of expected and of pending arrivals."""

MAX_TX_COUNT = (1 << 20) - 1
"""The maximum absolute value of the tx-count, in bytes."""


class MbarrierOutcome(Enum):
    """The outcome of an operation on an mbarrier."""

    PENDING = "pending"
    """The current phase is not complete."""
    PHASE_COMPLETE = "phase complete"
    """The operation completed the current phase; the next one has begun."""
    UNOBSERVED_PHASE = "unobserved phase"
    """An arrival before any thread has observed the completion of the preceding phase; it is not counted."""
    EXCESS_ARRIVALS = "excess arrivals"
    """More arrivals than are pending; none of them is counted."""
    FORBIDDEN_COMPLETION = "forbidden completion"
    """An arrival that must not complete the phase (`.noComplete`) would complete it; it is not counted."""
    PENDING_COUNT_OVERFLOW = "pending count overflow"
    """The pending count exceeds its range; the state holds the number nevertheless."""
    TX_COUNT_OVERFLOW = "tx-count overflow"
    """The tx-count leaves its range; the state holds the number nevertheless."""

    @property
    def is_error(self) -> bool:
        """Whether the operation breaks a rule."""
        return self not in _VALID_OUTCOMES


_VALID_OUTCOMES = (MbarrierOutcome.PENDING, MbarrierOutcome.PHASE_COMPLETE)


def is_valid_arrival_count(count: int) -> bool:
    """Returns whether `mbarrier.init` accepts a number of expected arrivals."""
    return 1 <= count <= MAX_ARRIVALS


class MbarrierState:
    """The state of a live mbarrier object.

    count: the expected arrivals of each further phase. pending_arrivals: the arrivals that the current phase still
    needs. tx_count: the bytes that it still needs, expected minus completed. expected_bytes, completed_bytes: the bytes
    that operations added to each in the current phase. unsized_copies: the number of asynchronous copies in flight
    whose number of bytes is not known. completed_phases: the number of complete phases, whose lowest bit is the parity
    of the current phase. observed_phases: how many of these some thread has observed.
    """

    __slots__ = (
        "completed_bytes",
        "completed_phases",
        "count",
        "expected_bytes",
        "observed_phases",
        "pending_arrivals",
        "tx_count",
        "unsized_copies",
    )

    def __init__(self, count: int) -> None:
        self.count = self.pending_arrivals = count
        self.tx_count = self.expected_bytes = self.completed_bytes = self.unsized_copies = 0
        self.completed_phases = self.observed_phases = 0

    def arrive(self, count: int = 1, *, may_complete: bool = True) -> MbarrierOutcome:
        """Counts arrivals.

        may_complete: False for `.noComplete`.
        """
        if self.completed_phases > self.observed_phases:
            return MbarrierOutcome.UNOBSERVED_PHASE
        if count > self.pending_arrivals:
            return MbarrierOutcome.EXCESS_ARRIVALS
        if not may_complete and count == self.pending_arrivals and not self.tx_count:
            return MbarrierOutcome.FORBIDDEN_COMPLETION
        self.pending_arrivals -= count
        return self._complete_if_ready()

    def drop(self, count: int = 1) -> None:
        """Reduces the expected arrivals of further phases: `arrive_drop` drops, then arrives."""
        self.count = max(self.count - count, 0)

    def add_pending(self, count: int = 1) -> MbarrierOutcome:
        """Adds pending arrivals to the current phase, as `cp.async.mbarrier.arrive` does for its own arrival."""
        self.pending_arrivals += count
        overflows = self.pending_arrivals > MAX_ARRIVALS
        return MbarrierOutcome.PENDING_COUNT_OVERFLOW if overflows else MbarrierOutcome.PENDING

    def complete_phases(self, arrivals: int) -> int:
        """Completes as many whole phases as the arrivals suffice for, each observed before the next; returns how many.

        It completes none unless the current phase has just begun and only lacks arrivals.
        """
        if not self.count or self.pending_arrivals != self.count or self.tx_count or self.unsized_copies:
            return 0
        phases = arrivals // self.count
        if phases:
            self.completed_phases += phases
            self.observed_phases = self.completed_phases - 1
            self.expected_bytes = self.completed_bytes = 0
        return phases

    def expect_tx(self, count: int, *, may_complete: bool = True) -> MbarrierOutcome:
        """Adds to the bytes that the current phase expects.

        may_complete: whether the phase completes where the bytes were completed before they were expected, and nothing
        else is pending; if not, it completes at the next operation.
        """
        self.tx_count += count
        self.expected_bytes += count
        if self._is_tx_count_out_of_range():
            return MbarrierOutcome.TX_COUNT_OVERFLOW
        return self._complete_if_ready() if may_complete else MbarrierOutcome.PENDING

    def complete_tx(self, count: int) -> MbarrierOutcome:
        """Counts bytes as completed, which may be expected later."""
        self.tx_count -= count
        self.completed_bytes += count
        return MbarrierOutcome.TX_COUNT_OVERFLOW if self._is_tx_count_out_of_range() else self._complete_if_ready()

    def begin_unsized_copies(self, count: int = 1) -> None:
        """Begins copies of unknown size: the phase does not complete before they end."""
        self.unsized_copies += count

    def end_unsized_copies(self, count: int = 1) -> MbarrierOutcome:
        """Ends copies of unknown size; the last of these completes all bytes that are still expected."""
        self.unsized_copies -= count
        if not self.unsized_copies:
            self.tx_count = 0
        return self._complete_if_ready()

    def _is_tx_count_out_of_range(self) -> bool:
        return not -MAX_TX_COUNT <= self.tx_count <= MAX_TX_COUNT

    def _complete_if_ready(self) -> MbarrierOutcome:
        if self.pending_arrivals or self.tx_count or self.unsized_copies:
            return MbarrierOutcome.PENDING
        self.completed_phases += 1
        self.pending_arrivals = self.count
        self.expected_bytes = self.completed_bytes = 0
        return MbarrierOutcome.PHASE_COMPLETE

    def is_parity_complete(self, parity: int) -> bool:
        """Returns whether the latest phase of a parity is complete: the result of a wait by parity."""
        return self.completed_phases & 1 != parity & 1

    def is_phase_complete(self, phase: int) -> bool:
        """Returns whether a phase, counted from 0, is complete: the result of a wait with a state token."""
        return self.completed_phases > phase

    def observe(self) -> None:
        """Records that a thread has observed the completion of the preceding phase."""
        self.observed_phases = self.completed_phases
