"""PTX503: an mbarrier expects other bytes than its copies bring, or waits for a phase that nothing completes.

What it does
    Adds up what a thread tells an mbarrier to expect and the bytes of the copies that complete on it, phase by phase
    where phases can be told apart; finds a wait on an object at which no thread ever arrives (`expect_tx` alone is no
    arrival); and bytes that are announced behind the arrival, or the copy, which may end their phase, or are more than
    it can count. Of the CTAs of a cluster, it plays through what each brings to the others' mbarriers.

    Bytes announced for a last phase that no thread waits for break no rule: a phase may be open when the CTA ends.

Why it matters
    With fewer bytes expected, the phase ends before the data is there. With more, it never ends, and whoever waits for
    it hangs.

Example
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%rd1], 4096, [bar];

Use instead
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;

ISA section
    "Tracking asynchronous operations by the mbarrier object", "mbarrier.expect_tx". Catalogue: BK5, MB7 to MB10.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from ptxkit.analysis.announcements import Late, late_announcements
from ptxkit.analysis.awaited import is_awaited
from ptxkit.analysis.cluster_bytes import Imbalance, imbalances
from ptxkit.analysis.clusters import leaves_clusters_open, polls
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.objects import MAX_BYTES
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.analysis.transactions import Entry, Ledger, Round, at_odds, ledgers_of, odd_ones
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait
from ptxkit.rules.finding import Doubt, Finding, Mend, Observation, Rule, other_constant
from ptxkit.rules.mbarriers import initialisations, is_murky, object_of
from ptxkit.rules.rehearsed import of_cta, told
from ptxkit.syntax.tree import Integer

_IN_THE_MAP = "the bytes of a copy are not known: a tensor map decides them"
_TOLD_BY_MEMORY = "a flag in memory may tell the thread which phase it announces the bytes for"
_NOBODY_KNOWS = "more bytes are announced than come, and it is not known whether a thread waits for that phase"


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every object that is fed, and at every object that is waited for."""
    if not any(_uses_any(world) for world in kernel.worlds) or leaves_clusters_open(kernel.program):
        return
    for number, world in enumerate(kernel.worlds):
        if world.is_opaque or is_murky(world):
            continue
        yield from _late(kernel, number, world)
        yield from _overfull(kernel, number, world)
        if world.scenario.launch.cluster_size > 1:
            yield from _cluster(kernel, number, world)
            continue
        if world.is_clear_about(MbarrierArrive, MbarrierTrack):
            yield from _unarrived(number, world)
        by_object: dict[int, list[Ledger]] = defaultdict(list)
        for thread in world.threads.values():
            mine = ledgers_of(thread.trace, object_of)
            for address, ledger in mine.items():
                by_object[address].append(ledger)
            yield from _same_boxes(number, thread, mine.values())
        yield from _at_odds(number, world, by_object)
        everyone = cache(_ledgers_of_all)  # once, not for each object
        for address, ledgers in by_object.items():
            if len(ledgers) == 1:
                yield from _one_thread(number, world, ledgers[0])
            else:
                yield from _many_threads(number, world, everyone(world), address)


def _uses_any(world: World) -> bool:
    """Whether the CTA has to do with mbarriers that wait for bytes, or are waited for."""
    return any(thread.positions(MbarrierExpect, MbarrierComplete, MbarrierWait) for thread in world.threads.values())


def _cluster(kernel: Kernel, number: int, world: World) -> Iterator[Observation | Doubt]:
    """The CTAs of a cluster, played together: what one copies may complete in another."""
    broken: dict[Step, Finding] = {}
    for rehearsal in world.rehearsals:
        for imbalance in imbalances(world.cast, rehearsal):
            finding = _across(world, imbalance)
            broken.setdefault(finding.primary, finding)
    kinds = (MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierWait)
    events = [e for actor in world.cast.actors for e in actor.events if isinstance(e.effect, kinds)]
    yield from told(kernel, number, {event.step for event in events}, broken)
    for event in events:
        if isinstance(event.effect, MbarrierComplete) and not isinstance(event.size, int):
            yield Doubt(event.step, _IN_THE_MAP)


