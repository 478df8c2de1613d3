"""PTX905: a proxy fence covers all memory, but only shared memory needs one (a note, reported with `--notes`).

What it does
    Finds `fence.proxy.async` without a state space in a kernel whose async accesses, or whose generic accesses, are all
    to shared memory, and which does not communicate with other CTAs while it runs.

Why it matters
    A fence for one state space delays less: `fence.proxy.async.shared::cta` need not wait for accesses to global
    memory.

Example
    st.shared.b32 [%r4], %r1;
    fence.proxy.async;
    bar.sync 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, 1, 1, 1, 0, 0;

Use instead
    st.shared.b32 [%r4], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, 1, 1, 1, 0, 0;

ISA section
    "membar / fence", "Async Proxy". Catalogue: PX11.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.no_op_sync import (
    accessed_spaces,
    find_ordering_fences,
    find_shared_proxy_fences,
    has_external_communication,
    is_fully_executed,
    is_shared_only_fence,
)
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule

_NON_SHARED_SPACES = {"global", "generic"}
_SHARED_FENCE = "fence.proxy.async.shared::cta;"


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks the fences that name no space, if the kernel is completely known."""
    fences = [fence for fence in find_shared_proxy_fences(kernel) if not is_shared_only_fence(fence)]
    if not fences or not is_fully_executed(kernel) or has_external_communication(kernel):
        return
    if all(accessed_spaces(kernel, proxy) & _NON_SHARED_SPACES for proxy in ("generic", "async")):
        return
    useful = find_ordering_fences(kernel, fences)
    for fence in fences:
        if fence in useful:
            yield Observation((fence, None), 0, True, _finding(fence))


def _finding(fence: Step) -> Finding:
    return Finding(
        primary=fence,
        message=ptx9xx.FENCE_FOR_ALL_MEMORY(),
        help=ptx9xx.WRITE_STATEMENT(statement=_SHARED_FENCE),
        payload=ptx9xx.SuggestedStatement(_SHARED_FENCE),
    )


RULE = Rule(ptx9xx.OVERBROAD_PROXY_FENCE, check)
