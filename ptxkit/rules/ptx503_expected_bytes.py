"""PTX503: an mbarrier expects other bytes than its copies bring, or waits for a phase that nothing completes.

What it does
    Adds up what a thread tells an mbarrier to expect and the bytes of the copies that complete on it, phase by phase
    where phases can be told apart; and finds a wait on an object at which no thread ever arrives (`expect_tx` alone is
    no arrival).

Why it matters
    With fewer bytes expected, the phase ends before the data is there. With more, it never ends.

Example
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%rd1], 4096, [bar];

Use instead
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;

ISA section
    "Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx". Catalogue: BK5, MB7, MB9, MB10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ptxkit.analysis.kernel import Kernel, Thread, World
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule
from ptxkit.rules.mbarriers import is_murky, object_of


@dataclass(frozen=True, slots=True)
class _Entry:
    """Bytes announced (`expected`) or started on an object; arrives: the announcement is an arrival too."""

    event: Event
    size: int | None
    expected: bool
    arrives: bool = False


@dataclass(slots=True)
class _Ledger:
    """What one thread announces and starts on one object, in order."""

    thread: Thread
    entries: list[_Entry] = field(default_factory=list)

    def rounds(self, copies_follow: bool) -> list[list[_Entry]]:
        """The entries by phase, whose copies follow its arrival, or come before it."""
        rounds: list[list[_Entry]] = []
        for entry in self.entries:
            over = rounds and any(other.arrives for other in rounds[-1]) and (entry.expected or not copies_follow)
            if not rounds or over:
                rounds.append([entry])
            else:
                rounds[-1].append(entry)
        return rounds if self.thread.trace.ended == "exit" else rounds[1 - copies_follow : -1]


def _sum(entries: list[_Entry], expected: bool) -> int | None:
    """Bytes announced, or started; None where a size is not known."""
    sizes = [entry.size for entry in entries if entry.expected == expected]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _is_even(entries: list[_Entry]) -> bool | None:
    """Whether as many bytes are announced as started; None where that is not known."""
    expected, started = _sum(entries, expected=True), _sum(entries, expected=False)
    if expected is not None and started is not None:
        return expected == started
    return False if started is None and expected == 0 else None


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every object that one thread alone feeds, and at every object that is waited for."""
    for number, world in enumerate(kernel.worlds):
        if world.is_opaque or is_murky(world) or world.scenario.launch.cluster_size > 1:
            continue
        if world.is_clear_about(MbarrierArrive, MbarrierTrack):
            yield from _unarrived(number, world)
        for ledgers in _ledgers(world).values():
            yield from _object(number, ledgers, world.executes_all(MbarrierArrive, MbarrierExpect))


def _ledgers(world: World) -> dict[int, list[_Ledger]]:
    found: dict[int, list[_Ledger]] = defaultdict(list)
    for thread in world.threads.values():
        mine: dict[int, _Ledger] = {}
        for event in thread.trace.events:
            if not isinstance(event, Event):
                continue
            address = object_of(event)
            if address is None:
                continue
            ledger = mine.setdefault(address, _Ledger(thread))
            effect = event.effect
            if isinstance(effect, MbarrierComplete):
                ledger.entries.append(_Entry(event, _number(event.size), expected=False))
            elif isinstance(effect, MbarrierExpect):
                ledger.entries.append(_Entry(event, _number(event.size), expected=True))
            elif isinstance(effect, MbarrierArrive):
                announced = _number(event.expect) if effect.expect is not None else 0
                ledger.entries.append(_Entry(event, announced, expected=True, arrives=True))
        for address, ledger in mine.items():
            if any(entry.size != 0 for entry in ledger.entries):
                found[address].append(ledger)
    return found


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _object(number: int, ledgers: list[_Ledger], clear: bool) -> Iterator[Observation | Doubt]:
    if len(ledgers) != 1:
        return
    (ledger,) = ledgers
    key = (ledger.entries[0].event.step, None)
    groupings = [ledger.rounds(copies_follow) for copies_follow in (True, False)]
    uneven = [[entries for entries in rounds if _is_even(entries) is False] for rounds in groupings]
    if all(uneven) and not clear and any(not _sum(rounds[0], expected=True) for rounds in uneven):
        yield Doubt(key[0], "some arrivals are in code that no walk reaches")
    elif all(uneven):
        yield Observation(key, number, ledger.thread.trace.is_sure(), _finding(uneven[0][0]))
    elif any(_is_even(entries) is None for rounds in groupings for entries in rounds):
        yield Doubt(key[0], "the bytes of a copy are not known: a tensor map decides them")
    else:
        yield Observation(key, number, ledger.thread.trace.is_sure())


