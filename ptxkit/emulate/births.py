"""When an mbarrier was initialised, and whether those who use it know of that.

Source: PTX ISA, "Lifecycle of the mbarrier object", "membar, fence" (`fence.mbarrier_init`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding
from ptxkit.emulate.mbarriers import SIZE

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.knowledge import Knowledge
    from ptxkit.emulate.machine import Machine
    from ptxkit.emulate.mbarriers import Mbarrier
    from ptxkit.emulate.program import Code


class Birth:
    """The initialisation of an object: by which thread, at which of its times, by which instruction."""

    __slots__ = ("owner", "place", "settled", "thread", "time")

    def __init__(self, owner: Knowledge, thread: int, time: int, place: tuple[Code, int, Cta]) -> None:
        self.owner, self.thread, self.time, self.place = owner, thread, time, place
        self.settled: set[Cta] = set()
        """CTAs all of whose threads know of it, or which were reported."""

    def check(self, group: Group, index: Any, barrier: Mbarrier, known: Knowledge, machine: Machine) -> None:
        """Report threads that use the object and do not know of its initialisation."""
        if group.cta in self.settled:
            return
        count = len(index)
        found = known.knows(index, self.owner, numpy.full(count, self.thread), numpy.full(count, self.time))
        if not found.all():
            self._report(group, int(index[numpy.flatnonzero(~found)[0]]), barrier, machine)
            self.settled.add(group.cta)
        elif count == group.cta.threads:
            self.settled.add(group.cta)

    def _report(self, group: Group, thread: int, barrier: Mbarrier, machine: Machine) -> None:
        flight = machine.asynchrony.flight
        pool, place = barrier.cta.cluster.pool, barrier.place
        here = flight.witness(group.activation.code, group.pc, group.cta, thread, pool, place, SIZE)
        there = flight.witness(*self.place, self.thread, pool, place, SIZE)
        far = f" of CTA {there.cta}" if there.cta != here.cta else ""
        message = f"uses {barrier.name}, which thread {there.thread}{far} initialises: nothing orders the two"
        offset = group.activation.code.offsets[group.pc]
        missing = "a barrier between the initialisation and the first use by another thread"
        machine.report.add(Finding("PTX611" if far else "PTX501", message, here.line, offset, (here, there), missing))
