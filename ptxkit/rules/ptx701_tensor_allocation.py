"""PTX701: Tensor Memory is allocated or deallocated incorrectly.

What it does
    Finds allocations that no `tcgen05.dealloc` frees before the CTA exits, or that are freed with another number of
    columns; accesses of more columns than are deallocated at the address; deallocations in a kernel without any
    allocation; allocations that are larger than an earlier one, or that
    follow `relinquish_alloc_permit`; and allocations that only some lanes of a warp execute.

Why it matters
    Columns that are not freed are unavailable to all later CTAs on the multiprocessor: their allocations never return.

Example
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;
    ret;

Use instead
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;
    ret;

ISA section
    "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit". Catalogue: TC1, TC2, TC3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.tensor.tensor_memory import deallocations_of, may_be_absolute, uses_of
from ptxkit.diagnostics.catalogue import fix_titles, ptx7xx
from ptxkit.isa.effects import Effect, TensorMemory
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant
from ptxkit.rules.obligation_sites import either, is_a, is_tensor_access, sites_of
from ptxkit.rules.tensor_proofs import prove_allocation
from ptxkit.rules.warp_participation import check_whole_warps
from ptxkit.syntax.constants import WARP_SIZE

#: The number of columns of Tensor Memory; a larger offset is a negative one, or one of unknown meaning.
_MOST_COLUMNS = 512


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the allocations of each warp, and all deallocations of the CTA."""
    if not any(_has_allocation_effect(step) for step in kernel.program.effectful_steps):
        return
    for number, facts in enumerate(kernel.scenarios):
        yield from check_whole_warps(number, facts, _is_management, ptx7xx.BRANCH_ON_WARP_NUMBER())
        for thread in facts.threads.values():
            yield from _check_sequence(number, thread)
        yield from _check_columns(number, facts)
        if not facts.has_unknown_call:
            yield from _check_deallocations(number, kernel, facts)


def _is_management(effect: Effect) -> bool:
    return isinstance(effect, TensorMemory)


def _has_allocation_effect(step: Step, action: str | None = None) -> bool:
    effects = step.effects
    return any(isinstance(e, TensorMemory) and action in (None, e.action) for e in effects)


def _actions(thread: ThreadView, action: str) -> list[tuple[int, TraceEvent]]:
    return [
        (at, event)
        for at, event in thread.positions(TensorMemory)
        if isinstance(event.effect, TensorMemory) and event.effect.action == action
    ]


def _check_sequence(number: int, thread: ThreadView) -> Iterator[Observation]:
    """Checks allocations that follow others, or the end of the permit, in one thread."""
    permit: Step | None = None
    before: TraceEvent | None = None
    for at, event in thread.positions(TensorMemory):
        if not isinstance(event.effect, TensorMemory):
            continue
        if event.effect.action == "relinquish":
            permit = event.step
        elif event.effect.action == "allocate":
            finding = None
            if permit is not None:
                finding = _without_permit(event.step, permit)
            elif before is not None and _columns(event) > _columns(before) > 0:
                finding = _growing_allocation(event, before)
            if finding is not None:
                yield Observation((event.step, None), number, thread.trace.is_certain(at), finding)
            before = event


def _check_deallocations(number: int, kernel: KernelFacts, facts: ScenarioFacts) -> Iterator[Observation]:
    """Compares the columns that the warps of a CTA allocate with those that they deallocate."""
    leaders = [thread for thread in facts.all_threads(TensorMemory) or () if thread.tid % WARP_SIZE == 0]
    taken = [(thread, at, event) for thread in leaders for at, event in _actions(thread, "allocate")]
    given = [(thread, at, event) for thread in leaders for at, event in _actions(thread, "deallocate")]
    if not any(_has_allocation_effect(step, "allocate") for step in kernel.program.effectful_steps):
        for thread in facts.threads.values():
            for at, event in _actions(thread, "deallocate"):
                yield Observation(
                    (event.step, None), number, thread.trace.is_certain(at), _unmatched_deallocation(event.step)
                )
        return
    if not any(_has_allocation_effect(step, "deallocate") for step in kernel.program.effectful_steps):
        for thread in facts.threads.values():
            for at, event in _actions(thread, "allocate"):
                yield Observation(
                    (event.step, None), number, thread.trace.is_certain(at), _leaked_allocation(event.step)
                )
        return
    whole = all(thread.trace.end_reason == "exit" for thread in leaders)
    if not taken or not whole or not all(_columns(event) for _, _, event in (*taken, *given)):
        return
    sure = all(thread.trace.is_certain() for thread in leaders)
    took, gave = Counter(_columns(e) for _, _, e in taken), Counter(_columns(e) for _, _, e in given)
    missing = next((event for _, _, event in taken if took[_columns(event)] > gave[_columns(event)]), None)
    odd = next((event for _, _, event in given if gave[_columns(event)] > took[_columns(event)]), None)
    for _, _, event in taken:
        finding = None
        if event is missing:
            finding = _leaked_allocation(event.step) if odd is None else _size_mismatch(odd, event)
        yield Observation((event.step, None), number, sure, finding)


