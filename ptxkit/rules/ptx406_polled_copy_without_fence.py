"""PTX406: a flag in global memory is waited for, and a copy then reads global memory, with no proxy fence between.

What it does
    Under `--policy strict`: finds loops that read a flag until another CTA, grid or GPU has set it, with acquire order,
    and after them, on every path and in the same thread, a bulk copy out of global memory, where no `fence.proxy.async`
    that covers global memory lies between.

Why it matters
    What the other side stored before it set the flag is there for this thread's loads. The copy reads through the async
    proxy, and nothing has ordered that.

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
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at each copy after a loop that waits for a flag."""
    if kernel.policy == "strict":
        for found in find_polled_copies(kernel.program):
            yield Observation((found.copy, found.poll), 0, True, _finding(found))


def _finding(found: PolledCopy) -> Finding:
    return Finding(
        primary=found.copy,
        message=ptx4xx.COPY_AFTER_POLL_WITHOUT_FENCE(),
        labels=((found.poll, ptx4xx.WAITS_FOR_FLAG()),),
        help=ptx4xx.ADD_FENCE_AFTER_LOOP(),
        properties={"space": "global", "policy": "strict"},
        group_key=found.poll,
        fixes=(FixCandidate("add `fence.proxy.async.global;`", (StepEdit(found.copy, "fence.proxy.async.global;"),)),),
    )


RULE = Rule(ptx4xx.POLLED_COPY, check)
