"""Named barriers of a CTA.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.waiting import Waitable

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group

WARP = 32


class Phase(Waitable):
    """One use of a barrier: it opens when enough threads have come.

    expected: threads, or None for all that have not ended. arrived: those that came, by thread; values: the predicates
    of those that reduce.
    """

    __slots__ = ("arrived", "barrier", "expected", "is_open", "values")

    def __init__(self, barrier: NamedBarrier, expected: int | None) -> None:
        super().__init__()
        self.barrier, self.expected = barrier, expected
        self.arrived = numpy.zeros(barrier.cta.threads, bool)
        self.values = numpy.zeros(barrier.cta.threads, bool)
        self.is_open = False

    def count(self) -> int:
        """Threads that came; of a warp that is not full, as many as in a full one."""
        cta = self.barrier.cta
        found = int(numpy.count_nonzero(self.arrived))
        odd = cta.threads % WARP
        if odd and self.expected is not None and self.arrived[-odd:].all():
            found += WARP - odd
        return found

    def describe(self, _group: Group) -> str:
        """Who is still awaited."""
        number = self.barrier.number
        if self.expected is not None:
            return f"barrier {number}, at which {self.count()} of {self.expected} threads have arrived"
        missing = numpy.flatnonzero(self.barrier.cta.alive & ~self.arrived)
        shown = ", ".join(map(str, missing[:4])) + (", ..." if len(missing) > 4 else "")
        return f"barrier {number}, which {len(missing)} threads have not reached (threads {shown})"


class NamedBarrier:
    """One of a CTA's sixteen barriers."""

    def __init__(self, cta: Cta, number: int) -> None:
        self.cta, self.number = cta, number
        self.phase: Phase | None = None

    def arrive(self, group: Group, expected: int | None, values: Any = None) -> Phase:
        """Count the group's threads in; the phase that they came to, which may be open now."""
        phase = self.phase
        if phase is None:
            phase = self.phase = Phase(self, expected)
        elif phase.expected != expected:
            message = (
                f"barrier {self.number} is used with {_threads(expected)}, and before with {_threads(phase.expected)}"
            )
            raise Fault("PTX602", message, group.lanes.index)
        index = group.lanes.index
        again = phase.arrived[index]
        if again.any():
            message = f"threads arrive at barrier {self.number} once more before it opens"
            raise Fault("PTX602", message, index[again])
        phase.arrived[index] = True
        if values is not None:
            phase.values[index] = values
        self._open_if_complete()
        return phase

    def left(self) -> None:
        """Threads have ended."""
        self._open_if_complete()

    def _open_if_complete(self) -> None:
        phase = self.phase
        if phase is None:
            return
        if phase.expected is None:
            if (self.cta.alive & ~phase.arrived).any():
                return
        elif phase.count() < phase.expected:
            return
        elif phase.count() > phase.expected:
            message = f"{phase.count()} threads arrive at barrier {self.number}, which opens for {phase.expected}"
            raise Fault("PTX602", message, numpy.flatnonzero(phase.arrived))
        self.phase = None
        phase.is_open = True
        self.cta.machine.order.barrier_opens(self.cta, phase)
        phase.wake()


def _threads(expected: int | None) -> str:
    return "all threads" if expected is None else f"{expected} threads"
