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

from ptxkit.analysis.collectives import WARP, Uneven, compared
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Effect, TensorMemory
from ptxkit.rules.finding import Doubt, Finding, Mend, Observation, Rule, other_constant


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at the allocations of each warp, and at what is given back by any."""
    if not any(_manages(step) for step in kernel.program.acting):
        return
    for number, world in enumerate(kernel.worlds):
        for step, uneven in compared(world, _is_management, WARP):
            exact = uneven is None or (uneven.more.trace.is_sure() and uneven.less.trace.is_sure())
            yield Observation((step, None), number, exact, _partial(uneven) if uneven is not None else None, 2)
        for thread in world.threads.values():
            yield from _sequence(number, thread)
        if not world.is_opaque:
            yield from _given_back(number, kernel, world)


def _is_management(effect: Effect) -> bool:
    return isinstance(effect, TensorMemory)


def _manages(step: Step, action: str | None = None) -> bool:
    effects = step.effects
    return any(isinstance(e, TensorMemory) and action in (None, e.action) for e in effects)


def _actions(thread: Thread, action: str) -> list[tuple[int, Event]]:
    return [
        (at, event)
        for at, event in thread.positions(TensorMemory)
        if isinstance(event.effect, TensorMemory) and event.effect.action == action
    ]


def _sequence(number: int, thread: Thread) -> Iterator[Observation]:
    """Allocations that follow others, or the end of the permit, in one thread."""
    permit: Step | None = None
    before: Event | None = None
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
                finding = _growing(event, before)
            if finding is not None:
                yield Observation((event.step, None), number, thread.trace.is_sure(at), finding)
            before = event


def _given_back(number: int, kernel: Kernel, world: World) -> Iterator[Observation]:
    """Compares the columns that the warps of a CTA take with those that they give back."""
    leaders = [thread for thread in world.everyone(TensorMemory) or () if thread.tid % WARP == 0]
    taken = [(thread, at, event) for thread in leaders for at, event in _actions(thread, "allocate")]
    given = [(thread, at, event) for thread in leaders for at, event in _actions(thread, "deallocate")]
    if not any(_manages(step, "allocate") for step in kernel.program.acting):
        for thread in world.threads.values():
            for at, event in _actions(thread, "deallocate"):
                yield Observation((event.step, None), number, thread.trace.is_sure(at), _not_taken(event.step))
        return
    if not any(_manages(step, "deallocate") for step in kernel.program.acting):
        for thread in world.threads.values():
            for at, event in _actions(thread, "allocate"):
                yield Observation((event.step, None), number, thread.trace.is_sure(at), _lost(event.step))
        return
    whole = all(thread.trace.ended == "exit" for thread in leaders)
    if not taken or not whole or not all(_columns(event) for _, _, event in (*taken, *given)):
        return
    sure = all(thread.trace.is_sure() for thread in leaders)
    took, gave = Counter(_columns(e) for _, _, e in taken), Counter(_columns(e) for _, _, e in given)
    missing = next((event for _, _, event in taken if took[_columns(event)] > gave[_columns(event)]), None)
    odd = next((event for _, _, event in given if gave[_columns(event)] > took[_columns(event)]), None)
    for _, _, event in taken:
        finding = None
        if event is missing:
            finding = _lost(event.step) if odd is None else _other_size(odd, event)
        yield Observation((event.step, None), number, sure, finding)


def _columns(event: Event) -> int:
    return event.amount if isinstance(event.amount, int) else 0


def _partial(uneven: Uneven) -> Finding:
    return Finding(
        primary=uneven.step,
        message=f"all lanes of a warp must execute this together: thread {uneven.more.tid} does, thread "
        f"{uneven.less.tid} does not, or not as often",
        help="let one whole warp execute it: branch on the number of the warp, not of the lane",
    )


def _without_permit(step: Step, permit: Step) -> Finding:
    return Finding(
        primary=step,
        message="allocates Tensor Memory after the CTA gave up the right to, at line {1}",
        labels=((permit, "no allocation may follow"),),
        help="move `tcgen05.relinquish_alloc_permit` behind the last allocation",
    )


def _growing(event: Event, before: Event) -> Finding:
    return Finding(
        primary=event.step,
        message=f"allocates {_columns(event)} columns after {_columns(before)}: later allocations must not be larger",
        labels=((before.step, "the allocation before"),),
        help="allocate the largest number of columns first",
    )


def _lost(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="this Tensor Memory is never given back: later CTAs wait for it for ever",
        help="execute `tcgen05.dealloc` with the address and the number of columns, by one warp, before the CTA ends",
    )


def _not_taken(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="gives back Tensor Memory, and nothing in this kernel allocates any",
        help="allocate it first (`tcgen05.alloc`, by one warp), and give back the address that this writes",
    )


def _other_size(given: Event, taken: Event) -> Finding:
    changes = other_constant(given.step, _columns(given), _columns(taken))
    return Finding(
        primary=given.step,
        message=f"gives back {_columns(given)} columns; the allocation at line {{1}} took {_columns(taken)}",
        labels=((taken.step, f"took {_columns(taken)} columns"),),
        help="give back each allocation with its own number of columns",
        properties={"taken": _columns(taken), "given": _columns(given)},
        mends=(Mend(f"give back {_columns(taken)} columns", changes, safe=False),) if changes else (),
    )


RULE = Rule("PTX701", "tensor-allocation", ("tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",), check)
