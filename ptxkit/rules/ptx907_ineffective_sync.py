"""PTX907: a fence or a barrier has nothing to order in the kernel (a note, reported with `--notes`).

What it does
    Finds `fence.mbarrier_init` in a kernel without any instruction that concerns other CTAs of its cluster, or without
    relaxed arrivals and flags that such a fence could precede,
    `bar.warp.sync` and barriers of the CTA that precede all accesses and all other synchronization on all paths, and
    `wgmma.fence` if no instruction accesses the registers since the last fence or multiplication on each path.

Why it matters
    `fence.mbarrier_init` makes an initialization visible to other CTAs; threads of the same CTA learn of it by a
    barrier. A barrier orders accesses; the instructions after it need no barrier to be executed together.

Example
    @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
    bar.sync 0;

ISA section
    "membar / fence", "bar.warp.sync", "bar, barrier", "wgmma.fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.ineffective_sync import find_first_barriers, find_redundant_init_fences
from ptxkit.analysis.registers.redundant_register_fences import find_redundant_register_fences
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks the fences of initializations and registers, and the first barriers, on all paths."""
    found = [(step, ptx9xx.NO_OTHER_CTA()) for step in find_redundant_init_fences(kernel.program)]
    found += [(step, ptx9xx.NOTHING_TO_ORDER()) for step in find_first_barriers(kernel.program)]
    found += [(step, ptx9xx.NO_REGISTER_ACCESS()) for step in find_redundant_register_fences(kernel.program)]
    for step, message in found:
        yield Observation((step, None), 0, True, Finding(step, message, help=ptx9xx.REMOVE_INEFFECTIVE()))


RULE = Rule(ptx9xx.INEFFECTIVE_SYNC, check, on_request=True)
