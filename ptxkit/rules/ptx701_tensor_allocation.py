"""PTX701: Tensor Memory is allocated or given back wrongly.

What it does
    Finds allocations that no `tcgen05.dealloc` gives back before the CTA ends, or that are given back with another
    number of columns; deallocations in a kernel without any allocation; allocations that are larger than an earlier
    one, or that follow `relinquish_alloc_permit`; and those that only some lanes of a warp execute.

Why it matters
    Columns that are not given back are lost to all later CTAs on the multiprocessor: their allocations wait for ever.

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

from ptxkit.analysis.context.collective_participation import WARP, UnevenExecution, compare_executions
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.isa.effects import Effect, TensorMemory
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at the allocations of each warp, and at what is given back by any."""
    if not any(_has_allocation_effect(step) for step in kernel.program.effectful_steps):
        return
    for number, world in enumerate(kernel.scenarios):
        for step, uneven in compare_executions(world, _is_management, WARP):
            exact = uneven is None or (
                uneven.most_frequent.trace.is_certain() and uneven.least_frequent.trace.is_certain()
            )
            yield Observation((step, None), number, exact, _partial_warp(uneven) if uneven is not None else None, 2)
        for thread in world.threads.values():
            yield from _check_sequence(number, thread)
        if not world.has_unknown_call:
            yield from _check_deallocations(number, kernel, world)


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
    """Allocations that follow others, or the end of the permit, in one thread."""
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


def _check_deallocations(number: int, kernel: KernelFacts, world: ScenarioFacts) -> Iterator[Observation]:
    """Compares the columns that the warps of a CTA take with those that they give back."""
    leaders = [thread for thread in world.all_threads(TensorMemory) or () if thread.tid % WARP == 0]
    taken = [(thread, at, event) for thread in leaders for at, event in _actions(thread, "allocate")]
    given = [(thread, at, event) for thread in leaders for at, event in _actions(thread, "deallocate")]
    if not any(_has_allocation_effect(step, "allocate") for step in kernel.program.effectful_steps):
        for thread in world.threads.values():
            for at, event in _actions(thread, "deallocate"):
                yield Observation(
                    (event.step, None), number, thread.trace.is_certain(at), _unmatched_deallocation(event.step)
                )
        return
    if not any(_has_allocation_effect(step, "deallocate") for step in kernel.program.effectful_steps):
        for thread in world.threads.values():
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


def _columns(event: TraceEvent) -> int:
    return event.amount if isinstance(event.amount, int) else 0


def _partial_warp(uneven: UnevenExecution) -> Finding:
    return Finding(
        primary=uneven.step,
        message=f"all lanes of a warp must execute this together: thread {uneven.most_frequent.tid} does, thread "
        f"{uneven.least_frequent.tid} does not, or not as often",
        help="let one whole warp execute it: branch on the number of the warp, not of the lane",
    )


def _without_permit(step: Step, permit: Step) -> Finding:
    return Finding(
        primary=step,
        message="allocates Tensor Memory after the CTA gave up the right to, at line {1}",
        labels=((permit, "no allocation may follow"),),
        help="move `tcgen05.relinquish_alloc_permit` behind the last allocation",
    )


def _growing_allocation(event: TraceEvent, before: TraceEvent) -> Finding:
    return Finding(
        primary=event.step,
        message=f"allocates {_columns(event)} columns after {_columns(before)}: later allocations must not be larger",
        labels=((before.step, "the allocation before"),),
        help="allocate the largest number of columns first",
    )


def _leaked_allocation(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="this Tensor Memory is never given back: later CTAs wait for it for ever",
        help="execute `tcgen05.dealloc` with the address and the number of columns, by one warp, before the CTA ends",
    )


def _unmatched_deallocation(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="gives back Tensor Memory, and nothing in this kernel allocates any",
        help="allocate it first (`tcgen05.alloc`, by one warp), and give back the address that this writes",
    )


def _size_mismatch(given: TraceEvent, taken: TraceEvent) -> Finding:
    changes = replace_constant(given.step, _columns(given), _columns(taken))
    return Finding(
        primary=given.step,
        message=f"gives back {_columns(given)} columns; the allocation at line {{1}} took {_columns(taken)}",
        labels=((taken.step, f"took {_columns(taken)} columns"),),
        help="give back each allocation with its own number of columns",
        properties={"taken": _columns(taken), "given": _columns(given)},
        fixes=(FixCandidate(f"give back {_columns(taken)} columns", changes, safe=False),) if changes else (),
    )


RULE = Rule("PTX701", "tensor-allocation", ("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",), check)
