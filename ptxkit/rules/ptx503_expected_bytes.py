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


@dataclass(slots=True)
class _Ledger:
    """What one thread expects (`+`) and starts (`-`) on one object, in order: (event, bytes or None)."""

    thread: Thread
    entries: list[tuple[Event, int | None, bool]] = field(default_factory=list)

    def total(self, expected: bool) -> int | None:
        sizes = [size for _, size, is_expected in self.entries if is_expected == expected]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def events(self, expected: bool) -> list[Event]:
        return [event for event, _, is_expected in self.entries if is_expected == expected]


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every object that one thread alone feeds, and at every object that is waited for."""
    for number, world in enumerate(kernel.worlds):
        if world.is_opaque or is_murky(world) or world.scenario.launch.cluster_size > 1:
            continue
        yield from _unarrived(number, world)
        for ledgers in _ledgers(world).values():
            yield from _object(number, ledgers)


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
                ledger.entries.append((event, _number(event.size), False))
            elif isinstance(effect, MbarrierExpect):
                ledger.entries.append((event, _number(event.size), True))
            elif isinstance(effect, MbarrierArrive) and effect.expect is not None:
                ledger.entries.append((event, _number(event.expect), True))
        for address, ledger in mine.items():
            if ledger.entries:
                found[address].append(ledger)
    return found


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _object(number: int, ledgers: list[_Ledger]) -> Iterator[Observation | Doubt]:
    if len(ledgers) != 1:
        return
    (ledger,) = ledgers
    copies, expects = ledger.events(expected=False), ledger.events(expected=True)
    started, expected = ledger.total(expected=False), ledger.total(expected=True)
    first = (expects or copies)[0]
    if started is None or expected is None:
        yield Doubt(first.step, "the bytes of a copy are not known: a tensor map decides them")
        return
    key = (first.step, copies[0].step if copies else None)
    exact = not ledger.thread.trace.guesses
    complete = ledger.thread.trace.ended == "exit"
    if _phases_agree(ledger) or (started == expected and complete):
        yield Observation(key, number, exact)
    elif complete or (copies and expects and _phases_disagree(ledger)):
        yield Observation(key, number, exact, _finding(expects, copies, expected, started))


def _phases(ledger: _Ledger) -> list[tuple[int, int]]:
    """(expected, started) by round: a round begins where an expectation follows a copy."""
    rounds: list[tuple[int, int]] = []
    expected = started = 0
    after_copy = False
    for _, size, is_expected in ledger.entries:
        if is_expected and after_copy:
            rounds.append((expected, started))
            expected = started = 0
        after_copy = not is_expected
        expected += (size or 0) if is_expected else 0
        started += 0 if is_expected else (size or 0)
    rounds.append((expected, started))
    return rounds


def _phases_agree(ledger: _Ledger) -> bool:
    rounds = _phases(ledger)
    whole = rounds if ledger.thread.trace.ended == "exit" else rounds[:-1]
    return bool(whole) and all(expected == started for expected, started in whole)


def _phases_disagree(ledger: _Ledger) -> bool:
    """Every whole round is off by the same amount: no other grouping of the copies can mend that."""
    whole = _phases(ledger)[1:-1]
    return (
        len(whole) > 1 and len({expected - started for expected, started in whole}) == 1 and whole[0][0] != whole[0][1]
    )


def _finding(expects: list[Event], copies: list[Event], expected: int, started: int) -> Finding:
    if not expects:
        return Finding(
            primary=copies[0].step,
            message=f"copies {started} bytes that complete on an mbarrier which is told to expect none",
            help=f"add `mbarrier.arrive.expect_tx` with {started} bytes in place of the plain arrival",
            properties={"expected": 0, "copied": started},
        )
    if not copies:
        return Finding(
            primary=expects[0].step,
            message=f"expects {expected} bytes on an mbarrier that no copy completes on: its phase never ends",
            help="expect no bytes, or start the copy that brings them",
            properties={"expected": expected, "copied": 0},
        )
    effect = "the phase never ends" if expected > started else "the phase ends before all the data is there"
    rounds = max(len(expects), 1)
    return Finding(
        primary=expects[0].step,
        message=f"expects {expected // rounds} bytes, but the copies bring {started // rounds}: {effect}",
        labels=tuple((step, "completes here") for step in dict.fromkeys(copy.step for copy in copies)),
        help=f"expect {started // rounds} bytes",
        properties={"expected": expected // rounds, "copied": started // rounds},
    )


# --------------------------------------------------------------------------------------- phases nobody completes


def _unarrived(number: int, world: World) -> Iterator[Observation]:
    arrived = _arrivals(world.threads.values())
    if None in arrived:
        return
    everyone: set[int | None] | None = None
    for thread in world.threads.values():
        seen: set[int] = set()
        for _, event in thread.positions(MbarrierWait):
            address = object_of(event)
            effect = event.effect
            fresh = isinstance(effect, MbarrierWait) and effect.by == "parity" and event.amount == 1
            if address is None or address in seen or fresh:
                continue
            seen.add(address)
            if address not in arrived:
                everyone = everyone if everyone is not None else _arrivals(world.everyone.values())
                if address not in everyone and None not in everyone:
                    yield Observation((event.step, None), number, not thread.trace.guesses, _never(event))
            else:
                yield Observation((event.step, None), number, not thread.trace.guesses)


def _arrivals(threads: Iterable[Thread]) -> set[int | None]:
    return {object_of(event) for thread in threads for _, event in thread.positions(MbarrierArrive, MbarrierTrack)}


def _never(event: Event) -> Finding:
    return Finding(
        primary=event.step,
        message="waits for a phase of an mbarrier at which no thread arrives: the wait never ends",
        help="arrive at it (`mbarrier.arrive`, or `mbarrier.arrive.expect_tx` with the bytes of the copy); expect_tx "
        "alone is no arrival",
    )


RULE = Rule(
    "PTX503",
    "mbarrier-expected-bytes",
    ("Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx"),
    check,
)
