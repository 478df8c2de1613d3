"""Asynchronous operations of a launch: when they happen, and who is told.

The policy says when an operation reads and writes: at once (`eager`), not before somebody waits for it (`late`), one
half each (`torn`), or as chance decides (`random`). A wait of the thread for its groups completes what the ISA says and
nothing else. What an mbarrier tells is completed when nobody can go on otherwise, first that for which somebody waits.
Copies that were committed to no group are never complete.

Source: PTX ISA, "Asynchronous Operations", "Async-group mechanism", "Mbarrier-based mechanism".
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import BudgetError, Fault, Finding
from ptxkit.emulate.flight import Flight
from ptxkit.emulate.mbarriers import Mbarrier, Misuse
from ptxkit.emulate.operations import BULK, CP_ASYNC, FREE, GROUPED, SIGNALLED, WGMMA, Arrival, Operation
from ptxkit.emulate.warpgroup_groups import Committed, of_teams

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.machine import Cluster, Machine
    from ptxkit.emulate.waiting import Waitable

_MOST_FUTILE = 64
"""Times that all who wait are told `not yet` and nothing changes, until it is a deadlock."""
_MOST_ASKED = 4096
"""The same while they count, or read a clock, until nobody knows whether it ends."""
_READ_NOW, _WRITE_NOW, _TELL_NOW = 0.5, 0.4, 0.25
"""Chances under `random`."""
_PATIENCE = {"late": 4, "torn": 2}
_MOST_PATIENCE = 6


class Asynchrony:
    """What is under way."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.policy = machine, machine.policy
        self.flight = Flight(machine)
        self.chance = random.Random(f"{machine.seed}/operations")
        self.dice = numpy.random.default_rng(machine.seed)
        self._groups: dict[tuple[Cta, str], list[Operation]] = {}
        self._closed: dict[tuple[Cta, str], Any] = {}
        self._signalled: dict[Operation | Arrival, None] = {}
        self._at: dict[Mbarrier, dict[Operation | Arrival, None]] = {}
        self._free: list[Operation] = []
        self._serial = 0
        self._teams: dict[Cta, Committed] = {}
        self._futile = 0
        self._asked: set[int] = set()
        self._progress = 0

    # -------------------------------------------------------------------------------------------------- issuing

    def closed(self, cta: Cta, kind: str) -> Any:
        """How many groups each thread has committed."""
        found = self._closed.get((cta, kind))
        if found is None:
            found = self._closed[cta, kind] = numpy.zeros(cta.threads, numpy.int64)
        return found

    def issue(self, operation: Operation) -> None:
        """Begin an operation."""
        self._serial += 1
        operation.serial = self._serial
        self.flight.begins(operation)
        self.machine.order.issued(operation)
        if operation.completion in GROUPED:
            self._groups.setdefault((operation.cta, operation.completion), []).append(operation)
        elif operation.completion == SIGNALLED:
            self._await(operation, _barriers(operation))
        else:
            self._free.append(operation)
        rows = len(operation.writing)
        everything = numpy.ones(rows, bool)
        match self.policy:
            case "eager":
                operation.write(everything)
                if operation.completion in (SIGNALLED, FREE):
                    self.finish(operation)
            case "torn":
                operation.write(numpy.arange(rows) % 2 == 0)
            case "random":
                operation.read(self.dice.random(rows) < _READ_NOW)
                operation.write(self.dice.random(rows) < _WRITE_NOW)
                if operation.completion in (SIGNALLED, FREE) and self.chance.random() < _TELL_NOW:
                    self.finish(operation)
        if not rows:
            self.finish(operation)

    def arrive_later(self, group: Group, index: Any, barrier: Mbarrier, kind: str = CP_ASYNC) -> None:
        """Arrive at an object once for each thread when its operations of a kind so far are complete."""
        for part in self._parts(index):
            arrival = Arrival(group, part, barrier, self._serial, kind)
            self.machine.order.arrives_later(arrival)
            self._await(arrival, [barrier])
            if self.policy == "eager" or (self.policy == "random" and self.chance.random() < _TELL_NOW):
                self._arrive(arrival)

    def _parts(self, index: Any) -> list[Any]:
        """Threads whose arrivals come together, as the policy has it."""
        if self.policy == "torn" and len(index) > 1:
            return [index[::2], index[1::2]]
        if self.policy == "random" and len(index) > 1:
            chosen = self.dice.random(len(index)) < _READ_NOW
            return [each for each in (index[chosen], index[~chosen]) if len(each)]
        return [index]

    def _await(self, pending: Operation | Arrival, barriers: Iterable[Mbarrier]) -> None:
        self._signalled[pending] = None
        for barrier in barriers:
            self._at.setdefault(barrier, {})[pending] = None

    def _forget(self, pending: Operation | Arrival) -> None:
        if pending in self._signalled:
            del self._signalled[pending]
            for barrier in _barriers(pending):
                known = self._at.get(barrier)
                if known is not None:
                    known.pop(pending, None)
                    if not known:
                        del self._at[barrier]

    # ------------------------------------------------------------------------------------------------ completing

    def finish(self, operation: Operation, rows: Any = None, through: Mbarrier | None = None) -> None:
        """Complete rows of an operation, or all. through: the mbarrier that tells of it."""
        rows = operation.writing if rows is None else rows & operation.writing
        if through is None and operation.signals:
            through = operation.signals[0][0]
        self.finish_reading(operation, rows, through)
        operation.write(rows)
        self.flight.ends(operation, rows, 1)
        self.machine.order.completed(operation, rows, through)
        operation.writing = operation.writing & ~rows
        if not operation.writing.any():
            self._is_over(operation)

    def finish_reading(self, operation: Operation, rows: Any, through: Mbarrier | None = None) -> None:
        """Read the sources of rows."""
        rows = rows & operation.reading
        if rows.any():
            operation.read(rows)
            self.flight.ends(operation, rows, 0)
            self.machine.order.has_read(operation, rows, through)
            operation.reading = operation.reading & ~rows

    def _is_over(self, operation: Operation) -> None:
        self.flight.is_over(operation)
        self._forget_asking()
        self._forget(operation)
        for known in (self._groups.get((operation.cta, operation.completion)), self._free):
            if known is not None and operation in known:
                known.remove(operation)
        for barrier, count in operation.signals:
            self._tell(operation, barrier, count)

    def _tell(self, operation: Operation, barrier: Mbarrier, count: int) -> None:
        place = (operation.code, operation.pc)
        if not barrier.is_live:
            raise self._fault("PTX507", f"{count} bytes come to {barrier.name}, whose life has ended", operation)
        self.machine.order.signals(operation, barrier)
        try:
            barrier.complete(count)
        except Misuse as misuse:
            fault = self._fault(misuse.code, misuse.message, operation)
            fault.place = place
            raise fault from misuse

    def _fault(self, code: str, message: str, of: Operation | Arrival) -> Fault:
        fault = Fault(code, message, of.threads[:1])
        fault.place, fault.cta = (of.code, of.pc), of.cta
        return fault

    def _arrive(self, arrival: Arrival) -> None:
        """Complete the thread's earlier operations of the kind, then arrive."""
        self._forget(arrival)
        for operation in list(self._groups.get((arrival.cta, arrival.kind), ())):
            if operation.serial <= arrival.serial:
                rows = operation.writing & numpy.isin(operation.threads, arrival.threads)
                if rows.any():
                    self.finish(operation, rows, arrival.barrier)
        self.machine.order.signals(arrival, arrival.barrier)
        if not arrival.barrier.is_live:
            message = f"an arrival comes to {arrival.barrier.name}, whose life has ended"
            raise self._fault("PTX507", message, arrival)
        try:
            arrival.barrier.arrive(numpy.ones(len(arrival.threads), numpy.int64))
        except Misuse as misuse:
            raise self._fault(misuse.code, misuse.message, arrival) from misuse
        self._forget_asking()

    # ---------------------------------------------------------------------------------------------------- groups

    def commit(self, group: Group, kind: str) -> None:
        """Close the threads' groups."""
        self.closed(group.cta, kind)[group.lanes.index] += 1
        self.machine.order.committed(group, kind)
        awaited = self._teams.get(group.cta)
        if awaited is not None and kind == WGMMA:
            awaited.wake()

    def wait(self, group: Group, kind: str, pending: Any, *, reads_only: bool = False) -> Waitable | None:
        """Complete the threads' groups but for the last so many; what to wait for where that cannot be yet.

        Groups of multiplications are the warpgroup's: all of its warps must have committed theirs.
        """
        cta, index = group.cta, group.lanes.index
        limits = numpy.full(cta.threads, -1, numpy.int64)
        limits[index] = self.closed(cta, kind)[index] - pending
        done = limits
        if kind == WGMMA:
            done = of_teams(limits)
            if (cta.alive & (self.closed(cta, kind) < done)).any():
                return self._teams.setdefault(cta, Committed(cta))
        for operation in list(self._groups.get((cta, kind), ())):
            rows = operation.groups < done[operation.threads]
            if not rows.any():
                continue
            if reads_only:
                self.finish_reading(operation, rows)
                continue
            for arrival in self._arrivals_of(operation):
                self.finish(operation, rows & numpy.isin(operation.threads, arrival.threads), arrival.barrier)
            if (rows & operation.writing).any():
                self.finish(operation, rows)
        self.machine.order.waited(group, kind, limits, reads_only=reads_only)
        return None

    def _arrivals_of(self, operation: Operation) -> list[Arrival]:
        """The arrivals to come that tell of rows of an operation."""
        return [
            each
            for each in self._signalled
            if isinstance(each, Arrival)
            and (each.cta, each.kind) == (operation.cta, operation.completion)
            and operation.serial <= each.serial
        ]

    # ------------------------------------------------------------------------------------------------ going on

    def go_on(self) -> bool:
        """Nobody can go on: complete something; whether there was anything."""
        for barrier in [each for each in self._at if each.waiters]:
            while barrier.waiters and barrier in self._at:
                self._complete(self._one_of(self._at[barrier]))
            if not barrier.waiters:
                return True
        if self._free or self._signalled:
            self._complete(self._free[0] if self._free else self._one_of(self._signalled))
            return True
        return self._ask_again()

    def _one_of(self, waiting: dict[Operation | Arrival, None]) -> Operation | Arrival:
        return self.chance.choice(list(waiting)) if self.policy == "random" else next(reversed(waiting))

    def progress(self) -> bool:
        """A round of all CTAs has ended: what nothing tells of happens some time. Whether anything did."""
        if self._free:
            self._complete(self._free[0])
        elif self.policy == "random" and self._signalled:
            self._complete(self._one_of(self._signalled))
        else:
            return False
        return True

    def _complete(self, chosen: Operation | Arrival) -> None:
        if isinstance(chosen, Arrival):
            self._arrive(chosen)
        else:
            self.finish(chosen)

    def _ask_again(self) -> bool:
        """Tell those who wait at an mbarrier `not yet`: they may do something else then, but not for ever."""
        blocked = [each for cluster in self.machine.clusters for cta in cluster.ctas for each in cta.blocked]
        asking = [(group, on) for group, on in blocked if isinstance(on, Mbarrier)]
        if not asking or not self._may_give_up([group for group, _ in asking]):
            return False
        for each in {on for _, on in asking}:
            each.forget_polls()
        return True

    def _may_give_up(self, groups: Iterable[Group]) -> bool:
        """Whether threads that were told `not yet` may come to something else: they count, or read a clock, or it is
        early. BudgetError where they have done so for long."""
        held = hash(frozenset((group.cta, group.pc, group.held()) for group in groups))
        if held in self._asked:
            self._futile += 1
            return self._futile <= _MOST_FUTILE
        self._asked.add(held)
        if len(self._asked) > _MOST_ASKED:
            raise BudgetError("threads ask an mbarrier again and again, and count or read a clock meanwhile")
        return True

    def patience(self) -> int:
        """How often threads are told `not yet` before they wait."""
        return self.chance.randrange(_MOST_PATIENCE) if self.policy == "random" else _PATIENCE.get(self.policy, 1)

    def changed(self) -> None:
        """An mbarrier changed."""
        self._forget_asking()

    def _forget_asking(self) -> None:
        self._futile = 0
        self._asked.clear()

    # ------------------------------------------------------------------------------------------------- the end

    def cta_ends(self, cta: Cta) -> None:
        """All threads of a CTA have ended: what it has in flight is complete, or lost."""
        for kind in GROUPED:
            closed = self.closed(cta, kind)
            for operation in list(self._groups.get((cta, kind), ())):
                committed = operation.groups < closed[operation.threads]
                if not committed.all():
                    self._report(
                        operation, "PTX301", f"`{operation.name}` belongs to no group: its thread ends without a commit"
                    )
                elif kind == BULK and (operation.reading & committed).any():
                    what = "may still read the shared memory of its CTA, which ends"
                    self._report(operation, "PTX303", f"`{operation.name}` {what}")
                self.finish(operation, committed)
                if operation.writing.any():
                    self.flight.ends(operation, operation.reading, 0)
                    self.flight.ends(operation, operation.writing, 1)
                    self.flight.is_over(operation)
            self._groups.pop((cta, kind), None)
            self._closed.pop((cta, kind), None)
        for arrival in [each for each in self._signalled if isinstance(each, Arrival) and each.cta is cta]:
            self._forget(arrival)
        if cta.cluster.size > 1:
            self._check_memory_of(cta)

    def _check_memory_of(self, cta: Cta) -> None:
        """The shared memory of a CTA that ends is nothing that others in the cluster still read or write."""
        begin, end = cta.rank * cta.cluster.stride, (cta.rank + 1) * cta.cluster.stride
        for operation in list(self._signalled):
            if not isinstance(operation, Operation):
                continue
            for each in operation.transfers:
                for side, rows, does in (("source", operation.reading, "read"), ("target", operation.writing, "write")):
                    if each.pool(side) is not cta.cluster.pool:
                        continue
                    octets = each.octets(side, rows)
                    if ((octets >= begin) & (octets < end)).any():
                        what = f"may still {does} shared memory of CTA {cta.ctaid}, which ends"
                        self._report(operation, "PTX612", f"`{operation.name}` {what}")

    def cluster_ends(self, cluster: Cluster) -> None:
        """The shared memory of a cluster is gone."""
        for operation in list(self._signalled):
            if isinstance(operation, Operation) and any(
                each.target is cluster.pool or each.source is cluster.pool for each in operation.transfers
            ):
                what = "is still in flight, and nothing waits for it, while its CTA ends"
                self._report(operation, "PTX303", f"`{operation.name}` {what}")
                self._forget(operation)
                self.flight.is_over(operation)
        self.flight.forget(cluster.pool)

    def _report(self, operation: Operation, code: str, message: str) -> None:
        transfer = operation.transfers[0]
        side, pool = ("source", transfer.source) if code == "PTX303" else ("target", transfer.target)
        rows = operation.reading if side == "source" else operation.writing
        octets = transfer.octets(side, rows)
        start, size = (int(octets.min()), len(octets)) if len(octets) else (0, 0)
        row = int(numpy.flatnonzero(rows)[0]) if rows.any() else 0
        own = self.flight.of_operation(operation, row, pool or transfer.target, start, size)
        offset = operation.code.offsets[operation.pc]
        self.machine.report.add(Finding(code, message, own.line, offset, (own,)))


def _barriers(each: Operation | Arrival) -> list[Mbarrier]:
    if isinstance(each, Arrival):
        return [each.barrier]
    return [barrier for barrier, _ in each.signals]
