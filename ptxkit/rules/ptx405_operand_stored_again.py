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

from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.operand_stores import OperandStore, operand_stores_of
from ptxkit.diagnostics import Severity
from ptxkit.rules.finding import Change, Finding, Mend, Observation, Rule


def check(kernel: Kernel) -> Iterator[Observation]:
    """Looks at each store to what an operation read before."""
    if kernel.policy != "strict":
        return
    for number, world in enumerate(kernel.worlds):
        for found in operand_stores_of(world):
            key = (found.store.step, found.operation.step)
            yield Observation(key, number, found.is_sure, _finding(world, found), found.threads)


def _finding(world: World, found: OperandStore) -> Finding | None:
    if found.fenced:
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
        cause=found.sync or found.operation.step,
        mends=(
            Mend("add `fence.proxy.async.shared::cta;`", (Change(found.store.step, "fence.proxy.async.shared::cta;"),)),
        ),
    )


RULE = Rule(
    "PTX405",
    "operand-stored-again",
    ("Async Proxy", "Memory Consistency Model for 5th generation of TensorCore operations", "membar / fence"),
    check,
)
