"""PTX314: shared memory that a multiplication reads is released before the multiplication is complete.

What it does
    Finds writes into the operands of a `wgmma.mma_async` or `tcgen05.mma` by a thread that was signaled before the
    multiplication was known to be complete: an arrival on the mbarrier of the empty slot, or a barrier, precedes the
    `wgmma.wait_group` that covers the multiplication. Of several warpgroups, each one must have waited. Where CTAs of a
    cluster signal each other, this is an open question: another CTA may order the write.

Why it matters
    The tensor core reads its operands asynchronously. If a slot is refilled too early, the product is sometimes
    computed from the wrong tile.

Example
    wgmma.commit_group.sync.aligned;
    mbarrier.arrive.shared::cta.b64 _, [empty];
    wgmma.wait_group.sync.aligned 0;

Use instead
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mbarrier.arrive.shared::cta.b64 _, [empty];

ISA section
    "wgmma.wait_group", "Async Proxy", "tcgen05.commit". Catalogue: WG6, TC9.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_facts import is_alone_in_cluster
from ptxkit.analysis.context.barrier_placement import find_barrier_between
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import is_operand_read
from ptxkit.analysis.tensor.operand_reuse import OperandReuse, find_operand_reuses, is_read_complete
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.isa.effects import Access, WaitGroup
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import both, either, is_a, reads_shared, sites_of, writes_shared
from ptxkit.rules.order_proofs import proves_order


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each copy into a location that a multiplication read in the previous iteration."""
    for number, facts in enumerate(kernel.scenarios):
        if not facts.has_unknown_call:
            alone = is_alone_in_cluster(facts)
            yield from _check_scenario(number, facts) if alone else _find_early_releases_in_cluster(facts)
    yield from _check_early_releases(kernel)


def _check_scenario(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    pair_budget = PairBudget(facts.budget)
    for turn in find_operand_reuses(facts):
        if pair_budget.allow((turn.reader.tid, turn.read.event.step, turn.write.step)):
            kept = is_read_complete(facts, turn)
            if kept is not None:
                sure = turn.reader.trace.is_certain(turn.read.position) and turn.writer.trace.is_certain(turn.position)
                finding = None if kept else _finding(facts.name_of(turn.write), turn)
                yield Observation((turn.write.step, turn.read.event.step), number, sure, finding)


def _find_early_releases_in_cluster(facts: ScenarioFacts) -> Iterator[OpenObligation]:
    """Yields the copies before which threads of the CTA signal only that a multiplication was started.

    Another CTA, whose signals are not followed, may do so.
    """
    pair_budget = PairBudget(facts.budget)
    for turn in find_operand_reuses(facts):
        key = (turn.reader.tid, turn.read.event.step, turn.write.step)
        if pair_budget.allow(key) and is_read_complete(facts, turn) is False:
            yield OpenObligation(turn.write.step, ptx3xx.OTHER_CTA_MAY_RELEASE())


def _check_early_releases(kernel: KernelFacts) -> Iterator[Observation]:
    """Yields writes by threads that another warpgroup signaled before it had waited for its multiplications."""
    for number, race in kernel.races:
        facts, write, read = kernel.scenarios[number], race.write, race.read
        launch = facts.scenario.launch
        known = launch.is_exact or launch.is_limit
        if known and race.is_early_release and read.completion_wait is not None and is_operand_read(read.event):
            wait = read.path.group.events[read.completion_wait].step
            barrier = find_barrier_between(facts, read, write)
            finding = Finding(
                primary=write.event.step,
                message=ptx3xx.FILL_DURING_MULTIPLICATION(variable=facts.name_of(write.event)),
                labels=(
                    (read.event.step, ptx3xx.READS_UNTIL_COMPLETE()),
                    (wait, ptx3xx.WAIT_OF_MULTIPLYING_THREADS()),
                    *release_label(barrier),
                ),
                help=format_barrier_help(barrier, ptx3xx.BETWEEN_WAIT_AND_FILL(), "multiplying threads", (2, 3)),
                properties={"completion": "wgmma", "barrier": barrier.sole_text},
                group_key=("early release", wait),
                fixes=barrier_fixes(barrier, wait, write.event.step),
                lacks=((read.event.step, write.event.step),),
            )
            exact = race.is_certain
            yield Observation((write.event.step, read.event.step), number, exact, finding)


def _finding(name: str, turn: OperandReuse) -> Finding:
    labels: list[tuple[Step, Message]] = [(turn.read.event.step, ptx3xx.READS_UNTIL_COMPLETE())]
    lacks: tuple[Step, ...] = (turn.read.event.step,)
    if turn.read.group == "wgmma":
        waits = [
            event.step
            for at, event in turn.reader.positions(WaitGroup)
            if at > turn.read.position and isinstance(event.effect, WaitGroup) and event.effect.group == "wgmma"
        ]
        labels += [(step, ptx3xx.NEXT_WAIT()) for step in waits[:1]]
        lacks = (*lacks, turn.write.step) if waits else lacks
        fix = ptx3xx.WAIT_BEFORE_RELEASE()
    else:
        fix = ptx3xx.COMMIT_TO_MBARRIER()
    return Finding(
        primary=turn.write.step,
        message=ptx3xx.FILL_DURING_MULTIPLICATION(variable=name),
        labels=tuple(labels),
        help=fix,
        properties={"completion": turn.read.group},
        group_key=turn.read.event.step,
        lacks=(lacks,),
    )


_MULTIPLIES = both(reads_shared, either(is_a(Access, completion="wgmma"), is_a(Access, completion="tcgen05")))

RULE = Rule(
    ptx3xx.OPERANDS_REUSED,
    check,
    asynchronous=True,
    sites=sites_of(writes_shared, _MULTIPLIES),
    prove=proves_order(writes_shared, _MULTIPLIES),
)
