"""Mbarrier objects in shared memory: arrivals and bytes that a phase expects, and the threads that wait for it.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Contents of the mbarrier object",
"Lifecycle of the mbarrier object", "Phase of the mbarrier object", "Tracking asynchronous operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.threads.waitable import Waitable

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

MAX_ARRIVALS = (1 << 20) - 1
MAX_TX_COUNT = (1 << 20) - 1
MBARRIER_BYTES = 8
_PENDING_BITS = 20
_MAX_POLLS = 1 << 16


class MbarrierError(Exception):
    """A rule that an operation on an mbarrier breaks. code: the rule's code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Mbarrier(Waitable):
    """One object. cta: the owner of its shared memory; offset: within it; place: in the cluster's pool.

    count: arrivals per phase; pending: arrivals missing in this phase; bytes: expected minus completed.
    phase: the number of complete phases. observed: the number of these that some thread has observed.
    """

    __slots__ = (
        "arrived_count",
        "buffer_offset",
        "clock",
        "completed_bytes",
        "count",
        "cta",
        "expected_bytes",
        "is_live",
        "observed_phases",
        "offset",
        "pending",
        "phase",
        "polls",
        "tx_count",
    )

    def __init__(self, cta: Cta, place: int, count: int) -> None:
        super().__init__()
        self.cta, self.buffer_offset = cta, place
        self.offset = place - cta.rank * cta.cluster.stride
        self.count = self.pending = count
        self.tx_count = self.phase = self.observed_phases = 0
        self.arrived_count = self.expected_bytes = self.completed_bytes = 0
        self.is_live = True
        self.polls: dict[Cta, Any] = {}
        self.clock: Any = None
        """What orders accesses keeps here."""
        self._store_opaque_state()

    # ------------------------------------------------------------------------------------------- operations

    def arrive(self, counts: Any, *, drop: bool = False, completes: bool = True) -> Any:
        """Count arrivals, one entry per thread; return the state tokens from before each. Raises MbarrierError."""
        self._check_phase_observed()
        total = int(counts.sum())
        if total <= self.pending:
            before = self.pending - (numpy.cumsum(counts) - counts)
            tokens = self._state_tokens(before)
            self._count_arrivals(total, drop=drop, completes=completes)
            return tokens
        found = numpy.zeros(len(counts), numpy.uint64)
        for at, each in enumerate(counts):
            self._check_phase_observed()
            found[at] = self._state_tokens(numpy.array([self.pending]))[0]
            self._count_arrivals(int(each), drop=drop, completes=completes)
        return found

    def _check_phase_observed(self) -> None:
        if self.phase > self.observed_phases:
            raise MbarrierError(
                "PTX505",
                f"an arrival at {self.name} for phase {self.phase}, while no thread has seen that phase "
                f"{self.phase - 1} is complete",
            )

    def _count_arrivals(self, count: int, *, drop: bool, completes: bool) -> None:
        if count > self.pending:
            raise MbarrierError(
                "PTX505",
                f"{count} arrivals at {self.name}, whose phase {self.phase} has {self._describe_pending()} left "
                f"of {self.count}",
            )
        if not completes and count == self.pending and not self.tx_count:
            raise MbarrierError(
                "PTX505", f"an arrival with .noComplete would complete phase {self.phase} of {self.name}"
            )
        self.pending -= count
        self.arrived_count += count
        if drop:
            self.count -= count
        self._on_change()

    def _describe_pending(self) -> str:
        return f"{self.pending} arrivals" if self.pending else "none"

    def add_pending(self, count: int) -> None:
        """Increase the pending count of this phase, for asynchronous copies. Raises MbarrierError."""
        if self.pending + count > MAX_ARRIVALS:
            raise MbarrierError(
                "PTX505", f"{self.name} would await {self.pending + count} arrivals, more than it can count"
            )
        self.pending += count

    def expect_tx(self, count: int) -> None:
        """Expect more bytes in this phase. Raises MbarrierError."""
        self.tx_count += count
        self.expected_bytes += count
        self._check_tx_count()
        self._on_change()

    def complete_tx(self, count: int) -> None:
        """Count bytes as completed. Raises MbarrierError."""
        self.tx_count -= count
        self.completed_bytes += count
        self._check_tx_count()
        self._on_change()

    def _check_tx_count(self) -> None:
        if abs(self.tx_count) > MAX_TX_COUNT:
            raise MbarrierError(
                "PTX503",
                f"phase {self.phase} of {self.name} expects {self.expected_bytes} bytes and has got "
                f"{self.completed_bytes}: "
                f"the difference is more than it can count ({MAX_TX_COUNT})",
            )

    def invalidate(self) -> None:
        """End the lifetime of the object."""
        self.is_live = False
        self.wake()

    # ---------------------------------------------------------------------------------------------------- waiting

    def is_phase_complete(self, parity: int) -> bool:
        """Return whether the preceding phase with a parity is complete."""
        return (self.phase & 1) != parity

    def is_token_complete(self, token: int) -> bool:
        """Return whether the phase of a state token is complete."""
        return (token >> _PENDING_BITS & 0xFFFF_FFFF) < self.phase

    def observe(self) -> None:
        """Record that a thread has observed the completion of the preceding phase."""
        self.observed_phases = self.phase

    def count_failed_poll(self, group: ThreadGroup, index: Any, most: int) -> bool:
        """Count a failed poll of threads; return whether this phase has had more than `most` of them."""
        polls = self.polls.get(group.cta)
        if polls is None:
            polls = self.polls[group.cta] = numpy.zeros(group.cta.threads, numpy.int64)
        base = self.phase * _MAX_POLLS
        found = numpy.maximum(polls[index], base) + 1
        polls[index] = numpy.minimum(found, base + _MAX_POLLS - 1)
        return bool((found - base > most).all())

    def reset_polls(self) -> None:
        """Reset the counts of failed polls, so that waiting threads may poll again."""
        self.polls.clear()
        self.wake()

    # ---------------------------------------------------------------------------------------------------- internals

    def _state_tokens(self, pending: Any) -> Any:
        return pending.astype(numpy.uint64) | numpy.uint64(self.phase << _PENDING_BITS)

    def _on_change(self) -> None:
        if not self.pending and not self.tx_count:
            self.cta.machine.observer.on_phase_complete(self)
            self.phase += 1
            self.pending = self.count
            self.arrived_count = self.expected_bytes = self.completed_bytes = 0
            self.wake()
        self._store_opaque_state()

    def _store_opaque_state(self) -> None:
        """Store the state in memory, in a form that is opaque to the program."""
        state = self.phase << 42 | (self.tx_count & 0x3FFFFF) << _PENDING_BITS | self.pending
        self.cta.cluster.shared_buffer.view(MBARRIER_BYTES)[self.buffer_offset >> 3] = numpy.uint64(
            state & (1 << 64) - 1
        )

    @property
    def name(self) -> str:
        """Return its name for findings."""
        where = f" of CTA {self.cta.ctaid}" if self.cta.cluster.size > 1 else ""
        return f"the mbarrier at shared 0x{self.offset:x}{where}"

    @property
    def code(self) -> str:
        """Return the code of the rule that a deadlock breaks."""
        return "PTX504" if self.pending else "PTX503"

    def describe(self, group: ThreadGroup) -> str:  # noqa: ARG002 (as of other waitables)
        """Describe what its phase is missing."""
        seen = self.count - self.pending
        text = f"phase {self.phase} of {self.name}: {self.count} arrivals expected, {seen} seen"
        if self.expected_bytes or self.completed_bytes or self.tx_count:
            text += f"; {self.expected_bytes} bytes expected, {self.completed_bytes} seen"
        return text


def pending_count(tokens: Any) -> Any:
    """Return the pending counts in state tokens."""
    return (tokens & numpy.uint64(MAX_ARRIVALS)).astype(numpy.uint32)
