"""When an mbarrier was initialized, and whether its users know of that.

Source: PTX ISA, "Lifecycle of the mbarrier object", "membar, fence" (`fence.mbarrier_init`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.sync.mbarrier import MBARRIER_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.engine.machine import Machine
    from ptxkit.emulator.races.vector_clocks import CtaClocks
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class MbarrierInitialization:
    """The initialization of an object: the thread, its time, and the instruction."""

    __slots__ = ("checked_threads", "clocks", "location", "thread", "time")

    def __init__(self, owner: CtaClocks, thread: int, time: int, place: tuple[DecodedFunction, int, Cta]) -> None:
        self.clocks, self.thread, self.time, self.location = owner, thread, time, place
        self.checked_threads: set[Cta] = set()
        """CTAs all of whose threads know of it, or which were reported."""

    def check(self, group: ThreadGroup, index: Any, barrier: Mbarrier, known: CtaClocks, machine: Machine) -> None:
        """Report threads that use the object and do not know of its initialization."""
        if group.cta in self.checked_threads:
            return
        count = len(index)
        found = known.happens_before(index, self.clocks, numpy.full(count, self.thread), numpy.full(count, self.time))
        if not found.all():
            self._report(group, int(index[numpy.flatnonzero(~found)[0]]), barrier, machine)
            self.checked_threads.add(group.cta)
        elif count == group.cta.threads:
            self.checked_threads.add(group.cta)

    def _report(self, group: ThreadGroup, thread: int, barrier: Mbarrier, machine: Machine) -> None:
        flight = machine.async_engine.inflight
        pool, place = barrier.cta.cluster.shared_buffer, barrier.buffer_offset
        here = flight.access_witness(
            group.activation.function, group.pc, group.cta, thread, pool, place, MBARRIER_BYTES
        )
        there = flight.access_witness(*self.location, self.thread, pool, place, MBARRIER_BYTES)
        far = f" of CTA {there.cta}" if there.cta != here.cta else ""
        message = f"uses {barrier.name}, which thread {there.thread}{far} initialises: nothing orders the two"
        offset = group.activation.function.offsets[group.pc]
        missing = "a barrier between the initialisation and the first use by another thread"
        machine.report.add(Violation("PTX611" if far else "PTX501", message, here.line, offset, (here, there), missing))
