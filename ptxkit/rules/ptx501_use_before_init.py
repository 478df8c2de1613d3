"""PTX501: an mbarrier is used before it is initialized, or without an order after its initialization.

What it does
    Finds an operation on an mbarrier by a thread that nothing orders after the `mbarrier.init` in another thread, and
    operations on an mbarrier that no thread of its CTA initializes.

Why it matters
    Uninitialized memory is not an mbarrier. An arrival before the initialization is lost, and the kernel hangs; a wait
    may return at once.

Example
    @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
    mbarrier.arrive.shared::cta.b64 _, [bar];

Use instead
    @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [bar];

ISA section
    "mbarrier.init", "Lifecycle of the mbarrier object". Catalogue: MB2, MB3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from operator import itemgetter
from typing import get_args

from ptxkit.analysis.cluster.cluster_facts import SIGNAL_EFFECTS, find_remote_accesses, scenario_of_rank
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.mbarrier.mbarrier_lifetimes import is_reached_after
from ptxkit.analysis.mbarrier.mbarrier_objects import find_initializations, is_ambiguous, mbarrier_of
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.isa.effects import MbarrierComplete, MbarrierInit, MbarrierUse
from ptxkit.rules.mbarrier_proofs import prove_initialized
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule, StepEdit, add_statement
from ptxkit.rules.obligation_sites import is_a, sites_of

_USES = get_args(MbarrierUse)
_CTA_BARRIER = "bar.sync 0;"
_CLUSTER_BARRIER = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each thread's first use of each mbarrier."""
    made = cache(_initialized_mbarriers)  # once for each scenario: many threads use many mbarriers
    for number, facts in enumerate(kernel.scenarios):
        if is_ambiguous(facts):
            if not facts.has_unknown_call:  # otherwise the runner reports what the call leaves open
                yield from _unknown_initializations(facts)
            continue
        yield from _check_scenario(number, facts, made)
        yield from _check_remote_uses(kernel, number, facts, made)


def _check_scenario(
    number: int, facts: ScenarioFacts, made: Callable[[ScenarioFacts], set[int] | None]
) -> Iterator[Observation | OpenObligation]:
    all_inits = facts.executes_all(MbarrierInit)
    inits = find_initializations(facts.threads.values())
    for thread in facts.threads.values():
        seen: set[int] = set()
        for position, event in sorted(thread.positions(*_USES), key=itemgetter(0)):
            address = mbarrier_of(event)
            if not isinstance(event.address, int):
                yield OpenObligation(event.step, ptx5xx.UNKNOWN_MBARRIER())
            if address is None or address in seen:
                continue
            seen.add(address)
            makers = inits.get(address)
            if makers is not None:
                yield _check_use(number, facts, makers, (thread, position, event))
            elif all_inits and _is_never_initialized(made(facts), address):
                yield Observation(
                    (event.step, None), number, thread.trace.is_certain(position), _uninitialized_use(event)
                )
            elif not _is_initialized(facts, made, address):
                missing = "" if facts.scenario.launch.is_exact else "block"
                yield OpenObligation(event.step, ptx5xx.INITIALIZATION_NOT_SEEN(), missing)


def _unknown_initializations(facts: ScenarioFacts) -> Iterator[OpenObligation]:
    """Yields the uses of mbarriers where the address of an initialization is unknown."""
    events = (event for thread in facts.threads.values() for event in thread.trace.events)
    uses = (event for event in events if isinstance(event, TraceEvent) and isinstance(event.effect, MbarrierUse))
    for step in dict.fromkeys(event.step for event in uses):
        yield OpenObligation(step, ptx5xx.INITIALIZED_ADDRESS_UNKNOWN())


