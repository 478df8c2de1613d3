"""PTX705: no `tcgen05.fence::after_thread_sync` separates a synchronization from the tcgen05 operation that depends on
it.

What it does
    Finds accesses to Tensor Memory by a thread that observes, through an mbarrier or a barrier, that an asynchronous
    tcgen05 operation is complete or that another warp has allocated the memory, and executes no
    `tcgen05.fence::after_thread_sync` between that and the access. A kernel without any such fence is reported under
    `--policy strict` only: compilers that omit all of them rely on how GPUs issue instructions.

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

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
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
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_tensor_access, sites_of
from ptxkit.syntax.constants import WARP_SIZE

_FENCE = "tcgen05.fence::after_thread_sync;"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each access to Tensor Memory whose thread must have observed another thread's access or a completion."""
    fences = any(_is_fence(step) for step in kernel.program.effectful_steps)
    if not fences and kernel.policy != "strict":
        return
    severity = Severity.ERROR if fences else Severity.WARNING
    for number, facts in enumerate(kernel.scenarios):
        if not facts.has_unknown_call and facts.scenario.launch.cluster_size == 1:
            yield from _check_scenario(number, facts, severity)


def _is_fence(step: Step) -> bool:
    return any(isinstance(effect, TensorFence) for effect in step.effects)


def _check_scenario(number: int, facts: ScenarioFacts, severity: Severity) -> Iterator[Observation]:
    threads = facts.threads.values()
    uses = [use for thread in threads for use in uses_of(thread)]
    if not uses:
        return
    writes = [use for use in uses if use.is_committed_write]
    pairs = TmemPairBudget(facts)
    for use in uses:
        for source, learned in _dependencies(facts, use, writes, pairs):
            fenced = has_fence_between(use.thread, min(learned), use.position)
            finding = None if fenced else _finding(use, source, use.thread.trace.events[max(learned)].step, severity)
            exact = use.thread.trace.is_certain(use.position)
            yield Observation((use.event.step, source), number, exact, finding)


def _dependencies(
    facts: ScenarioFacts, use: TmemUse, writes: list[TmemUse], pairs: TmemPairBudget
) -> Iterator[tuple[Step, list[int]]]:
    """Yields the operations on which the access depends, each with the positions at which its thread observed it."""
    if use.completion != "tcgen05":  # multiplications are pipelined with each other
        for write in writes_before(use, writes, facts.budget):
            if pairs.allow(write, use):
                learned = [
                    at for at in completion_observations(facts, write, use.thread, use.position) or () if at >= 0
                ]
                if learned:
                    yield write.event.step, learned
    for thread in facts.threads.values():
        if thread.tid // WARP_SIZE != use.thread.tid // WARP_SIZE:
            yield from _allocation_dependencies(facts, thread, use, pairs)


def _allocation_dependencies(
    facts: ScenarioFacts, thread: ThreadView, use: TmemUse, pairs: TmemPairBudget
) -> Iterator[tuple[Step, list[int]]]:
    for at, event in thread.positions(TensorMemory):
        if isinstance(event.effect, TensorMemory) and event.effect.action == "allocate":
            if not pairs.allow(TmemUse(thread, at, event), use):
                continue
            learned = [edge.acquire_position for edge in facts.sync_edges(thread, at, use.thread, use.position)]
            if learned:
                yield event.step, learned


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


RULE = Rule(ptx7xx.TENSOR_FENCE, check, sites=sites_of(is_tensor_access))
