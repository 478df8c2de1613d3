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

from ptxkit.analysis.cluster.cluster_facts import has_unknown_cluster_size, may_poll_memory
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.awaited_phases import is_phase_awaited
from ptxkit.analysis.mbarrier.cluster_tx_count import TxImbalance, find_tx_imbalances
from ptxkit.analysis.mbarrier.tx_count import (
    PhaseTx,
    TxEntry,
    TxLedger,
    build_tx_ledgers,
    find_inconsistent_phase,
    find_outliers,
)
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.late_expect_tx import LateExpectTx, find_late_expect_tx
from ptxkit.analysis.sync.mbarrier_model import MAX_TX_COUNT
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait
from ptxkit.rules.mbarrier_helpers import find_initializations, is_ambiguous, mbarrier_of
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant
from ptxkit.rules.sync_evidence import format_cta, make_observations
from ptxkit.syntax.tree import Integer

_IN_THE_MAP = "the bytes of a copy are not known: a tensor map decides them"
_FLAG_IN_MEMORY = "a flag in memory may tell the thread which phase it announces the bytes for"
_WAIT_UNKNOWN = "more bytes are announced than come, and it is not known whether a thread waits for that phase"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at every object that is fed, and at every object that is waited for."""
    if not any(_uses_mbarriers(world) for world in kernel.scenarios) or has_unknown_cluster_size(kernel.program):
        return
    for number, world in enumerate(kernel.scenarios):
        if world.has_unknown_call or is_ambiguous(world):
            continue
        yield from _check_late_expects(kernel, number, world)
        yield from _check_tx_overflow(kernel, number, world)
        if world.scenario.launch.cluster_size > 1:
            yield from _check_cluster(kernel, number, world)
            continue
        if world.is_exhaustive_for(MbarrierArrive, MbarrierTrack):
            yield from _check_missing_arrivals(number, world)
        by_object: dict[int, list[TxLedger]] = defaultdict(list)
        for thread in world.threads.values():
            mine = build_tx_ledgers(thread.trace, mbarrier_of)
            for address, ledger in mine.items():
                by_object[address].append(ledger)
            yield from _check_same_boxes(number, thread, mine.values())
        yield from _check_consistency(number, world, by_object)
        everyone = cache(_all_tx_ledgers)  # once, not for each object
        for address, ledgers in by_object.items():
            if len(ledgers) == 1:
                yield from _check_one_thread(number, world, ledgers[0])
            else:
                yield from _check_many_threads(number, world, everyone(world), address)


def _uses_mbarriers(world: ScenarioFacts) -> bool:
    """Whether the CTA has to do with mbarriers that wait for bytes, or are waited for."""
    return any(thread.positions(MbarrierExpect, MbarrierComplete, MbarrierWait) for thread in world.threads.values())


def _check_cluster(kernel: KernelFacts, number: int, world: ScenarioFacts) -> Iterator[Observation | OpenObligation]:
    """The CTAs of a cluster, played together: what one copies may complete in another."""
    broken: dict[Step, Finding] = {}
    for rehearsal in world.schedules:
        for imbalance in find_tx_imbalances(world.simulation, rehearsal):
            finding = _cluster_finding(world, imbalance)
            broken.setdefault(finding.primary, finding)
    kinds = (MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierWait)
    events = [e for actor in world.simulation.thread_classes for e in actor.events if isinstance(e.effect, kinds)]
    yield from make_observations(kernel, number, {event.step for event in events}, broken)
    for event in events:
        if isinstance(event.effect, MbarrierComplete) and not isinstance(event.size, int):
            yield OpenObligation(event.step, _IN_THE_MAP)


def _cluster_finding(world: ScenarioFacts, found: TxImbalance) -> Finding:
    where = format_cta(world, found.location[0])
    copies = list(dict.fromkeys(event.step for event in found.copies))
    expects = list(dict.fromkeys(event.step for event in found.expects))
    labels = [(step, "completes there") for step in copies]
    if found.wait is not None:
        labels.append((found.wait.step, "waits for the phase"))
    properties = {"expected": found.expected_bytes, "copied": found.copied_bytes, "cta": found.location[0]}
    primary, *others = expects or copies or [step for step, _ in labels]
    if not found.has_arrivals and not expects:
        message = f"waits for a phase of an mbarrier{where} at which no thread arrives: the wait never ends"
        mend = "arrive at it: `mbarrier.arrive`, or `mbarrier.arrive.expect_tx` with the bytes of the copy"
        primary = found.wait.step if found.wait is not None else primary
    elif not found.has_arrivals:
        message = f"announces bytes to an mbarrier{where} at which no thread arrives"
        mend = "make it an arrival too: `mbarrier.arrive.expect_tx`; expect_tx alone is none"
    elif not expects:
        message = f"the copies bring {found.copied_bytes} bytes to an mbarrier{where} that is told to expect none"
        mend = f"announce the {found.copied_bytes} bytes with `mbarrier.arrive.expect_tx` in place of a plain arrival"
    else:
        total = " in all" if found.wait is None else ""
        message = (
            f"expects {found.expected_bytes} bytes{total} on an mbarrier{where}, but the copies bring "
            f"{found.copied_bytes} there"
        )
        mend = f"expect {found.copied_bytes} bytes, or let the copies bring {found.expected_bytes}"
    labels = [*((step, "announces bytes, too") for step in others), *labels]
    return Finding(
        primary=primary,
        message=message,
        labels=tuple((step, words) for step, words in labels if step is not primary),
        help=mend,
        properties=properties,
        fixes=_byte_count_fixes(primary, found.expected_bytes, found.copied_bytes)
        if found.has_arrivals and expects
        else (),
    )


def _byte_count_fixes(step: Step, expected: int | None, brought: int | None) -> tuple[FixCandidate, ...]:
    """Another number of bytes where they are announced: all; or, where that is done in parts, this part's share."""
    operands = step.instruction.operands
    own = next((each.value for each in reversed(operands) if isinstance(each, Integer)), expected)
    if not expected or not brought or own is None:
        return ()
    numbers = [brought] if own == expected else []
    numbers += [own * brought // expected] if not own * brought % expected else []
    numbers += [own + brought - expected] if own + brought > expected else []
    return tuple(
        FixCandidate(f"expect {number} bytes", (change,), safe=False)
        for number in dict.fromkeys(numbers)
        for change in replace_constant(step, own, number)
    )


def _check_one_thread(number: int, world: ScenarioFacts, ledger: TxLedger) -> Iterator[Observation | OpenObligation]:
    """One thread feeds the object: its phases must be even, whether copies follow their arrival or come before it."""
    key = (ledger.entries[0].event.step, None)
    groupings = [ledger.split_phases(copies_follow) for copies_follow in (True, False)]
    adding = ledger.split_balanced_phases() if ledger.has_separate_expects else None
    if adding is not None:
        groupings.append(adding)
    uneven = [[entries for entries in rounds if entries.is_balanced is False] for rounds in groupings]
    sure = world.threads[ledger.tid].trace.is_certain()
    told = [(entries, _is_unawaited_phase(world, ledger, entries)) for entries in uneven[0]] if all(uneven) else []
    wrong = next((entries for entries, is_open in told if is_open is False), None)
    if wrong is not None:
        silent = any(not rounds[0].expected_bytes for rounds in uneven)
        if silent and not world.executes_all(MbarrierArrive, MbarrierExpect):
            yield OpenObligation(key[0], "some arrivals are in code that no walk reaches")
        else:
            yield Observation(key, number, sure, _finding(wrong))
    elif any(is_open is None for _, is_open in told):
        yield OpenObligation(key[0], _WAIT_UNKNOWN)
    elif any(entries.is_balanced is None for rounds in groupings for entries in rounds):
        yield OpenObligation(key[0], _IN_THE_MAP)
    else:
        yield Observation(key, number, sure)


def _is_unawaited_phase(world: ScenarioFacts, ledger: TxLedger, entries: PhaseTx) -> bool | None:
    """Whether more bytes are announced than come, for a phase that no thread waits for; None where that is unknown."""
    if not entries.is_pending or entries.expected_bytes is None:
        return False
    address = mbarrier_of(ledger.entries[0].event)
    awaited = None if address is None else is_phase_awaited(world, address, ledger.phase_number_of(entries))
    return None if awaited is None else not awaited


def _all_tx_ledgers(world: ScenarioFacts) -> list[tuple[bool, dict[int, TxLedger]]]:
    """Of all threads of the CTA: whether what it did is sure, and its ledgers by object."""
    everyone = world.all_threads(MbarrierArrive, MbarrierComplete, MbarrierExpect) or []
    return [(thread.trace.is_certain(), build_tx_ledgers(thread.trace, mbarrier_of)) for thread in everyone]


def _check_many_threads(
    number: int, world: ScenarioFacts, everyone: list[tuple[bool, dict[int, TxLedger]]], address: int
) -> Iterator[Observation | OpenObligation]:
    """Several threads feed the object: over a whole kernel, all that is announced must come."""
    found = [ledgers[address] for _, ledgers in everyone if address in ledgers]
    whole = PhaseTx(tuple(entry for ledger in found for entry in ledger.entries))
    if found and all(ledger.is_complete for ledger in found) and whole.is_balanced is not None:
        sure = all(sure for sure, _ in everyone)
        awaited = whole.is_balanced or not whole.is_pending or is_phase_awaited(world, address, None)
        if awaited is None:
            yield OpenObligation(whole.entries[0].event.step, _WAIT_UNKNOWN)
            return
        finding = None if whole.is_balanced or not awaited else _finding(whole)
        yield Observation((whole.entries[0].event.step, None), number, sure, finding, len(found))


def _check_same_boxes(number: int, thread: ThreadView, ledgers: Iterable[TxLedger]) -> Iterator[Observation]:
    """Copies by the same tensor maps bring the same bytes: a phase that announces others for them is wrong."""
    ledgers = list(ledgers)
    sure = thread.trace.is_certain()
    odd = [list(find_outliers(ledgers, copies_follow)) for copies_follow in (True, False)]
    if all(odd):
        for round_, usual in odd[0]:
            finding = _inconsistent_phase(round_, usual)
            yield Observation((finding.primary, None), number, sure, finding)
    else:
        yield from _consistent_observations(number, sure, (entry for ledger in ledgers for entry in ledger.entries))


def _check_consistency(
    number: int, world: ScenarioFacts, by_object: Mapping[int, list[TxLedger]]
) -> Iterator[Observation]:
    """Over a whole kernel, each object gets what is announced; no boxes may make that true of all of them."""
    if not any(entry.size_is_in_map for ledgers in by_object.values() for each in ledgers for entry in each.entries):
        return
    everyone = world.all_threads(MbarrierArrive, MbarrierComplete, MbarrierExpect) or []
    found: dict[int, list[TxEntry]] = defaultdict(list)
    for thread in everyone:
        if thread.trace.end_reason != "exit":
            return
        for address, ledger in build_tx_ledgers(thread.trace, mbarrier_of).items():
            tail = ledger.open_last_phase
            left = (
                len(tail.entries) if tail is not None and _is_unawaited_phase(world, ledger, tail) is not False else 0
            )
            found[address].extend(ledger.entries[: len(ledger.entries) - left])
    odd = find_inconsistent_phase(PhaseTx(tuple(entries)) for entries in found.values())
    sure = all(thread.trace.is_certain() for thread in everyone)
    if odd is not None:
        finding = _inconsistent_phase(*odd)
        yield Observation((finding.primary, None), number, sure, finding, len(everyone))
    else:
        yield from _consistent_observations(number, sure, (entry for entries in found.values() for entry in entries))


def _consistent_observations(number: int, sure: bool, entries: Iterable[TxEntry]) -> Iterator[Observation]:
    """The announcements of a scenario in which boxes and bytes agree: what is odd in another one may be guessed."""
    for step in dict.fromkeys(entry.event.step for entry in entries if entry.is_expect and entry.size):
        yield Observation((step, None), number, sure)


def _inconsistent_phase(round_: PhaseTx, usual: int | None) -> Finding:
    expects = [entry.event.step for entry in round_.entries if entry.is_expect]
    copies = dict.fromkeys(entry.event.step for entry in round_.entries if not entry.is_expect)
    return Finding(
        primary=expects[-1],
        message=(
            f"expects {round_.expected_bytes} bytes, but copies by the same tensor maps are given "
            f"{'others' if usual is None else usual} elsewhere"
        ),
        labels=tuple((step, "completes here") for step in copies),
        help=(
            "expect the bytes of all boxes that are copied"
            if usual is None
            else f"expect {usual} bytes, in all the announcements for these copies together"
        ),
        properties={"expected": round_.expected_bytes, "usual": usual},
        fixes=_byte_count_fixes(expects[-1], round_.expected_bytes, usual) if len(expects) == 1 else (),
    )


def _finding(round_: PhaseTx) -> Finding:
    expects = [entry.event.step for entry in round_.entries if entry.is_expect]
    copies = list(dict.fromkeys(entry.event.step for entry in round_.entries if not entry.is_expect))
    expected, started = round_.expected_bytes, round_.copied_bytes
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
        fixes=_byte_count_fixes(expects[-1], expected, started),
    )


