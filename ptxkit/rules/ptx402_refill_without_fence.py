"""PTX402: shared memory used through the generic proxy is filled again by a copy, with no proxy fence between.

What it does
    Under `--policy strict`: finds loads and stores of shared memory that a barrier or an mbarrier orders before a bulk
    copy into the same bytes, where no `fence.proxy.async` stands on the way, in the thread that loads before it hands
    over, or in the one that copies after it took over. Waiting for a bulk copy or a `wgmma` on the way is one, too.
    Without any order between the two it is a race, and PTX621 speaks of it under both policies.

Why it matters
    The manual's fence orders accesses of both proxies, reads as well as writes. Most pipelines rely on the mbarrier
    that hands a slot back alone, and machines have let them; the text of the ISA does not promise that.

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
from ptxkit.analysis.symexec.access_ranges import is_generic_read
from ptxkit.diagnostics import Severity
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit

_FENCE = "fence.proxy.async.shared::cta;"


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at each copy into bytes that were used before."""
    if kernel.policy != "strict":
        return
    for number, world in enumerate(kernel.scenarios):
        for refill in find_refills(world):
            key = (refill.write.step, refill.use.step)
            finding = None if refill.is_fenced else _finding(world, refill)
            yield Observation(key, number, refill.is_certain, finding, refill.threads)


def _finding(world: ScenarioFacts, refill: AsyncRefill) -> Finding:
    used = "read" if is_generic_read(refill.use) else "wrote"
    between = ((refill.sync, "orders the threads, not the proxies"),) if refill.sync is not None else ()
    return Finding(
        primary=refill.write.step,
        message=f"copies into {world.name_of(refill.write)}, which line {{1}} {used} through the generic proxy, and no"
        " proxy fence stands between",
        labels=((refill.use.step, f"generic {'read' if used == 'read' else 'write'}"), *between),
        help="add `fence.proxy.async.shared::cta;` after line {1}, before what hands the memory back",
        severity=Severity.WARNING,
        properties={"space": "shared::cta", "policy": "strict"},
        group_key=refill.use.step,
        fixes=tuple(
            FixCandidate(f"add `{_FENCE}`", (change,))
            for change in (*(StepEdit(step, _FENCE) for step, _ in between), StepEdit(refill.use.step, _FENCE, "after"))
        ),
    )


RULE = Rule("PTX402", "refill-without-proxy-fence", ("Async Proxy", "membar / fence", "Causality Order"), check)