def _across(world: World, found: Imbalance) -> Finding:
    where = of_cta(world, found.place[0])
    copies = list(dict.fromkeys(event.step for event in found.copies))
    expects = list(dict.fromkeys(event.step for event in found.expects))
    labels = [(step, "completes there") for step in copies]
    if found.wait is not None:
        labels.append((found.wait.step, "waits for the phase"))
    properties = {"expected": found.announced, "copied": found.brought, "cta": found.place[0]}
    primary, *others = expects or copies or [step for step, _ in labels]
    if not found.arrived and not expects:
        message = f"waits for a phase of an mbarrier{where} at which no thread arrives: the wait never ends"
        mend = "arrive at it: `mbarrier.arrive`, or `mbarrier.arrive.expect_tx` with the bytes of the copy"
        primary = found.wait.step if found.wait is not None else primary
    elif not found.arrived:
        message = f"announces bytes to an mbarrier{where} at which no thread arrives"
        mend = "make it an arrival too: `mbarrier.arrive.expect_tx`; expect_tx alone is none"
    elif not expects:
        message = f"the copies bring {found.brought} bytes to an mbarrier{where} that is told to expect none"
        mend = f"announce the {found.brought} bytes with `mbarrier.arrive.expect_tx` in place of a plain arrival"
    else:
        total = " in all" if found.wait is None else ""
        message = (
            f"expects {found.announced} bytes{total} on an mbarrier{where}, but the copies bring {found.brought} there"
        )
        mend = f"expect {found.brought} bytes, or let the copies bring {found.announced}"
    labels = [*((step, "announces bytes, too") for step in others), *labels]
    return Finding(
        primary=primary,
        message=message,
        labels=tuple((step, words) for step, words in labels if step is not primary),
        help=mend,
        properties=properties,
        mends=_bytes(primary, found.announced, found.brought) if found.arrived and expects else (),
    )


