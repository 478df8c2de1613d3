"""PTX603: only some lanes of a warp execute an aligned barrier, or another instruction of the whole warp.

What it does
    Finds a `bar`, `barrier.aligned` or aligned cluster barrier that some lanes of a warp execute more often than
    others, a `tensormap.cp_fenceproxy`, which is aligned too, and matrix instructions (`ldmatrix`, `stmatrix`,
    `movmatrix`, `mma`, `wmma`) that some lanes execute and others do not.

Why it matters
    All threads of a warp must execute the same aligned barrier; otherwise the behavior is undefined. If the other
    lanes of the warp have exited, current GPUs continue; if they wait elsewhere, the kernel hangs.

Example
    @%p1 bar.sync 0;                // by thread 0 only

Use instead
    bar.sync 0;

ISA section
    "bar, barrier", "barrier.cluster", "tensormap.cp_fenceproxy", "Warp-level matrix load instruction: ldmatrix".
    Catalogue: BR2, TM6.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.partial_collectives import collective_steps, find_partial_collectives
from ptxkit.analysis.dataflow.slicing import may_change_tensor_maps
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Barrier, Effect, ProxyFence
from ptxkit.rules.execution_proofs import prove_whole_warp
from ptxkit.rules.model import Finding, Observation, Rule
from ptxkit.rules.obligation_sites import Site, either, sites_of
from ptxkit.rules.warp_participation import check_whole_warps
from ptxkit.syntax.constants import WARP_SIZE


def check(kernel: KernelFacts) -> Iterator[Observation]:
    """Checks each aligned barrier in every scenario, because lanes may exit early for some sizes only."""
    publishes = may_change_tensor_maps(kernel.program)
    for number, facts in enumerate(kernel.scenarios):
        if publishes:
            yield from check_whole_warps(number, facts, _is_map_release, ptx6xx.EXECUTE_WITH_WHOLE_WARP())
        if facts.is_complete and not facts.has_unknown_call:
            is_certain = all(actor.first_guess is None for actor in facts.thread_classes)
            for step, lanes in _partial_lane_counts(facts).items():
                finding = _finding(step, lanes) if lanes is not None else None
                yield Observation((step, None), number, False, finding, by_size=is_certain)
            for step, lanes in find_partial_collectives(facts).items():
                finding = _finding_of_collective(step, lanes) if lanes is not None else None
                is_exact = finding is not None and is_certain and _is_decided_by_position(kernel, step)
                yield Observation((step, None), number, is_exact, finding, by_size=is_certain)


def _is_decided_by_position(kernel: KernelFacts, step: Step) -> bool:
    """Returns whether no argument decides which threads of the CTA execute an instruction of the kernel."""
    certainty = kernel.explorer.input_independence
    return certainty.program.contains(step) and not certainty.may_argument_select_threads(step, of_cta=True)


def _partial_lane_counts(facts: ScenarioFacts) -> dict[Step, int | None]:
    """Returns, by aligned barrier, how many lanes of the first divergent warp execute it; None if no warp diverges."""
    counts: dict[Step, dict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    lanes = Counter(tid // WARP_SIZE for actor in facts.thread_classes for tid in actor.tids)
    cut = {warp for actor in facts.thread_classes if actor.end_reason != "exit" for warp in actor.warps}
    for actor in facts.thread_classes:
        met = Counter(e.step for e in actor.events if isinstance(e.effect, Barrier) and _is_aligned(e.effect))
        warps = Counter(tid // WARP_SIZE for tid in actor.tids) if met else Counter[int]()
        for step, times in met.items():
            for warp, count in warps.items():
                counts[step][warp][times] += count
    found: dict[Step, int | None] = {}
    for step, by_warp in counts.items():
        parted = [(warp, times) for warp, times in by_warp.items() if warp not in cut]
        odd = [sum(times.values()) for warp, times in parted if len(times) > 1 or sum(times.values()) < lanes[warp]]
        found[step] = odd[0] if odd else None
    return found


def _is_aligned(effect: Barrier) -> bool:
    return effect.aligned and effect.level != "warp"


def _is_aligned_barrier(effect: Effect) -> bool:
    return isinstance(effect, Barrier) and _is_aligned(effect)


def _is_map_release(effect: Effect) -> bool:
    """Returns whether an effect is that of an instruction with which a warp copies and releases a tensor map."""
    return (
        isinstance(effect, ProxyFence)
        and (effect.proxy, effect.direction) == ("tensormap", "release")
        and (effect.address is not None)
    )


def _finding(step: Step, lanes: int) -> Finding:
    return Finding(
        primary=step,
        message=ptx6xx.BARRIER_OF_PART_OF_WARP(lanes=lanes),
        help=ptx6xx.EXECUTE_WITH_WHOLE_WARP_OR_UNALIGNED(),
        properties={"lanes": lanes},
    )


def _finding_of_collective(step: Step, lanes: int) -> Finding:
    return Finding(
        primary=step,
        message=ptx6xx.COLLECTIVE_OF_PART_OF_WARP(lanes=lanes),
        help=ptx6xx.BRANCH_UNIFORMLY_IN_WARP(),
        properties={"lanes": lanes},
    )


def _sites(program: Program) -> Iterator[Site]:
    yield from sites_of(either(_is_aligned_barrier, _is_map_release))(program)
    yield from (Site(step) for step in collective_steps(program))


RULE = Rule(
    ptx6xx.PARTIAL_WARP_BARRIER,
    check,
    sites=_sites,
    prove=prove_whole_warp,
)
