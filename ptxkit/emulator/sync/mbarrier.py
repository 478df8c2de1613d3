"""mbarrier objects in shared memory: pending arrivals, the transaction count, and the threads that wait for a phase.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Contents of the mbarrier object",
"Lifecycle of the mbarrier object", "Phases of the mbarrier object", "Tracking asynchronous operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.limits import MAX_POLLS_PER_PHASE
from ptxkit.emulator.threads.waitable import Waitable
from ptxkit.semantics.mbarrier_state import MAX_ARRIVALS, MAX_TX_COUNT, MbarrierOutcome, MbarrierState
from ptxkit.semantics.object_names import MBARRIER_BYTES, describe_objects

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_PENDING_BITS = 20


class Mbarrier(Waitable):
    """An mbarrier object of a run.

    `cta` owns the shared memory that contains the object. `offset` is its offset in that memory, and `buffer_offset`
    that in the shared memory of the cluster. `polls` counts the failed polls of each thread, by CTA. `clock` has the
    clocks of its phases, in the form of the race detector.
    """

    __slots__ = ("buffer_offset", "clock", "cta", "is_live", "offset", "polls", "state")

    def __init__(self, cta: CtaState, place: int, count: int) -> None:
        super().__init__()
        self.cta, self.buffer_offset = cta, place
        self.offset = place - cta.rank * cta.cluster.stride
        self.state = MbarrierState(count)
        self.is_live = True
        self.polls: dict[CtaState, Any] = {}
        self.clock: Any = None
        self._store_opaque_state()

    # ------------------------------------------------------------------------------------------- operations

    def arrive(self, counts: Any, *, drop: bool = False, completes: bool = True) -> Any:
        """Counts arrivals, one entry for each thread, and returns the tokens of the phase. Raises ExecutionFault."""
        state, total = self.state, int(counts.sum())
        if total <= state.pending_arrivals:
            before = state.pending_arrivals - (numpy.cumsum(counts) - counts)
            tokens = self._state_tokens(before)
            self._count_arrivals(total, drop=drop, completes=completes)
            return tokens
        found = numpy.zeros(len(counts), numpy.uint64)
        for at, each in enumerate(counts):
            found[at] = self._state_tokens(numpy.array([state.pending_arrivals]))[0]
            self._count_arrivals(int(each), drop=drop, completes=completes)
        return found

    def _count_arrivals(self, count: int, *, drop: bool, completes: bool) -> None:
        expected = self.state.count
        if drop:
            self.state.drop(count)
        outcome = self.state.arrive(count, may_complete=completes)
        if outcome.is_error:
            raise ExecutionFault(self._describe_arrival_error(outcome, count, expected))
        self._on_change(outcome)

    def _describe_arrival_error(self, outcome: MbarrierOutcome, count: int, expected: int) -> Message:
        barrier, phase = self.name, self.phase
        if outcome is MbarrierOutcome.UNOBSERVED_PHASE:
            return ptx5xx.ARRIVAL_BEFORE_PHASE_OBSERVED(barrier=barrier, phase=phase, previous=phase - 1)
        if outcome is MbarrierOutcome.FORBIDDEN_COMPLETION:
            return ptx5xx.NO_COMPLETE_COMPLETES(phase=phase, barrier=barrier)
        pending = self.state.pending_arrivals
        left = ptx5xx.PENDING_ARRIVALS(pending=pending) if pending else "none"
        return ptx5xx.MORE_ARRIVALS_THAN_PENDING(
            arrivals=count, barrier=barrier, phase=phase, pending=left, count=expected
        )

    def add_pending(self, count: int) -> None:
        """Increases the pending count of this phase, for asynchronous copies. Raises ExecutionFault."""
        if self.state.add_pending(count).is_error:
            raise ExecutionFault(ptx5xx.ARRIVALS_OVERFLOW(barrier=self.name, arrivals=self.state.pending_arrivals))

    def expect_tx(self, count: int) -> None:
        """Adds bytes to the transaction count of this phase. Raises ExecutionFault."""
        self._on_tx_change(self.state.expect_tx(count))

    def complete_tx(self, count: int) -> None:
        """Subtracts bytes from the transaction count of this phase. Raises ExecutionFault."""
        self._on_tx_change(self.state.complete_tx(count))

    def _on_tx_change(self, outcome: MbarrierOutcome) -> None:
        if outcome.is_error:
            content = ptx5xx.TX_COUNT_OVERFLOW(
                phase=self.phase,
                barrier=self.name,
                expected=self.state.expected_bytes,
                completed=self.state.completed_bytes,
                limit=MAX_TX_COUNT,
            )
            raise ExecutionFault(content)
        self._on_change(outcome)

    def invalidate(self) -> None:
        """Ends the lifetime of the object."""
        self.is_live = False
        self.wake()

    # ---------------------------------------------------------------------------------------------------- waiting

    @property
    def phase(self) -> int:
        """The number of complete phases."""
        return self.state.completed_phases

    def is_token_complete(self, token: int) -> bool:
        """Returns whether the phase of a state token is complete."""
        return self.state.is_phase_complete(token >> _PENDING_BITS & 0xFFFF_FFFF)

    def count_failed_poll(self, group: ThreadGroup, index: Any, most: int) -> bool:
        """Counts a failed poll of threads, and returns whether this phase has had more than `most` of them."""
        polls = self.polls.get(group.cta)
        if polls is None:
            polls = self.polls[group.cta] = numpy.zeros(group.cta.threads, numpy.int64)
        base = self.phase * MAX_POLLS_PER_PHASE
        found = numpy.maximum(polls[index], base) + 1
        polls[index] = numpy.minimum(found, base + MAX_POLLS_PER_PHASE - 1)
        return bool((found - base > most).all())

    def reset_polls(self) -> None:
        """Resets the counts of failed polls, so that waiting threads may poll again."""
        self.polls.clear()
        self.wake()

    # ---------------------------------------------------------------------------------------------------- internals

    def _state_tokens(self, pending: Any) -> Any:
        return pending.astype(numpy.uint64) | numpy.uint64(self.phase << _PENDING_BITS)

    def _on_change(self, outcome: MbarrierOutcome) -> None:
        if outcome is MbarrierOutcome.PHASE_COMPLETE:
            self.cta.machine.observer.on_phase_complete(self)
            self.wake()
        self._store_opaque_state()

    def _store_opaque_state(self) -> None:
        """Stores the state in memory, in a form that is opaque to the program."""
        known = self.state
        words = known.completed_phases << 42 | (known.tx_count & 0x3FFFFF) << _PENDING_BITS | known.pending_arrivals
        self.cta.cluster.shared_buffer.view(MBARRIER_BYTES)[self.buffer_offset >> 3] = numpy.uint64(
            words & (1 << 64) - 1
        )

    @property
    def name(self) -> str:
        """The name of the object in findings, such as "the mbarrier `full[0]`"."""
        return f"the mbarrier {self._describe_place('`')}"

    @property
    def short_name(self) -> str:
        """The name of the object in traces, such as "mbarrier full[0]"."""
        return f"mbarrier {self._describe_place('')}"

    def _describe_place(self, quote: str) -> str:
        """Returns the object by its variable and index; where no variable holds it, by its offset in shared memory."""
        own = [each.offset for each in self.cta.cluster.mbarriers.values() if each.cta is self.cta]
        found = describe_objects(self.cta.machine.program.shared.variable_at, {self.offset}, own)
        where = f" of CTA {self.cta.ctaid}" if self.cta.cluster.size > 1 else ""
        return (f"{quote}{found}{quote}" if found else f"at shared 0x{self.offset:x}") + where

    def describe(self, group: ThreadGroup) -> Message:  # noqa: ARG002 (as of other waitables)
        """Describes the missing arrivals or bytes of its phase."""
        known, data = self.state, ""
        if known.expected_bytes or known.completed_bytes or known.tx_count:
            data = str(ptx5xx.PHASE_BYTES(expected=known.expected_bytes, completed=known.completed_bytes))
        content = ptx5xx.PHASE_INCOMPLETE(
            phase=self.phase,
            barrier=self.name,
            expected=known.count,
            seen=known.count - known.pending_arrivals,
            bytes=data,
        )
        return content if known.pending_arrivals else content.under(ptx5xx.MBARRIER_TX_COUNT_MISMATCH)


def pending_count(tokens: Any) -> Any:
    """Returns the pending counts in state tokens."""
    return (tokens & numpy.uint64(MAX_ARRIVALS)).astype(numpy.uint32)
