"""Asynchronous operations of a launch: when they take effect, and how their completion is signaled.

The policy determines when an operation reads and writes: immediately (`eager`), not before a thread waits for it
(`late`), one half at each of these times (`torn`), or at random times (`random`). A wait of a thread for its groups
completes exactly the operations that the ISA requires. Operations that an mbarrier tracks are completed when no thread
can make progress otherwise, with those that a thread waits for first. Copies that were committed to no group never
complete.

Source: PTX ISA, "Asynchronous Operations", "Async-group mechanism", "Mbarrier-based mechanism".
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx, ptx5xx, ptx6xx
from ptxkit.emulator.core.findings import BudgetError, ExecutionFault, Violation
from ptxkit.emulator.engine.wgmma_groups import WarpgroupCommit, max_over_warpgroups
from ptxkit.emulator.limits import MAX_FAILED_POLLS, MAX_FUTILE_POLLS, MAX_POLL_STATES, MAX_RANDOM_FAILED_POLLS
from ptxkit.emulator.races.inflight_conflicts import InflightAccesses
from ptxkit.emulator.races.witnesses import operation_witness
from ptxkit.emulator.sync.async_operation import (
    BULK,
    BY_MBARRIER,
    CP_ASYNC,
    GROUPED,
    UNSIGNALED,
    WGMMA,
    AsyncOperation,
    DeferredArrival,
)
from ptxkit.emulator.sync.mbarrier import Mbarrier

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import ClusterState, CtaState, MachineState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup
    from ptxkit.emulator.threads.waitable import Waitable

_READ_NOW_CHANCE, _WRITE_NOW_CHANCE, _SIGNAL_NOW_CHANCE = 0.5, 0.4, 0.25
"""The probabilities under the `random` policy."""


class AsyncEngine:
    """The asynchronous operations in flight."""

    def __init__(self, machine: MachineState) -> None:
        self.machine, self.policy = machine, machine.policy
        self.inflight = InflightAccesses(machine)
        self.random = random.Random(f"{machine.seed}/operations")
        self.array_random = numpy.random.default_rng(machine.seed)
        self._groups: dict[tuple[CtaState, str], list[AsyncOperation]] = {}
        self._committed_groups: dict[tuple[CtaState, str], Any] = {}
        self._pending_signals: dict[AsyncOperation | DeferredArrival, None] = {}
        self._pending_by_mbarrier: dict[Mbarrier, dict[AsyncOperation | DeferredArrival, None]] = {}
        self._unsignaled: list[AsyncOperation] = []
        self._serial = 0
        self._wgmma_commits: dict[CtaState, WarpgroupCommit] = {}
        self._futile_polls = 0
        self._poll_states: set[int] = set()

    # -------------------------------------------------------------------------------------------------- issuing

    def committed_groups(self, cta: CtaState, kind: str) -> Any:
        """Returns the number of groups that each thread has committed."""
        found = self._committed_groups.get((cta, kind))
        if found is None:
            found = self._committed_groups[cta, kind] = numpy.zeros(cta.threads, numpy.int64)
        return found

    def issue(self, operation: AsyncOperation) -> None:
        """Starts an operation."""
        self._serial += 1
        operation.serial = self._serial
        self.inflight.add(operation)
        self.machine.observer.on_issue(operation)
        if operation.completion in GROUPED:
            self._groups.setdefault((operation.cta, operation.completion), []).append(operation)
        elif operation.completion == BY_MBARRIER:
            self._add_pending(operation, _signaled_barriers(operation))
        else:
            self._unsignaled.append(operation)
        rows = len(operation.pending_writes)
        everything = numpy.ones(rows, bool)
        match self.policy:
            case "eager":
                operation.write(everything)
                if operation.completion in (BY_MBARRIER, UNSIGNALED):
                    self.complete(operation)
            case "torn":
                operation.write(numpy.arange(rows) % 2 == 0)
            case "random":
                operation.read(self.array_random.random(rows) < _READ_NOW_CHANCE)
                operation.write(self.array_random.random(rows) < _WRITE_NOW_CHANCE)
                if operation.completion in (BY_MBARRIER, UNSIGNALED) and self.random.random() < _SIGNAL_NOW_CHANCE:
                    self.complete(operation)
        if not rows:
            self.complete(operation)

    def defer_arrive(self, group: ThreadGroup, index: Any, barrier: Mbarrier, kind: str = CP_ASYNC) -> None:
        """Arrives at an mbarrier once for each thread when the thread's earlier operations of a kind are complete."""
        for part in self._split_arrivals(index):
            arrival = DeferredArrival(group, part, barrier, self._serial, kind)
            self.machine.observer.on_deferred_arrive(arrival)
            self._add_pending(arrival, [barrier])
            if self.policy == "eager" or (self.policy == "random" and self.random.random() < _SIGNAL_NOW_CHANCE):
                self._complete_arrival(arrival)

    def _split_arrivals(self, index: Any) -> list[Any]:
        """Splits the threads into those whose arrivals occur together under the policy."""
        if self.policy == "torn" and len(index) > 1:
            return [index[::2], index[1::2]]
        if self.policy == "random" and len(index) > 1:
            chosen = self.array_random.random(len(index)) < _READ_NOW_CHANCE
            return [each for each in (index[chosen], index[~chosen]) if len(each)]
        return [index]

    def _add_pending(self, pending: AsyncOperation | DeferredArrival, barriers: Iterable[Mbarrier]) -> None:
        self._pending_signals[pending] = None
        for barrier in barriers:
            self._pending_by_mbarrier.setdefault(barrier, {})[pending] = None

    def _remove_pending(self, pending: AsyncOperation | DeferredArrival) -> None:
        if pending in self._pending_signals:
            del self._pending_signals[pending]
            for barrier in _signaled_barriers(pending):
                known = self._pending_by_mbarrier.get(barrier)
                if known is not None:
                    known.pop(pending, None)
                    if not known:
                        del self._pending_by_mbarrier[barrier]

    # ------------------------------------------------------------------------------------------------ completing

    def complete(self, operation: AsyncOperation, rows: Any = None, through: Mbarrier | None = None) -> None:
        """Completes rows of an operation, or all of them. `through` is the mbarrier that signals the completion."""
        rows = operation.pending_writes if rows is None else rows & operation.pending_writes
        if through is None and operation.signals:
            through = operation.signals[0][0]
        self.complete_reads(operation, rows, through)
        operation.write(rows)
        self.inflight.release_rows(operation, rows, 1)
        self.machine.observer.on_completion(operation, rows, through)
        operation.pending_writes = operation.pending_writes & ~rows
        if not operation.pending_writes.any():
            self._on_complete(operation)

    def complete_reads(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None = None) -> None:
        """Reads the sources of rows."""
        rows = rows & operation.pending_reads
        if rows.any():
            operation.read(rows)
            self.inflight.release_rows(operation, rows, 0)
            self.machine.observer.on_source_read(operation, rows, through)
            operation.pending_reads = operation.pending_reads & ~rows

    def _on_complete(self, operation: AsyncOperation) -> None:
        self.inflight.remove(operation)
        self._reset_polls()
        self._remove_pending(operation)
        for known in (self._groups.get((operation.cta, operation.completion)), self._unsignaled):
            if known is not None and operation in known:
                known.remove(operation)
        for barrier, count in operation.signals:
            self._signal(operation, barrier, count)

    def _signal(self, operation: AsyncOperation, barrier: Mbarrier, count: int) -> None:
        if not barrier.is_live:
            raise _place_fault(ExecutionFault(ptx5xx.BYTES_AFTER_INVAL(count=count, barrier=barrier.name)), operation)
        self.machine.observer.on_mbarrier_signal(operation, barrier)
        try:
            barrier.complete_tx(count)
        except ExecutionFault as fault:
            _place_fault(fault, operation)
            raise

    def _complete_arrival(self, arrival: DeferredArrival) -> None:
        """Completes the thread's earlier operations of the kind, then arrive."""
        self._remove_pending(arrival)
        for operation in list(self._groups.get((arrival.cta, arrival.kind), ())):
            if operation.serial <= arrival.serial:
                rows = operation.pending_writes & numpy.isin(operation.threads, arrival.threads)
                if rows.any():
                    self.complete(operation, rows, arrival.barrier)
        self.machine.observer.on_mbarrier_signal(arrival, arrival.barrier)
        if not arrival.barrier.is_live:
            message = ptx5xx.ARRIVAL_AFTER_INVAL(barrier=arrival.barrier.name)
            raise _place_fault(ExecutionFault(message), arrival)
        try:
            arrival.barrier.arrive(numpy.ones(len(arrival.threads), numpy.int64))
        except ExecutionFault as fault:
            _place_fault(fault, arrival)
            raise
        self._reset_polls()

    # ---------------------------------------------------------------------------------------------------- groups

    def commit(self, group: ThreadGroup, kind: str) -> None:
        """Commits the current groups of the threads."""
        self.committed_groups(group.cta, kind)[group.lanes.index] += 1
        self.machine.observer.on_group_commit(group, kind)
        awaited = self._wgmma_commits.get(group.cta)
        if awaited is not None and kind == WGMMA:
            awaited.wake()

    def wait(self, group: ThreadGroup, kind: str, pending: Any, *, reads_only: bool = False) -> Waitable | None:
        """Completes all groups of the threads except the last `pending`. Returns what to wait for if that must be
        delayed.

        Groups of wgmma operations belong to the warpgroup: all of its warps must have committed their groups.
        """
        cta, index = group.cta, group.lanes.index
        limits = numpy.full(cta.threads, -1, numpy.int64)
        limits[index] = self.committed_groups(cta, kind)[index] - pending
        done = limits
        if kind == WGMMA:
            done = max_over_warpgroups(limits)
            if (cta.alive & (self.committed_groups(cta, kind) < done)).any():
                return self._wgmma_commits.setdefault(cta, WarpgroupCommit(cta))
        for operation in list(self._groups.get((cta, kind), ())):
            rows = operation.groups < done[operation.threads]
            if not rows.any():
                continue
            if reads_only:
                self.complete_reads(operation, rows)
                continue
            for arrival in self._deferred_arrivals_of(operation):
                self.complete(operation, rows & numpy.isin(operation.threads, arrival.threads), arrival.barrier)
            if (rows & operation.pending_writes).any():
                self.complete(operation, rows)
        self.machine.observer.on_group_wait(group, kind, limits, reads_only)
        return None

    def _deferred_arrivals_of(self, operation: AsyncOperation) -> list[DeferredArrival]:
        """Returns the pending arrivals that signal the completion of rows of an operation."""
        return [
            each
            for each in self._pending_signals
            if isinstance(each, DeferredArrival)
            and (each.cta, each.kind) == (operation.cta, operation.completion)
            and operation.serial <= each.serial
        ]

    # ------------------------------------------------------------------------------------------------ making progress

    def make_progress(self) -> bool:
        """Completes an operation when no thread can proceed. Returns whether there was one."""
        for barrier in [each for each in self._pending_by_mbarrier if each.waiters]:
            while barrier.waiters and barrier in self._pending_by_mbarrier:
                self._complete_pending(self._select_pending(self._pending_by_mbarrier[barrier]))
            if not barrier.waiters:
                return True
        if self._unsignaled or self._pending_signals:
            self._complete_pending(
                self._unsignaled[0] if self._unsignaled else self._select_pending(self._pending_signals)
            )
            return True
        return self._repeat_polls()

    def _select_pending(
        self, waiting: dict[AsyncOperation | DeferredArrival, None]
    ) -> AsyncOperation | DeferredArrival:
        return self.random.choice(list(waiting)) if self.policy == "random" else next(reversed(waiting))

    def progress_background(self) -> bool:
        """Completes untracked operations after a round of all CTAs. Returns whether any completed."""
        if self._unsignaled:
            self._complete_pending(self._unsignaled[0])
        elif self.policy == "random" and self._pending_signals:
            self._complete_pending(self._select_pending(self._pending_signals))
        else:
            return False
        return True

    def _complete_pending(self, chosen: AsyncOperation | DeferredArrival) -> None:
        if isinstance(chosen, DeferredArrival):
            self._complete_arrival(chosen)
        else:
            self.complete(chosen)

    def _repeat_polls(self) -> bool:
        """Makes waits at an mbarrier return false: the threads may then execute other code, up to the poll limit."""
        blocked = [each for cluster in self.machine.clusters for cta in cluster.ctas for each in cta.blocked_groups]
        asking = [(group, on) for group, on in blocked if isinstance(on, Mbarrier)]
        if not asking or not self._may_stop_polling([group for group, _ in asking]):
            return False
        for each in {on for _, on in asking}:
            each.reset_polls()
        return True

    def _may_stop_polling(self, groups: Iterable[ThreadGroup]) -> bool:
        """Returns whether threads whose poll failed may leave the loop: they count, or read a clock, or have polled
        only a few times.

        Raises BudgetError if they have polled too often.
        """
        held = hash(frozenset((group.cta, group.pc, group.register_state()) for group in groups))
        if held in self._poll_states:
            self._futile_polls += 1
            return self._futile_polls <= MAX_FUTILE_POLLS
        self._poll_states.add(held)
        if len(self._poll_states) > MAX_POLL_STATES:
            raise BudgetError("threads ask an mbarrier again and again, and count or read a clock meanwhile")
        return True

    def spin_limit(self) -> int:
        """Returns the number of failed polls after which threads block."""
        if self.policy == "random":
            return self.random.randrange(MAX_RANDOM_FAILED_POLLS)
        return MAX_FAILED_POLLS.get(self.policy, 1)

    def on_mbarrier_change(self) -> None:
        """Handles a change of an mbarrier."""
        self._reset_polls()

    def _reset_polls(self) -> None:
        self._futile_polls = 0
        self._poll_states.clear()

    # ------------------------------------------------------------------------------------------------- exit

    def on_cta_exit(self, cta: CtaState) -> None:
        """Completes or drops the operations in flight of a CTA when all of its threads have exited."""
        for kind in GROUPED:
            closed = self.committed_groups(cta, kind)
            for operation in list(self._groups.get((cta, kind), ())):
                committed = operation.groups < closed[operation.threads]
                if not committed.all():
                    self._report(operation, ptx3xx.COPY_NOT_COMMITTED(operation=operation.name))
                elif kind == BULK and (operation.pending_reads & committed).any():
                    self._report(operation, ptx3xx.COPY_READS_EXITED_CTA(operation=operation.name))
                self.complete(operation, committed)
                if operation.pending_writes.any():
                    self.inflight.release_rows(operation, operation.pending_reads, 0)
                    self.inflight.release_rows(operation, operation.pending_writes, 1)
                    self.inflight.remove(operation)
            self._groups.pop((cta, kind), None)
            self._committed_groups.pop((cta, kind), None)
        for arrival in [
            each for each in self._pending_signals if isinstance(each, DeferredArrival) and each.cta is cta
        ]:
            self._remove_pending(arrival)
        if cta.cluster.size > 1:
            self._check_shared_in_use(cta)

    def _check_shared_in_use(self, cta: CtaState) -> None:
        """Checks that no other CTA of the cluster still accesses the shared memory of a CTA that exits."""
        begin, end = cta.rank * cta.cluster.stride, (cta.rank + 1) * cta.cluster.stride
        for operation in list(self._pending_signals):
            if not isinstance(operation, AsyncOperation):
                continue
            for each in operation.transfers:
                for side, rows, does in (
                    ("source", operation.pending_reads, "read"),
                    ("target", operation.pending_writes, "write"),
                ):
                    if each.buffer(side) is not cta.cluster.shared_buffer:
                        continue
                    octets = each.byte_offsets(side, rows)
                    if ((octets >= begin) & (octets < end)).any():
                        content = ptx6xx.CTA_EXITS_DURING_COPY(operation=operation.name, access=does, cta=cta.ctaid)
                        self._report(operation, content)

    def on_cluster_exit(self, cluster: ClusterState) -> None:
        """Handles the release of a cluster's shared memory."""
        for operation in list(self._pending_signals):
            if isinstance(operation, AsyncOperation) and any(
                each.target is cluster.shared_buffer or each.source is cluster.shared_buffer
                for each in operation.transfers
            ):
                self._report(operation, ptx3xx.COPY_IN_FLIGHT_AT_EXIT(operation=operation.name))
                self._remove_pending(operation)
                self.inflight.remove(operation)
        self.inflight.drop_buffer(cluster.shared_buffer)

    def _report(self, operation: AsyncOperation, content: Message) -> None:
        transfer = operation.transfers[0]
        side, pool = (
            ("source", transfer.source)
            if content.code == ptx3xx.SOURCE_REUSED_IN_FLIGHT
            else ("target", transfer.target)
        )
        rows = operation.pending_reads if side == "source" else operation.pending_writes
        octets = transfer.byte_offsets(side, rows)
        start, size = (int(octets.min()), len(octets)) if len(octets) else (0, 0)
        row = int(numpy.flatnonzero(rows)[0]) if rows.any() else 0
        own = operation_witness(operation, row, pool or transfer.target, start, size)
        offset = operation.function.offsets[operation.pc]
        self.machine.report.add(Violation(content, own.line, offset, (own,)))


def _place_fault(fault: ExecutionFault, of: AsyncOperation | DeferredArrival) -> ExecutionFault:
    """Attributes a fault to the first thread of an operation, at its instruction."""
    fault.location, fault.cta = (of.function, of.pc), of.cta
    fault.assign_threads(of.threads[:1])
    return fault


def _signaled_barriers(each: AsyncOperation | DeferredArrival) -> list[Mbarrier]:
    if isinstance(each, DeferredArrival):
        return [each.barrier]
    return [barrier for barrier, _ in each.signals]