# ------------------------------------------------------------------------------------ announced too much, too late


def _check_tx_overflow(
    kernel: KernelFacts, number: int, world: ScenarioFacts
) -> Iterator[Observation | OpenObligation]:
    """Looks at how many bytes an object is due at once: copies may all be under way when the last is announced."""
    broken: dict[Step, Finding] = {}
    for event, due in (rehearsal.tx_overflows[0] for rehearsal in world.schedules if rehearsal.tx_overflows):
        broken.setdefault(
            event.step,
            Finding(
                primary=event.step,
                message=f"may leave an mbarrier {due} bytes to wait for in one phase; it counts to {MAX_TX_COUNT}",
                help="announce fewer bytes in a phase; mostly, one thread is to announce what all copies bring",
                properties={"due": due, "most": MAX_TX_COUNT},
            ),
        )
    if broken:
        yield from make_observations(kernel, number, broken, broken)


def _check_late_expects(
    kernel: KernelFacts, number: int, world: ScenarioFacts
) -> Iterator[Observation | OpenObligation]:
    """Looks at announcements behind an arrival at an object whose phases one arrival ends."""
    single = {
        address
        for address, inits in find_initializations(world.threads.values()).items()
        if all(event.amount == 1 for _, _, event in inits)
    }
    for thread in world.threads.values() if single else ():
        if not any(thread.positions(MbarrierExpect)):
            continue
        others = {
            address
            for other in world.threads.values()
            if other is not thread
            for address in _mbarriers_with_expects(other)
        }
        for late in find_late_expect_tx(thread.trace, single - others):
            if may_poll_memory(kernel.program):
                yield OpenObligation(late.expect.step, _FLAG_IN_MEMORY)
                continue
            sure = thread.trace.is_certain(late.position)
            key = (late.expect.step, late.phase_end.step)
            yield Observation(key, number, sure, _late_expect(late))


