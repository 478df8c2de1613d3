"""PTX705: no `tcgen05.fence::after_thread_sync` separates a synchronization from the tcgen05 operation that depends on
it.

What it does
    Finds accesses to Tensor Memory by a thread that observes, through an mbarrier or a barrier, that an asynchronous
    tcgen05 operation is complete, and executes no `tcgen05.fence::after_thread_sync` between that and the access. Under
    `--policy strict` only, it reports kernels without any such fence, because compilers that omit all of them rely on
    how GPUs issue instructions, and accesses after the allocation by another warp, because `tcgen05.alloc` is
    synchronous. It also reports a load or store that another warp depends on without a
    `tcgen05.fence::before_thread_sync` before the synchronization, because the thread has waited for it.

Why it matters
    `tcgen05.ld`, `st`, `mma`, `cp` and `shift` are asynchronous: without the fence they are not ordered after earlier
    instructions of the thread, such as a wait on an mbarrier.

Example
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

Use instead
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;
    tcgen05.fence::after_thread_sync;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

ISA section
    "tcgen05.fence", "Specialized Inter-thread Synchronization for tcgen05 instructions". Catalogue: TC11, TC12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from ptxkit.analysis.cfg.last_steps import last_steps_before
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.tensor.tensor_memory import (
    TmemPairBudget,
    TmemUse,
    completion_observations,
    has_fence_between,
    uses_of,
    writes_before,
)
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.isa.effects import TensorFence, TensorMemory
from ptxkit.rules.model import IF_EXAMINED, Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_tensor_access, sites_of
from ptxkit.rules.tensor_proofs import prove_fenced_after
from ptxkit.syntax.constants import WARP_SIZE

_FENCE = "tcgen05.fence::after_thread_sync;"
_FENCE_BEFORE = "tcgen05.fence::before_thread_sync;"
_MOVES = ("tcgen05.ld", "tcgen05.st")


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each access to Tensor Memory whose thread must have observed another thread's access or a completion."""
    fences = any(_is_fence(step) for step in kernel.program.effectful_steps)
    if not fences and kernel.policy != "strict":
        return
    for number, facts in enumerate(kernel.scenarios):
        if not facts.has_unknown_call:
            yield from _check_completions(number, facts, Severity.ERROR if fences else Severity.WARNING)
            if kernel.policy == "strict" and facts.scenario.launch.cluster_size == 1:
                yield from _check_allocations(number, facts)
                yield from _check_moves(number, facts)


def _is_fence(step: Step) -> bool:
    return any(isinstance(effect, TensorFence) for effect in step.effects)


def _check_completions(number: int, facts: ScenarioFacts, severity: Severity) -> Iterator[Observation]:
    """Checks accesses after asynchronous operations; multiplications are pipelined with each other."""
    uses = [use for thread in facts.threads.values() for use in uses_of(thread)]
    writes = [use for use in uses if use.is_committed_write]
    pairs = TmemPairBudget(facts)
    for use in uses:
        for write in writes_before(use, writes, facts.budget) if use.completion != "tcgen05" else ():
            if pairs.allow(write, use):
                learned = completion_observations(facts, write, use.thread, use.position) or ()
                known = [at for at in learned if at >= 0]
                yield from _observe(facts.program, number, use, write.event.step, known, severity)


