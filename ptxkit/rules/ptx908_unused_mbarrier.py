"""PTX908: an mbarrier is initialized and never used (a note, reported with `--notes`).

What it does
    Finds `mbarrier.init` at an address to which no other operation on an mbarrier can refer, on any path.

Why it matters
    The initialization has no effect. The number of stages may be smaller than intended, or an address may be wrong.

Example
    mbarrier.init.shared::cta.b64 [bars], 1;
    mbarrier.init.shared::cta.b64 [bars+8], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 512;

Use instead
    mbarrier.init.shared::cta.b64 [bars], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 512;

ISA section
    "Lifecycle of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.mbarrier.unused_mbarriers import find_unused_initializations
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each initialization against the addresses of all other operations."""
    for step in find_unused_initializations(kernel.program):
        finding = Finding(step, ptx9xx.NOTHING_USES_MBARRIER(), help=ptx9xx.REMOVE_INITIALIZATION())
        yield Observation((step, None), 0, True, finding)


RULE = Rule(ptx9xx.UNUSED_MBARRIER, check)
