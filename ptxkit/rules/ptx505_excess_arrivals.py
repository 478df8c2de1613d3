"""PTX505: more threads arrive at an mbarrier than its phase has room for.

What it does
    Plays through how all threads of the CTA, or of all CTAs of its cluster, arrive at mbarriers and wait for them, and
    finds an arrival that comes when its phase has all of its arrivals already, or in a phase that began before any
    thread had observed the end of the one before.

Why it matters
    An arrival too many counts for the next phase, which then ends early: its data is read before it is there. Or the
    count of pending arrivals leaves its range, which is undefined.

Example
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [bar];      // by every thread

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [bar], 128;

ISA section
    "Phase of the mbarrier object", "mbarrier.init", "mbarrier.arrive". Catalogue: MB7, MB13, CA10.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.sync.mbarrier_model import ExcessArrival
from ptxkit.analysis.sync.phase_fault_localization import WrongCount, WrongParity
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import MbarrierArrive, MbarrierTrack
from ptxkit.rules.arrival_count_help import count_fixes, format_count_help
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule
from ptxkit.rules.sync_evidence import find_initialization, format_cta, make_observations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at each arrival: those that fit into their phase keep the rule."""
    for number, world in enumerate(kernel.scenarios):
        by_object: dict[object, ExcessArrival] = {}
        for excess in (
            played.excess_arrivals[0]
            for played in (*world.schedules, *world.simulation.eager_async_schedules)
            if played.excess_arrivals
        ):
            by_object.setdefault(excess.location, _last_in_text(excess))
        fault = world.simulation.fault if by_object else None
        blamed = [
            each for each in by_object.values() if isinstance(fault, WrongCount) and each.location in fault.locations
        ]
        broken = {excess.event.step: _finding(world, excess) for excess in blamed or by_object.values()}
        arrivals = {
            e.step
            for a in world.simulation.thread_classes
            for e in a.events
            if isinstance(e.effect, MbarrierArrive | MbarrierTrack)
        }
        yield from make_observations(kernel, number, arrivals, broken)


def _last_in_text(excess: ExcessArrival) -> ExcessArrival:
    """Which arrival of a phase is the one too many depends on who comes first: the last in the text is named."""
    last = max((excess.event, *excess.earlier_arrivals), key=lambda event: event.step.start)
    if excess.is_unobserved or last is excess.event:
        return excess
    return replace(
        excess,
        event=last,
        earlier_arrivals=(excess.event, *(event for event in excess.earlier_arrivals if event is not last)),
    )


def _finding(world: ScenarioFacts, excess: ExcessArrival) -> Finding:
    others = dict.fromkeys(event.step for event in excess.earlier_arrivals if event.step is not excess.event.step)
    labels = [(step, "arrives in the phase before" if excess.is_unobserved else "arrives too") for step in others]
    initialised = find_initialization(world, excess.location)
    if initialised is not None:
        labels.append((initialised, f"each phase has room for {excess.count}"))
    where = format_cta(world, excess.location[0])
    phase = f"phase {excess.phase}" + (f" of an mbarrier{where}" if where else "")
    if excess.is_unobserved:
        message = f"arrives in {phase} before any thread has observed the end of phase {excess.phase - 1}"
        mend = "wait for the phase before arriving in the next one; or count all arrivals of a phase in `mbarrier.init`"
    else:
        message = f"arrives in {phase}, which has all of its {excess.count} arrivals already"
        mend = "wait for the phase before arriving again; or count all arrivals of a phase in `mbarrier.init`"
    fault = world.simulation.fault
    mends: tuple[FixCandidate, ...] = ()
    properties: dict[str, int] = {}
    if isinstance(fault, WrongCount) and excess.location in fault.locations and excess.event.amount in (None, 1):
        mend, mends = format_count_help(fault), count_fixes(fault)
    elif isinstance(fault, WrongParity):
        labels.append((fault.wait, f"waits for parity {1 - fault.parity} first"))
        mend, properties = f"begin with parity {fault.parity} at line {{{len(labels)}}}", {"parity": fault.parity}
    return Finding(
        primary=excess.event.step,
        message=message,
        labels=tuple(labels),
        help=mend,
        properties={"count": excess.count, "phase": excess.phase, "observed": not excess.is_unobserved, **properties},
        fixes=mends,
    )


RULE = Rule(
    "PTX505",
    "mbarrier-excess-arrivals",
    ("Phase of the mbarrier object", "mbarrier.init", "mbarrier.arrive"),
    check,
    asynchronous=True,
)
