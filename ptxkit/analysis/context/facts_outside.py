"""The facts of an execution of which all accesses to global memory are known."""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import ScenarioFacts, build_scenario_facts
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.values.scenario import Scenario


def build_facts_outside(explorer: Explorer, given: Scenario, rank: int, cluster_index: int) -> ScenarioFacts | None:
    """Returns the facts of a CTA of the grid with all accesses to global memory, by groups; no thread is followed.

    The result is None if its threads are not known.
    """
    wide = explorer.execute_outside(given, rank, cluster_index)
    if not wide.is_complete or any(group.has_unknown_call for group in wide.groups):
        return None
    return build_scenario_facts(wide, explorer.program, explorer.budget, with_threads=False)
