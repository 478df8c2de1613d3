"""PTX407: atomics and bulk reductions update the same word of global memory.

What it does
    Under `--policy strict`, finds `atom` or `red` and `cp.reduce.async.bulk` on the same bytes, at a constant offset
    from the same kernel parameter: all CTAs of the grid update them, in any order.

Why it matters
    Two operations are atomic with each other only if they use the same proxy: bulk reductions use the async proxy,
    `atom` and `red` the generic proxy. One of two updates may be lost.

Example
    red.relaxed.gpu.global.add.u32 [%rd2], 1;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r2], 512;

Use instead
    red.relaxed.gpu.global.add.u32 [%rd2+512], 1;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r2], 512;

ISA section
    "Conflict and Data-races", "Morally strong operations", "cp.reduce.async.bulk". Catalogue: PX17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.mixed_proxy_reductions import MixedProxyUpdate, find_mixed_proxy_updates
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.isa.effects import Access
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import both, is_a, is_async_proxy, is_global_access, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each atomic and each bulk reduction of global memory."""
    if kernel.policy == "strict":
        for found in find_mixed_proxy_updates(kernel.program):
            yield Observation((found.reduction, found.atomic), 0, True, _finding(found))


def _finding(found: MixedProxyUpdate) -> Finding:
    return Finding(
        primary=found.reduction,
        message=ptx4xx.WORD_UPDATED_BY_BOTH_PROXIES(),
        labels=((found.atomic, ptx4xx.UPDATE_OF_SAME_WORD()),),
        help=ptx4xx.UPDATE_BY_ONE_KIND(),
        properties={"space": "global", "policy": "strict"},
        group_key=found.atomic,
    )


RULE = Rule(
    ptx4xx.MIXED_REDUCTIONS,
    check,
    sites=sites_of(both(is_global_access, is_async_proxy, is_a(Access, kind="update"))),
    policy="strict",
)
