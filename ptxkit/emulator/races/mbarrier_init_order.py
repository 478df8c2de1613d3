"""The initialization of an mbarrier, and whether its users are ordered after it.

Source: PTX ISA, "Lifecycle of the mbarrier object", "membar / fence" (`fence.mbarrier_init`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx5xx, ptx6xx
from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.races.witnesses import access_witness
from ptxkit.semantics.object_names import MBARRIER_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.races.vector_clocks import CtaClocks
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class MbarrierInitialization:
    """The initialization of an object: the thread, its time, and the instruction."""

    __slots__ = ("checked_threads", "clocks", "location", "thread", "time")

    def __init__(self, owner: CtaClocks, thread: int, time: int, place: tuple[FunctionCode, int, CtaState]) -> None:
        self.clocks, self.thread, self.time, self.location = owner, thread, time, place
        self.checked_threads: set[CtaState] = set()
        """CTAs all of whose threads are ordered after it, or that were reported."""

    def check(self, group: ThreadGroup, index: Any, barrier: Mbarrier, known: CtaClocks) -> None:
        """Reports threads that use the object and are not ordered after its initialization."""
        if group.cta in self.checked_threads:
            return
        count = len(index)
        found = known.happens_before(index, self.clocks, numpy.full(count, self.thread), numpy.full(count, self.time))
        if not found.all():
            self._report(group, int(index[numpy.flatnonzero(~found)[0]]), barrier)
            self.checked_threads.add(group.cta)
        elif count == group.cta.threads:
            self.checked_threads.add(group.cta)

    def _report(self, group: ThreadGroup, thread: int, barrier: Mbarrier) -> None:
        pool, place = barrier.cta.cluster.shared_buffer, barrier.buffer_offset
        here = access_witness(group.activation.function, group.pc, group.cta, thread, pool, place, MBARRIER_BYTES)
        there = access_witness(*self.location, self.thread, pool, place, MBARRIER_BYTES)
        far = f" of CTA {there.cta}" if there.cta != here.cta else ""
        content = ptx5xx.INIT_NOT_ORDERED(barrier=barrier.name, thread=there.thread, cta=far)
        if far:
            content = content.under(ptx6xx.REMOTE_ACCESS_TOO_EARLY)
        offset = group.activation.function.offsets[group.pc]
        group.cta.machine.report.add(Violation(content, here.line, offset, (here, there)))
