"""PTX706: Tensor Memory is accessed again before the wait for an earlier load or store of the thread.

What it does
    Finds a load of columns that the same thread stores, a store to columns that it loads, and a load, store or
    multiplication of another thread that is ordered after such an access, if no `tcgen05.wait::st` or
    `tcgen05.wait::ld` is between the first access and the second one, or the release to the other thread.

Why it matters
    `tcgen05.ld` and `tcgen05.st` are asynchronous, and may complete in another order than they were issued. The use of
    a register that a load writes does not order other accesses to the columns.

Example
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

Use instead
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};
    tcgen05.wait::st.sync.aligned;
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];

ISA section
    "tcgen05.wait", "Memory Consistency Model for 5th generation of TensorCore operations". Catalogue: TC9, TC13, TC14.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cluster_facts import is_alone_in_cluster
from ptxkit.analysis.context.collective_participation import WARPGROUP
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import all_read_registers
from ptxkit.analysis.tensor.tensor_memory import (
    TmemPairBudget,
    TmemUse,
    are_unordered,
    has_wait_between,
    observed_completion,
    uses_of,
    writes_before,
)
from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.isa.effects import Access
from ptxkit.rules.model import IF_EXAMINED, Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_tensor_access, sites_of
from ptxkit.rules.tensor_proofs import prove_moves_complete
from ptxkit.syntax.constants import WARP_SIZE

_WAITS = {"tcgen05.ld": "tcgen05.wait::ld", "tcgen05.st": "tcgen05.wait::st"}


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each pair of accesses to the same columns, if the first is a load or store and at least one writes."""
    for number, facts in enumerate(kernel.scenarios):
        if not facts.has_unknown_call and is_alone_in_cluster(facts):
            yield from _check_scenario(number, facts)


def _check_scenario(number: int, facts: ScenarioFacts) -> Iterator[Observation]:
    uses = [use for thread in facts.threads.values() for use in uses_of(thread)]
    used = facts.program.analysis(all_read_registers) if uses else frozenset()
    moves = [use for use in uses if use.completion in _WAITS]
    stores = [use for use in moves if use.is_write]
    pairs = TmemPairBudget(facts)
    for use in uses if moves else ():
        for earlier in writes_before(use, moves if use.is_write else stores, facts.budget):
            if not _share_lanes(earlier, use) or _execute_together(earlier, use):
                continue
            if pairs.allow(earlier, use):
                kept = _is_satisfied(facts, earlier, use)
                if kept is False and _is_awaited_by_use(earlier, used) and not _is_refilled_early(facts, earlier, use):
                    kept = None  # the use of its results waits for the load
                if kept is not None:
                    exact = not kept and facts.is_certain_pair(
                        earlier.thread, earlier.position, use.thread, use.position
                    )
                    apart = earlier.thread is use.thread or bool(observed_completion(facts, earlier, use))
                    finding = None if kept else _finding(earlier, use, apart=apart)
                    yield Observation((use.event.step, earlier.event.step), number, exact, finding)


def _is_awaited_by_use(use: TmemUse, used: frozenset[str]) -> bool:
    """Returns whether the use of a load's results waits for it, so that `wait::ld` has no effect."""
    if use.completion != "tcgen05.ld":
        return False
    operands = use.event.step.instruction.operands
    return bool(operands) and not used.isdisjoint(registers_in(operands[0], use.event.step.scope))


def _share_lanes(earlier: TmemUse, use: TmemUse) -> bool:
    """Returns whether two accesses certainly share a lane.

    Loads and stores access lanes from one on, multiplications access all lanes. Warps with separate lanes share none,
    whatever their addresses are; PTX707 reports these.
    """
    if use.completion not in _WAITS:
        return True
    if (earlier.thread.tid // WARP_SIZE - use.thread.tid // WARP_SIZE) % (WARPGROUP // WARP_SIZE):
        return False
    one, other = earlier.location, use.location
    return one is not None and other is not None and one[1] == other[1]


def _execute_together(earlier: TmemUse, use: TmemUse) -> bool:
    """Returns whether two threads are lanes of one warp, which load and store together."""
    same_warp = earlier.thread.tid // WARP_SIZE == use.thread.tid // WARP_SIZE
    return use.completion in _WAITS and same_warp and earlier.thread is not use.thread


def _is_satisfied(facts: ScenarioFacts, earlier: TmemUse, use: TmemUse) -> bool | None:
    group = earlier.completion or ""
    if earlier.thread is use.thread:
        return has_wait_between(earlier.thread, group, earlier.position, use.position)
    edges = observed_completion(facts, earlier, use)
    if not edges:
        return False if _is_unordered(facts, earlier, use) else None
    return any(has_wait_between(earlier.thread, group, earlier.position, edge.release_position) for edge in edges)


def _is_unordered(facts: ScenarioFacts, earlier: TmemUse, use: TmemUse) -> bool:
    """Returns whether the two are in two warps of any block, and nothing may order them."""
    launch = facts.scenario.launch
    is_apart = earlier.thread is not use.thread and (launch.is_exact or launch.is_limit)
    return is_apart and not observed_completion(facts, earlier, use) and are_unordered(facts, earlier, use)


def _is_refilled_early(facts: ScenarioFacts, load: TmemUse, use: TmemUse) -> bool:
    """Returns whether a thread writes columns after it has executed a load that another warp may execute later."""
    own = (at for at, event in use.thread.positions(Access) if event.step is load.event.step)
    return next(own, use.position) < use.position and _is_unordered(facts, load, use)


def _is_common_practice(earlier: TmemUse, use: TmemUse) -> bool:
    """Returns whether a thread loads what it stored.

    The manual requires a wait, but kernels of NVIDIA omit it.
    """
    return earlier.thread is use.thread and (earlier.completion, use.completion) == ("tcgen05.st", "tcgen05.ld")


def _finding(earlier: TmemUse, use: TmemUse, *, apart: bool) -> Finding:
    """Returns the finding.

    apart: whether the two are ordered, so that only the wait is missing.
    """
    wait = _WAITS[earlier.completion or ""]
    does = "load" if earlier.completion == "tcgen05.ld" else "store"
    where = ptx7xx.BEFORE_THIS_LINE() if earlier.thread is use.thread else ptx7xx.BEFORE_THREAD_SIGNALS()
    lack, fix = ptx7xx.NO_WAIT_BETWEEN(wait=wait), ptx7xx.ADD_TCGEN05_WAIT(wait=wait, place=where)
    if not apart:
        lack = ptx7xx.WARPS_UNORDERED()
        fix = ptx7xx.ADD_BARRIER_AFTER_WAIT(wait=wait)
    return Finding(
        primary=use.event.step,
        message=ptx7xx.USE_DURING_ACCESS(access=does, reason=lack),
        labels=((earlier.event.step, ptx7xx.ACCESS_OF_COLUMNS(access=does)),),
        help=fix,
        severity=Severity.WARNING if _is_common_practice(earlier, use) else Severity.ERROR,
        properties={"completion": earlier.completion or ""},
        group_key=earlier.event.step,
        fixes=(add_statement(StepEdit(earlier.event.step, f"{wait}.sync.aligned;", "after")),),
        lacks=((earlier.event.step,) if apart else (earlier.event.step, use.event.step),),
    )


RULE = Rule(
    ptx7xx.TENSOR_WAIT,
    check,
    asynchronous=True,
    sites=sites_of(is_tensor_access),
    prove=prove_moves_complete,
    needs_proof=IF_EXAMINED,
)
