"""PTX623: the CTA that is the last one by an atomic's result reads what the others never released.

What it does
    Finds atomics on a word that all CTAs of the grid share, whose result decides which of them continues to read what
    each stored to global memory before, with no fence between the stores and the atomic. Only where the thread's place
    and parameters alone decide the stores, the answer alone who reads, and both are to the same bytes of one buffer.
    Under `strict` a warning where there is that fence, and none between the atomic and the reads.

Why it matters
    An atomic is relaxed: it orders nothing but itself. The CTA that comes last may read what was there before the
    others stored, though it knows that they have counted themselves.

Example
    @%p1 st.global.b32 [%rd3], %r2;
    @%p1 atom.global.add.u32 %r4, [%rd2], 1;

Use instead
    @%p1 st.global.b32 [%rd3], %r2;
    fence.acq_rel.gpu;
    @%p1 atom.global.add.u32 %r4, [%rd2], 1;
    fence.acq_rel.gpu;

ISA section
    "Causality Order", "Release and Acquire Patterns", "Conflict and Data-races". Catalogue: MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.last_block_reduction import LastBlockRead, find_last_block_reads
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit

_FENCES = ("fence.acq_rel.gpu;", "membar.gl;")


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at the atomic that distinguishes CTAs."""
    for found in find_last_block_reads(kernel.explorer):
        if not found.is_released or kernel.policy == "strict":
            finding = _missing_acquire(found) if found.is_released else _missing_release(found)
            yield Observation((found.read, found.store), 0, True, finding)


def _missing_release(found: LastBlockRead) -> Finding:
    return Finding(
        primary=found.read,
        message=ptx6xx.NO_FENCE_BEFORE_LAST_BLOCK_ATOMIC(),
        labels=((found.atomic, ptx6xx.ATOMIC_LEADS_HERE()), (found.store, ptx6xx.STORE_IN_EACH_CTA())),
        help=ptx6xx.ADD_FENCES_AROUND_ATOMIC(fence=_FENCES[0]),
        properties={"space": "global", "scope": "gpu"},
        group_key=found.atomic,
        fixes=tuple(FixCandidate(f"add `{each}`", (StepEdit(found.atomic, each),)) for each in _FENCES),
    )


def _missing_acquire(found: LastBlockRead) -> Finding:
    return Finding(
        primary=found.read,
        message=ptx6xx.NO_FENCE_AFTER_LAST_BLOCK_ATOMIC(),
        labels=((found.atomic, ptx6xx.ATOMIC_LEADS_HERE()), (found.store, ptx6xx.STORE_IN_EACH_CTA())),
        help=ptx6xx.ADD_FENCE_AFTER_ATOMIC(fence=_FENCES[0]),
        severity=Severity.WARNING,
        properties={"space": "global", "scope": "gpu", "policy": "strict"},
        group_key=found.atomic,
        fixes=tuple(FixCandidate(f"add `{each}`", (StepEdit(found.atomic, each, "after"),)) for each in _FENCES),
    )


RULE = Rule(ptx6xx.LAST_COMER, check)
