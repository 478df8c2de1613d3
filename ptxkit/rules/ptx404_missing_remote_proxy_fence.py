"""PTX404: data in shared memory passes from one CTA of a cluster to the async proxy of another one without a proxy
fence.

What it does
    Finds stores to the shared memory of another CTA that this CTA then reads through the async proxy (by a bulk copy or
    a multiplication), in order, if neither CTA has a `fence.proxy.async`. Under `--policy strict`, it also reports
    pairs in which only the storing CTA has the fence, and bytes that the async proxy accesses in two CTAs, one of which
    writes them, unless both have the fence.

Why it matters
    Synchronization orders threads. Within one CTA, the manual lets it order accesses through the async proxy as well;
    between CTAs it requires a fence, and the memory model on which the manual is based requires that fence in the CTA
    of the asynchronous access.

Example
    st.shared::cluster.u32 [%r8], %r1;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;

Use instead
    st.shared::cluster.u32 [%r8], %r1;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    fence.proxy.async.shared::cta;
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;

ISA section
    "Async Proxy", "Causality Order", "membar / fence". Catalogue: PX1, PX8, PX10, PX12.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.remote_proxy_crossings import RemoteProxyCrossing, find_remote_proxy_crossings
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.rules.model import Finding, Observation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import both, is_async_proxy, is_remote, may_touch_shared, sites_of
from ptxkit.rules.partner_proofs import prove_separate_ctas


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks the bytes that pass from each CTA to others of its cluster."""
    for number, facts in enumerate(kernel.scenarios):
        if facts.scenario.launch.cluster_size == 1:
            return
        for crossing in find_remote_proxy_crossings(kernel, facts):
            key = (crossing.after.event.step, crossing.before.event.step)
            finding = _finding(crossing, strict=kernel.policy == "strict")
            yield Observation(key, number, crossing.is_certain, finding)


def _finding(crossing: RemoteProxyCrossing, *, strict: bool) -> Finding | None:
    if crossing.kind == "async":
        if not strict or (crossing.may_fence_in_releaser and crossing.may_fence_in_acquirer):
            return None
        return _two_copies_finding(crossing)
    if crossing.may_fence_in_acquirer or (crossing.may_fence_in_releaser and not strict):
        return None
    late = ptx4xx.ONLY_FENCE_IN_WRITER() if crossing.may_fence_in_releaser else ""
    return Finding(
        primary=crossing.after.event.step,
        message=ptx4xx.REMOTE_WRITE_READ_WITHOUT_FENCE(fences=late),
        labels=((crossing.before.event.step, ptx4xx.GENERIC_WRITE_OF_OTHER_CTA()),),
        help=ptx4xx.ADD_FENCE_AFTER_MEETING(),
        severity=Severity.WARNING if crossing.may_fence_in_releaser else Severity.ERROR,
        properties={"space": "shared::cluster"},
        group_key=crossing.before.event.step,
        fixes=(add_statement(StepEdit(crossing.after.event.step, "fence.proxy.async.shared::cta;")),),
    )


def _two_copies_finding(crossing: RemoteProxyCrossing) -> Finding:
    missing = ptx4xx.EITHER_CTA()
    if crossing.may_fence_in_releaser or crossing.may_fence_in_acquirer:
        missing = ptx4xx.SECOND_CTA() if crossing.may_fence_in_releaser else ptx4xx.FIRST_CTA()
    return Finding(
        primary=crossing.after.event.step,
        message=ptx4xx.TWO_CTAS_WITHOUT_FENCE(missing=missing),
        labels=((crossing.before.event.step, ptx4xx.ASYNC_ACCESS_OF_OTHER_CTA()),),
        help=ptx4xx.ADD_FENCE_IN_BOTH_CTAS(),
        severity=Severity.WARNING,
        properties={"space": "shared::cluster", "policy": "strict"},
        group_key=crossing.before.event.step,
    )


RULE = Rule(
    ptx4xx.MISSING_REMOTE_PROXY_FENCE,
    check,
    sites=sites_of(both(may_touch_shared, is_async_proxy), is_remote),
    prove=prove_separate_ctas,
)
