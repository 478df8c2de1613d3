"""Operations on mbarrier objects.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions": "mbarrier.init", "mbarrier.inval",
"mbarrier.expect_tx", "mbarrier.complete_tx", "mbarrier.arrive", "mbarrier.arrive_drop", "mbarrier.test_wait,
mbarrier.try_wait", "mbarrier.pending_count".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Blocked, Group
from ptxkit.emulate.mbarriers import MOST_ARRIVALS, Mbarrier, Misuse, pending_of
from ptxkit.emulate.objects import checked, one_by_one, places_of
from ptxkit.emulate.registry import Function, action


@action
def mbarrier_init(*, space: str) -> Function:
    """Makes an object at each thread's address."""

    def init(group: Group, address: Any, count: Any) -> None:
        places, index = places_of(group, space, address), group.lanes.index
        known = group.cta.cluster.mbarriers
        group.cta.machine.asynchrony.flight.accessed(group, "write", group.cta.cluster.pool, places, 8)
        for position, place in enumerate(places):
            before = known.get(int(place))
            if before is not None and before.is_live:
                raise Fault(
                    "PTX502", f"{before.name} is initialised again, and is live", index[position : position + 1]
                )
            needed = int(count[position] if count.ndim else count)
            if not 1 <= needed <= MOST_ARRIVALS:
                message = f"a phase cannot need {needed} arrivals: 1 to {MOST_ARRIVALS}"
                raise Fault("PTX206", message, index[position : position + 1])
            owner = group.cta.cluster.ctas[int(place) // group.cta.cluster.stride]
            known[int(place)] = made = Mbarrier(owner, int(place), needed)
            group.cta.machine.asynchrony.flight.holds_object(made)
            group.cta.machine.order.mbarrier_begins(group, index[position], made)

    return init


@action
def mbarrier_invalidate(*, space: str) -> Function:
    """Ends the life of the object at each thread's address."""

    def invalidate(group: Group, address: Any) -> None:
        for barrier, chosen in one_by_one(group, space, address):
            group.cta.machine.order.mbarrier_ends(group, group.lanes.index[chosen], barrier)
            barrier.invalidate()
            group.cta.machine.asynchrony.flight.holds_object(barrier)

    return invalidate


@action
def mbarrier_expect(*, space: str) -> Function:
    """Makes the current phase await more bytes."""

    def expect(group: Group, address: Any, count: Any, mask: Any = None) -> None:
        for barrier, chosen in one_by_one(group, space, address, mask):
            _expect(group, barrier, count, chosen)

    return expect


@action
def mbarrier_complete(*, space: str) -> Function:
    """Tells the current phase that bytes have come."""

    def complete(group: Group, address: Any, count: Any, mask: Any = None) -> None:
        for barrier, chosen in one_by_one(group, space, address, mask):
            for each in _of(group, count)[chosen]:
                try:
                    barrier.complete(int(each))
                except Misuse as misuse:
                    raise checked(group, misuse) from misuse
        group.cta.machine.asynchrony.changed()

    return complete


@action
def mbarrier_arrive(
    *, space: str, order: str = "release", scope: str = "cta", drop: bool = False, completes: bool = True
) -> Function:
    """Arrives, after adding the bytes to await; gives the state from before."""

    def arrive(group: Group, address: Any, count: Any, bytes_: Any, mask: Any = None) -> Any:
        counts = _of(group, count).astype(numpy.int64)
        tokens = numpy.zeros(group.lanes.count, numpy.uint64)
        machine, index = group.cta.machine, group.lanes.index
        for barrier, chosen in one_by_one(group, space, address, mask):
            _expect(group, barrier, bytes_, chosen)
            machine.order.arrives(group, index[chosen], barrier, order, scope)
            try:
                tokens[chosen] = barrier.arrive(counts[chosen], drop=drop, completes=completes)
            except Misuse as misuse:
                raise checked(group, misuse, index[chosen]) from misuse
        machine.asynchrony.changed()
        return tokens

    return arrive


def _of(group: Group, value: Any) -> Any:
    """A value for each thread."""
    return numpy.broadcast_to(value, (group.lanes.count,))


def _expect(group: Group, barrier: Mbarrier, count: Any, chosen: Any) -> None:
    counts = _of(group, count)[chosen]
    if not counts.any():
        return
    group.cta.machine.asynchrony.changed()
    try:
        for each in counts:
            barrier.expect(int(each))
    except Misuse as misuse:
        raise checked(group, misuse, group.lanes.index[chosen]) from misuse


@action
def mbarrier_wait(*, space: str, by: str, order: str = "acquire", scope: str = "cta") -> Function:
    """Asks whether a phase is complete: of a parity, or of a state. Who asks in vain for a while waits for a change."""

    def wait(group: Group, address: Any, which: Any, *_: object) -> Any:
        index = group.lanes.index
        found = numpy.zeros(group.lanes.count, bool)
        whiches = _of(group, which)
        asked: list[tuple[Mbarrier, Any]] = []
        for barrier, chosen in one_by_one(group, space, address):
            if by == "parity":
                over = (whiches[chosen] & 1) != (barrier.phase & 1)
            else:
                over = numpy.array([barrier.token_is_over(int(each)) for each in whiches[chosen]])
            found[chosen] = over
            if over.any():
                barrier.observe()
                group.cta.machine.order.observes(group, index[chosen][over], barrier, order, scope)
            asked.append((barrier, chosen))
        if not found.any():
            most = group.cta.machine.asynchrony.patience()
            in_vain = [barrier.asks_in_vain(group, index[chosen], most) for barrier, chosen in asked]
            if all(in_vain):
                return Blocked(asked[0][0])
            group.cta.machine.moment += 1  # who is told `not yet` is told so only some times
        return found

    return wait


@action
def mbarrier_pending_count() -> Function:
    """The pending arrivals in a state."""
    return lambda _, state: pending_of(state)


@action
def mbarrier_has_layout(*, layout: str, space: str) -> Function:
    """Whether an object has a layout: all here have the first."""

    def has(group: Group, address: Any) -> Any:
        for _ in one_by_one(group, space, address):
            pass  # each must be one
        return numpy.full(group.lanes.count, layout.endswith("v0"))

    return has
