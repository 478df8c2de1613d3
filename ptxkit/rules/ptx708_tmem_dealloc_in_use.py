"""PTX708: Tensor Memory is given back while it may still be in use.

What it does
    Finds a `tcgen05.dealloc` of columns that a multiplication may still be writing, or that another warp loads or
    stores with nothing to order that before the deallocation; and allocations of a pair of CTAs that only one of the
    two gives back.

Why it matters
    The next CTA on the multiprocessor gets these columns. What comes late reads its data, or overwrites them.

Example
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r5];     // by four warps
    tcgen05.wait::ld.sync.aligned;
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;    // by the first

Use instead
    tcgen05.wait::ld.sync.aligned;
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;

ISA section
    "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "Issue Granularity". Catalogue: TC5, TC19.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.tensor.tensor_memory import (
    TmemPairBudget,
    TmemUse,
    are_unordered,
    deallocations_of,
    depends_on_truncation,
    has_wait_between,
    is_complete,
    may_acquire_from_truncated,
    observed_completion,
    share_columns,
    uses_of,
)
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierWait, TensorMemory
from ptxkit.rules.model import TRUNCATED, Finding, Observation, OpenObligation, Rule
from ptxkit.rules.ptx704_tensor_completion import incomplete_operation


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at each deallocation and the accesses that count from the same address."""
    for number, world in enumerate(kernel.scenarios):
        if not world.has_unknown_call and world.scenario.launch.cluster_size == 1:
            yield from _check_scenario(number, world)
    yield from _check_cta_pairs(kernel)


def _check_scenario(number: int, world: ScenarioFacts) -> Iterator[Observation | OpenObligation]:
    threads = world.threads.values()
    ends = [use for thread in threads for use in deallocations_of(thread)]
    # The last rounds first: who has begun a later one has often waited for the earlier ones.
    uses = [use for thread in threads for use in reversed([*uses_of(thread)])] if ends else []
    pairs = TmemPairBudget(world)
    for end in ends:
        for use in uses:
            if not _uses_allocation(use, end) or not pairs.allow(use, end):
                continue
            if use.completion == "tcgen05":
                kept = _is_complete(world, use, end, uses)
                is_cut = kept is False and depends_on_truncation(world, use, end)
                finding = incomplete_operation(world, use, end, "gives back Tensor Memory") if kept is False else None
            else:
                kept = _is_use_finished(world, use, end)
                is_cut = kept is None and may_acquire_from_truncated(world, end)
                finding = _use_in_progress(world, use, end) if kept is False else None
            if is_cut:
                yield OpenObligation(end.event.step, TRUNCATED)
            elif kept is not None:
                exact = use.thread.trace.is_certain(use.position) and end.thread.trace.is_certain(end.position)
                apart = 1 if use.thread is end.thread else 2
                yield Observation((end.event.step, use.event.step), number, exact, finding, apart)


def _uses_allocation(use: TmemUse, end: TmemUse) -> bool:
    """Whether an access counts from the address that is given back, and is not behind it in the same thread, nor a load
    or store of the warp that gives it back."""
    one, other = use.location, end.location
    same_warp = use.thread.tid // 32 == end.thread.tid // 32
    if (use.thread is end.thread and use.position > end.position) or (same_warp and use.completion != "tcgen05"):
        return False
    return one is not None and other is not None and one[0] == other[0]


def _is_complete(world: ScenarioFacts, write: TmemUse, end: TmemUse, uses: list[TmemUse]) -> bool | None:
    """Whether an operation that a commit tells of is complete before the deallocation."""
    if not write.is_committed_write:
        return None
    if is_complete(world, write, end) is not False:
        return is_complete(world, write, end)
    moves = [use for use in uses if use.completion != "tcgen05" and share_columns(write, use)]
    if any(is_complete(world, write, use) is False for use in moves):
        return None  # PTX704 speaks of it
    return False


def _is_use_finished(world: ScenarioFacts, use: TmemUse, end: TmemUse) -> bool | None:
    """Whether a load or store of another warp comes before a deallocation; None where nobody knows."""
    ways = observed_completion(world, use, end)
    if ways:
        # Its registers may have been used by then. Where the thread waits for it later, it was not over for sure.
        late = has_wait_between(
            use.thread, use.completion or "", max(way.release_position for way in ways), len(use.thread.trace.events)
        )
        return not late or any(
            has_wait_between(use.thread, use.completion or "", use.position, way.release_position) for way in ways
        )
    if ways is None:
        return True
    if are_unordered(world, use, end):
        return False
    clear = world.is_exhaustive_for(Barrier, MbarrierArrive, MbarrierWait)
    return False if clear and not may_acquire_from_truncated(world, end) else None


def _check_cta_pairs(kernel: KernelFacts) -> Iterator[Observation]:
    """Pairs of CTAs of which one gives back what both must."""
    by_rank: dict[tuple[int, int], dict[int, ScenarioFacts]] = {}
    for world in kernel.scenarios:
        if world.scenario.launch.cluster_size > 1 and not world.has_unknown_call:
            by_rank.setdefault((world.scenario.sample, world.scenario.rank // 2), {})[world.scenario.rank % 2] = world
    for number, pair in enumerate(by_rank.values()):
        ends = {rank: _deallocations(world) for rank, world in pair.items()}
        if len(pair) < 2 or not all(_is_known(world) for world in pair.values()) or bool(ends[0]) == bool(ends[1]):
            continue
        rank = 0 if ends[0] else 1
        event = ends[rank][0].event
        if any(getattr(effect, "ctas", 1) == 2 for effect in event.step.effects):
            finding = Finding(
                primary=event.step,
                message=f"only the CTA of rank {rank} in its pair gives this Tensor Memory back: its peer never does",
                help="execute the deallocation by one warp in each CTA of the pair",
            )
            yield Observation((event.step, None), number, True, finding)


def _deallocations(world: ScenarioFacts) -> list[TmemUse]:
    return [use for thread in world.threads.values() for use in deallocations_of(thread)]


def _is_known(world: ScenarioFacts) -> bool:
    """Whether everything about allocations in a CTA is known."""
    return world.is_complete and world.is_exhaustive_for(TensorMemory) and _all_exit(world)


def _all_exit(world: ScenarioFacts) -> bool:
    return all(thread.trace.end_reason == "exit" for thread in world.threads.values())


def _use_in_progress(world: ScenarioFacts, use: TmemUse, end: TmemUse) -> Finding:
    ordered = any(world.sync_edges(use.thread, use.position, end.thread, end.position))
    what = "it has not waited for it where it tells others that it is done" if ordered else "nothing orders the two"
    return Finding(
        primary=end.event.step,
        message=f"gives back Tensor Memory that another warp uses at line {{1}}: {what}",
        labels=((use.event.step, "access by another warp"),),
        help="let the warps meet (`bar.sync 0;`) after their last access is waited for, and before the deallocation",
        group_key=use.event.step,
    )


RULE = Rule(
    "PTX708",
    "tensor-given-back-in-use",
    ("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "Issue Granularity"),
    check,
)
