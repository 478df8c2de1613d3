"""PTX405: shared memory that a tcgen05 operation read is overwritten without a proxy fence between them.

What it does
    Under `--policy strict`, finds stores to shared memory that `tcgen05.mma` or `tcgen05.cp` has read as an operand, if
    the store is ordered after the operation but no `fence.proxy.async` is between them. PTX704 checks that the
    operation is complete.

Why it matters
    According to the manual, the completion of bulk copies and of `wgmma` includes a proxy fence. It does not state this
    for `tcgen05`. The fence that most kernels execute after their stores does not order them after the previous
    operation.

Example
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];
    wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra wait;
    st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1};

Use instead
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];
    wait: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra wait;
    fence.proxy.async.shared::cta;
    st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1};

ISA section
    "Async Proxy", "Memory Consistency Model for 5th generation of TensorCore operations", "membar / fence".
    Catalogue: TC16.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.tensor.operand_overwrites import OperandOverwrite, find_operand_overwrites
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.rules.model import Finding, Observation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import both, is_async_proxy, reads_shared, sites_of, writes_shared
from ptxkit.rules.partner_proofs import proves_apart


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each store to bytes that an operation read before."""
    if kernel.policy != "strict":
        return
    for number, facts in enumerate(kernel.scenarios):
        for found in find_operand_overwrites(facts):
            key = (found.store.step, found.operation.step)
            yield Observation(key, number, found.is_certain, _finding(facts, found))


def _finding(facts: ScenarioFacts, found: OperandOverwrite) -> Finding | None:
    if found.is_fenced:
        return None
    between = ((found.sync, ptx4xx.ORDERS_THREADS_ONLY()),) if found.sync is not None else ()
    return Finding(
        primary=found.store.step,
        message=ptx4xx.OPERAND_STORED_WITHOUT_FENCE(variable=facts.name_of(found.store)),
        labels=((found.operation.step, ptx4xx.ASYNC_READ_OF_OPERAND()), *between),
        help=ptx4xx.ADD_FENCE_AFTER_OPERATION(),
        properties={"space": "shared::cta", "policy": "strict"},
        group_key=found.sync or found.operation.step,
        fixes=(add_statement(StepEdit(found.store.step, "fence.proxy.async.shared::cta;")),),
    )


_ASYNC_READ = both(reads_shared, is_async_proxy)

RULE = Rule(
    ptx4xx.OPERAND_OVERWRITE_WITHOUT_FENCE,
    check,
    sites=sites_of(writes_shared, _ASYNC_READ),
    prove=proves_apart(writes_shared, _ASYNC_READ),
    policy="strict",
)
