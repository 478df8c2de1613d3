"""PTX623: the last CTA, which an atomic determines, reads data of the other CTAs without synchronization.

What it does
    Finds atomics on a word that all CTAs of the grid share, or all along one of its axes, and whose result determines
    which CTA continues to read what each CTA stored to global memory before, if no fence is between the stores and the
    atomic. It is reported only if only the position of the thread and parameters determine the stores, only the result
    of the atomic determines who reads, and both access the same bytes of one buffer. If that fence is present but none
    is between the atomic and the reads, the question is left open, and `--policy strict` warns. It is also left open
    where data or other unknown values may determine the word, the stores or the reads, and a fence is missing on some
    path.

Why it matters
    An atomic is relaxed by default and orders nothing else. The last CTA may read the values from before the stores of
    the other CTAs, although it has observed their atomics.

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
from ptxkit.analysis.memory.last_block_reduction import (
    LastBlockRead,
    UndecidedLastBlockRead,
    find_last_block_reads,
    find_unfollowed_atomic,
)
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import memory_words, ptx6xx
from ptxkit.isa.effects import Access
from ptxkit.rules.absence_proofs import prove_no_selection
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_a, is_global_access, sites_of

_FENCES = ("fence.acq_rel.gpu;", "membar.gl;")


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the atomic that selects the last CTA."""
    atomic = find_unfollowed_atomic(kernel.program)
    if atomic is not None:
        yield OpenObligation(atomic, ptx6xx.LAST_BLOCK_IN_FUNCTION())
    for found in find_last_block_reads(kernel.explorer):
        if isinstance(found, UndecidedLastBlockRead):
            yield OpenObligation(found.read, ptx6xx.LAST_BLOCK_MAY_READ())
        elif found.is_released and kernel.policy != "strict":
            yield OpenObligation(found.read, ptx6xx.FENCE_AFTER_ATOMIC_MAY_BE_NEEDED())
        else:
            finding = _missing_acquire(found) if found.is_released else _missing_release(found)
            yield Observation((found.read, found.store), 0, True, finding)


def _missing_release(found: LastBlockRead) -> Finding:
    return Finding(
        primary=found.read,
        message=(
            ptx6xx.NO_FENCE_BEFORE_LAST_BLOCK_ATOMIC()
            if found.is_earlier
            else memory_words.STORE_AFTER_LAST_BLOCK_ATOMIC()
        ),
        labels=((found.atomic, ptx6xx.ATOMIC_LEADS_HERE()), (found.store, ptx6xx.STORE_IN_EACH_CTA())),
        help=(
            ptx6xx.ADD_FENCES_AROUND_ATOMIC(fence=_FENCES[0])
            if found.is_earlier
            else memory_words.ORDER_STORE_BEFORE_ATOMIC()
        ),
        properties={"space": "global", "scope": "gpu"},
        group_key=found.atomic,
        lacks=((found.store, found.read),),
        fixes=tuple(add_statement(StepEdit(found.atomic, each)) for each in _FENCES if found.is_earlier),
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
        lacks=((found.store, found.read),),
        fixes=tuple(add_statement(StepEdit(found.atomic, each, "after")) for each in _FENCES),
    )


RULE = Rule(
    ptx6xx.LAST_BLOCK_UNORDERED,
    check,
    sites=sites_of(is_global_access, is_a(Access, kind="update")),
    prove=prove_no_selection,
)
