"""PTX403: a tensor map is modified, and a tensor copy uses it before the change is visible to the tensormap proxy.

What it does
    Finds a tensor map in global memory that the kernel modifies (by `tensormap.replace`, `tensormap.cp_fenceproxy` or
    ordinary stores) and copies with, if one of the two fences between the generic proxy and the tensormap proxy is
    missing: the release after the change, which `tensormap.cp_fenceproxy` includes, or the acquire of this map before
    the copy. It also finds a map that is modified while a copy with it is in flight, or without any order between the
    two.

    `--policy strict` also warns of maps that are passed by a pointer and that nothing acquires: the start of a kernel
    does not acquire them.

Why it matters
    A tensor copy reads its map through the tensormap proxy, which has its own cache. Without both fences it may read
    the old map: the copy uses another tensor, or other strides, without any error.

Example
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3, %r4}], [%r5];

Use instead
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3, %r4}], [%r5];

ISA section
    "membar / fence", "tensormap.cp_fenceproxy", "Completion Mechanisms for Asynchronous Copy Operations". Catalogue:
    TM2, TM3, TM4, TM7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.tensormap_fences import MapUse, MapWrite, ModifiedTensorMaps
from ptxkit.analysis.context.thread_view import PairBudget
from ptxkit.analysis.dataflow.slicing import is_tensor_map_change, may_change_tensor_maps
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.isa.effects import Access
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import either, is_a, sites_of
from ptxkit.rules.partner_proofs import prove_map_of_host


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks every change of a map against the copies with it; under `strict`, also maps without an acquire."""
    changes = may_change_tensor_maps(kernel.program)
    if not changes and kernel.policy != "strict":
        return
    for number, facts in enumerate(kernel.scenarios):
        if facts.has_unknown_call:
            continue
        looked = _ScenarioChecker(number, facts)
        if changes:
            yield from looked.observe()
        if kernel.policy == "strict":
            yield from looked.observe_unacquired()


class _ScenarioChecker:
    def __init__(self, number: int, facts: ScenarioFacts) -> None:
        self._number = number
        self._facts = facts
        self._maps = ModifiedTensorMaps(facts)
        self._pair_budget = PairBudget(facts.budget)

    def observe(self) -> Iterator[Observation]:
        """Yields both kinds of violations between a change and a copy."""
        for use in self._maps.uses:
            changes = list(self._maps.writes_to(use))
            own = {change.event.step for change in changes if change.thread is use.thread}
            for change in changes:
                if change.thread is not use.thread and change.event.step in own:
                    continue  # the copying thread also executes the change, as all lanes of a warp do
                threads = change.thread.tid, use.thread.tid
                if self._pair_budget.allow((threads, change.event.step, use.copy.event.step)):
                    yield from self._check_pair(change, use)

    def observe_unacquired(self) -> Iterator[Observation]:
        """Yields copies with maps in global memory that this kernel neither changes nor acquires.

        Another grid, or a copy to the device, may have written the maps, and the start of a kernel orders nothing for
        the tensormap proxy.
        """
        for use in self._maps.uses:
            step = use.copy.event.step
            if not self._pair_budget.allow(step) or not use.is_global_pointer or any(self._maps.writes_to(use)):
                continue
            finding = None if self._maps.may_acquire(use) else _missing_acquire(step)
            yield Observation((step, None), self._number, use.thread.trace.is_certain(use.copy.position), finding)

    def _check_pair(self, change: MapWrite, use: MapUse) -> Iterator[Observation]:
        places = change.thread, change.position, use.thread, use.copy.position
        is_ordered = self._is_ordered_before(change, use)
        if is_ordered:
            missing = self._missing_half(change, use)
            finding = None if missing is None else _stale_map(change, use, missing)
        elif self._is_copy_inflight(change, use):
            finding = _change_during_copy(change, use)
        elif change.is_map_update and change.thread is not use.thread and self._maps.are_unordered(change, use):
            finding = _unordered_change(change, use)
        else:
            return
        exact = finding is not None and change.thread.trace.is_certain(change.position)
        exact = exact and use.thread.trace.is_certain(use.copy.position)
        if exact and is_ordered:
            exact = not self._facts.may_guess_between(*places)
        elif exact and change.thread is not use.thread:
            exact = self._facts.is_certain_pair(*places)
        key = (use.copy.event.step, change.event.step)
        yield Observation(key, self._number, exact, finding)

    def _is_ordered_before(self, change: MapWrite, use: MapUse) -> bool:
        if change.thread is use.thread:
            return change.position < use.copy.position
        return bool(self._maps.sync_edges(change, use))

    def _missing_half(self, change: MapWrite, use: MapUse) -> str | None:
        """Returns `release` or `acquire` where that part of the fence is missing; None where both are present."""
        release, acquire = self._release_and_acquire(change, use)
        if not change.is_map_update and release is None and acquire is None:
            return None
        if release is None and not self._maps.may_fence_elsewhere("release", change, use):
            return "release"
        if acquire is not None and (release is None or release <= acquire):
            return None
        return None if self._maps.may_fence_elsewhere("acquire", change, use) else "acquire"

    def _release_and_acquire(
        self, change: MapWrite, use: MapUse
    ) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """Returns the first release and the last acquire between a change and a copy, as (thread, position).

        The changing thread has the number 0, the copying one the number 1.
        """
        first, until = change.position, use.copy.position
        if change.thread is use.thread:
            spans = [(0, change.thread, first, until)]
        else:
            edges = self._maps.sync_edges(change, use)
            spans = [(0, change.thread, first, max(edge.release_position for edge in edges) + 1)]
            spans.append((1, use.thread, min(edge.acquire_position for edge in edges), until))
        place = use.address
        releases = ((number, self._maps.first_release(thread, place, *span)) for number, thread, *span in spans)
        acquires = (
            (number, self._maps.last_acquire(thread, place, *span)) for number, thread, *span in reversed(spans)
        )
        return _first_known(releases), _first_known(acquires)

    def _is_copy_inflight(self, change: MapWrite, use: MapUse) -> bool:
        """Returns whether the copy was certainly in flight when the map changed.

        Then no other thread can have signaled it.
        """
        issued, read = use.copy.position, use.copy.source_free_position
        if change.thread is not use.thread or change.position < issued or not change.is_map_update:
            return False
        if read is not None and read <= change.position:
            return False
        return use.copy.group == "bulk" or not use.thread.release_acquire_points.acquires_between(
            issued, change.position
        )


