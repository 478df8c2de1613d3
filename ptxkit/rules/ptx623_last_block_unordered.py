"""PTX623: the CTA that an atomic's answer tells that it is the last one reads what the others never released.

What it does
    Finds atomics on a word that all CTAs of the grid share, whose answer decides which of them goes on to read what
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
    "Causality Order", "Release and Acquire Patterns", "Conflict and Data-Races". Catalogue: MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.last_block_reduction import LastBlockRead, find_last_block_reads
from ptxkit.diagnostics import Severity
from ptxkit.rules.model import Finding, FixCandidate, Observation, Rule, StepEdit

_FENCES = ("fence.acq_rel.gpu;", "membar.gl;")


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at the atomic that tells CTAs apart."""
    for found in find_last_block_reads(kernel.explorer):
        if not found.is_released or kernel.policy == "strict":
            finding = _missing_acquire(found) if found.is_released else _missing_release(found)
            yield Observation((found.read, found.store), 0, True, finding)


def _missing_release(found: LastBlockRead) -> Finding:
    return Finding(
        primary=found.read,
        message="reads what other CTAs stored at line {2}, as the atomic at line {1} answers: no fence stands between"
        " the store and the atomic",
        labels=((found.atomic, "its answer leads here"), (found.store, "store, in each CTA")),
        help=f"add `{_FENCES[0]}` between line {{2}} and line {{1}}, and another one behind the atomic",
        properties={"space": "global", "scope": "gpu"},
        group_key=found.atomic,
        fixes=tuple(FixCandidate(f"add `{each}`", (StepEdit(found.atomic, each),)) for each in _FENCES),
    )


def _missing_acquire(found: LastBlockRead) -> Finding:
    return Finding(
        primary=found.read,
        message="reads what other CTAs stored at line {2}, as the atomic at line {1} answers: no fence stands between"
        " the atomic and the read",
        labels=((found.atomic, "its answer leads here"), (found.store, "store, in each CTA")),
        help=f"add `{_FENCES[0]}` behind line {{1}}",
        severity=Severity.WARNING,
        properties={"space": "global", "scope": "gpu", "policy": "strict"},
        group_key=found.atomic,
        fixes=tuple(FixCandidate(f"add `{each}`", (StepEdit(found.atomic, each, "after"),)) for each in _FENCES),
    )


RULE = Rule(
    "PTX623",
    "last-comer",
    ("Causality Order", "Release and Acquire Patterns", "Conflict and Data-Races"),
    check,
)
