"""PTX622: all CTAs of a grid use one word by operations whose scope is a CTA only.

What it does
    Finds `atom` and `red` of scope `.cta` on a word of global memory that is the same for all CTAs, since its address
    comes from parameters and what the driver fills, where each CTA of the grid executes them: the thread's place in its
    CTA alone decides who does, and the kernel asks for its CTA's place in the grid, so that it is made for several.
    Finds loops, too, that wait for a word which all CTAs update by loads of scope `.cta`.

Why it matters
    An atomic is atomic to those whose threads its scope includes. Two of different CTAs may both read the old value,
    and one of the updates is lost. A load need never see what threads do that its scope leaves out.

Example
    @%p1 atom.relaxed.cta.global.add.u32 %r2, [%rd1], 1;

Use instead
    @%p1 atom.relaxed.gpu.global.add.u32 %r2, [%rd1], 1;

ISA section
    "Conflict and Data-Races", "Morally strong operations", "Scope". Catalogue: MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.cta_scope_atomics import CtaScopeAccess, find_cta_scope_accesses
from ptxkit.rules.model import Finding, Observation, Rule

_HELP = "name a scope that includes the other CTAs: `.gpu`, or `.cluster` where the grid is one cluster"


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at each atomic of global memory, and at each loop that waits for a word of it."""
    for use in find_cta_scope_accesses(kernel.program):
        yield Observation((use.step, use.update), 0, True, _finding(use))


def _finding(use: CtaScopeAccess) -> Finding:
    properties = {"space": "global", "scope": "cta"}
    if use.update is None:
        words = "updates a word that all CTAs of the grid update, and is atomic within its own CTA only"
        return Finding(primary=use.step, message=words, help=_HELP, properties=properties)
    return Finding(
        primary=use.step,
        message="waits for a word that all CTAs of the grid update at line {1}, and its scope is its own CTA only",
        labels=((use.update, "update of the word, by each CTA"),),
        help=_HELP,
        properties=properties,
    )


RULE = Rule("PTX622", "narrow-update", ("Conflict and Data-Races", "Morally strong operations", "Scope"), check)
