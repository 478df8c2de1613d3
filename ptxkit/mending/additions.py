"""What may settle a finding about synchronisation that is missing: the statement, at each place where it may belong.

These are guesses, the likeliest first. The finding says what is missing and names the statements at which it shows, and
not where the missing one stood. A mend is offered only where the check of the changed text shows that it holds. None is
safe: there may be threads that never come to a barrier more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.isa.effects import (
    Access,
    Barrier,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
)
from ptxkit.mending.changes import others_of, place_of
from ptxkit.mending.pieces import OnMbarrier, by_one, guarded, mbarrier_of, on_mbarrier, threads
from ptxkit.mending.places import Surroundings
from ptxkit.records import replace
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Name

MOST_PLACES = 4
"""Places at which one statement is tried: each costs a check of the whole text."""

_RACES = {"PTX302", "PTX303", "PTX501", "PTX507", "PTX621", "PTX708"}
_MEET = "bar.sync 0;"
_MEET_IN_CLUSTER = "barrier.cluster.arrive;\nbarrier.cluster.wait;"


def additions(item: Diagnostic) -> Iterator[Fix]:
    """Statements to put in for a finding about synchronisation."""
    is_wrong = item.severity is Severity.ERROR or item.code == "PTX604"
    if not is_wrong or not item.code.startswith("PTX"):
        return
    here = place_of(item)
    if here is None:
        return
    around, step = here
    others = others_of(item, around)
    if item.code == "PTX403":
        yield from _acquire(item, around, step)
    if item.code == "PTX503":
        yield from _announcement(item, around, step, others)
    if item.code in ("PTX503", "PTX504"):
        yield from _arrival(around, step, others)
    if item.code == "PTX501" and not others:
        yield from _initialisation(around, step)
    if item.code in ("PTX611", "PTX613"):
        yield from _other_half(around)
    if item.code == "PTX611":
        for made in (each for each in others if on_mbarrier(each, MbarrierInit)):
            yield from _at(around, [around.end(made)], guarded(made, "fence.mbarrier_init.release.cluster;"))
        places = dict.fromkeys((around.beginning, *islice(around.ahead(step), MOST_PLACES)))
        yield from _at(around, places, _MEET_IN_CLUSTER)
    if item.code == "PTX604":
        yield from _at(around, [step.start], "griddepcontrol.wait;")
    if item.code == "PTX612" and around.ends:
        edits = tuple(around.added(place, _MEET_IN_CLUSTER) for place in around.ends)
        yield Fix(f"add `{_in_line(_MEET_IN_CLUSTER)}`", edits)
    if item.code in _RACES and others:
        yield from _barrier(item, around, step, others)


def _barrier(item: Diagnostic, around: Surroundings, step: Step, others: list[Step]) -> Iterator[Fix]:
    """The barrier that the finding names, or one of all threads: in front of what hands over, in front of what goes
    wrong, or behind the other access. None where the finding says that none will do."""
    text = item.properties.get("barrier", _meeting(around))
    if isinstance(text, str):
        before = (each for other in (*others[1:], step) for each in islice(around.ahead(other), MOST_PLACES))
        behind = list(islice(around.behind(others[0]), MOST_PLACES))
        yield from _at(around, dict.fromkeys((*before, *behind)), text)


def _acquire(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The fence by which a thread sees what was changed of a tensor map, in front of the copy by the map."""
    if item.properties.get("missing") != "acquire":
        return
    maps = [each for each in step.instruction.operands if isinstance(each, Address) and each.index]
    for each in maps[:1]:
        text = f"fence.proxy.tensormap::generic.acquire.gpu [{print_operand(each.base)}], 128;"
        yield from _at(around, [step.start], guarded(step, text))


def _announcement(item: Diagnostic, around: Surroundings, step: Step, others: list[Step]) -> Iterator[Fix]:
    """The bytes of copies that nobody announces: to an arrival that is there, else with an arrival."""
    copied = item.properties.get("copied")
    if not isinstance(copied, int) or item.properties.get("expected"):
        return
    arriving = (each for each in around.program.steps if on_mbarrier(each, MbarrierArrive))
    near = sorted(arriving, key=lambda each: abs(each.index - step.index))
    arrivals = list(dict.fromkeys((step, *others, *near[:MOST_PLACES])))
    for each in arrivals:
        yield from _announcing(around, each, copied)
    for each in arrivals:
        address = on_mbarrier(each, MbarrierArrive)
        if address:
            text = f"mbarrier.expect_tx.relaxed.cta{_space(each)}.b64 {address}, {copied};"
            yield from _at(around, [each.start], guarded(each, text))
    for each in (step, *others):
        address = on_mbarrier(each, MbarrierComplete)
        if address:
            text = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, {address}, {copied};"
            yield from _at(around, islice(around.ahead(each), MOST_PLACES), guarded(each, text), like=(each,))


def _announcing(around: Surroundings, step: Step, size: int) -> Iterator[Fix]:
    """A plain arrival of one thread that announces bytes, too."""
    name, action, *words = step.instruction.opcode.split(".")
    operands = step.instruction.operands
    if on_mbarrier(step, MbarrierArrive) and len(operands) == 2 and "expect_tx" not in words:
        spans = statement_spans(around.source, step.start)
        opcode = ".".join((name, action, "expect_tx", *words))
        end = spans.operands[-1].end
        if spans.opcode is not None:
            edits = (Edit(spans.opcode, opcode), Edit(Span(end, end), f", {size}"))
            yield Fix(f"announce the {size} bytes: `{opcode}`", edits)


