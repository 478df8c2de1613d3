"""PTX408: a kernel writes global memory that it loads through the non-coherent cache.

What it does
    Finds `ld.global.nc` of bytes that the same kernel stores to, or updates, through the same pointer. The finding is a
    warning if each such load precedes the store of another thread, which waits at a barrier. It is a note if only the
    thread that has loaded the bytes writes them afterwards, as in a kernel that works in place: the load returns the
    old value.

Why it matters
    Data that is loaded with `.nc` must be read-only while the kernel runs: nothing orders such loads and stores, and
    the stores do not update the cache that the loads use. A load after the store may return the old value; a load
    before the store of another thread may be moved past the barrier.

Example
    st.global.u32 [%rd1], %r1;
    ld.global.nc.u32 %r2, [%rd1];

Use instead
    st.global.u32 [%rd1], %r1;
    ld.global.u32 %r2, [%rd1];

ISA section
    "Data Movement and Conversion Instructions: ld.global.nc", "Scope and applicability of the model".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.pointer_overlap import (
    AccessOverlap,
    find_overlaps,
    is_plain_global_access,
    is_read_only_load,
)
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.isa.effects import Access
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import is_a, sites_of


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each load through the non-coherent cache, and each store to the bytes that it may load."""
    loads = [step for step in kernel.program.effectful_steps if is_read_only_load(step)]
    stores = (
        [step for step in kernel.program.effectful_steps if is_plain_global_access(step, "write", "update")]
        if loads
        else []
    )
    for each in find_overlaps(kernel.explorer, loads, stores, splits=True):
        if each.is_in_place:
            if each.overlap is not None and each.is_exact:  # otherwise the load returns the expected value
                yield Observation((each.first, None), each.scenario_index, True, _in_place_finding(each.overlap))
            continue
        finding = None if each.overlap is None else _finding(each.overlap)
        yield Observation((each.first, each.other), each.scenario_index, each.is_exact, finding)


def _in_place_finding(pair: AccessOverlap) -> Finding:
    return Finding(
        primary=pair.first.step,
        message=ptx4xx.NON_COHERENT_LOAD_BEFORE_OWN_WRITE(),
        labels=((pair.other.step, ptx4xx.WRITE_OF_SAME_BYTES()),),
        help=ptx4xx.LOAD_WITHOUT_NC(),
        severity=Severity.NOTE,
        properties={"space": "global"},
    )


def _finding(pair: AccessOverlap) -> Finding:
    earlier = pair.first_is_earlier
    when = ptx4xx.LATER_WRITES() if earlier else ptx4xx.WRITES_AT_LINE()
    return Finding(
        primary=pair.first.step,
        message=ptx4xx.NON_COHERENT_LOAD_OF_WRITTEN_DATA(when=when),
        labels=((pair.other.step, ptx4xx.WRITE_OF_SAME_BYTES()),),
        help=ptx4xx.USE_COHERENT_LOAD(),
        severity=Severity.WARNING if earlier else Severity.ERROR,
        properties={"space": "global"},
    )


RULE = Rule(ptx4xx.WRITE_TO_READ_ONLY_DATA, check, sites=sites_of(is_a(Access, coherent=False)))
