"""PTX621: two threads access the same bytes, one of them writes, and nothing orders the accesses.

What it does
    Finds a write to shared memory by one thread, and an access to the same bytes by a thread of another warp or by
    another lane of its warp, with no barrier, mbarrier or other synchronization that may order them: a read of data
    that other threads may not have written yet, or a tile that is refilled, by a store or a copy, while other threads
    may still read its old contents or their `cp.async` may still write there.

    If all threads store the same value, and read it after their own store, the finding states that it is a race in the
    formal sense only; all such stores to one variable are one finding.

    Weak stores and loads of global memory by the threads of one CTA are compared, too, where their addresses are made
    from the same argument or variable by known numbers.

    A store and an atomic operation to the same bytes are a race, too. Two stores by different instructions are an open
    question, unless both store one constant, because they race only if the values differ.

    Lanes of a warp between whose accesses is only an instruction that they execute together, such as a shuffle or
    `ldmatrix`, are an open question, because the manual does not state that it orders their accesses to memory.

    If conditions of loaded data lead threads to both accesses, or one condition to one of them, the race is a warning.

    An access at an address that loaded data decide is a warning where the code limits the address to a variable, and
    another thread accesses the same bytes for some data.

    An access that no execution of the analysis reached is an open question, unless no launch reaches it.

    Accesses of two CTAs of a cluster to the same bytes are an open question where the cluster barrier does not order
    them and neither CTA waits for an mbarrier that another one signals. A relaxed arrival without a fence orders none,
    and a `cp.async` copy counts as a write at the wait of its thread.

Why it matters
    Warps run at different speeds, and so may the lanes of one warp. The read returns the old value, the new one, or a
    mixture, depending on the timing of the run.

Example
    st.shared.b32 [%r1], %r2;
    ld.shared.b32 %r3, [%r4];

Use instead
    st.shared.b32 [%r1], %r2;
    bar.sync 0;
    ld.shared.b32 %r3, [%r4];

ISA section
    "Conflict and Data-races", "Causality Order", "bar, barrier". Catalogue: CA12, PX2, BR4, BK12.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_races import find_cluster_races
from ptxkit.analysis.context.access_extents import is_unlocated
from ptxkit.analysis.context.barrier_placement import find_barrier_between
from ptxkit.analysis.context.chosen_addresses import find_races_of_chosen_data
from ptxkit.analysis.context.early_reads import EarlyReads
from ptxkit.analysis.context.equal_value_stores import may_store_different_values, stores_equal_values
from ptxkit.analysis.context.global_memory_facts import find_global_races
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.races_on_all_paths import RacesOnAllPaths, is_for_all_sizes
from ptxkit.analysis.context.uncertain_races import (
    find_convergence_ordered_races,
    find_flag_ordered_races,
)
from ptxkit.analysis.dataflow.thread_numbering import count_block_axes
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.unreached_accesses import unreached_shared_accesses
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx3xx, ptx6xx
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Finding, Observation, OpenObligation, ProofResult, Rule
from ptxkit.rules.obligation_sites import (
    Site,
    either,
    is_global_access,
    is_shared_access,
    may_touch_shared,
    reads_shared,
    sites_of,
    subject_of,
    writes_global,
    writes_shared,
)
from ptxkit.rules.operation_nouns import operation_noun
from ptxkit.rules.order_proofs import proves_order


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks the accesses of different threads to the same bytes."""
    races = [(number, conflict) for number, conflict in kernel.races if _is_reported_here(conflict)]
    wide = {_step_pair(conflict) for _, conflict in races if not conflict.is_intra_warp}
    early_reads = EarlyReads(kernel)
    on_all_paths = kernel.analysis(RacesOnAllPaths)
    for number, conflict in races:
        if conflict.is_intra_warp and _step_pair(conflict) in wide:
            continue  # synchronization that orders the warps also orders their lanes
        facts = kernel.scenarios[number]
        launch = facts.scenario.launch
        write, read = conflict.write, conflict.read
        if _are_stores(conflict):
            if may_store_different_values(conflict, kernel.explorer.input_independence):
                has_shape = launch.is_exact or launch.is_limit or kernel.program.analysis(count_block_axes) == 1
                yield OpenObligation(read.event.step, ptx6xx.STORES_MAY_DIFFER(), "" if has_shape else "block")
            continue
        if not (launch.is_exact or launch.is_limit):
            step = _finding(facts, conflict).primary
            yield OpenObligation(step, ptx6xx.BLOCK_MAY_BE_ONE_WARP(), "block")
            continue
        conditions = on_all_paths.conditions_of(conflict, facts.scenario)
        equal = _may_be_formal(conflict) and stores_equal_values(facts, conflict, kernel.explorer.input_independence)
        finding = _equal_stores_finding(facts, conflict) if equal else _finding(facts, conflict)
        if early_reads.order_later_writes(number, conflict):
            # The barrier that its first round lacks orders its later rounds, too.
            finding = replace(finding, lacks=(*finding.lacks, conflict.steps[::-1]))
        for condition in conditions or ():
            label = condition, ptx6xx.DATA_LEAD_TO_ACCESS()
            finding = replace(finding, severity=Severity.WARNING, labels=(*finding.labels, label))
        yield Observation((write.event.step, read.event.step), number, conditions is not None, finding)
    yield from _check_global_memory(kernel)
    yield from _races_of_chosen_data(kernel)


