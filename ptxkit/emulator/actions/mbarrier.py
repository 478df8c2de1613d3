"""Operations on mbarrier objects.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions": "mbarrier.init", "mbarrier.inval",
"mbarrier.expect_tx", "mbarrier.complete_tx", "mbarrier.arrive", "mbarrier.arrive_drop", "mbarrier.test_wait,
mbarrier.try_wait", "mbarrier.pending_count".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx, ptx5xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import buffer_offsets, iter_mbarriers
from ptxkit.emulator.sync.mbarrier import Mbarrier, pending_count
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup
from ptxkit.semantics.mbarrier_state import MAX_ARRIVALS, is_valid_arrival_count


@effect_semantics
def mbarrier_init(*, space: str) -> Function:
    """Initializes an object at each thread's address.

    Threads that initialize one object together are reported, and the run continues with the object of the first.
    """

    def init(group: ThreadGroup, address: Any, count: Any) -> None:
        places, index = buffer_offsets(group, space, address), group.lanes.index
        known = group.cta.cluster.mbarriers
        group.cta.machine.async_engine.inflight.check_access(group, "write", group.cta.cluster.shared_buffer, places, 8)
        own: list[Mbarrier] = []
        for position, place in enumerate(places):
            before = known.get(int(place))
            needed = int(count[position] if count.ndim else count)
            if before is not None and before.is_live:
                content = ptx5xx.LIVE_MBARRIER_INITIALIZED(barrier=before.name)
                fault = ExecutionFault(content, index[position : position + 1])
                if before not in own or before.state.count != needed:
                    raise fault
                group.report(fault)
                continue
            if not is_valid_arrival_count(needed):
                message = ptx2xx.INVALID_ARRIVAL_COUNT(count=needed, limit=MAX_ARRIVALS)
                raise ExecutionFault(message, index[position : position + 1])
            owner = group.cta.cluster.ctas[int(place) // group.cta.cluster.stride]
            known[int(place)] = made = Mbarrier(owner, int(place), needed)
            own.append(made)
            group.cta.machine.async_engine.inflight.mark_mbarrier(made)
            group.cta.machine.observer.on_mbarrier_init(group, index[position], made)

    return init


@effect_semantics
def mbarrier_invalidate(*, space: str) -> Function:
    """Invalidates the object at each thread's address."""

    def invalidate(group: ThreadGroup, address: Any) -> None:
        for barrier, chosen in iter_mbarriers(group, space, address):
            group.cta.machine.observer.on_mbarrier_inval(group, group.lanes.index[chosen], barrier)
            barrier.invalidate()
            group.cta.machine.async_engine.inflight.mark_mbarrier(barrier)

    return invalidate


@effect_semantics
def mbarrier_expect(*, space: str) -> Function:
    """Adds bytes to the transaction count of the current phase."""

    def expect(group: ThreadGroup, address: Any, count: Any, mask: Any = None) -> None:
        for barrier, chosen in iter_mbarriers(group, space, address, mask):
            _expect_tx(group, barrier, count, chosen)

    return expect


@effect_semantics
def mbarrier_complete(*, space: str) -> Function:
    """Subtracts bytes from the transaction count of the current phase."""

    def complete(group: ThreadGroup, address: Any, count: Any, mask: Any = None) -> None:
        for barrier, chosen in iter_mbarriers(group, space, address, mask):
            for each in _per_thread(group, count)[chosen]:
                try:
                    barrier.complete_tx(int(each))
                except ExecutionFault as fault:
                    fault.assign_threads(group.lanes.index)
                    raise
        group.cta.machine.async_engine.on_mbarrier_change()

    return complete


@effect_semantics
def mbarrier_arrive(
    *, space: str, order: str = "release", scope: str = "cta", drop: bool = False, completes: bool = True
) -> Function:
    """Arrives, after adding the expected bytes, and returns the token of the phase."""

    def arrive(group: ThreadGroup, address: Any, count: Any, bytes_: Any, mask: Any = None) -> Any:
        counts = _per_thread(group, count).astype(numpy.int64)
        tokens = numpy.zeros(group.lanes.count, numpy.uint64)
        machine, index = group.cta.machine, group.lanes.index
        for barrier, chosen in iter_mbarriers(group, space, address, mask):
            _expect_tx(group, barrier, bytes_, chosen)
            machine.observer.on_mbarrier_arrive(group, index[chosen], barrier, order, scope)
            try:
                tokens[chosen] = barrier.arrive(counts[chosen], drop=drop, completes=completes)
            except ExecutionFault as fault:
                fault.assign_threads(index[chosen])
                raise
        machine.async_engine.on_mbarrier_change()
        return tokens

    return arrive


def _per_thread(group: ThreadGroup, value: Any) -> Any:
    return numpy.broadcast_to(value, (group.lanes.count,))


def _expect_tx(group: ThreadGroup, barrier: Mbarrier, count: Any, chosen: Any) -> None:
    counts = _per_thread(group, count)[chosen]
    if not counts.any():
        return
    group.cta.machine.async_engine.on_mbarrier_change()
    try:
        for each in counts:
            barrier.expect_tx(int(each))
    except ExecutionFault as fault:
        fault.assign_threads(group.lanes.index[chosen])
        raise


@effect_semantics
def mbarrier_wait(*, space: str, by: str, order: str = "acquire", scope: str = "cta") -> Function:
    """Returns whether a phase is complete, which is given by its parity or by a token.

    A thread whose polls fail for some time waits for a change.
    """

    def wait(group: ThreadGroup, address: Any, which: Any, *_: object) -> Any:
        index = group.lanes.index
        found = numpy.zeros(group.lanes.count, bool)
        whiches = _per_thread(group, which)
        asked: list[tuple[Mbarrier, Any]] = []
        for barrier, chosen in iter_mbarriers(group, space, address):
            over: Any
            if by == "parity":
                over = barrier.state.is_parity_complete(whiches[chosen])
            else:
                over = numpy.array([barrier.is_token_complete(int(each)) for each in whiches[chosen]])
            found[chosen] = over
            if over.any():
                barrier.state.observe()
                group.cta.machine.observer.on_phase_observed(group, index[chosen][over], barrier, order, scope)
            asked.append((barrier, chosen))
        if not found.any():
            most = group.cta.machine.async_engine.spin_limit()
            failed_polls = [barrier.count_failed_poll(group, index[chosen], most) for barrier, chosen in asked]
            if all(failed_polls):
                return BlockSignal(asked[0][0])
            group.cta.machine.progress_count += 1  # a poll returns false only a limited number of times
        return found

    return wait


@effect_semantics
def mbarrier_pending_count() -> Function:
    """Returns the pending arrivals in a token."""
    return lambda _, state: pending_count(state)


@effect_semantics
def mbarrier_has_layout(*, layout: str, space: str) -> Function:
    """Returns whether an object has a layout: all objects of the machine have the first one."""

    def has(group: ThreadGroup, address: Any) -> Any:
        for _ in iter_mbarriers(group, space, address):
            pass  # checks that there is a live object at each address
        return numpy.full(group.lanes.count, layout.endswith("v0"))

    return has
