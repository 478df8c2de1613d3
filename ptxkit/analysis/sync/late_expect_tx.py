"""What a thread announces to an mbarrier and starts there: whether that keeps its phase open, and what comes too late.

Behind the last arrival a phase goes on as long as its tx-count is not zero: bytes announced by then still belong to it.
Source: PTX ISA, "Phase of the mbarrier object", "mbarrier.expect_tx", "Tracking asynchronous operations by the mbarrier
object".
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
    """What one thread announced to a phase of an mbarrier, and what it started there.

    bytes: those announced without those started; None where one of them is not known.
    """

    bytes: int | None = 0
    has_expects: bool = False
    has_copies: bool = False

    def add_expected(self, size: Value | None) -> None:
        """Adds bytes that the phase waits for."""
        self.has_expects |= size != 0
        self._add(size, 1)

    def add_copied(self, size: Value | None) -> None:
        """Takes off the bytes of an operation that completes on the mbarrier."""
        self.has_copies |= size != 0
        self._add(size, -1)

    def _add(self, size: Value | None, sign: int) -> None:
        self.bytes = self.bytes + sign * size if self.bytes is not None and isinstance(size, int) else None

    @property
    def keeps_phase_open(self) -> bool:
        """Whether the phase goes on for bytes that are announced and not started; sizes that nobody knows are taken to
        be made up by any operation."""
        return self.bytes > 0 if self.bytes is not None else self.has_expects and not self.has_copies


def expected_tx_of(event: TraceEvent) -> Value | None:
    """The bytes that an announcement or an arrival adds to those that its phase waits for; None: nobody knows."""
    match event.effect:
        case MbarrierExpect():
            return event.size
        case MbarrierArrive(expect=expect) if expect is not None:
            return event.expect
    return 0


@dataclass(frozen=True, slots=True)
class LateExpectTx:
    """An announcement, at a position of its thread's trace, and what before it may have ended its phase: the arrival,
    or the operation behind it that may have brought the last of the bytes announced by then."""

    position: int
    expect: TraceEvent
    phase_end: TraceEvent


@dataclass(slots=True)
class _PhaseState:
    """What a thread knows of the phase of an object. arrived: it did so. end: what may have ended the phase."""

    pending_tx: PendingTx
    has_arrived: bool = False
    phase_end: TraceEvent | None = None

    def record_possible_end(self, event: TraceEvent) -> None:
        """Notes that an event may have ended the phase, if it may."""
        if self.has_arrived and self.phase_end is None and self.pending_tx.bytes == 0:
            self.phase_end = event


def find_late_expect_tx(trace: ThreadTrace, single: Set[int]) -> Iterator[LateExpectTx]:
    """The announcements that come too late. single: objects whose phases need one arrival, and to which nobody else
    announces bytes: an arrival ends the phase unless its own thread announced bytes that may still be to come.

    Whatever the thread waits for between the two may be what keeps the phase open, or begins the next one. Traces do
    not show what it reads of memory that tells it as much.
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
            phase.pending_tx.add_copied(event.size if event.ctas is None else None)  # a mask may leave this CTA out
            phase.record_possible_end(event)
        elif isinstance(effect, MbarrierTrack) or (isinstance(effect, MbarrierArrive) and effect.asynchronous):
            phases[address] = _PhaseState(PendingTx(None))  # nobody knows when this one arrives
        elif isinstance(effect, MbarrierArrive):
            if phases[address].has_arrived:  # one ends a phase, so this one is of the next
                del phases[address]
            phase = phases[address]
            phase.pending_tx.add_expected(expected_tx_of(event))
            phase.has_arrived = True
            phase.record_possible_end(event)


def _may_acquire(event: TraceEvent) -> bool:
    """Whether a thread may wait there for what others do."""
    effect = event.effect
    return isinstance(effect, MbarrierWait) or (isinstance(effect, Barrier) and effect.action != "arrive")