def ask(kernel: KernelFacts) -> Iterator[OpenObligation]:
    """Yields the accesses of which it is not known whether something orders them, or which bytes they use."""
    for race in find_flag_ordered_races(kernel):
        if not _are_stores(race) or may_store_different_values(race, kernel.explorer.input_independence):
            yield OpenObligation(race.steps[1], ptx6xx.ONLY_VOLATILE_MAY_ORDER())
    for race in find_convergence_ordered_races(kernel):
        if _is_reported_here(race) and not _are_stores(race):
            yield OpenObligation(race.steps[1], ptx6xx.ONLY_CONVERGENCE_MAY_ORDER())
    if kernel.first_uncompared_access is not None:
        yield OpenObligation(kernel.first_uncompared_access, ptx3xx.TOO_MANY_ACCESSES())
    for step in unreached_shared_accesses(kernel.explorer):
        yield OpenObligation(step, ptx3xx.NO_PATH_REACHES())
    for step in find_cluster_races(kernel):
        yield OpenObligation(step, ptx6xx.OTHER_CTA_MAY_CONFLICT())
    for question in kernel.box_size_conflicts:
        yield OpenObligation(question.access, ptx6xx.BOX_SIZE_NOT_KNOWN())


def _check_global_memory(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    for number, (facts, races) in kernel.analysis(find_global_races).items():
        for race in (each for each in races if not _are_stores(each)):
            finding = _finding(facts, race)
            finding = replace(finding, properties={**finding.properties, "space": "global"})
            if not (facts.scenario.launch.is_exact or facts.scenario.launch.is_limit):
                yield OpenObligation(finding.primary, ptx6xx.BLOCK_MAY_BE_ONE_WARP(), "block")
                continue
            is_certain = kernel.analysis(RacesOnAllPaths).is_certain(race, facts.scenario)
            is_sure = is_certain and is_for_all_sizes(kernel, race)
            yield Observation((race.write.event.step, race.read.event.step), number, is_sure, finding)


def _races_of_chosen_data(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Yields the accesses at unknown addresses that nothing orders, as races where the kernel accepts such data."""
    for number, race, word in find_races_of_chosen_data(kernel):
        facts = kernel.scenarios[number]
        if word is None:
            step = next(each.step for each in (race.write.event, race.read.event) if is_unlocated(each))
            yield OpenObligation(step, ptx6xx.UNORDERED_ACCESS_MAY_OVERLAP())
            continue
        finding = _finding(facts, race)
        if facts.scenario.launch.is_exact or facts.scenario.launch.is_limit:
            example = word.load, ptx6xx.WORD_DECIDES_ADDRESS(number=word.number)
            finding = replace(finding, severity=Severity.WARNING, labels=(*finding.labels, example))
            yield Observation(_step_pair(race), number, exact=True, finding=finding)
        else:
            yield OpenObligation(finding.primary, ptx6xx.BLOCK_MAY_BE_ONE_WARP(), "block")


def _step_pair(conflict: Race) -> tuple[Step, Step]:
    return conflict.write.event.step, conflict.read.event.step


def _is_reported_here(conflict: Race) -> bool:
    """Returns whether no other rule reports the race.

    PTX302 and PTX303 report incomplete copies, PTX401 accesses of the async proxy.
    """
    write, read = conflict.write.event.effect, conflict.read.event.effect
    if not isinstance(write, Access) or not isinstance(read, Access):
        return False
    if conflict.completes_late:
        return read.kind == "write" and not conflict.is_write_after_read and conflict.write.completion_wait is not None
    return (
        conflict.is_write_after_read or read.kind == "write" or (write.completion is None and read.completion is None)
    )


def _are_stores(conflict: Race) -> bool:
    """Returns whether both accesses are synchronous writes, which race only if they store different values."""
    effects = [each.event.effect for each in (conflict.write, conflict.read)]
    return all(isinstance(each, Access) and each.kind == "write" and each.completion is None for each in effects)


def _may_be_formal(conflict: Race) -> bool:
    """Returns whether a race is harmless where the threads store equal values: a read that follows the stores."""
    read = conflict.read.event.effect
    return not conflict.is_write_after_read and isinstance(read, Access) and read.kind == "read"


def _finding(facts: ScenarioFacts, conflict: Race) -> Finding:
    name = facts.name_of(conflict.write.event)
    who = ptx6xx.LANE_OF_THE_WARP() if conflict.is_intra_warp else "warp"
    read = conflict.read.event.effect
    if isinstance(read, Access) and read.kind == "write":
        return Finding(
            primary=conflict.read.event.step,
            message=ptx6xx.STORE_INTO_COPY_TARGET(variable=name),
            labels=((conflict.write.event.step, ptx6xx.COPY_BY_ANOTHER(who=who)),),
            help=ptx6xx.WAIT_FOR_COPIES_FIRST()
            if not conflict.is_write_after_read
            else ptx6xx.ADD_BARRIER_BEFORE_COPIES(),
            properties={"space": "shared::cta", "hazard": "write after write"},
            group_key=conflict.write.event.step,
            lacks=(conflict.steps,),
        )
    if conflict.is_write_after_read:
        barrier = find_barrier_between(facts, conflict.read, conflict.write)
        verb = ptx6xx.COPIES_INTO() if operation_noun(conflict.write.event.step).template is ptx3xx.COPY else "writes"
        return Finding(
            primary=conflict.write.event.step,
            message=ptx6xx.WRITE_DURING_READ(access=verb, variable=name),
            labels=((conflict.read.event.step, ptx6xx.READ_BY_ANOTHER(who=who)), *release_label(barrier)),
            help=format_barrier_help(barrier, ptx6xx.BETWEEN_READ_AND_WRITE(), "readers"),
            properties={"space": "shared::cta", "hazard": "write after read", "barrier": barrier.sole_text},
            group_key=conflict.read.event.step,
            fixes=barrier_fixes(barrier, conflict.read.event.step, conflict.write.event.step),
            lacks=(conflict.steps,),
        )
    barrier = find_barrier_between(facts, conflict.write, conflict.read)
    return Finding(
        primary=conflict.read.event.step,
        message=ptx6xx.READ_DURING_WRITE(variable=name),
        labels=((conflict.write.event.step, ptx6xx.WRITE_BY_ANOTHER(who=who)), *release_label(barrier)),
        help=format_barrier_help(barrier, ptx6xx.BETWEEN_WRITE_AND_READ(), "writers"),
        properties={"space": "shared::cta", "hazard": "read after write", "barrier": barrier.sole_text},
        group_key=conflict.write.event.step,
        fixes=barrier_fixes(barrier, conflict.write.event.step, conflict.read.event.step),
        lacks=(conflict.steps,),
    )


def _equal_stores_finding(facts: ScenarioFacts, conflict: Race) -> Finding:
    """Returns the finding about stores of equal values.

    All races of this kind for one variable form one finding, because one barrier after the stores fixes them.
    """
    name = facts.name_of(conflict.write.event)
    finding = _finding(facts, conflict)
    return replace(
        finding,
        message=(ptx6xx.EQUAL_VALUES_STORED(variable=name)),
        labels=((conflict.write.event.step, ptx6xx.ALL_STORE_SAME_VALUE()), *finding.labels[1:]),
        group_key=("equal values", name),
    )


_prove_read = proves_order(reads_shared, writes_shared)
_prove_write = proves_order(writes_shared, may_touch_shared)


def _prove(proofs: FunctionProofs, site: Site) -> ProofResult:
    """Proves that no other thread writes the bytes of a read, and that none accesses those of a write.

    It proves nothing of accesses that are of global memory by their form.
    """
    is_write = any(writes_shared(each) and subject_of(each) == site.subject for each in site.step.effects)
    return _prove_write(proofs, site) if is_write else _prove_read(proofs, site)


RULE = Rule(
    ptx6xx.SHARED_MEMORY_RACE,
    check,
    ask,
    sites=sites_of(either(may_touch_shared, is_global_access), either(writes_shared, writes_global)),
    prove=_prove,
    needs_proof=is_shared_access,
)