def _arrival(around: Surroundings, step: Step, others: list[Step]) -> Iterator[Fix]:
    """An arrival behind what announces bytes alone, else in front of the wait that never ends: of all, or of one."""
    address = on_mbarrier(step, MbarrierExpect)
    if address and not on_mbarrier(step, MbarrierArrive):
        text = f"mbarrier.arrive{_space(step)}.b64 _, {address};"
        yield from _at(around, islice(around.behind(step), 1), guarded(step, text), like=(step,))
        return
    address = on_mbarrier(step, MbarrierWait)
    if address is None:
        return
    yield from _tracking(around, step)
    text = f"mbarrier.arrive{_space(step)}.b64 _, {address};"
    makers = [each for each in others if on_mbarrier(each, MbarrierInit)]
    places = [place for place in islice(around.ahead(step), MOST_PLACES) if place != step.start] or [step.start]
    for words in dict.fromkeys((text, *(guarded(each, text) for each in makers), by_one(text))):
        yield from _at(around, places, words, like=(step, *makers))


def _tracking(around: Surroundings, wait: Step) -> Iterator[Fix]:
    """The arrival that comes when a thread's copies are done, behind the last of those in front of a wait."""
    address = mbarrier_of(wait, MbarrierWait)
    copies = [each for each in around.program.steps[: wait.index] if _is_tracked(each)]
    name = around.variable(address.base.text) if address is not None and isinstance(address.base, Name) else None
    if address is not None and name is not None and copies:
        text = f"cp.async.mbarrier.arrive.noinc.shared.b64 {print_operand(replace(address, base=Name(name)))};"
        yield from _at(around, islice(around.behind(copies[-1]), MOST_PLACES), text)


def _is_tracked(step: Step) -> bool:
    """Whether an mbarrier may track what an instruction copies."""
    return any(isinstance(effect, Access) and effect.completion == "cp.async" for effect in step.effects)


def _initialisation(around: Surroundings, step: Step) -> Iterator[Fix]:
    """An mbarrier that nobody makes, by one thread, for one arrival a phase or for those of all warps or threads.

    At the beginning where a variable holds it; where its address is computed, in front of its use.
    """
    kinds: tuple[type[OnMbarrier], ...] = (MbarrierWait, MbarrierArrive, MbarrierExpect, MbarrierTrack)
    own = next((address for kind in kinds if (address := mbarrier_of(step, kind))), None)
    address = own or mbarrier_of(step, MbarrierComplete)
    if address is None:
        return
    space = _space(step).replace("cluster", "cta") if own else ".shared::cta"
    name = around.variable(address.base.text) if isinstance(address.base, Name) else None
    if name is not None:
        address, space = Address(Name(name), address.offset), ".shared"
    places = [around.beginning] if name is not None else list(islice(around.ahead(step), MOST_PLACES))
    for count in dict.fromkeys((1, *threads(around))):
        text = f"mbarrier.init{space}.b64 {print_operand(address)}, {count};"
        yield from _at(around, places, f"{by_one(text)}\n{_meeting(around)}", f"`{text}`", like=(step,))


def _other_half(around: Surroundings) -> Iterator[Fix]:
    """The wait that belongs behind an arrival at the barrier of the cluster, or the arrival in front of a wait."""
    halves = {"arrive": "barrier.cluster.wait;", "wait": "barrier.cluster.arrive;"}
    found = [
        (each, effect.action)
        for each in around.program.steps
        for effect in each.effects
        if isinstance(effect, Barrier) and effect.level == "cluster" and effect.action in halves
    ]
    for number, (each, action) in enumerate(found):
        near = found[number + 1 : number + 2] if action == "arrive" else found[max(number - 1, 0) : number]
        if all(other == action for _, other in near):
            places = around.behind(each) if action == "arrive" else around.ahead(each)
            yield from _at(around, islice(places, 1), halves[action])


def _at(
    around: Surroundings, places: Iterable[int], text: str, words: str | None = None, like: Iterable[Step] = ()
) -> Iterator[Fix]:
    """The same text at each place. words: what it is, where the text is long. like: the statements from which it has
    its registers; where these hold something else, or nothing yet, it means something else."""
    like = tuple(like)
    for place in places:
        if all(around.keeps(step, text, place) for step in like):
            yield Fix(f"add {words or f'`{_in_line(text)}`'}", (around.added(place, text),))


def _has_clusters(around: Surroundings) -> bool:
    """Whether the kernel says that several CTAs make a cluster."""
    return around.program.function.directive("reqnctapercluster") is not None


def _meeting(around: Surroundings) -> str:
    """The barrier of all threads that may have to do with each other."""
    return _MEET_IN_CLUSTER if _has_clusters(around) else _MEET


def _in_line(text: str) -> str:
    return " ".join(text.split())


def _space(step: Step) -> str:
    """The state space that an instruction names, with its dot; empty where its address is generic."""
    return next((f".{word}" for word in step.instruction.opcode.split(".") if word.startswith("shared")), "")
