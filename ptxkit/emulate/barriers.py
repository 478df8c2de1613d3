"""Named barriers of a CTA.

A barrier counts whole warps: a warp arrives when all of its threads that have not exited have come.

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
    from ptxkit.emulate.program import Code

WARP = 32


class Phase(Waitable):
    """One use of a barrier: it opens when enough threads have come.

    expected: threads, or None for all that have not ended. arrived: those that came, by thread; values: the predicates
    of those that reduce. sites: by warp, the place of an aligned instruction at which its threads come, -1 for none.
    """

    __slots__ = (
        "_first",
        "_places",
        "all_wait",
        "arrived",
        "barrier",
        "expected",
        "is_open",
        "known",
        "sites",
        "values",
    )

    def __init__(self, barrier: NamedBarrier, expected: int | None) -> None:
        super().__init__()
        self.barrier, self.expected = barrier, expected
        self.arrived = numpy.zeros(barrier.cta.threads, bool)
        self.values = numpy.zeros(barrier.cta.threads, bool)
        self.sites = numpy.full(barrier.cta.warps, -1)
        self._places: dict[tuple[int, int], int] = {}
        self.is_open = False
        self._first: tuple[Code, int] | None = None
        self.all_wait = True
        self.known: Any = None
        """What orders accesses keeps here."""

    def come(self, group: Group) -> None:
        """All threads of a warp come to the same instruction, where that is aligned."""
        place = self._places.setdefault((id(group.activation), group.pc), len(self._places))
        warps = group.lanes.index >> 5
        wrong = (self.sites[warps] >= 0) & (self.sites[warps] != place)
        if wrong.any():
            warp = int(warps[wrong][0])
            message = f"threads of warp {warp} come to barrier {self.barrier.number} at different instructions"
            raise Fault("PTX603", message, group.lanes.index[wrong])
        self.sites[warps] = place
        if self._first is None:
            self._first = (group.activation.code, group.pc)

    def torn(self) -> Any:
        """The warps of which only a part has come to an aligned instruction."""
        cta = self.barrier.cta
        absent = numpy.zeros(cta.warps * WARP, bool)
        absent[: cta.threads] = cta.alive & ~self.arrived
        return (self.sites >= 0) & absent.reshape(-1, WARP).any(axis=1)

    def check_warps(self) -> None:
        """Report warps of which some threads have ended without coming to the aligned instruction."""
        cta = self.barrier.cta
        absent = numpy.zeros(cta.warps * WARP, bool)
        absent[: cta.threads] = ~self.arrived
        parted = numpy.flatnonzero((self.sites >= 0) & absent.reshape(-1, WARP).any(axis=1))
        if self._first is None or not len(parted):
            return
        warp = int(parted[0])
        there = numpy.flatnonzero(self.arrived[warp * WARP : (warp + 1) * WARP]) + warp * WARP
        missing = int(numpy.flatnonzero(absent.reshape(-1, WARP)[warp])[0]) + warp * WARP
        message = (
            f"only a part of warp {warp} executes this barrier, which wants all threads of a warp: thread {missing} "
            "has ended before"
        )
        fault = Fault("PTX603", message, there)
        fault.place, fault.cta = self._first, cta
        cta.machine.note(fault)

    def count(self) -> int:
        """Threads that count as arrived: a warp is 32 of them, full or not, when all of its lanes that live have come.

        Of a warp that still has others, those that came at an instruction that is not aligned count one by one.
        """
        cta = self.barrier.cta
        came, absent = (numpy.zeros(cta.warps * WARP, bool) for _ in range(2))
        came[: cta.threads] = self.arrived
        absent[: cta.threads] = cta.alive & ~self.arrived
        each, parted = came.reshape(-1, WARP).sum(axis=1), absent.reshape(-1, WARP).any(axis=1)
        of_parted = numpy.where(self.sites >= 0, 0, each)
        return int(numpy.where(parted, of_parted, numpy.where(each > 0, WARP, 0)).sum())

    @property
    def code(self) -> str:
        """Of the rule that a wait for ever breaks."""
        return "PTX603" if self.torn().any() else "PTX601"

    def describe(self, _group: Group) -> str:
        """Who is still awaited."""
        number = self.barrier.number
        torn = numpy.flatnonzero(self.torn())
        if len(torn):
            return f"barrier {number}, to which only a part of warp {torn[0]} has come: it wants all threads of a warp"
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

    def arrive(
        self, group: Group, expected: int | None, values: Any = None, *, aligned: bool = False, waits: bool = True
    ) -> Phase:
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
        if aligned:
            phase.come(group)
        phase.arrived[index] = True
        if values is not None:
            phase.values[index] = values
        phase.all_wait &= waits
        self.cta.machine.order.barrier_arrives(group, phase)
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
        phase.check_warps()
        self.cta.machine.order.barrier_opens(self.cta, phase)
        phase.wake()


def _threads(expected: int | None) -> str:
    return "all threads" if expected is None else f"{expected} threads"