def _bytes(step: Step, expected: int | None, brought: int | None) -> tuple[Mend, ...]:
    """Another number of bytes where they are announced: all; or, where that is done in parts, this part's share."""
    operands = step.instruction.operands
    own = next((each.value for each in reversed(operands) if isinstance(each, Integer)), expected)
    if not expected or not brought or own is None:
        return ()
    numbers = [brought] if own == expected else []
    numbers += [own * brought // expected] if not own * brought % expected else []
    numbers += [own + brought - expected] if own + brought > expected else []
    return tuple(
        Mend(f"expect {number} bytes", (change,), safe=False)
        for number in dict.fromkeys(numbers)
        for change in other_constant(step, own, number)
    )


def _one_thread(number: int, world: World, ledger: Ledger) -> Iterator[Observation | Doubt]:
    """One thread feeds the object: its phases must be even, whether copies follow their arrival or come before it."""
    key = (ledger.entries[0].event.step, None)
    groupings = [ledger.rounds(copies_follow) for copies_follow in (True, False)]
    adding = ledger.even_rounds() if ledger.announces_alone else None
    if adding is not None:
        groupings.append(adding)
    uneven = [[entries for entries in rounds if entries.is_even is False] for rounds in groupings]
    sure = world.threads[ledger.tid].trace.is_sure()
    told = [(entries, _is_left_open(world, ledger, entries)) for entries in uneven[0]] if all(uneven) else []
    wrong = next((entries for entries, is_open in told if is_open is False), None)
    if wrong is not None:
        silent = any(not rounds[0].announced for rounds in uneven)
        if silent and not world.executes_all(MbarrierArrive, MbarrierExpect):
            yield Doubt(key[0], "some arrivals are in code that no walk reaches")
        else:
            yield Observation(key, number, sure, _finding(wrong))
    elif any(is_open is None for _, is_open in told):
        yield Doubt(key[0], _NOBODY_KNOWS)
    elif any(entries.is_even is None for rounds in groupings for entries in rounds):
        yield Doubt(key[0], _IN_THE_MAP)
    else:
        yield Observation(key, number, sure)


def _is_left_open(world: World, ledger: Ledger, entries: Round) -> bool | None:
    """Whether more bytes are announced than come, for a phase that no thread waits for; None where that is unknown."""
    if not entries.waits or entries.announced is None:
        return False
    address = object_of(ledger.entries[0].event)
    awaited = None if address is None else is_awaited(world, address, ledger.ordinal_of(entries))
    return None if awaited is None else not awaited


def _ledgers_of_all(world: World) -> list[tuple[bool, dict[int, Ledger]]]:
    """Of all threads of the CTA: whether what it did is sure, and its ledgers by object."""
    everyone = world.everyone(MbarrierArrive, MbarrierComplete, MbarrierExpect) or []
    return [(thread.trace.is_sure(), ledgers_of(thread.trace, object_of)) for thread in everyone]


def _many_threads(
    number: int, world: World, everyone: list[tuple[bool, dict[int, Ledger]]], address: int
) -> Iterator[Observation | Doubt]:
    """Several threads feed the object: over a whole kernel, all that is announced must come."""
    found = [ledgers[address] for _, ledgers in everyone if address in ledgers]
    whole = Round(tuple(entry for ledger in found for entry in ledger.entries))
    if found and all(ledger.complete for ledger in found) and whole.is_even is not None:
        sure = all(sure for sure, _ in everyone)
        awaited = whole.is_even or not whole.waits or is_awaited(world, address, None)
        if awaited is None:
            yield Doubt(whole.entries[0].event.step, _NOBODY_KNOWS)
            return
        finding = None if whole.is_even or not awaited else _finding(whole)
        yield Observation((whole.entries[0].event.step, None), number, sure, finding, len(found))


def _same_boxes(number: int, thread: Thread, ledgers: Iterable[Ledger]) -> Iterator[Observation]:
    """Copies by the same tensor maps bring the same bytes: a phase that announces others for them is wrong."""
    ledgers = list(ledgers)
    sure = thread.trace.is_sure()
    odd = [list(odd_ones(ledgers, copies_follow)) for copies_follow in (True, False)]
    if all(odd):
        for round_, usual in odd[0]:
            finding = _odd(round_, usual)
            yield Observation((finding.primary, None), number, sure, finding)
    else:
        yield from _agreed(number, sure, (entry for ledger in ledgers for entry in ledger.entries))


def _at_odds(number: int, world: World, by_object: Mapping[int, list[Ledger]]) -> Iterator[Observation]:
    """Over a whole kernel, each object gets what is announced; no boxes may make that true of all of them."""
    if not any(entry.size_is_in_map for ledgers in by_object.values() for each in ledgers for entry in each.entries):
        return
    everyone = world.everyone(MbarrierArrive, MbarrierComplete, MbarrierExpect) or []
    found: dict[int, list[Entry]] = defaultdict(list)
    for thread in everyone:
        if thread.trace.ended != "exit":
            return
        for address, ledger in ledgers_of(thread.trace, object_of).items():
            tail = ledger.tail
            left = len(tail.entries) if tail is not None and _is_left_open(world, ledger, tail) is not False else 0
            found[address].extend(ledger.entries[: len(ledger.entries) - left])
    odd = at_odds(Round(tuple(entries)) for entries in found.values())
    sure = all(thread.trace.is_sure() for thread in everyone)
    if odd is not None:
        finding = _odd(*odd)
        yield Observation((finding.primary, None), number, sure, finding, len(everyone))
    else:
        yield from _agreed(number, sure, (entry for entries in found.values() for entry in entries))


def _agreed(number: int, sure: bool, entries: Iterable[Entry]) -> Iterator[Observation]:
    """The announcements of a scenario in which boxes and bytes agree: what is odd in another one may be guessed."""
    for step in dict.fromkeys(entry.event.step for entry in entries if entry.expected and entry.size):
        yield Observation((step, None), number, sure)


def _odd(round_: Round, usual: int | None) -> Finding:
    expects = [entry.event.step for entry in round_.entries if entry.expected]
    copies = dict.fromkeys(entry.event.step for entry in round_.entries if not entry.expected)
    return Finding(
        primary=expects[-1],
        message=(
            f"expects {round_.announced} bytes, but copies by the same tensor maps are given "
            f"{'others' if usual is None else usual} elsewhere"
        ),
        labels=tuple((step, "completes here") for step in copies),
        help=(
            "expect the bytes of all boxes that are copied"
            if usual is None
            else f"expect {usual} bytes, in all the announcements for these copies together"
        ),
        properties={"expected": round_.announced, "usual": usual},
        mends=_bytes(expects[-1], round_.announced, usual) if len(expects) == 1 else (),
    )


def _finding(round_: Round) -> Finding:
    expects = [entry.event.step for entry in round_.entries if entry.expected]
    copies = list(dict.fromkeys(entry.event.step for entry in round_.entries if not entry.expected))
    expected, started = round_.announced, round_.started
    properties = {"expected": expected, "copied": started}
    if not expected and copies:
        amount = "" if started is None else f" {started}"
        plain = tuple((step, "the arrival announces no bytes") for step in expects[:1])
        primary = expects[-1] if expects else copies[0]
        return Finding(
            primary=primary,
            message=f"the copy brings{amount} bytes to an mbarrier that is told to expect none",
            labels=(*plain, *((step, "completes here") for step in copies if step is not primary)),
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
        mends=_bytes(expects[-1], expected, started),
    )


# ------------------------------------------------------------------------------------ announced too much, too late


def _overfull(kernel: Kernel, number: int, world: World) -> Iterator[Observation | Doubt]:
    """Looks at how many bytes an object is due at once: copies may all be under way when the last is announced."""
    broken: dict[Step, Finding] = {}
    for event, due in (rehearsal.overfull[0] for rehearsal in world.rehearsals if rehearsal.overfull):
        broken.setdefault(
            event.step,
            Finding(
                primary=event.step,
                message=f"may leave an mbarrier {due} bytes to wait for in one phase; it counts to {MAX_BYTES}",
                help="announce fewer bytes in a phase; mostly, one thread is to announce what all copies bring",
                properties={"due": due, "most": MAX_BYTES},
            ),
        )
    if broken:
        yield from told(kernel, number, broken, broken)


def _late(kernel: Kernel, number: int, world: World) -> Iterator[Observation | Doubt]:
    """Looks at announcements behind an arrival at an object whose phases one arrival ends."""
    single = {
        address
        for address, inits in initialisations(world.threads.values()).items()
        if all(event.amount == 1 for _, _, event in inits)
    }
    for thread in world.threads.values() if single else ():
        if not any(thread.positions(MbarrierExpect)):
            continue
        others = {address for other in world.threads.values() if other is not thread for address in _announced(other)}
        for late in late_announcements(thread.trace, single - others):
            if polls(kernel.program):
                yield Doubt(late.announcement.step, _TOLD_BY_MEMORY)
                continue
            sure = thread.trace.is_sure(late.position)
            key = (late.announcement.step, late.end.step)
            yield Observation(key, number, sure, _too_late(late))


def _announced(thread: Thread) -> Iterator[int | None]:
    """The objects to which a thread announces bytes."""
    for _, event in thread.positions(MbarrierArrive, MbarrierExpect):
        if not isinstance(event.effect, MbarrierArrive) or event.effect.expect is not None:
            yield object_of(event)


def _too_late(late: Late) -> Finding:
    if isinstance(late.end.effect, MbarrierComplete):
        what, label = "copy", "brings the last of the bytes that were announced by then"
        mend = "announce the bytes before the copy is started: `mbarrier.arrive.expect_tx` with the bytes of all copies"
    else:
        what, label = "arrival", "the only arrival that the phase needs"
        mend = "announce the bytes before the arrival, or with it: `mbarrier.arrive.expect_tx`"
    return Finding(
        primary=late.announcement.step,
        message=f"announces bytes behind the {what} at line {{1}}, which may have ended their phase already",
        labels=((late.end.step, label),),
        help=mend,
    )


# --------------------------------------------------------------------------------------- phases nobody completes


def _unarrived(number: int, world: World) -> Iterator[Observation]:
    arrived = _arrivals(world.threads.values())
    if None in arrived:
        return
    everywhere = cache(_arrivals_of_all)  # once, not for each object and each of a thousand threads
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
                if not arrived or not {address, None} & everywhere(world):
                    yield Observation((event.step, None), number, thread.trace.is_sure(at), _never(world, event))
            else:
                yield Observation((event.step, None), number, thread.trace.is_sure(at))


def _arrivals_of_all(world: World) -> set[int | None]:
    """The mbarriers at which threads of the CTA arrive; None among them where not all are known."""
    everyone = world.everyone(MbarrierArrive, MbarrierTrack)
    return {None} if everyone is None else _arrivals(everyone)


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
    asynchronous=True,
)
