"""PTX406: a thread polls a flag in global memory, and then copies global memory without a proxy fence between them.

What it does
    Under `--policy strict`, finds loops that poll a flag with acquire order until another CTA, grid or GPU sets it,
    followed on every path of the same thread by a bulk copy out of global memory, if no `fence.proxy.async` that covers
    global memory is between them.

Why it matters
    The data that the other thread stored before it set the flag is visible to loads of this thread. The copy reads
    through the async proxy, for which nothing orders the data.

Example
    poll: ld.acquire.gpu.global.u32 %r6, [%rd5]; setp.eq.u32 %p2, %r6, 0; @%p2 bra poll;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];

Use instead
    poll: ld.acquire.gpu.global.u32 %r6, [%rd5]; setp.eq.u32 %p2, %r6, 0; @%p2 bra poll;
    fence.proxy.async.global;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];

ISA section
    "Async Proxy", "Causality Order", "membar / fence". Catalogue: PX16.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.polled_flags import PolledCopy, find_polled_copies
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.rules.model import Finding, Observation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import both, is_async_proxy, is_global_access, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each copy after a loop that polls a flag."""
    if kernel.policy == "strict":
        for found in (each for code in kernel.program.functions for each in find_polled_copies(code)):
            yield Observation((found.copy, found.poll), 0, True, _finding(found))


def _finding(found: PolledCopy) -> Finding:
    return Finding(
        primary=found.copy,
        message=ptx4xx.COPY_AFTER_POLL_WITHOUT_FENCE(),
        labels=((found.poll, ptx4xx.WAITS_FOR_FLAG()),),
        help=ptx4xx.ADD_FENCE_AFTER_LOOP(),
        properties={"space": "global", "policy": "strict"},
        group_key=found.poll,
        fixes=(add_statement(StepEdit(found.copy, "fence.proxy.async.global;")),),
    )


RULE = Rule(
    ptx4xx.POLLED_COPY_WITHOUT_FENCE, check, sites=sites_of(both(is_global_access, is_async_proxy)), policy="strict"
)