def _finding(entries: list[_Entry]) -> Finding:
    expects = [entry.event.step for entry in entries if entry.expected]
    copies = list(dict.fromkeys(entry.event.step for entry in entries if not entry.expected))
    expected, started = _sum(entries, expected=True), _sum(entries, expected=False)
    properties = {"expected": expected, "copied": started}
    if not expected and copies:
        amount = "" if started is None else f" {started}"
        plain = tuple((step, "the arrival announces no bytes") for step in expects[:1])
        return Finding(
            primary=expects[-1] if expects else copies[0],
            message=f"the copy brings{amount} bytes to an mbarrier that is told to expect none: its phase ends early",
            labels=(*plain, *((step, "completes here") for step in copies)),
            help=f"announce the{amount} bytes with `mbarrier.arrive.expect_tx` in place of the plain arrival",
            properties=properties,
        )
    if not copies:
        return Finding(
            primary=expects[-1],
            message=f"expects {expected} bytes on an mbarrier that no copy completes on: its phase never ends",
            help="expect no bytes, or start the copy that brings them",
            properties=properties,
        )
    assert expected is not None
    assert started is not None
    effect = "the phase never ends" if expected > started else "the phase ends before all the data is there"
    return Finding(
        primary=expects[-1],
        message=f"expects {expected} bytes, but the copies bring {started}: {effect}",
        labels=tuple((step, "completes here") for step in copies),
        help=f"expect {started} bytes",
        properties=properties,
    )


# --------------------------------------------------------------------------------------- phases nobody completes


def _unarrived(number: int, world: World) -> Iterator[Observation]:
    arrived = _arrivals(world.threads.values())
    if None in arrived:
        return
    for thread in world.threads.values():
        seen: set[int] = set()
        for at, event in thread.positions(MbarrierWait):
            address = object_of(event)
            effect = event.effect
            fresh = isinstance(effect, MbarrierWait) and effect.by == "parity" and event.amount == 1
            if address is None or address in seen or fresh:
                continue
            seen.add(address)
            if address not in arrived:
                if not arrived or _nobody_arrives(world, address):
                    yield Observation((event.step, None), number, thread.trace.is_sure(at), _never(world, event))
            else:
                yield Observation((event.step, None), number, thread.trace.is_sure(at))


def _nobody_arrives(world: World, address: int) -> bool:
    if world.everyone is None:
        return False
    arrived = _arrivals(world.everyone.values())
    return address not in arrived and None not in arrived


def _arrivals(threads: Iterable[Thread]) -> set[int | None]:
    return {object_of(event) for thread in threads for _, event in thread.positions(MbarrierArrive, MbarrierTrack)}


def _never(world: World, wait: Event) -> Finding:
    expects = [
        event.step
        for thread in world.threads.values()
        for _, event in thread.positions(MbarrierExpect)
        if event.address == wait.address
    ]
    if expects:
        return Finding(
            primary=expects[0],
            message="announces bytes to an mbarrier at which no thread arrives: the wait at line {1} never ends",
            labels=((wait.step, "waits for the phase"),),
            help="make it an arrival too: `mbarrier.arrive.expect_tx`; expect_tx alone is none",
        )
    return Finding(
        primary=wait.step,
        message="waits for a phase of an mbarrier at which no thread arrives: the wait never ends",
        help="arrive at it: `mbarrier.arrive`, or `mbarrier.arrive.expect_tx` with the bytes of the copy",
    )


RULE = Rule(
    "PTX503",
    "mbarrier-expected-bytes",
    ("Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx"),
    check,
)
