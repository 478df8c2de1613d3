"""PTX506: an mbarrier hands memory over to another CTA of the cluster, and does not order the two CTAs.

What it does
    Finds shared memory that one CTA stores to and another one loads or stores, where the two are behind each other by
    an arrival at the other CTA's mbarrier and a wait for it only, and one of these is relaxed, or has the scope `.cta`,
    which is what both have where they name none. Also memory that was read, and that the other CTA writes again, by a
    copy or by itself, after a relaxed hand-over; under `--policy strict`, after one of scope `.cta`. Bytes that a copy
    brings are no matter where they are read: its own completion tells of them.

Why it matters
    The arrival counts, so the wait ends in time; but it publishes nothing to the other CTA. The other one may load
    what was there before.

Example
    st.shared::cluster.u32 [%r8], %r10;
    mbarrier.arrive.shared::cluster.b64 _, [%r9];

Use instead
    st.shared::cluster.u32 [%r8], %r10;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];

ISA section
    "mbarrier.arrive", "mbarrier.test_wait, mbarrier.try_wait", "Causality Order". Catalogue: MB15, MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.insufficient_scope import InsufficientScope, find_insufficient_scopes, missing_scope
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.access_ranges import is_generic_read
from ptxkit.diagnostics import Severity
from ptxkit.rules.model import Finding, Observation, Rule

_SCOPE_WORDS = {"cta": ", at scope .cta", "relaxed": ", which is relaxed"}


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Looks at what each CTA hands to others of its cluster."""
    for number in range(len(kernel.scenarios)):
        for crossing in find_insufficient_scopes(kernel, number):
            key = (crossing.after.event.step, crossing.before.event.step)
            yield Observation(key, number, crossing.is_certain, _finding(crossing), 2)


def _finding(crossing: InsufficientScope) -> Finding:
    arrival, wait = crossing.edge.arrival.event, crossing.edge.wait.event
    lacks = {event.step: lack for event in (arrival, wait) if (lack := missing_scope(event)) is not None}
    verb = "reads" if is_generic_read(crossing.after.event) else "writes"
    used = "wrote" if crossing.is_data else "read"
    mends = {
        arrival.step: "`.release.cluster` on the arrival at line {2}",
        wait.step: "`.acquire.cluster` on the wait at line {3}",
    }
    return Finding(
        primary=crossing.after.event.step,
        message=f"{verb} shared memory that another CTA {used} at line {{1}}:"
        " what hands it over does not order the two",
        labels=(
            (crossing.before.event.step, f"{'write' if crossing.is_data else 'read'} by a thread of another CTA"),
            (arrival.step, "its arrival at this CTA's mbarrier" + _SCOPE_WORDS.get(lacks.get(arrival.step, ""), "")),
            (wait.step, "the wait for it" + _SCOPE_WORDS.get(lacks.get(wait.step, ""), "")),
        ),
        help="write " + " and ".join(mends[step] for step in lacks),
        severity=Severity.WARNING if crossing.is_cta_scope_reuse else Severity.ERROR,
        group_key=next(iter(lacks)),
    )


RULE = Rule(
    "PTX506",
    "handover-without-order",
    ("mbarrier.arrive", "mbarrier.test_wait, mbarrier.try_wait", "Causality Order"),
    check,
)
