"""PTX622: all CTAs of a grid use one word by operations whose scope is a CTA only.

What it does
    Finds `atom` and `red` of scope `.cta` on a word of global memory that is the same for all CTAs, since its address
    comes from parameters and what the driver fills, where each CTA of the grid executes them: the thread's place in its
    CTA alone decides who does, and the kernel reads its CTA's place in the grid, so that it is made for several.
    Finds loops, too, that wait for a word which all CTAs update by loads of scope `.cta`.

Why it matters
    An atomic is atomic to those whose threads its scope includes. Two of different CTAs may both read the old value,
    and one of the updates is lost. A load need never see what threads do that its scope leaves out.

Example
    @%p1 atom.relaxed.cta.global.add.u32 %r2, [%rd1], 1;

Use instead
    @%p1 atom.relaxed.gpu.global.add.u32 %r2, [%rd1], 1;

ISA section
    "Conflict and Data-races", "Morally strong operations", "Scope". Catalogue: MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.cta_scope_atomics import CtaScopeAccess, find_cta_scope_accesses
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.rules.model import Finding, Observation, Rule

_HELP = ptx6xx.NAME_WIDER_SCOPE()


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at each atomic of global memory, and at each loop that waits for a word of it."""
    for use in find_cta_scope_accesses(kernel.program):
        yield Observation((use.step, use.update), 0, True, _finding(use))


def _finding(use: CtaScopeAccess) -> Finding:
    properties = {"space": "global", "scope": "cta"}
    if use.update is None:
        words = ptx6xx.UPDATE_AT_CTA_SCOPE()
        return Finding(primary=use.step, message=words, help=_HELP, properties=properties)
    return Finding(
        primary=use.step,
        message=ptx6xx.POLL_AT_CTA_SCOPE(),
        labels=((use.update, ptx6xx.UPDATE_BY_EACH_CTA()),),
        help=_HELP,
        properties=properties,
    )


RULE = Rule(ptx6xx.NARROW_UPDATE, check)
