"""Finds accesses that only something may order that orders nothing by itself, or whose addresses are not known.

Each pair is a question, not a race: volatile flags, lanes that a shuffle makes converge, unknown addresses.

Source: PTX ISA, "Conflict and Data-races", "Causality Order", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race, RaceAnalysis
from ptxkit.analysis.sync.warp_convergence import is_collective_step


def find_unlocated_races(kernel: KernelFacts) -> Iterator[tuple[int, Race]]:
    """Yields the accesses at unknown addresses that nothing orders with accesses that may be to the same bytes.

    The scenario of each is the first one that shows it.
    """
    for number, facts in kernel.complete_scenarios:
        yield from ((number, race) for race in RaceAnalysis(facts).unlocated_races(kernel.extents_of(facts)))


def find_flag_ordered_races(kernel: KernelFacts) -> Iterator[Race]:
    """Yields the accesses that only volatile accesses may order, which the manual defines as relaxed."""
    known = {race.steps for _, race in kernel.races}
    for _, facts in kernel.complete_scenarios:
        if facts.happens_before.orders_by_memory:
            yield from (race for race in facts.analysis(_races_without_volatile) if race.steps not in known)


def find_convergence_ordered_races(kernel: KernelFacts) -> Iterator[Race]:
    """Yields the accesses of lanes that only a collective instruction of the warp may order, such as a shuffle."""
    if not any(map(is_collective_step, kernel.explorer.covered_steps())):
        return
    known = {race.steps for _, race in kernel.races}
    for _, facts in kernel.complete_scenarios:
        yield from (race for race in facts.analysis(_races_without_collectives) if race.steps not in known)


def _races_without_volatile(facts: ScenarioFacts) -> list[Race]:
    return list(RaceAnalysis(facts, volatile_orders=False))


def _races_without_collectives(facts: ScenarioFacts) -> list[Race]:
    return list(RaceAnalysis(facts, warps=facts.warp_order.without_collectives(), within_warps=True))
