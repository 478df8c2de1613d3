"""PTX702: a kernel mixes tcgen05 instructions of one CTA and of a CTA pair.

What it does
    Finds a kernel whose tcgen05 instructions do not all have the same `.cta_group`.

Why it matters
    All tcgen05 instructions of a kernel must have the same value. Allocations of a pair are made in both CTAs, those of
    one CTA in that CTA only; in a mixture, the addresses, the completion and the allocation permits do not match.

Example
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;
    tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;

Use instead
    tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [base], 64;
    tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;

ISA section
    "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit". Catalogue: TC4.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.isa.effects import CtaGroup
from ptxkit.rules.execution_proofs import prove_one_cta_group
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Compares the CTA groups of the kernel's instructions, whether or not they are executed."""
    first: dict[int, Step] = {}
    for step in kernel.program.effectful_steps:
        for effect in step.effects:
            if isinstance(effect, CtaGroup):
                first.setdefault(effect.ctas, step)
    if len(first) > 1:
        (ctas, usual), (others, odd) = sorted(first.items(), key=lambda item: item[1].start)
        finding = Finding(
            primary=odd,
            message=ptx7xx.CTA_GROUP_DIFFERS(ctas=_format_cta_count(others), other=_format_cta_count(ctas)),
            labels=((usual, ptx7xx.CTA_GROUP_LABEL(ctas=ctas)),),
            help=ptx7xx.USE_ONE_CTA_GROUP(ctas=ctas, other=others),
        )
        yield Observation((odd, usual), 0, True, finding)


def _format_cta_count(count: int) -> Message:
    return ptx7xx.ONE_CTA() if count == 1 else ptx7xx.PAIR_OF_CTAS()


RULE = Rule(ptx7xx.MIXED_CTA_GROUPS, check, sites=sites_of(is_a(CtaGroup)), prove=prove_one_cta_group, needs_proof=True)