def _check_columns(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    """Checks that accesses relative to an allocation use only columns that are deallocated at its address."""
    threads = facts.threads.values()
    given: dict[int, TraceEvent] = {}
    for end in (use for thread in threads for use in deallocations_of(thread) if not use.is_absolute):
        place = end.location
        if place is not None and place[1:] == (0, 0):
            given[place[0]] = max(given.get(place[0], end.event), end.event, key=_columns)
    for use in (use for thread in threads if given for use in uses_of(thread)):
        place = use.location
        end_of_base = given.get(place[0]) if place is not None else None
        if place is None or end_of_base is None or not _columns(end_of_base) or place[2] > _MOST_COLUMNS:
            continue
        if use.completion != "tcgen05" and place[1] // WARP_SIZE != use.thread.tid // WARP_SIZE % 4:
            continue  # PTX707 reports the lanes
        last = place[2] + use.columns - 1
        finding = None if last < _columns(end_of_base) else _beyond_allocation(use.event.step, last, end_of_base)
        exact = use.thread.trace.is_certain(use.position) and facts.is_exact
        exact = exact and not may_be_absolute(facts.program, use)
        yield Observation((use.event.step, None), number, exact, finding)


def _beyond_allocation(step: Step, column: int, given: TraceEvent) -> Finding:
    columns = _columns(given)
    return Finding(
        primary=step,
        message=ptx7xx.COLUMNS_BEYOND_ALLOCATION(column=column, columns=columns),
        labels=((given.step, ptx7xx.DEALLOCATION_SHOWS_COLUMNS(columns=columns)),),
        help=ptx7xx.ALLOCATE_MORE_COLUMNS(columns=columns),
    )


def _columns(event: TraceEvent) -> int:
    return event.amount if isinstance(event.amount, int) else 0


def _without_permit(step: Step, permit: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx7xx.ALLOCATION_AFTER_RELINQUISHING(),
        labels=((permit, ptx7xx.NO_ALLOCATION_MAY_FOLLOW()),),
        help=ptx7xx.MOVE_RELINQUISH(),
    )


def _growing_allocation(event: TraceEvent, before: TraceEvent) -> Finding:
    return Finding(
        primary=event.step,
        message=ptx7xx.LATER_ALLOCATION_LARGER(columns=_columns(event), before=_columns(before)),
        labels=((before.step, ptx7xx.ALLOCATION_BEFORE()),),
        help=ptx7xx.ALLOCATE_LARGEST_FIRST(),
    )


def _leaked_allocation(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx7xx.NEVER_DEALLOCATED(),
        help=ptx7xx.DEALLOCATE_BEFORE_EXIT(),
    )


def _unmatched_deallocation(step: Step) -> Finding:
    return Finding(
        primary=step,
        message=ptx7xx.DEALLOCATES_NOTHING_ALLOCATED(),
        help=ptx7xx.ALLOCATE_FIRST(),
    )


def _size_mismatch(given: TraceEvent, taken: TraceEvent) -> Finding:
    changes = replace_constant(given.step, _columns(given), _columns(taken))
    return Finding(
        primary=given.step,
        message=ptx7xx.DEALLOCATION_OF_OTHER_SIZE(columns=_columns(given), allocated=_columns(taken)),
        labels=((taken.step, ptx7xx.TOOK_COLUMNS(columns=_columns(taken))),),
        help=ptx7xx.DEALLOCATE_SAME_SIZE(),
        properties={"taken": _columns(taken), "given": _columns(given)},
        fixes=(FixCandidate(fix_titles.DEALLOCATE_COLUMNS(columns=_columns(taken)), changes, safe=False),)
        if changes
        else (),
    )


RULE = Rule(
    ptx7xx.TENSOR_ALLOCATION,
    check,
    sites=sites_of(either(is_a(TensorMemory), is_tensor_access)),
    prove=prove_allocation,
)