def _check_remote_uses(
    kernel: KernelFacts, number: int, facts: ScenarioFacts, made: Callable[[ScenarioFacts], set[int] | None]
) -> Iterator[Observation | OpenObligation]:
    """Yields signals to mbarriers of another CTA of the cluster, which some thread of that CTA must initialize."""
    seen: set[tuple[int, int | None]] = set()
    for reach in find_remote_accesses(facts) if facts.scenario.launch.cluster_size > 1 else ():
        key = (reach.rank, reach.mbarrier)
        if key in seen or reach.mbarrier is None or not isinstance(reach.event.effect, SIGNAL_EFFECTS):
            continue
        seen.add(key)
        other = scenario_of_rank(kernel.scenarios, facts, reach.rank)
        if other is None or is_ambiguous(other):
            continue
        exact = reach.thread.trace.is_certain(reach.position) and other.is_exact
        all_inits = facts.executes_all(MbarrierInit) or other.executes_all(MbarrierInit)
        never = all_inits and _is_never_initialized(made(other), reach.mbarrier)
        finding = _uninitialized_use(reach.event, ptx5xx.CTA_OF_CLUSTER(rank=reach.rank)) if never else None
        if finding is None and not _is_initialized(other, made, reach.mbarrier):
            yield OpenObligation(reach.event.step, ptx5xx.INITIALIZATION_NOT_SEEN())
        yield Observation((reach.event.step, None), number, exact, finding)


def _initialized_mbarriers(facts: ScenarioFacts) -> set[int] | None:
    """Returns the mbarriers that threads of the CTA initialize; None where not all are known."""
    return None if facts.init_phase_threads is None else set(find_initializations(facts.init_phase_threads))


def _is_initialized(facts: ScenarioFacts, made: Callable[[ScenarioFacts], set[int] | None], address: int) -> bool:
    """Returns whether a thread of the CTA initializes an mbarrier on the paths of a scenario."""
    return address in (made(facts) or _all_inits(facts) or ())


def _all_inits(facts: ScenarioFacts) -> set[int] | None:
    """Returns the mbarriers that threads initialize on the paths of a scenario; None where there are too many."""
    threads = facts.distinct_threads(MbarrierInit)
    return None if threads is None else set(find_initializations(threads))


def _is_never_initialized(made: set[int] | None, address: int) -> bool:
    """Returns whether certainly no thread initializes the mbarrier."""
    return made is not None and address not in made


def _check_use(
    number: int,
    facts: ScenarioFacts,
    makers: list[tuple[ThreadView, int, TraceEvent]],
    use: tuple[ThreadView, int, TraceEvent],
) -> Observation:
    thread, position, event = use
    maker, made, init = makers[0]
    exact = thread.trace.is_certain(position) and maker.trace.is_certain(made)
    key = (event.step, init.step)
    if any(is_reached_after(facts, (other, at), (thread, position)) for other, at, _ in makers):
        return Observation(key, number, exact)
    exact = exact and not any(facts.may_guess_order(other, at, thread, position) for other, at, _ in makers)
    return Observation(key, number, exact, _unordered_use(event, init, maker is thread))


def _uninitialized_use(event: TraceEvent, where: Message | None = None) -> Finding:
    return Finding(
        primary=event.step,
        message=ptx5xx.MBARRIER_NEVER_INITIALIZED(where=where or ptx5xx.THIS_KERNEL()),
        help=ptx5xx.INITIALIZE_IN_ONE_THREAD(),
        group_key=event.address,
    )


def _unordered_use(event: TraceEvent, init: TraceEvent, same: bool) -> Finding:
    use = "completes on" if isinstance(event.effect, MbarrierComplete) else "uses"
    message = (ptx5xx.MBARRIER_USED_BEFORE_INIT if same else ptx5xx.MBARRIER_INIT_UNORDERED)(use=use)
    fix = ptx5xx.MOVE_INIT_BEFORE_USE() if same else ptx5xx.ADD_BARRIER_AFTER_INIT()
    fixes = (
        ()
        if same
        else tuple(add_statement(StepEdit(event.step, each), safe=False) for each in (_CTA_BARRIER, _CLUSTER_BARRIER))
    )
    return Finding(event.step, message, ((init.step, ptx5xx.INITIALIZED_HERE()),), fix, fixes=fixes)


RULE = Rule(
    ptx5xx.MBARRIER_USE_BEFORE_INIT,
    check,
    asynchronous=True,
    sites=sites_of(is_a(MbarrierUse)),
    prove=prove_initialized,
)
