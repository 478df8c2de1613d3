"""Finds instructions that all threads of a warp or warpgroup must execute together, and that only some execute.

Source: PTX ISA, "wgmma.mma_async" (`.aligned`: all threads of the warpgroup), "tcgen05.alloc", "tcgen05.ld" (of the
warp).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Effect

#: The number of threads of a warpgroup: four warps.
WARPGROUP = 128


@dataclass(frozen=True, slots=True)
class UnevenExecution:
    """An instruction that one thread of a team executes more often than another one, where both traces are complete."""

    step: Step
    most_frequent: ThreadView
    least_frequent: ThreadView
    counts: tuple[int, int]

    @property
    def is_certain(self) -> bool:
        """Whether the traces of both threads depend on no guess."""
        return self.most_frequent.trace.is_certain() and self.least_frequent.trace.is_certain()


def count_executions(thread: ThreadView, concerns: Callable[[Effect], bool]) -> dict[Step, int]:
    """Returns how often a thread executes each instruction with such an effect."""
    seen: dict[Step, set[int]] = defaultdict(set)
    concerned = cache(lambda step: any(map(concerns, step.effects)))
    for event in thread.trace.events:
        if isinstance(event, TraceEvent) and concerned(event.step) and concerns(event.effect):
            seen[event.step].add(event.visit)
    return {step: len(visits) for step, visits in seen.items()}


def compare_executions(
    facts: ScenarioFacts, concerns: Callable[[Effect], bool], size: int
) -> Iterator[tuple[Step, UnevenExecution | None]]:
    """Yields each instruction of each team of `size` consecutive threads, with its uneven execution, if any."""
    teams: dict[int, list[tuple[ThreadView, dict[Step, int]]]] = defaultdict(list)
    for thread in facts.threads.values():
        if thread.trace.end_reason == "exit" and not thread.trace.has_unknown_call:
            teams[thread.tid // size].append((thread, count_executions(thread, concerns)))
    for team in teams.values():
        for step in dict.fromkeys(step for _, times in team for step in times):
            yield step, _find_uneven(step, team)


def _find_uneven(step: Step, team: list[tuple[ThreadView, dict[Step, int]]]) -> UnevenExecution | None:
    """Returns the threads with the most and the fewest executions; threads whose path is certain are preferred."""
    ranked = sorted(team, key=lambda each: not each[0].trace.is_certain())
    more, most = max(ranked, key=lambda each: each[1].get(step, 0))
    less, least = min(ranked, key=lambda each: each[1].get(step, 0))
    times = most.get(step, 0), least.get(step, 0)
    return UnevenExecution(step, more, less, times) if times[0] != times[1] else None
