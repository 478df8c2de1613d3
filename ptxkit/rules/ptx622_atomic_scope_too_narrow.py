"""PTX622: all CTAs of a grid update one word by operations of scope `.cta`.

What it does
    Finds `atom` and `red` of scope `.cta` on a word of global memory that is the same for all CTAs, because its address
    depends only on parameters and constants of the launch, if each CTA of the grid executes them: only the position of
    the thread in its CTA determines which threads do, and the kernel reads the position of the CTA in the grid, so it
    is written for several CTAs. It also finds loops that poll a word that all CTAs update with loads of scope `.cta`.
    Where data, branches or a caller may determine the word or the CTAs that update it, the question is left open.

Why it matters
    An atomic operation is atomic only with operations of threads within its scope. Two threads of different CTAs may
    both read the old value, and one of the updates is lost. A load may never observe writes of threads outside its
    scope.

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
from ptxkit.isa.effects import Access
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import both, is_a, is_global_access, sites_of

_HELP = ptx6xx.NAME_WIDER_SCOPE()


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each atomic on global memory, and each loop that polls a word of it."""
    for use in find_cta_scope_accesses(kernel.program):
        if use.is_certain:
            yield Observation((use.step, use.update), 0, True, _finding(use))
        else:
            yield OpenObligation(use.step, ptx6xx.CTAS_MAY_SHARE_WORD())


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


RULE = Rule(ptx6xx.ATOMIC_SCOPE_TOO_NARROW, check, sites=sites_of(both(is_global_access, is_a(Access, scope="cta"))))
