"""PTX402: shared memory that was accessed through the generic proxy is refilled by a copy without a proxy fence between
them.

What it does
    Under `--policy strict`, finds loads and stores of shared memory that a barrier or an mbarrier orders before a bulk
    copy into the same bytes, without a `fence.proxy.async` between them: in the loading thread before its release, or
    in the copying thread after its acquire. A wait for a bulk copy or a `wgmma` between the two counts as a fence. If
    nothing orders the two, they race, and PTX621 reports it under both policies.

Why it matters
    The proxy fence of the manual orders reads as well as writes of both proxies. Most pipelines rely only on the
    mbarrier that releases a slot, which works on current GPUs; the ISA does not guarantee it.

Example
    ld.shared.f32 %f1, [%r4];
    mbarrier.arrive.shared::cta.b64 _, [empty];

Use instead
    ld.shared.f32 %f1, [%r4];
    fence.proxy.async.shared::cta;
    mbarrier.arrive.shared::cta.b64 _, [empty];

ISA section
    "Async Proxy", "membar / fence", "Causality Order". Catalogue: PX2, PX3.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.memory.async_refills import AsyncRefill, find_refills
from ptxkit.analysis.memory.unlocated_accesses import UnlocatedAccesses
from ptxkit.analysis.symexec.access_ranges import is_generic_read
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import both, is_async_proxy, may_touch_shared, negation, sites_of, writes_shared
from ptxkit.rules.partner_proofs import proves_apart

_FENCE = "fence.proxy.async.shared::cta;"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each asynchronous write of bytes that were used before."""
    if kernel.policy != "strict":
        return
    for number, facts in enumerate(kernel.scenarios):
        for refill in find_refills(facts):
            key = (refill.write.step, refill.use.step)
            finding = None if refill.is_fenced else _finding(facts, refill)
            yield Observation(key, number, refill.is_certain, finding)
        if not facts.has_unknown_call:
            for step in UnlocatedAccesses(facts, kernel.extents_of(facts)).unfenced_refills():
                yield OpenObligation(step, ptx4xx.REFILL_MAY_BE_UNFENCED())


def _finding(facts: ScenarioFacts, refill: AsyncRefill) -> Finding:
    used = "read" if is_generic_read(refill.use) else "wrote"
    between = ((refill.sync, ptx4xx.ORDERS_THREADS_ONLY()),) if refill.sync is not None else ()
    return Finding(
        primary=refill.write.step,
        message=ptx4xx.REFILL_WITHOUT_FENCE(variable=facts.name_of(refill.write), access=used),
        labels=((refill.use.step, ptx4xx.GENERIC_ACCESS(access="read" if used == "read" else "write")), *between),
        help=ptx4xx.ADD_FENCE_BEFORE_RELEASE(),
        properties={"space": "shared::cta", "policy": "strict"},
        group_key=refill.use.step,
        fixes=tuple(
            add_statement(change)
            for change in (*(StepEdit(step, _FENCE) for step, _ in between), StepEdit(refill.use.step, _FENCE, "after"))
        ),
    )


_ASYNC_WRITE = both(writes_shared, is_async_proxy)
_GENERIC_ACCESS = both(may_touch_shared, negation(is_async_proxy))

RULE = Rule(
    ptx4xx.REFILL_WITHOUT_PROXY_FENCE,
    check,
    sites=sites_of(_ASYNC_WRITE, _GENERIC_ACCESS),
    prove=proves_apart(_ASYNC_WRITE, _GENERIC_ACCESS),
    policy="strict",
)
