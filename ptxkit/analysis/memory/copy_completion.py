"""Decides whether a thread reads the bytes of an asynchronous copy only after the copy is complete.

A copy that belongs to a group is complete after the issuing thread's wait for that group; a copy that completes on an
mbarrier is complete for the threads that have observed the phase. Any other thread must be ordered after that wait.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.wait_group / cp.async.wait_all",
"mbarrier.test_wait / mbarrier.try_wait".
"""

from __future__ import annotations

from enum import Enum

from ptxkit.analysis.context.barrier_placement import path_point_of
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.thread_view import CopiesByStep, ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS, AsyncCopy
from ptxkit.analysis.sync.sync_edges import NEVER
from ptxkit.isa.effects import Access, MbarrierWait, WaitGroup
from ptxkit.syntax.constants import WARP_SIZE


class CopyStatus(Enum):
    """The completion status of a copy for a thread that reads its bytes."""

    COMPLETE = "complete"
    PENDING = "pending"
    TRUNCATED = "pending, unless the part of an execution that the budget cut off orders the two"
    GUESSED = "pending on a path that data must lead to, unless a wait on another path orders the two"
    UNKNOWN = "unknown"


def is_group_copy(copy: AsyncCopy) -> bool:
    """Returns whether a copy is observed to be complete only by a wait for its group."""
    return copy.group in GROUP_MECHANISMS and copy.track_position is None


def last_copy_before(position: int, copies_by_step: CopiesByStep) -> CopiesByStep:
    """Returns the last of the copies that write some bytes before a position: the copy whose bytes are read there."""
    before = (copy for _, copies in copies_by_step for copy in copies if copy.position < position)
    last = max(before, key=lambda copy: copy.position, default=None)
    return ((last.event.step, [last]),) if last is not None else ()


def last_phase_wait(reader: ThreadView, position: int, copy: AsyncCopy) -> tuple[Step, int] | None:
    """Returns the last wait of a thread on a copy's mbarrier, before a position, and the phase that it observes.

    The phase is 0 for a wait that is true at once on a fresh mbarrier. The result is None where no wait exists.
    """
    points, key = reader.release_acquire_points, ("mbarrier", copy.barrier)
    waits = zip(points.acquires.get(key, ()), points.acquire_phases.get(key, ()), strict=True)
    last = max((wait for wait in waits if wait[0] < position), default=None)
    return None if last is None else (reader.trace.events[last[0]].step, last[1])


def is_copy_race(race: Race) -> bool:
    """Returns whether other threads read the bytes of a copy whose completion they have not observed."""
    write, read = race.write.event.effect, race.read.event.effect
    if race.is_write_after_read or not isinstance(write, Access) or not isinstance(read, Access):
        return False
    if race.completes_late:
        return race.write.completion_wait is not None and read.kind != "write"
    return write.completion == "cp.async" and (read.kind, read.proxy, read.completion) == ("read", "generic", None)


def copy_status_at(
    facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int
) -> CopyStatus:
    """Returns the completion status of the issuer's copy at a position of the reader's trace.

    UNKNOWN also represents a copy of a group that is never committed, which PTX301 reports.
    """
    if not is_group_copy(copy) and not (
        copy.group in GROUP_MECHANISMS and _is_group_awaited(facts, copy, issuer, reader, position)
    ):
        observed = _is_mbarrier_awaited(facts, issuer, copy, reader, position)
        if observed is False and facts.may_acquire_from_truncated(reader, position):
            return CopyStatus.TRUNCATED
    elif copy.commit_position is None and issuer.trace.end_reason == "exit" and _has_later_wait(issuer, copy):
        return CopyStatus.UNKNOWN
    elif reader is issuer:
        observed = _is_complete_by(copy, position)
    else:
        observed = _is_complete_at_release(facts, issuer, copy, reader, position)
    if observed is None:
        return CopyStatus.UNKNOWN
    if isinstance(observed, CopyStatus):
        return observed
    return CopyStatus.COMPLETE if observed else CopyStatus.PENDING


def _has_later_wait(issuer: ThreadView, copy: AsyncCopy) -> bool:
    return any(
        at > copy.position and isinstance(event.effect, WaitGroup) and event.effect.group == copy.group
        for at, event in issuer.positions(WaitGroup)
    )


def _is_group_awaited(
    facts: ScenarioFacts, copy: AsyncCopy, issuer: ThreadView, reader: ThreadView, position: int
) -> bool:
    """Returns whether a wait for the copy's group precedes the read.

    The copy may also be tracked by an mbarrier.
    """
    if reader is issuer:
        return _is_complete_by(copy, position)
    return any(
        _is_complete_by(copy, edge.release_position)
        for edge in facts.sync_edges(issuer, copy.position, reader, position)
    )


def _is_complete_by(copy: AsyncCopy, position: int) -> bool:
    return copy.completion_position is not None and copy.completion_position < position


