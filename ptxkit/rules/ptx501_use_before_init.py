"""PTX501: an mbarrier is used before its initialisation is ordered, or without any.

What it does
    Finds an operation on an mbarrier by a thread that nothing has told of the `mbarrier.init` in another thread, and
    operations on an object that no thread of its CTA initialises.

Why it matters
    Raw memory is not an mbarrier. An arrival that comes before the initialisation is lost, and the kernel hangs; a wait
    may pass at once.

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

from ptxkit.analysis.clusters import SIGNALS, reaches, world_at
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierComplete, MbarrierInit
from ptxkit.rules.finding import Change, Doubt, Finding, Mend, Observation, Rule
from ptxkit.rules.mbarriers import USES, initialisations, is_murky, object_of

_MEET = "bar.sync 0;"
_MEET_IN_CLUSTER = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at each first use of an object by each thread."""
    made = cache(_made)  # by world, once: many threads use many objects
    for number, world in enumerate(kernel.worlds):
        if not is_murky(world):
            yield from _world(number, world, made)
            yield from _elsewhere(kernel, number, world, made)


def _world(number: int, world: World, made: Callable[[World], set[int] | None]) -> Iterator[Observation]:
    all_inits = world.executes_all(MbarrierInit)
    inits = initialisations(world.threads.values())
    for thread in world.threads.values():
        seen: set[int] = set()
        for position, event in enumerate(thread.trace.events):
            if not isinstance(event, Event) or not isinstance(event.effect, USES):
                continue
            address = object_of(event)
            if address is None or address in seen:
                continue
            seen.add(address)
            makers = inits.get(address)
            if makers is None and all_inits and _lacks(made(world), address):
                yield Observation((event.step, None), number, thread.trace.is_sure(position), _never(event))
            elif makers is not None:
                yield _ordered(number, world, makers, (thread, position, event))


def _elsewhere(
    kernel: Kernel, number: int, world: World, made: Callable[[World], set[int] | None]
) -> Iterator[Observation]:
    """What signals objects of another CTA of the cluster: some thread there must make them."""
    seen: set[tuple[int, int | None]] = set()
    for reach in reaches(world) if world.scenario.launch.cluster_size > 1 else ():
        key = (reach.rank, reach.mbarrier)
        if key in seen or reach.mbarrier is None or not isinstance(reach.event.effect, SIGNALS):
            continue
        seen.add(key)
        other = world_at(kernel.worlds, world, reach.rank)
        if other is None or is_murky(other):
            continue
        exact = reach.thread.trace.is_sure(reach.position) and other.is_exact
        all_inits = world.executes_all(MbarrierInit) or other.executes_all(MbarrierInit)
        never = all_inits and _lacks(made(other), reach.mbarrier)
        finding = _never(reach.event, f"CTA {reach.rank} of the cluster") if never else None
        yield Observation((reach.event.step, None), number, exact, finding)


def _made(world: World) -> set[int] | None:
    """The objects that threads of the CTA initialise; None where not all are known."""
    return None if world.setup is None else set(initialisations(world.setup))


def _lacks(made: set[int] | None, address: int) -> bool:
    """Whether surely no thread initialises the object."""
    return made is not None and address not in made


def _ordered(
    number: int, world: World, makers: list[tuple[Thread, int, Event]], use: tuple[Thread, int, Event]
) -> Observation:
    thread, position, event = use
    maker, made, init = makers[0]
    exact = thread.trace.is_sure(position) and maker.trace.is_sure(made)
    key = (event.step, init.step)
    for other, at, _ in makers:
        if other is thread:
            if at < position:
                return Observation(key, number, exact)
        elif any(world.order(other, at, thread, position)):
            return Observation(key, number, exact)
    return Observation(key, number, exact, _unordered(event, init, maker is thread), 1 if maker is thread else 2)


def _never(event: Event, where: str = "this kernel") -> Finding:
    return Finding(
        primary=event.step,
        message=f"uses an mbarrier that no thread of {where} initialises",
        help="initialise it in one thread (`mbarrier.init.shared::cta.b64 [bar], count;`), then `bar.sync` before this",
        cause=event.address,
    )


def _unordered(event: Event, init: Event, same: bool) -> Finding:
    if same:
        message = "uses an mbarrier before the initialisation at line {1}"
        mend = "move the initialisation before line {0}"
    else:
        message = "uses an mbarrier that another thread initialises at line {1}: nothing orders the two"
        mend = "add `bar.sync 0;` after the initialisation, before any other thread's use"
    if isinstance(event.effect, MbarrierComplete):
        message = message.replace("uses an mbarrier", "completes on an mbarrier", 1)
    mends = () if same else tuple(_meeting(text, event.step) for text in (_MEET, _MEET_IN_CLUSTER))
    return Finding(event.step, message, ((init.step, "initialised here"),), mend, mends=mends)


def _meeting(text: str, step: Step) -> Mend:
    words = " ".join(text.split())
    return Mend(f"add `{words}`", (Change(step, text),), safe=False)


RULE = Rule(
    "PTX501",
    "mbarrier-use-before-init",
    ("mbarrier.init", "Lifecycle of the mbarrier object"),
    check,
    asynchronous=True,
)
