"""The facts of the scenarios of a kernel with its accesses to global memory, and the races there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ptxkit.analysis.context.global_races import (
    find_reused_buffers,
    may_race_in_global_memory,
    place_buffers,
    place_reused_buffers,
)
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts, build_scenario_facts
from ptxkit.analysis.context.races import Race, RaceAnalysis
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent
from ptxkit.analysis.sync.sync_simulation import SyncSimulation
from ptxkit.fast_dataclasses import replace


def find_global_races(kernel: KernelFacts) -> dict[int, tuple[ScenarioFacts, list[Race]]]:
    """Returns the races in global memory, and the facts of the accesses, by the number of their scenario.

    The facts of a scenario without races may have no threads.
    """
    found: dict[int, tuple[ScenarioFacts, list[Race]]] = {}
    terms = kernel.explorer.symbolic_values
    if kernel.scenarios and may_race_in_global_memory(kernel.program, kernel.explorer.launch):
        for number, wide in _outside(kernel):
            if wide.scenario.launch.threads == 1:
                continue
            if reusing := find_reused_buffers(wide.groups, kernel.program):
                facts = _place(
                    kernel, wide, partial(place_reused_buffers, program=kernel.program, terms=terms, reusing=reusing)
                )
                found[number] = facts, list(RaceAnalysis(facts))
            else:
                simulation = SyncSimulation(wide.cluster)
                found[number] = ScenarioFacts(wide.scenario, {}, kernel.program, wide.groups, True, simulation), []
    return found


def in_global_memory(
    kernel: KernelFacts, is_wanted: Callable[[TraceEvent | GroupEvent], bool]
) -> Iterator[tuple[int, ScenarioFacts]]:
    """Yields the complete scenarios, with numbers, with accesses to global memory instead of shared memory.

    is_wanted: which accesses are to have addresses.
    """
    for number, wide in _outside(kernel):
        terms = kernel.explorer.symbolic_values
        yield number, _place(kernel, wide, partial(place_buffers, terms=terms, is_wanted=is_wanted))


def _outside(kernel: KernelFacts) -> Iterator[tuple[int, Exploration]]:
    """Yields the complete scenarios, with numbers, with all accesses to global memory."""
    for number, facts in kernel.complete_scenarios:
        given = facts.scenario
        if not given.is_flipped:
            wide = kernel.explorer.execute_outside(given, 0, given.cluster_index).cluster[given.rank]
            if wide.is_complete:
                yield number, wide


def _place(kernel: KernelFacts, wide: Exploration, place: Callable[[Exploration], list[GroupTrace]]) -> ScenarioFacts:
    """Returns the facts of an execution with numbers as addresses in global memory, which `place` determines."""
    program, explorer = kernel.program, kernel.explorer
    cluster = [Exploration(each.scenario, place(each), each.is_complete) for each in wide.cluster]
    placed = replace(cluster[wide.scenario.rank], cluster=cluster)
    return build_scenario_facts(placed, program, explorer.budget, is_of_global_memory=True)