def _check_allocations(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    """Checks accesses by warps that did not allocate the memory."""
    threads = facts.threads.values()
    pairs = TmemPairBudget(facts)
    for use in (use for thread in threads for use in uses_of(thread)):
        for thread in threads:
            if thread.tid // WARP_SIZE == use.thread.tid // WARP_SIZE:
                continue
            for at, event in thread.positions(TensorMemory):
                if (
                    isinstance(event.effect, TensorMemory)
                    and event.effect.action == "allocate"
                    and pairs.allow(TmemUse(thread, at, event), use)
                ):
                    edges = facts.sync_edges(thread, at, use.thread, use.position)
                    learned = [edge.acquire_position for edge in edges]
                    yield from _observe(facts.program, number, use, event.step, learned, Severity.WARNING)


def _check_moves(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    """Checks accesses that depend on a load or store of another warp."""
    uses = [use for thread in facts.threads.values() for use in uses_of(thread)]
    moves = [use for use in uses if use.completion in _MOVES]
    pairs = TmemPairBudget(facts)
    for use in uses if moves else ():
        for move in writes_before(use, moves, facts.budget):
            is_apart = move.thread.tid // WARP_SIZE != use.thread.tid // WARP_SIZE
            if is_apart and (use.is_write or move.is_write) and pairs.allow(move, use):
                yield from _observe_release(number, facts, move, use)


def _observe_release(number: int, facts: ScenarioFacts, move: TmemUse, use: TmemUse) -> Iterator[Observation]:
    """Yields the result for a load or store and an access of another thread, if a release orders the two."""
    edges = list(facts.sync_edges(move.thread, move.position, use.thread, use.position))
    releases = [edge.release_position for edge in edges]
    if releases:
        fenced = any(has_fence_between(move.thread, move.position, at, "before") for at in releases)
        finding = None if fenced else _unfenced_release(use, move, move.thread.trace.events[min(releases)].step)
        yield Observation((use.event.step, move.event.step), number, use.thread.trace.is_certain(use.position), finding)


def _unfenced_release(use: TmemUse, move: TmemUse, release: Step) -> Finding:
    return Finding(
        primary=use.event.step,
        message=ptx7xx.NO_FENCE_BEFORE_SYNCHRONIZATION(),
        labels=(
            (move.event.step, ptx7xx.WHAT_IT_DEPENDS_ON()),
            (release, ptx7xx.ORDERS_THREADS_NOT_OPERATIONS()),
        ),
        help=ptx7xx.ADD_FENCE_BEFORE_SYNC(),
        severity=Severity.WARNING,
        group_key=release,
        fixes=(add_statement(StepEdit(release, _FENCE_BEFORE)),),
    )


def _observe(
    program: Program, number: int, use: TmemUse, source: Step, learned: Sequence[int], severity: Severity
) -> Iterator[Observation]:
    """Yields the result for one operation on which an access depends, if its thread observed the operation.

    learned: the positions at which it did.
    """
    if learned:
        events = use.thread.trace.events
        fenced = has_fence_between(use.thread, min(learned), use.position)
        certain = use.thread.trace.is_certain(use.position)
        finding = None if fenced else _finding(use, source, events[max(learned)].step, severity)
        is_never_fenced = not (fenced or certain) and _is_unfenced_on_all_paths(
            program, use.event.step, {events[at].step for at in learned}
        )
        yield Observation((use.event.step, source), number, certain, finding, on_all_paths=is_never_fenced)


def _is_unfenced_on_all_paths(program: Program, use: Step, learned: Set[Step]) -> bool:
    """Returns whether each path to an access comes from one of some synchronizations without a fence.

    The fence is missing then whatever data lead to the access.
    """

    def is_wanted(step: Step) -> bool:
        return step in learned or _is_fence(step) or step.is_opaque_call

    return program.contains(use) and set(last_steps_before(program, use, is_wanted)) <= learned


def _finding(use: TmemUse, source: Step, sync: Step, severity: Severity) -> Finding:
    return Finding(
        primary=use.event.step,
        message=ptx7xx.NO_FENCE_AFTER_SYNCHRONIZATION(),
        labels=((source, ptx7xx.WHAT_IT_DEPENDS_ON()), (sync, ptx7xx.ORDERS_THREADS_NOT_OPERATIONS())),
        help=ptx7xx.ADD_FENCE_AFTER_SYNC(),
        severity=severity,
        group_key=sync,
        fixes=tuple(
            add_statement(change) for change in (StepEdit(sync, _FENCE, "after"), StepEdit(use.event.step, _FENCE))
        ),
    )


RULE = Rule(
    ptx7xx.TENSOR_FENCE,
    check,
    sites=sites_of(is_tensor_access),
    prove=prove_fenced_after,
    proves_strict=False,
    needs_proof=IF_EXAMINED,
)
