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

from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.last_comers import LastComer, last_comers
from ptxkit.diagnostics import Severity
from ptxkit.rules.finding import Change, Finding, Mend, Observation, Rule

_FENCES = ("fence.acq_rel.gpu;", "membar.gl;")


def check(kernel: Kernel) -> Iterator[Observation]:
    """Looks at the atomic that tells CTAs apart."""
    for found in last_comers(kernel.explorer):
        if not found.is_released or kernel.policy == "strict":
            finding = _unacquired(found) if found.is_released else _unreleased(found)
            yield Observation((found.read, found.store), 0, True, finding)


def _unreleased(found: LastComer) -> Finding:
    return Finding(
        primary=found.read,
        message="reads what other CTAs stored at line {2}, as the atomic at line {1} answers: no fence stands between"
        " the store and the atomic",
        labels=((found.atomic, "its answer leads here"), (found.store, "store, in each CTA")),
        help=f"add `{_FENCES[0]}` between line {{2}} and line {{1}}, and another one behind the atomic",
        properties={"space": "global", "scope": "gpu"},
        cause=found.atomic,
        mends=tuple(Mend(f"add `{each}`", (Change(found.atomic, each),)) for each in _FENCES),
    )


def _unacquired(found: LastComer) -> Finding:
    return Finding(
        primary=found.read,
        message="reads what other CTAs stored at line {2}, as the atomic at line {1} answers: no fence stands between"
        " the atomic and the read",
        labels=((found.atomic, "its answer leads here"), (found.store, "store, in each CTA")),
        help=f"add `{_FENCES[0]}` behind line {{1}}",
        severity=Severity.WARNING,
        properties={"space": "global", "scope": "gpu", "policy": "strict"},
        cause=found.atomic,
        mends=tuple(Mend(f"add `{each}`", (Change(found.atomic, each, "after"),)) for each in _FENCES),
    )


RULE = Rule(
    "PTX623",
    "last-comer",
    ("Causality Order", "Release and Acquire Patterns", "Conflict and Data-Races"),
    check,
)
