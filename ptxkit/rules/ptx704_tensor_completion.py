"""PTX704: Tensor Memory is accessed while a multiplication may still access it.

What it does
    Finds loads and stores of Tensor Memory that a `tcgen05.mma`, `tcgen05.cp` or `tcgen05.shift` writes, if the thread
    has not observed that the operation is complete: no `tcgen05.commit` by the issuing thread covers it, or no thread
    has waited on the mbarrier of the commit.

Why it matters
    These operations are asynchronous. Neither a barrier nor the program order shows that they are complete. The load
    returns old values, or some of the new ones.

Example
    tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

Use instead
    tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;
    tcgen05.fence::after_thread_sync;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

ISA section
    "Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.commit". Catalogue: TC9, TC10,
    TC19.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.cluster.cluster_facts import other_ctas_of
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.tensor.tensor_memory import (
    TmemPairBudget,
    TmemUse,
    depends_on_guessed_wait,
    depends_on_truncation,
    has_waiter,
    is_complete,
    uses_of,
    writes_before,
)
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.rules.model import IF_EXAMINED, TRUNCATED, Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import both, is_tensor_access, negation, sites_of
from ptxkit.rules.tensor_proofs import is_pipelined, prove_operations_complete

#: The completion mechanism of the operations that a commit covers.
_COMMIT_COMPLETION = "tcgen05"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each use of columns that a multiplication writes."""
    for number, facts in enumerate(kernel.scenarios):
        if not facts.has_unknown_call:
            yield from _check_scenario(number, facts, other_ctas_of(kernel.scenarios, facts))


def _check_scenario(
    number: int, facts: ScenarioFacts, others: Sequence[ScenarioFacts]
) -> Iterator[Observation | OpenObligation]:
    uses = [use for thread in facts.threads.values() for use in uses_of(thread)]
    issued = [use for use in uses if use.is_committed_write]
    pairs = TmemPairBudget(facts)
    for use in uses if issued else ():
        if use.completion == _COMMIT_COMPLETION:
            continue  # multiplications are pipelined with each other
        for write in writes_before(use, issued, facts.budget):
            if pairs.allow(write, use):
                kept = is_complete(facts, write, use, others)
                if kept is False and depends_on_truncation(facts, write, use):
                    yield OpenObligation(use.event.step, TRUNCATED)
                elif kept is False and depends_on_guessed_wait(facts, write, use):
                    yield OpenObligation(use.event.step, ptx7xx.COMMIT_WAIT_GUESSED())
                elif kept is not None:
                    exact = not kept and facts.is_certain_pair(write.thread, write.position, use.thread, use.position)
                    finding = None if kept else incomplete_operation(facts, write, use, ptx7xx.USES_TENSOR_MEMORY())
                    yield Observation((use.event.step, write.event.step), number, exact, finding)


def incomplete_operation(facts: ScenarioFacts, write: TmemUse, use: TmemUse, does: Message) -> Finding:
    """Returns the finding about a use or deallocation of columns that an operation may still be writing."""
    commits = write.commits
    labels: list[tuple[Step, Message]] = [(write.event.step, ptx7xx.WORKS_UNTIL_COMPLETE())]
    if not commits or (write.thread is use.thread and commits[0].position > use.position):
        what = ptx7xx.NO_COMMIT_COVERS()
        fix = ptx7xx.ADD_TCGEN05_COMMIT()
    else:
        what = ptx7xx.WAIT_COMES_LATER() if has_waiter(facts, write) else ptx7xx.NO_WAIT_FOR_COMMIT()
        labels.append((write.thread.trace.events[commits[0].position].step, ptx7xx.ARRIVES_WHEN_COMPLETE()))
        fix = ptx7xx.WAIT_ON_COMMIT_MBARRIER()
    return Finding(
        primary=use.event.step,
        message=ptx7xx.USE_DURING_OPERATION(access=does, reason=what),
        labels=tuple(labels),
        help=fix,
        properties={"completion": _COMMIT_COMPLETION},
        group_key=(write.event.step, what),
        lacks=((write.event.step,),),
    )


RULE = Rule(
    ptx7xx.TENSOR_COMPLETION,
    check,
    asynchronous=True,
    sites=sites_of(both(is_tensor_access, negation(is_pipelined))),
    prove=prove_operations_complete,
    needs_proof=IF_EXAMINED,
)
