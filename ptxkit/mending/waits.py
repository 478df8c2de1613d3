"""What may settle a finding about a wait for an mbarrier: another parity, one that follows the phases, another try.

A parity that is wrong from the first phase on is a constant, in the operand or in what the register starts with; one
that is right for the first phase alone needs a register that is turned over behind each wait. What is asked once must
be asked until the answer is yes. And a wait that is missing stands in front of what goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.isa.effects import Control, MbarrierArrive, MbarrierComplete, MbarrierTrack, MbarrierWait, Value
from ptxkit.isa.expressions import Call
from ptxkit.mending.changes import others_of, place_of
from ptxkit.mending.pieces import on_mbarrier, stands_twice
from ptxkit.mending.places import Surroundings
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Integer, Name

MOST_WAITS, MOST_PLACES = 3, 4
"""Waits that are changed, and places at which one is put in: each try costs a check of the whole text."""
_FAR = 8
"""Instructions from a wait to the branch that repeats it, and from a register back to the constant it starts with."""
_FENCE = {"PTX704": "\ntcgen05.fence::after_thread_sync;"}
"""What stands behind a wait, by the code of what it is for."""
_CODES = {"PTX302", "PTX303", "PTX402", "PTX504", "PTX505", "PTX621", "PTX704"}


def other_waits(item: Diagnostic) -> Iterator[Fix]:
    """Changes of waits near a finding that a wait may be the cause of, and waits that may be missing."""
    if item.code not in _CODES or item.severity is not Severity.ERROR:
        return
    here = place_of(item)
    if here is None:
        return
    around, step = here
    others = others_of(item, around)
    blamed = [*others, step] if "parity" in item.properties else [step]
    found = list(islice(_near(around, blamed), MOST_WAITS))
    for wait, effect in found:
        yield from _asked_again(around, wait, effect)
    for wait, effect in found:
        if effect.by == "parity":
            yield from _other_parity(around, wait, effect)
            yield from _following(around, wait, effect)
    if item.code in ("PTX302", "PTX621", "PTX704") or (item.code == "PTX505" and not stands_twice(around, step)):
        yield from _missing(around, step, others, _FENCE.get(item.code, ""))


def _near(around: Surroundings, blamed: list[Step]) -> Iterator[tuple[Step, MbarrierWait]]:
    """The waits among what a finding blames, the last first; else all of the function, the nearest first."""
    found = [
        (each, effect) for each in around.program.steps for effect in each.effects if isinstance(effect, MbarrierWait)
    ]
    own = [pair for each in reversed(blamed) for pair in found if pair[0] is each]
    yield from own or sorted(found, key=lambda pair: abs(pair[0].index - blamed[-1].index))


def _asked_again(around: Surroundings, wait: Step, effect: MbarrierWait) -> Iterator[Fix]:
    """A wait that nothing repeats, in a loop."""
    result = wait.match.operand(effect.result, wait.instruction) if wait.match else None
    if not isinstance(result, Name) or wait.instruction.guard is not None or _repeating(around, wait) is not None:
        return
    span = statement_spans(around.source, wait.start).statement
    head, tail = "{\nagain:\n\t", f"\n\t@!{result.text} bra again;\n}}"
    edits = (
        Edit(Span(span.start, span.start), around.indented(span.start, head)),
        Edit(Span(span.end, span.end), around.indented(span.start, tail)),
    )
    yield Fix("ask again until the phase is complete", edits)


def _other_parity(around: Surroundings, wait: Step, effect: MbarrierWait) -> Iterator[Fix]:
    """The other constant: of the operand, or what its register starts with."""
    place = _place(wait, effect)
    if place is None:
        return
    given = wait.instruction.operands[place]
    constants = [(wait, place, given.value)] if isinstance(given, Integer) else []
    if isinstance(given, Name):
        constants = list(_starts(around, wait, given.text))
    for step, at, value in constants:
        if value in (0, 1):
            span = statement_spans(around.source, step.start).operands[at]
            yield Fix(f"begin with parity {1 - value}", (Edit(span, str(1 - value)),))


def _starts(around: Surroundings, step: Step, name: str) -> Iterator[tuple[Step, int, int]]:
    """The constants that a register may start from: where each is moved, in which operand, and its value."""
    seen: set[Step] = set()
    waiting = [(step, name, 0)]
    while waiting:
        reader, register, far = waiting.pop(0)
        for writer in around.writers(reader, register) if far < _FAR else ():
            if writer in seen:
                continue
            seen.add(writer)
            is_copy = _is_copy(writer)
            for at, operand in enumerate(writer.instruction.operands[1:], 1):
                if isinstance(operand, Integer) and is_copy:
                    yield writer, at, operand.value
                elif isinstance(operand, Name):
                    waiting.append((writer, operand.text, far + 1))


def _is_copy(step: Step) -> bool:
    effects = step.effects
    calls = [each.value for each in effects if isinstance(each, Value)]
    return len(calls) == 1 and isinstance(calls[0], Call) and calls[0].function == "copy"


def _following(around: Surroundings, wait: Step, effect: MbarrierWait) -> Iterator[Fix]:
    """A constant parity of a wait that comes round again: in a register that is turned over behind it."""
    place, after = _place(wait, effect), _behind(around, wait)
    if place is None or after is None or around.opening is None:
        return
    given = wait.instruction.operands[place]
    if isinstance(given, Name):
        constants = [value for _, _, value in _starts(around, wait, given.text)]
        writers = around.writers(wait, given.text)
        if len(constants) != 1 or len(writers) != 1 or not _is_copy(writers[0]):
            return
        start = constants[0]
    elif isinstance(given, Integer):
        start = given.value
    else:
        return
    name = _fresh(around)
    for turned in (start, 1 - start) if start in (0, 1) else ():
        edits = (
            around.added(around.opening, _register(name, turned)),
            Edit(statement_spans(around.source, wait.start).operands[place], name),
            around.added(after, _turned(name)),
        )
        yield Fix(f"let the parity follow the phases, from {turned} on", edits)


def _missing(around: Surroundings, step: Step, others: list[Step], fence: str) -> Iterator[Fix]:
    """A wait in front of what goes wrong: for the first phase, and for each in its turn. fence: what stands behind."""
    kinds = (MbarrierComplete, MbarrierTrack, MbarrierArrive)
    found = (
        (each, address)
        for each in (*others, step)
        for kind in kinds
        if (each is not step or kind is not MbarrierComplete)  # nothing waits for its own end before it begins
        and (address := on_mbarrier(each, kind))
    )
    source, address = next(found, (step, None))
    if address is None:
        return
    words = f"add a loop that waits for {address}"
    places = [each for each in islice(around.ahead(step), MOST_PLACES) if around.keeps(source, address, each)]
    if around.opening is not None and _in_loop(around, step):
        name = _fresh(around)
        for place in places:
            if place > around.opening:
                loop = f"{_loop(address, name)}{fence}\n{_turned(name)}"
                edits = (around.added(around.opening, _register(name, 0)), around.added(place, loop))
                yield Fix(f"{words}, phase by phase", edits)
    for place in places:
        yield Fix(words, (around.added(place, f"{_loop(address, '0')}{fence}"),))


def _fresh(around: Surroundings) -> str:
    """A name for a register that the text does not have."""
    names = (f"%awaited{number or ''}" for number in count())
    return next(name for name in names if name not in around.source.text)


def _register(name: str, start: int) -> str:
    return f".reg .b32 {name};\nmov.b32 {name}, {start};"


def _turned(name: str) -> str:
    return f"xor.b32 {name}, {name}, 1;"


def _loop(address: str, parity: str) -> str:
    return (
        "{\n\t.reg .pred %waited;\nagain:\n"
        f"\tmbarrier.try_wait.parity.shared::cta.b64 %waited, {address}, {parity};\n\t@!%waited bra again;\n}}"
    )


def _place(wait: Step, effect: MbarrierWait) -> int | None:
    """The position of the operand that is the parity."""
    if wait.match is None or wait.match.paths.get(effect.phase):
        return None
    return wait.match.roles.get(effect.phase)


def _repeating(around: Surroundings, wait: Step) -> Step | None:
    """The branch that decides whether a wait is repeated: the next one that some threads alone take."""
    for step in around.program.steps[wait.index + 1 : wait.index + 1 + _FAR]:
        target = around.target(step)
        if target is not None and step.instruction.guard is not None:
            after = around.program.steps[step.index + 1 : step.index + 3]
            back = [target, *(place for each in after if (place := around.target(each)) is not None)]
            return step if any(wait.index - _FAR <= place <= wait.index for place in back) else None
    return None


def _behind(around: Surroundings, wait: Step) -> int | None:
    """Where the loop around a wait is left, if more than that loop comes round to it again."""
    branch = _repeating(around, wait)
    if branch is None or not _in_loop(around, branch):
        return None
    target = around.target(branch)
    assert target is not None
    if target <= wait.index:
        return around.end(branch)
    return around.program.steps[target].start if target < len(around.program.steps) else None


def _in_loop(around: Surroundings, step: Step) -> bool:
    """Whether a branch from behind a step goes back in front of it."""
    for each in around.program.steps[step.index + 1 :]:
        target = around.target(each) if _branches(each) else None
        if target is not None and target <= step.index:
            return True
    return False


def _branches(step: Step) -> bool:
    return any(isinstance(effect, Control) for effect in step.effects)
