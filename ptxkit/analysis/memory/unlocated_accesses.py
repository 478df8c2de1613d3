"""Finds accesses that may use the bytes of another access too early, since one of the addresses is unknown.

Where both addresses are numbers, the rules compare the bytes themselves. Where one of them is not, the two may overlap
(`ptxkit.analysis.context.access_extents`), and only their order can settle the question: a wait for a copy, a fence
between proxies. What it does not settle is open.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "Async Proxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain

from ptxkit.analysis.context.access_extents import AccessExtents, is_unlocated
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_UNLOCATED_PAIRS
from ptxkit.analysis.memory.async_refills import RefillFinder
from ptxkit.analysis.memory.bulk_source_reads import bulk_source_reads, has_read_source
from ptxkit.analysis.memory.copy_completion import CopyStatus, copy_status_at
from ptxkit.analysis.memory.proxy_order import MissingFence, MissingOrder, ProxyPair
from ptxkit.analysis.symexec.access_ranges import (
    is_async_access,
    is_async_read,
    is_async_write,
    is_generic_read,
    is_generic_write,
)
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.mbarrier_location import location_at

#: The statuses of a copy that may still write.
_MAY_BE_PENDING = (CopyStatus.PENDING, CopyStatus.GUESSED)


class UnlocatedAccesses:
    """The pairs of accesses of one scenario that may overlap, of which at least one has an unknown address."""

    def __init__(self, facts: ScenarioFacts, extents: AccessExtents) -> None:
        self._facts = facts
        self._extents = extents
        self._threads = list(facts.threads.values())
        self._exist = any(thread.unlocated for thread in self._threads)
        self._counts: dict[Hashable, int] = defaultdict(int)

    def early_reads(self) -> Iterator[Step]:
        """Yields the reads that may be of the bytes of a copy before its completion is observed."""
        for issuer in self._issuers():
            copies = [copy for copy in issuer.shared_copies if _may_fill_own_cta(self._facts.scenario.rank, copy.event)]
            for copy, reader, at, read in self._pairs(issuer, copies, self._threads, is_generic_read):
                if (reader is not issuer or copy.position < at) and (
                    copy_status_at(self._facts, issuer, copy, reader, at) in _MAY_BE_PENDING
                ):
                    yield read.step

    def overwrites_of_sources(self) -> Iterator[Step]:
        """Yields the writes that may be into the source of a bulk copy before it has been read."""
        for issuer in self._issuers():
            for copy, writer, at, write in self._pairs(issuer, bulk_source_reads(issuer), self._threads, _is_write):
                if has_read_source(self._facts, issuer, copy, writer, at) is False:
                    yield write.step

    def overwrites_of_targets(self) -> Iterator[Step]:
        """Yields the stores that may be into the destination of a copy of their thread before it is complete."""
        for issuer in self._issuers():
            copies = [copy for copy in issuer.shared_copies if not is_async_read(copy.event)]
            for copy, _, at, write in self._pairs(issuer, copies, [issuer], _is_store):
                if copy.position < at and copy.completion_position is not None and copy.completion_position >= at:
                    yield write.step

    def overlapping_copies(self) -> Iterator[Step]:
        """Yields the copies that may be into the same bytes as an earlier copy of their group."""
        for issuer in self._issuers():
            copies = [c for c in issuer.shared_copies if c.group == "cp.async" and is_generic_write(c.event)]
            by_position = {copy.position: copy for copy in copies}
            for copy, _, at, _ in self._pairs(issuer, copies, [issuer], is_async_access):
                later = by_position.get(at)
                if (
                    later is not None
                    and copy.position < at
                    and copy.commit_position == later.commit_position
                    and copy.track_position is None
                ):
                    yield later.event.step

    def unfenced_reads(self) -> Iterator[Step]:
        """Yields the async reads that may be of bytes that were written without a proxy fence."""
        for writer in self._issuers():
            done = {
                copy.position: copy.completion_position for copy in writer.shared_copies if copy.group == "cp.async"
            }
            for at, write, reader, position, read in self._access_pairs(writer, is_generic_write, is_async_read):
                written = done.get(at, at)
                if written is None or (reader is writer and written >= position):
                    continue
                pair = ProxyPair(self._facts, writer, written, write, reader, position, read)
                if isinstance(pair.check_order(), MissingFence | MissingOrder):
                    yield read.step

    def unfenced_refills(self) -> Iterator[Step]:
        """Yields the async writes that may be into bytes that were used without a proxy fence in between."""
        refills = RefillFinder(self._facts)
        for user in self._issuers():
            for at, use, writer, position, write in self._access_pairs(user, _is_generic_use, is_async_write):
                if writer is user and at >= position:
                    continue
                if any(not refill.is_fenced for refill in refills.between(user, at, use, (writer, position, write))):
                    yield write.step

    def _issuers(self) -> Sequence[ThreadView]:
        return self._threads if self._exist else ()

    def _pairs(
        self,
        issuer: ThreadView,
        copies: Sequence[AsyncCopy],
        users: Iterable[ThreadView],
        is_wanted: Callable[[TraceEvent], bool],
    ) -> Iterator[tuple[AsyncCopy, ThreadView, int, TraceEvent]]:
        """Yields the copies with the wanted accesses of some threads that may use the same bytes."""
        both = [(copy, is_unlocated(copy.event)) for copy in copies]
        for user in users if copies else ():
            unlocated = [each for each in user.unlocated if is_wanted(each[1])]
            located = [each for each in user.accesses if is_wanted(each[1])] if any(each for _, each in both) else []
            for copy, has_unknown_address in both:
                for at, event in chain(unlocated, located) if has_unknown_address else unlocated:
                    if self._is_examined((copy.event, event), issuer, user):
                        yield copy, user, at, event

    def _access_pairs(
        self, first: ThreadView, is_first: Callable[[TraceEvent], bool], is_other: Callable[[TraceEvent], bool]
    ) -> Iterator[tuple[int, TraceEvent, ThreadView, int, TraceEvent]]:
        """Yields the accesses of a thread of one kind with those of every thread of another kind."""
        own = [each for each in (*first.unlocated, *first.accesses) if is_first(each[1])]
        for other in self._threads if own else ():
            theirs = [each for each in (*other.unlocated, *other.accesses) if is_other(each[1])]
            for at, event in own:
                for position, access in theirs:
                    if not is_unlocated(event) and not is_unlocated(access):
                        continue
                    if self._is_examined((event, access), first, other):
                        yield at, event, other, position, access

    def _is_examined(self, pair: tuple[TraceEvent, TraceEvent], one: ThreadView, another: ThreadView) -> bool:
        """Returns whether two accesses may overlap, and not enough executions of them were examined before.

        Threads that take one path count as one.
        """
        first, other = pair
        key = (first.step, other.step, one.trace.leader, another.trace.leader, one is another)
        if self._counts[key] >= MAX_UNLOCATED_PAIRS or first is other or not self._extents.may_overlap(first, other):
            return False
        self._counts[key] += 1
        return True


def unlocated_accesses(kernel: KernelFacts) -> Iterator[UnlocatedAccesses]:
    """Yields the pairs of each scenario of which all code is known."""
    for facts in kernel.scenarios:
        if not facts.has_unknown_call:
            yield UnlocatedAccesses(facts, kernel.extents_of(facts))


def _may_fill_own_cta(rank: int, event: TraceEvent) -> bool:
    """Returns whether a copy may be into the shared memory of CTA `rank`: into that of the CTA with its mbarrier."""
    place = location_at(rank, event.barrier)
    return not is_async_read(event) and (place is None or place[0] == rank)


def _is_write(event: TraceEvent) -> bool:
    return is_generic_write(event) or is_async_write(event)


def _is_store(event: TraceEvent) -> bool:
    return is_generic_write(event) and not is_async_access(event)


def _is_generic_use(event: TraceEvent) -> bool:
    return is_generic_read(event) or _is_store(event)
