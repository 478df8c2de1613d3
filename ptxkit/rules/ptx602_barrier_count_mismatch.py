"""PTX602: threads at one barrier name different numbers of threads.

What it does
    Finds executions of one barrier, in one phase, that name different numbers of threads.

Why it matters
    All threads of a phase must name the same number of threads; otherwise the behavior is undefined.

Example
    @%p1 bar.sync 1, 64;
    @!%p1 bar.arrive 1, 96;

Use instead
    @%p1 bar.sync 1, 96;
    @!%p1 bar.arrive 1, 96;

ISA section
    "bar, barrier". Catalogue: BR1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.diagnostics.catalogue import fix_titles, ptx6xx
from ptxkit.isa.effects import Barrier, Effect
from ptxkit.rules.execution_proofs import prove_counts
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant
from ptxkit.rules.obligation_sites import sites_of
from ptxkit.rules.sync_evidence import ScheduleFindings, make_observations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each barrier with a thread count."""
    for number, facts in enumerate(kernel.scenarios):
        counting = {
            e.step
            for a in facts.simulation.thread_classes
            for e in a.events
            if isinstance(e.effect, Barrier) and e.size is not None
        }
        yield from make_observations(kernel, number, counting, _find_mismatches)
        if not facts.scenario.is_flipped:
            for step in facts.simulation.chance_meetings:
                launch = facts.scenario.launch
                missing = "" if launch.is_exact or launch.is_limit else "block"
                yield OpenObligation(step, ptx6xx.MEETING_BY_CHANCE(), missing)


def _find_mismatches(facts: ScenarioFacts) -> ScheduleFindings:
    found = ScheduleFindings()
    for schedule in (each for each in facts.schedules if each.count_mismatches):
        first, second = sorted(schedule.count_mismatches[0], key=lambda event: event.step.start)
        found.add(second.step, _finding(first, second), schedule.has_certain_end)
    return found


def _finding(first: TraceEvent, second: TraceEvent) -> Finding:
    return Finding(
        primary=second.step,
        message=ptx6xx.BARRIER_COUNT_DIFFERS(count=second.size, other=first.size),
        labels=((first.step, ptx6xx.COUNTS_THREADS(count=first.size)),) if first.step is not second.step else (),
        help=ptx6xx.NAME_SAME_COUNT(),
        properties={"counted": second.size, "others": first.size},
        fixes=tuple(_fixes(first, second)),
    )


def _fixes(first: TraceEvent, second: TraceEvent) -> Iterator[FixCandidate]:
    """Yields the fixes: the other count here, and this count there."""
    for event, other in ((second, first), (first, second)):
        if isinstance(event.size, int) and isinstance(other.size, int):
            for change in replace_constant(event.step, event.size, other.size):
                yield FixCandidate(fix_titles.COUNT_THREADS(threads=other.size), (change,), safe=False)


def _counts_threads(effect: Effect) -> bool:
    return isinstance(effect, Barrier) and effect.threads is not None


RULE = Rule(
    ptx6xx.BARRIER_COUNT_MISMATCH,
    check,
    sites=sites_of(_counts_threads),
    compares_all_threads=True,
    prove=prove_counts,
)
