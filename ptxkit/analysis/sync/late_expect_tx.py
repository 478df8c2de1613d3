"""Finds expect-tx operations that come too late: the phase of the mbarrier may have completed before them.

After the last arrival, a phase continues as long as its tx-count is not zero; bytes expected by then still belong to
it.

Source: PTX ISA, "Phases of the mbarrier object", "mbarrier.expect_tx", "Tracking asynchronous operations by the
mbarrier object".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set

from ptxkit.analysis.symexec.trace import ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    Barrier,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)


@dataclass(slots=True)
class PendingTx:
    """The bytes that one thread expects in a phase of an mbarrier, minus those of the copies that it started there.

    bytes: the difference; None where one of the sizes is unknown.
    """

    bytes: int | None = 0
    has_expects: bool = False
    has_copies: bool = False

    def add_expected(self, size: Value | None) -> None:
        """Adds bytes that the phase expects."""
        self.has_expects |= size != 0
        self._add(size, 1)

    def add_copied(self, size: Value | None) -> None:
        """Subtracts the bytes of an operation that completes on the mbarrier."""
        self.has_copies |= size != 0
        self._add(size, -1)

    def _add(self, size: Value | None, sign: int) -> None:
        self.bytes = self.bytes + sign * size if self.bytes is not None and isinstance(size, int) else None

    @property
    def keeps_phase_open(self) -> bool:
        """Whether expected bytes whose copy was not started keep the phase incomplete.

        If a size is unknown, any started operation is assumed to supply all expected bytes.
        """
        return self.bytes > 0 if self.bytes is not None else self.has_expects and not self.has_copies


def expected_tx_of(event: TraceEvent) -> Value | None:
    """Returns the bytes that an expect-tx or an arrival adds to the tx-count of its phase.

    The result is None where they are unknown.
    """
    match event.effect:
        case MbarrierExpect():
            return event.size
        case MbarrierArrive(expect=expect) if expect is not None:
            return event.expect
    return 0


@dataclass(frozen=True, slots=True)
class LateExpectTx:
    """An expect-tx, at a position of its thread's trace, and the earlier event that may have completed its phase.

    That event is the arrival, or an operation after it that may have supplied the last of the bytes expected by then.
    """

    position: int
    expect: TraceEvent
    phase_end: TraceEvent


@dataclass(slots=True)
class _PhaseState:
    """The knowledge of a thread about a phase.

    has_arrived: whether the thread has arrived. phase_end: the event that may have completed the phase.
    """

    pending_tx: PendingTx
    has_arrived: bool = False
    phase_end: TraceEvent | None = None

    def record_possible_end(self, event: TraceEvent) -> None:
        """Records an event as the possible end of the phase, if it can complete the phase."""
        if self.has_arrived and self.phase_end is None and self.pending_tx.bytes == 0:
            self.phase_end = event


def find_late_expect_tx(trace: ThreadTrace, single: Set[int]) -> Iterator[LateExpectTx]:
    """Yields the expect-tx operations that come too late.

    single: mbarriers whose phases need one arrival, and on which no other thread executes an expect-tx. An arrival
    there completes the phase unless its own thread expects bytes that may still be pending. Any wait of the thread
    between the two events may keep the phase incomplete or observe the next one. Traces do not show synchronization
    through reads of memory.
    """
    phases: dict[int, _PhaseState] = defaultdict(lambda: _PhaseState(PendingTx()))
    for position, event in enumerate(trace.events):
        if isinstance(event, UnknownCall) or _may_acquire(event):
            phases.clear()
            continue
        effect, address = event.effect, event.address
        if not isinstance(address, int) or address not in single:
            continue
        if isinstance(effect, MbarrierInit | MbarrierInvalidate):
            phases.pop(address, None)
        elif isinstance(effect, MbarrierExpect):
            phase = phases[address]
            if phase.phase_end is not None and event.size != 0:
                yield LateExpectTx(position, event, phase.phase_end)
            phase.pending_tx.add_expected(expected_tx_of(event))
        elif isinstance(effect, MbarrierComplete):
            phase = phases[address]
            phase.pending_tx.add_copied(event.size if event.ctas is None else None)  # a mask may exclude this CTA
            phase.record_possible_end(event)
        elif isinstance(effect, MbarrierTrack) or (isinstance(effect, MbarrierArrive) and effect.asynchronous):
            phases[address] = _PhaseState(PendingTx(None))  # the time of this arrival is unknown
        elif isinstance(effect, MbarrierArrive):
            if phases[address].has_arrived:  # an earlier arrival completed a phase, so this one belongs to the next
                del phases[address]
            phase = phases[address]
            phase.pending_tx.add_expected(expected_tx_of(event))
            phase.has_arrived = True
            phase.record_possible_end(event)


def _may_acquire(event: TraceEvent) -> bool:
    """Returns whether a thread may wait for other threads at an event."""
    effect = event.effect
    return isinstance(effect, MbarrierWait) or (isinstance(effect, Barrier) and effect.action != "arrive")
