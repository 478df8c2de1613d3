"""PTX708: Tensor Memory is deallocated while it may still be in use.

What it does
    Finds a `tcgen05.dealloc` of columns that a multiplication may still write, or that another warp loads or stores
    without an order before the deallocation, and allocations of a CTA pair that only one of the two CTAs deallocates.

Why it matters
    The next CTA on the multiprocessor may allocate these columns. A late access reads its data, or overwrites it.

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

from collections.abc import Hashable, Iterator

from ptxkit.analysis.cluster.cluster_facts import is_alone_in_cluster
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.tensor.tensor_memory import (
    TmemPairBudget,
    TmemUse,
    are_unordered,
    deallocations_of,
    depends_on_guessed_wait,
    depends_on_truncation,
    has_wait_between,
    is_complete,
    may_acquire_from_truncated,
    observed_completion,
    share_columns,
    uses_of,
)
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierWait, TensorMemory
from ptxkit.rules.model import IF_EXAMINED, TRUNCATED, Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.ptx704_tensor_completion import incomplete_operation
from ptxkit.rules.tensor_proofs import prove_unused
from ptxkit.syntax.constants import WARP_SIZE


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each deallocation and the accesses relative to the same address."""
    may_be_one_warp = bool(kernel.scenarios) and not _has_known_warps(kernel.scenarios[0])
    for number, facts in enumerate(kernel.scenarios):
        if not facts.has_unknown_call:
            yield from _check_scenario(number, facts, may_be_one_warp=may_be_one_warp)
    yield from _check_cta_pairs(kernel)


def _check_scenario(
    number: int, facts: ScenarioFacts, *, may_be_one_warp: bool
) -> Iterator[Observation | OpenObligation]:
    """Checks one scenario. may_be_one_warp: whether the kernel declares no number of threads."""
    threads = facts.threads.values()
    ends = [use for thread in threads for use in deallocations_of(thread)]
    # The last iterations come first: a thread that has begun a later one has often waited for the earlier ones.
    uses = [use for thread in threads for use in reversed([*uses_of(thread)])] if ends else []
    pairs, is_alone = TmemPairBudget(facts), is_alone_in_cluster(facts)
    for end in ends:
        for use in uses:
            if not _uses_allocation(use, end) or not pairs.allow(use, end):
                continue
            if use.completion == "tcgen05":
                kept = _is_complete(facts, use, end, uses)
                is_cut = kept is False and depends_on_truncation(facts, use, end)
                finding = incomplete_operation(facts, use, end, ptx7xx.DEALLOCATES()) if kept is False else None
            else:
                kept = _is_use_finished(facts, use, end)
                is_cut = kept is None and is_alone and may_acquire_from_truncated(facts, end)
                finding = _use_in_progress(facts, use, end) if kept is False else None
            if is_cut:
                yield OpenObligation(end.event.step, TRUNCATED)
            elif kept is False and use.completion == "tcgen05" and depends_on_guessed_wait(facts, use, end):
                yield OpenObligation(end.event.step, ptx7xx.DEALLOCATION_WAIT_GUESSED())
            elif kept is None and may_be_one_warp and _is_use_unordered(facts, use, end):
                yield OpenObligation(end.event.step, ptx7xx.DEALLOCATING_BLOCK_MAY_BE_ONE_WARP(), "block")
            elif kept is not None:
                exact = not kept and facts.is_certain_pair(use.thread, use.position, end.thread, end.position)
                yield Observation((end.event.step, use.event.step), number, exact, finding)


def _uses_allocation(use: TmemUse, end: TmemUse) -> bool:
    """Returns whether an access is relative to the deallocated address and must be complete before the deallocation.

    Accesses after it in the same thread, and loads and stores of the warp that deallocates, are excluded.
    """
    one, other = use.location, end.location
    same_warp = use.thread.tid // WARP_SIZE == end.thread.tid // WARP_SIZE
    if (use.thread is end.thread and use.position > end.position) or (same_warp and use.completion != "tcgen05"):
        return False
    return one is not None and other is not None and one[0] == other[0]


def _is_complete(facts: ScenarioFacts, write: TmemUse, end: TmemUse, uses: list[TmemUse]) -> bool | None:
    """Returns whether an operation that a commit covers is complete before the deallocation."""
    if not write.is_committed_write:
        return None
    if is_complete(facts, write, end) is not False:
        return is_complete(facts, write, end)
    moves = [use for use in uses if use.completion != "tcgen05" and share_columns(write, use)]
    if any(is_complete(facts, write, use) is False for use in moves):
        return None  # PTX704 reports it
    return False


