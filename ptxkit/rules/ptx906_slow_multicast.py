"""PTX906: a multicast copy is compiled for a target without hardware support for it (a note, reported with `--notes`).

What it does
    Finds copies with `.multicast::cluster` in a module whose `.target` has neither the suffix `a` nor `f`.

Why it matters
    The manual states that multicast is optimized for targets such as `sm_90a` and `sm_100f`, and may be much slower on
    others.

Example
    .target sm_90
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 512, [%r5], %h1;

Use instead
    .target sm_90a
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 512, [%r5], %h1;

ISA section
    "cp.async.bulk", "cp.async.bulk.tensor". Catalogue: BK18.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics.catalogue import ptx9xx
from ptxkit.isa.effects import Access
from ptxkit.rules.model import Finding, Observation, Rule


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each copy to several CTAs, for the declared target."""
    targets = kernel.program.module.targets
    if not targets or targets[0].endswith(("a", "f")):
        return
    for step in kernel.program.effectful_steps:
        if any(isinstance(effect, Access) and effect.multicast is not None for effect in step.effects):
            yield Observation((step, None), 0, True, _finding(step, targets[0]))


def _finding(step: Step, target: str) -> Finding:
    return Finding(
        primary=step,
        message=ptx9xx.MULTICAST_MAY_BE_SLOW(target=target),
        help=ptx9xx.COMPILE_FOR_FEATURES(target=target),
        group_key="target",
    )


RULE = Rule(ptx9xx.SLOW_MULTICAST, check)