def _first_known(places: Iterable[tuple[int, int | None]]) -> tuple[int, int] | None:
    """Returns the first entry with a known position; None if none exists."""
    return next(((number, position) for number, position in places if position is not None), None)


def _stale_map(change: MapWrite, use: MapUse, missing: str) -> Finding:
    copy = use.copy.event.step
    if missing == "release":
        words = ptx4xx.NO_RELEASE_AFTER_CHANGE()
        fix = ptx4xx.ADD_RELEASE_AND_ACQUIRE()
    else:
        words = ptx4xx.NO_ACQUIRE_OF_CHANGE()
        fix = ptx4xx.ADD_ACQUIRE_BEFORE_COPY()
    return Finding(
        primary=copy,
        message=ptx4xx.CHANGED_MAP_USED(reason=words),
        labels=((change.event.step, ptx4xx.MAP_CHANGED()),),
        help=fix,
        properties={"missing": missing},
        group_key=(change.event.step, missing),
    )


def _unordered_change(change: MapWrite, use: MapUse) -> Finding:
    return Finding(
        primary=use.copy.event.step,
        message=ptx4xx.MAP_CHANGED_BY_OTHER_THREAD(),
        labels=((change.event.step, ptx4xx.MAP_CHANGED_BY_OTHERS()),),
        help=ptx4xx.ADD_BARRIER_AND_ACQUIRE(),
        properties={"missing": "barrier"},
        group_key=(change.event.step, "barrier"),
    )


def _missing_acquire(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx4xx.GLOBAL_MAP_NEVER_ACQUIRED(),
        help=ptx4xx.ACQUIRE_ONCE_OR_PASS_MAP(),
        severity=Severity.WARNING,
        properties={"missing": "acquire"},
    )


def _change_during_copy(change: MapWrite, use: MapUse) -> Finding:
    fix = ptx4xx.WAIT_OF_BULK_GROUP() if use.copy.group == "bulk" else ptx4xx.WAIT_FOR_ITS_MBARRIER()
    return Finding(
        primary=change.event.step,
        message=ptx4xx.MAP_CHANGED_DURING_COPY(),
        labels=((use.copy.event.step, ptx4xx.COPY_READS_MAP_ANY_TIME()),),
        help=ptx4xx.ADD_WAIT_BEFORE_CHANGE(wait=fix),
        group_key=use.copy.event.step,
    )


RULE = Rule(
    ptx4xx.TENSOR_MAP_FENCE,
    check,
    sites=sites_of(either(is_a(Access, proxy="tensormap"), is_tensor_map_change)),
    prove=prove_map_of_host,
)
