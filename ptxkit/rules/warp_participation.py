"""Checks of instructions that all lanes of a warp must execute together, for several rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.analysis.context.collective_participation import compare_executions
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.isa.effects import Effect
from ptxkit.rules.model import Finding, Observation
from ptxkit.syntax.constants import WARP_SIZE


def check_whole_warps(
    number: int, facts: ScenarioFacts, concerns: Callable[[Effect], bool], help_: Message
) -> Iterator[Observation]:
    """Yields, for each warp and each instruction with such an effect, whether all lanes execute it equally often.

    number: the index of the scenario.
    """
    for step, uneven in compare_executions(facts, concerns, WARP_SIZE):
        finding = None
        if uneven is not None:
            some, other = uneven.most_frequent.tid, uneven.least_frequent.tid
            message, properties = ptx6xx.LANES_DIVERGE(thread=some, other=other), {"executes": some, "misses": other}
            finding = Finding(primary=step, message=message, help=help_, properties=properties)
        yield Observation((step, None), number, uneven is None or uneven.is_certain, finding)
