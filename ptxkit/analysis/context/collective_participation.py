"""Instructions that all threads of a warp, or of a warpgroup, must execute together, and those that only some execute.

Source: PTX ISA, "wgmma.mma_async" (`.aligned`: all threads of the warpgroup), "tcgen05.alloc", "tcgen05.ld" (of the
warp).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Effect

#: Threads of a warpgroup: four warps.
WARPGROUP = 128
WARP = 32


@dataclass(frozen=True, slots=True)
class UnevenExecution:
    """An instruction that one thread of a team executes more often than another one of it, both to their ends."""

    step: Step
    most_frequent: ThreadView
    least_frequent: ThreadView
    counts: tuple[int, int]


def count_executions(thread: ThreadView, concerns: Callable[[Effect], bool]) -> dict[Step, int]:
    """How often a thread executes each instruction with such an effect."""
    seen: dict[Step, set[int]] = defaultdict(set)
    for event in thread.trace.events:
        if isinstance(event, TraceEvent) and concerns(event.effect):
            seen[event.step].add(event.visit)
    return {step: len(visits) for step, visits in seen.items()}


def compare_executions(
    facts: ScenarioFacts, concerns: Callable[[Effect], bool], size: int
) -> Iterator[tuple[Step, UnevenExecution | None]]:
    """Of each team of `size` threads in a row and each instruction: what is uneven about it, None where nothing is."""
    teams: dict[int, list[tuple[ThreadView, dict[Step, int]]]] = defaultdict(list)
    for thread in facts.threads.values():
        if thread.trace.end_reason == "exit" and not thread.trace.has_unknown_call:
            teams[thread.tid // size].append((thread, count_executions(thread, concerns)))
    for team in teams.values():
        for step in dict.fromkeys(step for _, times in team for step in times):
            yield step, _find_uneven(step, team)


def _find_uneven(step: Step, team: list[tuple[ThreadView, dict[Step, int]]]) -> UnevenExecution | None:
    """The most and the least busy thread; threads whose path is sure come first."""
    ranked = sorted(team, key=lambda each: not each[0].trace.is_certain())
    more, most = max(ranked, key=lambda each: each[1].get(step, 0))
    less, least = min(ranked, key=lambda each: each[1].get(step, 0))
    times = most.get(step, 0), least.get(step, 0)
    return UnevenExecution(step, more, less, times) if times[0] != times[1] else None