def _is_use_finished(facts: ScenarioFacts, use: TmemUse, end: TmemUse) -> bool | None:
    """Returns whether a load or store of another warp comes before a deallocation; None where it is unknown."""
    if not is_alone_in_cluster(facts):  # other CTAs may order the two
        return False if _has_known_warps(facts) and are_unordered(facts, use, end) else None
    edges = observed_completion(facts, use, end)
    if edges:
        # Its registers may have been used by then. If the thread waits for it later, it was not certainly complete.
        late = has_wait_between(
            use.thread, use.completion or "", max(edge.release_position for edge in edges), len(use.thread.trace.events)
        )
        return not late or any(
            has_wait_between(use.thread, use.completion or "", use.position, edge.release_position) for edge in edges
        )
    if edges is None:
        return True
    if _has_known_warps(facts) and are_unordered(facts, use, end):
        return False
    clear = facts.is_exhaustive_for(Barrier, MbarrierArrive, MbarrierWait)
    return False if clear and not may_acquire_from_truncated(facts, end) else None


def _has_known_warps(facts: ScenarioFacts) -> bool:
    """Returns whether the kernel declares the size of its block, or the largest one."""
    launch = facts.scenario.launch
    return launch.is_exact or launch.is_limit


def _is_use_unordered(facts: ScenarioFacts, use: TmemUse, end: TmemUse) -> bool:
    """Returns whether nothing may order a load or store of another warp before a deallocation."""
    return use.completion != "tcgen05" and are_unordered(facts, use, end)


def _check_cta_pairs(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks pairs of CTAs of which only one deallocates, although both must."""
    by_rank: dict[Hashable, dict[int, ScenarioFacts]] = {}
    for facts in kernel.scenarios:
        scenario = facts.scenario
        if scenario.launch.cluster_size > 1 and not facts.has_unknown_call:
            by_rank.setdefault((scenario.arguments, scenario.rank // 2), {})[scenario.rank % 2] = facts
    for number, pair in enumerate(by_rank.values()):
        ends = {rank: _deallocations(facts) for rank, facts in pair.items()}
        if len(pair) < 2 or not all(_is_known(facts) for facts in pair.values()) or bool(ends[0]) == bool(ends[1]):
            continue
        rank = 0 if ends[0] else 1
        event = ends[rank][0].event
        if any(getattr(effect, "ctas", 1) == 2 for effect in event.step.effects):
            finding = Finding(
                primary=event.step,
                message=ptx7xx.ONLY_ONE_CTA_OF_PAIR_DEALLOCATES(rank=rank),
                help=ptx7xx.DEALLOCATE_IN_BOTH_CTAS(),
            )
            yield Observation((event.step, None), number, True, finding)


def _deallocations(facts: ScenarioFacts) -> list[TmemUse]:
    return [use for thread in facts.threads.values() for use in deallocations_of(thread)]


def _is_known(facts: ScenarioFacts) -> bool:
    """Returns whether everything about allocations in a CTA is known."""
    return facts.is_complete and facts.is_exhaustive_for(TensorMemory) and _all_exit(facts)


def _all_exit(facts: ScenarioFacts) -> bool:
    return all(thread.trace.end_reason == "exit" for thread in facts.threads.values())


def _use_in_progress(facts: ScenarioFacts, use: TmemUse, end: TmemUse) -> Finding:
    ordered = facts.is_ordered(use.thread, use.position, end.thread, end.position)
    what = ptx7xx.NOT_WAITED_BEFORE_SIGNAL() if ordered else ptx7xx.NOT_ORDERED()
    return Finding(
        primary=end.event.step,
        message=ptx7xx.DEALLOCATION_DURING_USE(reason=what),
        labels=((use.event.step, ptx7xx.ACCESS_BY_OTHER_WARP()),),
        help=ptx7xx.MEET_BEFORE_DEALLOCATION(),
        group_key=use.event.step,
    )


RULE = Rule(
    ptx7xx.TENSOR_DEALLOCATED_IN_USE,
    check,
    sites=sites_of(is_a(TensorMemory, action="deallocate")),
    prove=prove_unused,
    needs_proof=IF_EXAMINED,
)