def _mbarriers_with_expects(thread: ThreadView) -> Iterator[int | None]:
    """The objects to which a thread announces bytes."""
    for _, event in thread.positions(MbarrierArrive, MbarrierExpect):
        if not isinstance(event.effect, MbarrierArrive) or event.effect.expect is not None:
            yield mbarrier_of(event)


def _late_expect(late: LateExpectTx) -> Finding:
    if isinstance(late.phase_end.effect, MbarrierComplete):
        what, label = "copy", "brings the last of the bytes that were announced by then"
        mend = "announce the bytes before the copy is started: `mbarrier.arrive.expect_tx` with the bytes of all copies"
    else:
        what, label = "arrival", "the only arrival that the phase needs"
        mend = "announce the bytes before the arrival, or with it: `mbarrier.arrive.expect_tx`"
    return Finding(
        primary=late.expect.step,
        message=f"announces bytes behind the {what} at line {{1}}, which may have ended their phase already",
        labels=((late.phase_end.step, label),),
        help=mend,
    )


# --------------------------------------------------------------------------------------- phases nobody completes


def _check_missing_arrivals(number: int, world: ScenarioFacts) -> Iterator[Observation]:
    arrived = _arrival_mbarriers(world.threads.values())
    if None in arrived:
        return
    everywhere = cache(_arrival_mbarriers_of_all)  # once, not for each object and each of a thousand threads
    for thread in world.threads.values():
        seen: set[int] = set()
        for at, event in thread.positions(MbarrierWait):
            address = mbarrier_of(event)
            effect = event.effect
            fresh = isinstance(effect, MbarrierWait) and effect.by == "parity" and event.amount == 1
            if address is None or address in seen or fresh:
                continue
            seen.add(address)
            if address not in arrived:
                if not arrived or not {address, None} & everywhere(world):
                    yield Observation(
                        (event.step, None), number, thread.trace.is_certain(at), _no_arrival(world, event)
                    )
            else:
                yield Observation((event.step, None), number, thread.trace.is_certain(at))


def _arrival_mbarriers_of_all(world: ScenarioFacts) -> set[int | None]:
    """The mbarriers at which threads of the CTA arrive; None among them where not all are known."""
    everyone = world.all_threads(MbarrierArrive, MbarrierTrack)
    return {None} if everyone is None else _arrival_mbarriers(everyone)


def _arrival_mbarriers(threads: Iterable[ThreadView]) -> set[int | None]:
    return {mbarrier_of(event) for thread in threads for _, event in thread.positions(MbarrierArrive, MbarrierTrack)}


def _no_arrival(world: ScenarioFacts, wait: TraceEvent) -> Finding:
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
