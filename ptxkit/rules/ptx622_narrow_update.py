"""PTX622: all CTAs of a grid update one word by atomics that are atomic within a CTA only.

What it does
    Finds `atom` and `red` of scope `.cta` on a word of global memory that is the same for all CTAs, a parameter and a
    number, where each CTA of the grid executes them: the thread's place in its CTA alone decides who does, and the
    kernel asks for its CTA's place in the grid, so that it is made for several.

Why it matters
    An atomic is atomic to those whose threads its scope includes. Two of different CTAs may both read the old value,
    and one of the updates is lost.

Example
    @%p1 atom.relaxed.cta.global.add.u32 %r2, [%rd1], 1;

Use instead
    @%p1 atom.relaxed.gpu.global.add.u32 %r2, [%rd1], 1;

ISA section
    "Conflict and Data-Races", "Morally strong operations", "Scope". Catalogue: MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.narrow_updates import narrow_updates
from ptxkit.analysis.program import Step
from ptxkit.rules.finding import Finding, Observation, Rule


def check(kernel: Kernel) -> Iterator[Observation]:
    """Looks at each atomic of global memory."""
    for step in narrow_updates(kernel.program):
        yield Observation((step, None), 0, True, _finding(step))


def _finding(step: Step) -> Finding:
    return Finding(
        primary=step,
        message="updates a word that all CTAs of the grid update, and is atomic within its own CTA only",
        labels=(),
        help="name a scope that includes the other CTAs: `.gpu`, or `.cluster` where the grid is one cluster",
        properties={"space": "global", "scope": "cta"},
    )


RULE = Rule("PTX622", "narrow-update", ("Conflict and Data-Races", "Morally strong operations", "Scope"), check)
