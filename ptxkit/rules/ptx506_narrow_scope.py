"""PTX506: an mbarrier passes memory to another CTA of the cluster, but does not order the accesses of the two CTAs.

What it does
    Finds shared memory that one CTA stores and another one loads or stores, if only an arrival at the mbarrier of the
    other CTA and a wait for it are between them, and the arrival or the wait is relaxed or has the scope `.cta`, which
    is the default. It also finds memory that was read and that the other CTA then overwrites, by a copy or a store,
    after a relaxed arrival; under `--policy strict`, also after one of scope `.cta`. Reads of bytes that a copy writes
    are not reported: the completion of the copy publishes them.

Why it matters
    The arrival counts, so the wait ends in time; but it publishes nothing to the other CTA, which may load the old
    values.

Example
    st.shared::cluster.u32 [%r8], %r10;
    mbarrier.arrive.shared::cluster.b64 _, [%r9];

Use instead
    st.shared::cluster.u32 [%r8], %r10;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];

ISA section
    "mbarrier.arrive", "mbarrier.test_wait / mbarrier.try_wait", "Causality Order". Catalogue: MB15, MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.insufficient_scope import InsufficientScope, find_insufficient_scopes, missing_scope
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.access_ranges import is_generic_read
from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import both, is_mbarrier_operation, is_remote, may_touch_shared, sites_of
from ptxkit.rules.partner_proofs import prove_separate_ctas

_SCOPE_TEMPLATES = {"cta": ptx5xx.AT_SCOPE_CTA, "relaxed": ptx5xx.WHICH_IS_RELAXED}


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks the memory that each CTA shares with others of its cluster."""
    for number in range(len(kernel.scenarios)):
        for crossing in find_insufficient_scopes(kernel, number):
            key = (crossing.after.event.step, crossing.before.event.step)
            yield Observation(key, number, crossing.is_certain, _finding(crossing))


def _finding(crossing: InsufficientScope) -> Finding:
    arrival, wait = crossing.edge.arrival.event, crossing.edge.wait.event
    lacks = {event.step: lack for event in (arrival, wait) if (lack := missing_scope(event)) is not None}
    verb = "reads" if is_generic_read(crossing.after.event) else "writes"
    used = "wrote" if crossing.is_data else "read"
    fixes = {
        arrival.step: ptx5xx.RELEASE_AT_CLUSTER(),
        wait.step: ptx5xx.ACQUIRE_AT_CLUSTER(),
    }
    first, *second = (fixes[step] for step in lacks)
    return Finding(
        primary=crossing.after.event.step,
        message=ptx5xx.HANDOVER_WITHOUT_CLUSTER_SCOPE(access=verb, earlier=used),
        labels=(
            (crossing.before.event.step, ptx5xx.ACCESS_OF_OTHER_CTA(access="write" if crossing.is_data else "read")),
            (arrival.step, ptx5xx.ARRIVAL_AT_THIS_CTA(scope=_describe_scope(lacks.get(arrival.step)))),
            (wait.step, ptx5xx.WAIT_FOR_ARRIVAL(scope=_describe_scope(lacks.get(wait.step)))),
        ),
        help=ptx5xx.WRITE_BOTH(first=first, second=second[0]) if second else ptx5xx.WRITE_ONE(order=first),
        severity=Severity.WARNING if crossing.is_cta_scope_reuse else Severity.ERROR,
        group_key=next(iter(lacks)),
    )


def _describe_scope(lack: str | None) -> Message | str:
    return _SCOPE_TEMPLATES[lack]() if lack in _SCOPE_TEMPLATES else ""


RULE = Rule(
    ptx5xx.MBARRIER_WITHOUT_ORDERING,
    check,
    sites=sites_of(may_touch_shared, both(is_mbarrier_operation, is_remote)),
    prove=prove_separate_ctas,
)
