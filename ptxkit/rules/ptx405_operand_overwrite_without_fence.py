"""PTX405: shared memory that a tcgen05 operation read is stored to again, with no proxy fence between.

What it does
    Under `--policy strict`: finds stores to shared memory that `tcgen05.mma` or `tcgen05.cp` has read as an operand,
    ordered behind it, with no `fence.proxy.async` on the way. That the operation is complete is what PTX704 asks.

Why it matters
    The manual gives the completion of bulk copies and of `wgmma` a fence between the proxies. Of `tcgen05` it does not
    say so. The fence that most kernels have after their stores comes too late for the operation before.

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
from ptxkit.diagnostics import Severity
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at each store to what an operation read before."""
    if kernel.policy != "strict":
        return
    for number, world in enumerate(kernel.scenarios):
        for found in find_operand_overwrites(world):
            key = (found.store.step, found.operation.step)
            yield Observation(key, number, found.is_certain, _finding(world, found), found.threads)


def _finding(world: ScenarioFacts, found: OperandOverwrite) -> Finding | None:
    if found.is_fenced:
        return None
    between = ((found.sync, "orders the threads, not the proxies"),) if found.sync is not None else ()
    return Finding(
        primary=found.store.step,
        message=f"writes {world.name_of(found.store)}, which the operation at line {{1}} read through the async proxy,"
        " and no proxy fence stands between",
        labels=((found.operation.step, "asynchronous read of the operand"), *between),
        help="add `fence.proxy.async.shared::cta;` after the wait for the operation, before line {0}",
        severity=Severity.WARNING,
        properties={"space": "shared::cta", "policy": "strict"},
        group_key=found.sync or found.operation.step,
        fixes=(
            FixCandidate(
                "add `fence.proxy.async.shared::cta;`", (StepEdit(found.store.step, "fence.proxy.async.shared::cta;"),)
            ),
        ),
    )


RULE = Rule(
    "PTX405",
    "operand-stored-again",
    ("Async Proxy", "Memory Consistency Model for 5th generation of TensorCore operations", "membar / fence"),
    check,
)
