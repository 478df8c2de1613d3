"""PTX901: a proxy fence orders nothing (a note, reported with `--notes`).

What it does
    Finds a `fence.proxy.async` for shared memory that no access through the generic proxy precedes, or no access
    through the async proxy follows, in any order of the threads, or the kernel has no accesses through one of the
    proxies; or another such fence comes before it on each path, without a generic access of any thread between, or
    after it, without an async access between. An `mbarrier.init` needs no such fence: copies signal their mbarrier
    through the generic proxy.

Why it matters
    A fence delays its thread until earlier accesses are complete. A redundant one also hides which fence is required.

Example
    @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
    bar.sync 0;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];

ISA section
    "Async Proxy", "membar / fence", "cp.async.bulk". Catalogue: PX4, PX18, WG8.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.ineffective_sync import accesses_shared_through_one_proxy
from ptxkit.analysis.memory.no_op_sync import (
    accessed_spaces,
    find_ordering_fences,
    find_shared_proxy_fences,
    has_external_communication,
    is_fully_executed,
    is_shared_only_fence,
)
from ptxkit.analysis.memory.redundant_fences import find_redundant_proxy_fences
from ptxkit.analysis.memory.redundant_sync import find_redundant_sync
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each fence in both directions, if the kernel is completely known or uses only one of the proxies."""
    fences = find_shared_proxy_fences(kernel)
    if not fences:
        return
    copies_global = "global" in accessed_spaces(kernel, "async") or has_external_communication(kernel)
    fences = [fence for fence in fences if is_shared_only_fence(fence) or not copies_global]
    useful = set() if accesses_shared_through_one_proxy(kernel.program) else _find_useful_fences(kernel, fences)
    for fence in fences:
        if fence not in useful:
            yield Observation((fence, None), 0, True, _finding(fence, ptx9xx.FENCE_ORDERS_NOTHING()))
    others = [fence for fence in find_shared_proxy_fences(kernel) if fence not in fences or fence in useful]
    # PTX903 reports repeated fences. Under `strict`, the threads that write execute the fence.
    known = [each.redundant for each in find_redundant_sync(kernel)]
    is_strict = kernel.policy == "strict"
    for fence, is_late in find_redundant_proxy_fences(kernel.program, others, known, only_earlier=is_strict):
        message = ptx9xx.FENCED_BEFORE() if is_late else ptx9xx.FENCED_AFTER()
        yield Observation((fence, None), 0, True, _finding(fence, message))


def _find_useful_fences(kernel: KernelFacts, fences: list[Step]) -> set[Step]:
    """Returns the fences that order something in some execution; all if the executions do not show it."""
    if not is_fully_executed(kernel) or "generic" in accessed_spaces(kernel, "generic"):
        return set(fences)
    if any(facts.scenario.launch.cluster_size > 1 for facts in kernel.scenarios):
        return set(fences)  # other CTAs access the memory of this one
    return find_ordering_fences(kernel, fences)


def _finding(fence: Step, message: Message) -> Finding:
    return Finding(fence, message, help=ptx9xx.REMOVE_FENCE())


RULE = Rule(ptx9xx.REDUNDANT_PROXY_FENCE, check)
