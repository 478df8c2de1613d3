"""PTX504: a phase of an mbarrier never ends, as too few threads arrive.

What it does
    Plays through how all threads of the CTA, or of all CTAs of its cluster, arrive at mbarriers and wait for them, and
    finds a wait that stays for ever: its phase needs more arrivals than the threads make before they all wait, or are
    gone. Where threads wait for each other in a circle, and all would go on if one wait began with the other parity,
    that wait is named: of a ring in which producer and consumers begin with parity 0, the producer's.

Why it matters
    The kernel hangs.

Example
    @%p1 mbarrier.init.shared::cta.b64 [bar], 2;
    bar.sync 0;
    @%p1 mbarrier.arrive.shared::cta.b64 _, [bar];
    wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra wait;

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;

ISA section
    "Phase of the mbarrier object", "mbarrier.init", "mbarrier.arrive". Catalogue: MB7, MB9, MB12, MB20, CA10.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.sync.mbarrier_location import location_of
from ptxkit.analysis.sync.mbarrier_model import MbarrierState
from ptxkit.analysis.sync.phase_fault_localization import WrongCount, WrongParity
from ptxkit.analysis.sync.sync_schedule import BlockedThread
from ptxkit.isa.effects import MbarrierArrive, MbarrierTrack, MbarrierWait
from ptxkit.rules.arrival_count_help import count_fixes, format_count_help
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant
from ptxkit.rules.sync_evidence import find_initialization, find_root_blocked_thread, format_cta, make_observations


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at each wait: those that pass keep the rule."""
    for number, world in enumerate(kernel.scenarios):
        broken: dict[Step, Finding] = {}
        # An arrival too many may leave a phase behind that nobody sees: PTX505 speaks of it.
        for rehearsal in [] if any(played.excess_arrivals for played in world.schedules) else world.schedules:
            stuck = find_root_blocked_thread(world, rehearsal)
            if world.simulation.size == 1 and any(
                each.mbarrier is not None and each.mbarrier.pending_arrivals and not _has_arrivals(world, each)
                for each in rehearsal.blocked_threads
            ):
                continue  # PTX503 speaks of what all others wait for, too
            if (
                stuck is not None
                and stuck.mbarrier is not None
                and stuck.mbarrier.pending_arrivals
                and _has_arrivals(world, stuck)
            ):
                finding = _finding(world, stuck, stuck.mbarrier)
                broken.setdefault(finding.primary, finding)
        waits = {
            e.step for a in world.simulation.thread_classes for e in a.events if isinstance(e.effect, MbarrierWait)
        }
        yield from make_observations(kernel, number, waits, broken)


def _has_arrivals(world: ScenarioFacts, stuck: BlockedThread) -> bool:
    """Whether some thread arrives at all; PTX503 speaks of objects at which none does."""
    place = location_of(_rank_of(world, stuck), stuck.event)
    return place is not None and any(
        isinstance(e.effect, MbarrierArrive | MbarrierTrack) for e in world.simulation.events_at(place)
    )


def _rank_of(world: ScenarioFacts, stuck: BlockedThread) -> int:
    return world.simulation.thread_classes[stuck.thread_class].rank


def _finding(world: ScenarioFacts, stuck: BlockedThread, state: MbarrierState) -> Finding:
    fault = world.simulation.fault
    if isinstance(fault, WrongParity) and fault.parity:
        return _wrong_first_parity(world, fault)
    arrived = state.count - state.pending_arrivals
    labels = [(step, "arrives") for step in dict.fromkeys(event.step for event in state.arrivals)]
    place = location_of(_rank_of(world, stuck), stuck.event)
    initialised = find_initialization(world, place)
    if initialised is not None:
        labels.append((initialised, f"each phase needs {state.count} arrivals"))
    late = stuck.event.amount if isinstance(stuck.event.amount, int) else None
    others = "no arrival is" if not arrived else f"{arrived} of its {state.count} arrivals are"
    where = format_cta(world, _rank_of(world, stuck))
    message = f"waits{where} for a phase that never ends: {others} made in phase {state.completed_phases + 1}"
    mend = f"make the count of `mbarrier.init` {arrived}, or let as many threads arrive in each phase as it says"
    if not arrived:
        mend = "let a thread arrive that does not wait, itself, for what comes behind this wait"
    if late is not None and state.completed_phases and not arrived:
        message = f"waits{where} for parity {late}, but phase {state.completed_phases} is the last to end"
        mend = "wait for a phase that ends, or let the threads that arrive come round as often as those that wait"
    properties: dict[str, object] = {"count": state.count, "arrived": arrived, "phase": state.completed_phases + 1}
    mends = tuple(
        FixCandidate(f"make the count {arrived}", (change,), safe=False)
        for change in (replace_constant(initialised, state.count, arrived) if initialised and arrived else ())
    )
    if isinstance(fault, WrongCount) and place in fault.locations:
        mend, mends = format_count_help(fault), count_fixes(fault)
    elif isinstance(fault, WrongParity):
        properties["parity"] = fault.parity
        if fault.wait is not stuck.event.step:
            labels.append((fault.wait, "waits for parity 1 first"))
            mend = f"begin with parity 0 at line {{{len(labels)}}}"
        else:
            mend = "wait for parity 0 first"
    return Finding(
        primary=stuck.event.step,
        message=message,
        labels=tuple(labels),
        help=mend,
        properties=properties,
        fixes=mends,
    )


def _wrong_first_parity(world: ScenarioFacts, fault: WrongParity) -> Finding:
    """The wait for the first phase of a fresh mbarrier that keeps all others waiting, in its thread and elsewhere."""
    stuck = [each for played in world.schedules for each in played.blocked_threads if each.event.step is not fault.wait]
    return Finding(
        primary=fault.wait,
        message="waits for parity 0 of a fresh mbarrier, whose first phase does not end before this wait passes",
        labels=tuple((step, "waits for ever since") for step in dict.fromkeys(each.event.step for each in stuck)),
        help="begin with parity 1: a fresh mbarrier answers as if the phase before its first had ended",
        properties={"parity": fault.parity},
    )


RULE = Rule(
    "PTX504",
    "mbarrier-missing-arrivals",
    ("Phase of the mbarrier object", "mbarrier.init", "mbarrier.arrive"),
    check,
    asynchronous=True,
)