def _is_complete_at_release(
    facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int
) -> bool | None:
    """Returns whether another thread's copy is complete when the reader acquires; None if the two are not ordered."""
    edges = list(facts.sync_edges(issuer, copy.position, reader, position))
    if edges:
        return any(_is_complete_by(copy, edge.release_position) for edge in edges)
    own = reader.copies_by_execution.get((copy.event.step, copy.event.visit), ())
    same_round = [other for other in own if other.position < position]
    if not same_round:
        return None
    # The reader issued its own part of this copy and passed no barrier since: the position of the other thread is
    # unknown.
    since = same_round[-1].position
    return None if reader.release_acquire_points.acquires_between(since, position) else False


def _is_mbarrier_awaited(
    facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int
) -> bool | CopyStatus | None:
    """Returns whether a copy that completes on an mbarrier was waited for; None where that is unknown."""
    if not isinstance(copy.barrier, int):
        return None
    if reader is issuer and copy.completion_position is not None and copy.completion_position < position:
        return True
    if copy.phase is not None and reader.phases:
        if reader.has_observed(copy.barrier, copy.phase, position):
            return True
        if reader.has_observed(copy.barrier, 1, position) and not _is_begun(facts, issuer, copy, reader, position):
            return None  # it reads the bytes of an earlier phase; PTX303 reports whether this copy starts too early
        if reader is issuer and position < copy.position:
            return True
        if reader is not issuer and facts.is_ordered(reader, position, issuer, copy.position):
            return True
    elif any(reader.first_waits.get(key, position) < position for key in (copy.barrier, None)):
        return True if reader is not issuer else None
    if reader is not issuer and not _only_copies_fill(facts, copy, reader.trace.events[position]):
        return None
    if _has_other_waiter(facts, copy, copy.phase, reader, position):
        return True
    if reader is not issuer and facts.is_ordered(reader, position, issuer, copy.position):
        return True  # it was read before the copy began
    if (
        copy.phase is not None
        and not _is_begun(facts, issuer, copy, reader, position)
        and _has_other_waiter(facts, copy, 1, reader, position)
    ):
        return None  # another thread has waited for the earlier phase
    return _status_without_wait(facts)


def _status_without_wait(facts: ScenarioFacts) -> bool | CopyStatus:
    """Returns the result for a copy for which no thread waits on the executed paths.

    The wait that seems to be missing may be one that no execution reaches, or one at an unknown address.
    """
    return False if facts.is_exhaustive_for(MbarrierWait) else CopyStatus.GUESSED


def _is_begun(facts: ScenarioFacts, issuer: ThreadView, copy: AsyncCopy, reader: ThreadView, position: int) -> bool:
    """Returns whether a copy begins before a read, so that no earlier phase of its mbarrier can order the two."""
    if reader is issuer:
        return copy.position < position
    return facts.is_ordered(issuer, copy.position, reader, position)


def _phase_observations(thread: ThreadView, copy: AsyncCopy, phase: int | None) -> list[int]:
    """Returns the positions after which a thread itself has observed the completion of an mbarrier phase."""
    if phase is not None and thread.phases:
        known = thread.release_acquire_points.first_acquire(("mbarrier", copy.barrier), phase)
        return [] if known is None or known == NEVER else [known]
    keys = (copy.barrier if isinstance(copy.barrier, int) else None, None)
    return [at for key in keys if (at := thread.first_waits.get(key, NEVER)) != NEVER]


def _has_other_waiter(
    facts: ScenarioFacts, copy: AsyncCopy, phase: int | None, reader: ThreadView, position: int
) -> bool:
    """Returns whether another thread waits for a phase of the mbarrier, and that wait is ordered before the read.

    The order comes from a barrier or from the convergence of the warp. Threads that take the reader's path have not
    waited earlier than the reader.
    """
    for thread in facts.threads.values():
        waits = _phase_observations(thread, copy, phase)
        if not waits or (thread.trace.leader is not None and thread.trace.leader == reader.trace.leader):
            continue
        waited = min(waits)
        if _may_converge(facts, thread, waited, reader, position) or facts.is_ordered(thread, waited, reader, position):
            return True
    return False


def _may_converge(facts: ScenarioFacts, waiter: ThreadView, since: int, reader: ThreadView, until: int) -> bool:
    """Returns whether two lanes of a warp may converge after one has waited and before the other one reads."""
    if waiter.tid // WARP_SIZE != reader.tid // WARP_SIZE:
        return False
    first, last = path_point_of(facts, waiter, since), path_point_of(facts, reader, until)
    return facts.happens_before.may_converge(first.path, first.position, last.path, last.position)


def _only_copies_fill(facts: ScenarioFacts, copy: AsyncCopy, read: TraceEvent | UnknownCall) -> bool:
    """Returns whether only asynchronous copies write these bytes before they are read.

    The read is then of a copy's bytes. Writes of threads after their own reads in the same round are for a later use.
    """
    low, high = access_range(copy.event) or (0, 0)
    execution = (read.step, read.visit)
    return not any(
        at < thread.access_positions.get(execution, NEVER) for thread, at in facts.generic_stores.overlapping(low, high)
    )
