"""Pairs the asynchronous copies into the shared memory of a CTA with the reads of their bytes.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.wait_group / cp.async.wait_all",
"mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.tx_balance import find_late_expects
from ptxkit.analysis.memory.copy_completion import (
    CopyStatus,
    copy_status_at,
    is_copy_race,
    last_copy_before,
    last_phase_wait,
)
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.symbolic_values import Value
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CopyRead:
    """A read of bytes that a copy of the same CTA writes.

    issuer: the thread that starts the copy. position, event: the read in the trace of the reader. status: that of the
    copy at the read, never UNKNOWN.
    """

    issuer: ThreadView
    copy: AsyncCopy
    reader: ThreadView
    position: int
    event: TraceEvent
    status: CopyStatus

    @property
    def is_own(self) -> bool:
        """Whether one thread starts the copy and reads its bytes."""
        return self.reader is self.issuer


def find_copy_reads(facts: ScenarioFacts) -> Iterator[CopyRead]:
    """Yields the reads of the bytes of copies whose status is known.

    A few executions of each pair of instructions are examined, up to the first read of a pending copy; one read of a
    complete copy stands for all those of its pair of instructions. Copies on an
    mbarrier that belong to a later phase because their bytes are expected too late, which PTX503 reports, are omitted.
    """
    late_mbarriers = cache(partial(_find_late_mbarriers, facts))
    complete: set[tuple[Step, Step]] = set()
    for issuer in facts.threads.values():
        yield from _reads_of_issuer(facts, issuer, late_mbarriers, complete)


def _find_late_mbarriers(facts: ScenarioFacts) -> frozenset[Value | None]:
    """Returns the addresses of the mbarriers on which bytes are expected too late."""
    return frozenset(late.expect.address for _, late in find_late_expects(facts))


def _reads_of_issuer(
    facts: ScenarioFacts,
    issuer: ThreadView,
    late_mbarriers: Callable[[], frozenset[Value | None]],
    complete: set[tuple[Step, Step]],
) -> Iterator[CopyRead]:
    """complete: the pairs of instructions of which a read of a complete copy was found, in any thread."""
    if not issuer.copies_by_range:
        return
    for reader in facts.threads.values():
        settled: set[tuple[Step, Step]] = set()
        pair_budget = PairBudget(facts.budget)
        for position, event, fills in reader.reads_of(issuer, facts.budget):
            if facts.budget.is_exhausted:
                return
            for step, copies in last_copy_before(position, fills) if reader is issuer else fills:
                key = (event.step, step)
                if key in settled:
                    continue
                for copy in copies:
                    if not pair_budget.allow(key):
                        settled.add(key)
                        break
                    status = copy_status_at(facts, issuer, copy, reader, position)
                    if status is CopyStatus.COMPLETE:
                        if key in complete:
                            continue
                        complete.add(key)
                    read = CopyRead(issuer, copy, reader, position, event, status)
                    if status is CopyStatus.UNKNOWN or _is_of_later_phase(read, late_mbarriers):
                        continue
                    yield read
                    if status is CopyStatus.PENDING:
                        settled.add(key)
                        break


def _is_of_later_phase(read: CopyRead, late_mbarriers: Callable[[], frozenset[Value | None]]) -> bool:
    """Returns whether a pending copy belongs to a later phase since its bytes are expected too late."""
    if read.status is not CopyStatus.PENDING:
        return False
    earlier = last_phase_wait(read.reader, read.position, read.copy)
    return earlier is not None and earlier[1] > 0 and read.copy.barrier in late_mbarriers()


def find_racing_reads(kernel: KernelFacts) -> Iterator[tuple[int, Race, bool]]:
    """Yields the reads that race with the copies of other threads.

    Each comes with the number of its scenario, and whether the race is a proof. It is none in a block of an assumed
    size: the kernel may support blocks of one warp only. A race in a block below the maximum size is omitted unless it
    occurs in all blocks, or the thread that reads was signaled before the wait for the copy.
    """
    by_steps: dict[tuple[Step, Step], set[LaunchConfig]] = defaultdict(set)
    found = [(number, race) for number, race in kernel.races if is_copy_race(race)]
    for number, race in found:
        by_steps[(race.write.event.step, race.read.event.step)].add(kernel.scenarios[number].scenario.launch)
    for number, race in found:
        launch = kernel.scenarios[number].scenario.launch
        racing = by_steps[(race.write.event.step, race.read.event.step)]
        others = {other.scenario.launch for other in kernel.scenarios} - racing
        if launch.is_exact or (launch.is_limit and (race.completes_late or not others)):
            yield number, race, True
        elif not launch.is_limit:
            yield number, race, False
