"""What may settle a finding about something that is there and wrong: an address of another kind, a number, a guard.

As additions are, these are guesses, the likeliest first; a mend is offered only where the check of the changed text
shows that it holds. None is safe: the author may have meant something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, get_args

from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.isa import table
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierExpect, MbarrierWait, Value
from ptxkit.isa.expressions import Call
from ptxkit.isa.forms import Match
from ptxkit.mending.pieces import OnMbarrier, by_one, guarded, mbarrier_of, on_mbarrier, stands_twice, threads
from ptxkit.mending.places import Surroundings, surroundings
from ptxkit.records import replace
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Instruction, Integer, Name

Correction: TypeAlias = Callable[[Diagnostic, Surroundings, Step], Iterator[Fix]]

_SPACES = ("shared", "shared::cta", "shared::cluster", "global", "local", "const", "param")
_SEMANTICS = ("relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys")
_WORDED = re.compile(r"write `([^`]*;)`")
MBARRIER_BYTES = 8
COUNTED = 3
"""Operands of an arrival that says how often it counts: the state, the mbarrier, the count."""


def corrections(item: Diagnostic) -> Iterator[Fix]:
    """Changes of what is there, for findings that say what is wrong with it."""
    found = _BY_CODE.get(item.code)
    if found is None:
        return
    around = surroundings(item.source, item.span.start)
    step = around.step_at(item.span.start) if around else None
    if around is not None and step is not None:
        yield from found(item, around, step)


# ------------------------------------------------------------------------------------ addresses


def _generic_in_space(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The address from before its conversion, one converted back, or the instruction for generic addresses."""
    space, address = _space(item, "space"), _address(item, step)
    if address is None or space is None:
        return
    place, operand, base = address
    for writer in around.writers(step, base):
        source = _converted(writer, "to_generic")
        if source is None:
            continue
        if source == base:
            yield Fix(f"leave out `{_text(around, writer)}`", (_without(around, writer),))
        else:
            words = f"use {source}, from which `{_opcode(writer)}` makes {base}"
            yield Fix(words, (_with_base(around, step, place, operand, source),))
    width = around.width(step, base)
    if width is not None:
        opcode = f"cvta.to.{space.partition('::')[0]}.u{width}"
        yield from _through(around, step, place, operand, width, opcode)
    yield from _respelled(around, step, space, None)


def _offset_as_generic(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The instruction for the state space, or the address converted: where it is copied from, else in front of it."""
    space, address = _space(item, "space"), _address(item, step)
    if space is None:
        return
    for word in dict.fromkeys((space, f"{space}::cta")):
        yield from _respelled(around, step, None, word)
    if address is None:
        return
    place, operand, base = address
    width = around.width(step, base)
    if width is None:
        return
    opcode = f"cvta.{space}.u{width}"
    for writer in around.writers(step, base):
        if _converted(writer, "copy") is not None:
            yield Fix(f"convert the address: `{opcode}`", (_with_opcode(around, writer, opcode),))
    yield from _through(around, step, place, operand, width, opcode)


def _other_space(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The instruction for the state space that the address is in."""
    taken, origin = _space(item, "space"), _space(item, "origin")
    if taken is None or origin is None:
        return
    stem = taken.partition("::")[0]
    for word in dict.fromkeys((taken, stem, f"{stem}::cta")):
        yield from _respelled(around, step, word, origin)


def _misaligned(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The nearest offsets that are multiples of what is needed, here, or where another access by the pointer is."""
    needed, address = item.properties.get("alignment"), _address(item, step)
    if not isinstance(needed, int):
        return
    found = [(step, *address[:2])] if address is not None else []
    for other in _others(item, around):
        operands = enumerate(other.instruction.operands)
        found += [(other, place, operand) for place, operand in operands if isinstance(operand, Address)]
    for each, place, operand in found:
        below = operand.offset - operand.offset % needed
        for offset in (below, below + needed) if operand.offset % needed else ():
            new = print_operand(replace(operand, offset=offset))
            yield Fix(f"move the address to {new}", (_with_operand(around, each, place, new),))


def _out_of_bounds(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The nearest place in the variable that holds all bytes of the access."""
    address, name = _address(item, step), item.properties.get("variable")
    begin, needed = item.properties.get("offset"), item.properties.get("bytes")
    size = next((each.size for each in around.program.variables if each.name == name), None)
    if address is None or size is None or not isinstance(begin, int) or not isinstance(needed, int) or needed > size:
        return
    place, operand, _ = address
    moved = replace(operand, offset=operand.offset + min(max(begin, 0), size - needed) - begin)
    new = print_operand(moved)
    yield Fix(f"move the address to {new}", (_with_operand(around, step, place, new),))


def _other_object(around: Surroundings, step: Step, others: Iterable[Step]) -> Iterator[Fix]:
    """The mbarrier beside the one that an operand names, where it names one at an offset."""
    for each in dict.fromkeys((step, *others)):
        for place, operand in enumerate(each.instruction.operands):
            if isinstance(operand, Address) and operand.offset and any(operand == of for of in _mbarriers(each)):
                for offset in (operand.offset - MBARRIER_BYTES, operand.offset + MBARRIER_BYTES):
                    new = print_operand(replace(operand, offset=offset))
                    yield Fix(f"use the mbarrier at {new}", (_with_operand(around, each, place, new),))


def _mbarriers(step: Step) -> Iterator[Address]:
    for kind in get_args(OnMbarrier):
        address = mbarrier_of(step, kind)
        if address is not None:
            yield address


def _address(item: Diagnostic, step: Step) -> tuple[int, Address, str] | None:
    """The operand that a finding is about: its position, itself, and the register or variable that it is made of."""
    role = item.properties.get("operand")
    if step.match is None or not isinstance(role, str) or step.match.paths.get(role):
        return None
    operand, place = step.match.operand(role, step.instruction), step.match.roles.get(role)
    if place is None or not isinstance(operand, Address) or not isinstance(operand.base, Name) or operand.index:
        return None
    return place, operand, operand.base.text


def _space(item: Diagnostic, name: str) -> str | None:
    value = item.properties.get(name)
    return value if value in _SPACES else None


def _converted(step: Step, function: str) -> str | None:
    """The name whose value an instruction converts, or copies."""
    for effect in step.match.effects if step.match else ():
        if isinstance(effect, Value) and isinstance(effect.value, Call) and effect.value.function == function:
            source = step.instruction.operands[-1]
            return source.text if isinstance(source, Name) and step.instruction.guard is None else None
    return None


def _through(around: Surroundings, step: Step, place: int, operand: Address, width: int, opcode: str) -> Iterator[Fix]:
    """The instruction with an address that goes through a conversion in front of it."""
    span = statement_spans(around.source, step.start).statement
    base = print_operand(operand.base)
    head = f"{{\n\t.reg .b{width} %converted;\n\t{opcode} %converted, {base};\n\t"
    yield Fix(
        f"convert the address: `{opcode}`",
        (
            Edit(Span(span.start, span.start), around.indented(span.start, head)),
            _with_base(around, step, place, operand, "%converted"),
            Edit(Span(span.end, span.end), around.indented(span.start, "\n}")),
        ),
    )


def _respelled(around: Surroundings, step: Step, old: str | None, new: str | None) -> Iterator[Fix]:
    """The instruction with another word for a state space, more or less, that does the same kinds of things."""
    name, *words = step.instruction.opcode.split(".")
    if old is not None and old not in words:
        return
    kept = words if old is None else [word for word in words if word != old]
    where = range(len(kept) + 1) if old is None else [words.index(old)]
    tried = [".".join([name, *kept[:at], *([new] if new else []), *kept[at:]]) for at in where]
    for opcode in tried:
        spelled = _spelled(step, opcode)
        if spelled is not None:
            yield Fix(f"write `{spelled}`", (_with_opcode(around, step, spelled),))
            return


def _spelled(step: Step, opcode: str) -> str | None:
    """Another opcode for an instruction in the manual's order, if it does the same kinds of things; else None."""
    found = table().match(Instruction(opcode, step.instruction.operands)) if table().candidates(opcode) else None
    if not isinstance(found, Match) or found.tolerated or found.form.tolerated:
        return None
    return found.canonical if [type(each) for each in found.effects] == [type(each) for each in step.effects] else None


def _narrow_scope(item: Diagnostic, around: Surroundings, _: Step) -> Iterator[Fix]:
    """The arrival and the wait by which one CTA hands over to another, for the cluster."""
    edits, opcodes = [], []
    for each in _others(item, around)[1:]:
        order = "acquire" if on_mbarrier(each, MbarrierWait) else "release"
        name, *words = each.instruction.opcode.split(".")
        kept = [word for word in words if word not in _SEMANTICS]
        tried = (".".join([name, *kept[:at], order, "cluster", *kept[at:]]) for at in range(len(kept) + 1))
        opcode = next((new for old in tried if (new := _spelled(each, old)) is not None), None)
        if opcode is not None and opcode != each.instruction.opcode:
            edits.append(_with_opcode(around, each, opcode))
            opcodes.append(f"`{opcode}`")
    if edits:
        yield Fix(f"write {' and '.join(opcodes)}", tuple(edits))


# -------------------------------------------------------------------------------------- threads


def _made_twice(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """An initialisation by one thread; and without the one that comes second."""
    others = _others(item, around)
    if not others:
        yield from _by_first(around, step)
    for each in (step, *others) if others else ():
        yield Fix(f"leave out `{_text(around, each)}`", (_without(around, each),))


def _too_many(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """Room for more arrivals in the phase, or an arrival of one thread."""
    yield from _wrong_object(item, around, step)
    count = item.properties.get("count")
    made = around.step_at(item.labels[-1].span.start) if item.labels else None
    if (
        isinstance(count, int)
        and made is not None
        and any(on_mbarrier(each, MbarrierWait) for each in around.program.steps)
    ):
        all_threads = threads(around) if step.instruction.guard is None else ()
        for new in dict.fromkeys((count + 1, *(each for each in all_threads if each > count))):
            yield from _with_count(around, made, count, new)
    operands = step.instruction.operands
    if step.match is not None and on_mbarrier(step, MbarrierArrive) and len(operands) == COUNTED:
        yield Fix("arrive once", (_with_operand(around, step, COUNTED - 1, "1"),))
    yield from _by_first(around, step)


def _twice(around: Surroundings, step: Step) -> Iterator[Fix]:
    """Without a statement that says what the one before, or behind, says too."""
    if stands_twice(around, step):
        yield Fix(f"leave out `{_text(around, step)}`, which stands there twice", (_without(around, step),))


def _wrong_object(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """What stands there twice, or too late, and the mbarrier beside the wrong one."""
    yield from _twice(around, step)
    yield from _sooner(around, step, _others(item, around))
    yield from _other_object(around, step, _others(item, around))


def _sooner(around: Surroundings, step: Step, others: Iterable[Step]) -> Iterator[Fix]:
    """What announces bytes alone, in front of the arrival that may end the phase."""
    if not on_mbarrier(step, MbarrierExpect) or on_mbarrier(step, MbarrierArrive):
        return
    for other in others:
        if on_mbarrier(other, MbarrierArrive) and other.index < step.index:
            text = _text(around, step)
            edits = (around.added(other.start, text), _without(around, step))
            yield Fix(f"move `{text}` in front of the arrival", edits)


def _others(item: Diagnostic, around: Surroundings) -> list[Step]:
    return [other for label in item.labels if (other := around.step_at(label.span.start)) is not None]


def _with_count(around: Surroundings, made: Step, old: int, new: int) -> Iterator[Fix]:
    operands = made.instruction.operands
    if operands and isinstance(operands[-1], Integer) and operands[-1].value == old:
        yield Fix(f"make the count {new}", (_with_operand(around, made, len(operands) - 1, str(new)),))


def _by_first(around: Surroundings, step: Step) -> Iterator[Fix]:
    """A statement of all threads by one of them."""
    if step.instruction.guard is None:
        span = statement_spans(around.source, step.start).statement
        text = around.source.text[span.start : span.end]
        new = around.indented(span.start, by_one(text))
        yield Fix("let the first thread alone do it", (Edit(span, new),))


def _parted(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """What all lanes must execute, without the guard that keeps some from it: this, or the other half."""
    halves = [each for each in around.program.steps if _meets_cluster(each)] if item.code == "PTX613" else []
    for each in dict.fromkeys((step, *_others(item, around), *halves)):
        spans = statement_spans(around.source, each.start)
        if spans.guard is not None and spans.opcode is not None:
            words = f"let all threads execute `{_text(around, each)[len(guarded(each, '')) :]}`"
            yield Fix(words, (Edit(Span(spans.guard.start, spans.opcode.start), ""),))


def _meets_cluster(step: Step) -> bool:
    return any(isinstance(effect, Barrier) and effect.level == "cluster" for effect in step.effects)


def _unmet(_: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The number of another barrier."""
    own = _number(step)
    numbers = dict.fromkeys(number for each in around.program.steps if (number := _number(each)) is not None)
    for number in numbers if own is not None else ():
        if number != own:
            yield Fix(f"meet at barrier {number}", (_with_operand(around, step, 0, str(number)),))


def _number(step: Step) -> int | None:
    """The number of the barrier of the CTA at which an instruction meets others, where it is a constant."""
    first = step.instruction.operands[:1]
    is_barrier = any(isinstance(effect, Barrier) and effect.level == "cta" for effect in step.effects)
    return first[0].value if is_barrier and first and isinstance(first[0], Integer) else None


# --------------------------------------------------------------------------------------- in vain


def _needless(_: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """Without what is there in vain."""
    yield Fix(f"leave out `{_text(around, step)}`", (_without(around, step),))


def _worded(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The statement that the help names, for the same threads."""
    found = _WORDED.search(item.help or "")
    if found is not None:
        span = statement_spans(around.source, step.start).statement
        yield Fix(f"write `{found[1]}`", (Edit(span, guarded(step, found[1])),))


# ---------------------------------------------------------------------------------------- edits


def _opcode(step: Step) -> str:
    return step.instruction.opcode


def _text(around: Surroundings, step: Step) -> str:
    span = statement_spans(around.source, step.start).statement
    return " ".join(around.source.text[span.start : span.end].split())


def _with_operand(around: Surroundings, step: Step, place: int, text: str) -> Edit:
    return Edit(statement_spans(around.source, step.start).operands[place], text)


def _with_base(around: Surroundings, step: Step, place: int, operand: Address, name: str) -> Edit:
    return _with_operand(around, step, place, print_operand(replace(operand, base=Name(name))))


def _with_opcode(around: Surroundings, step: Step, opcode: str) -> Edit:
    span = statement_spans(around.source, step.start).opcode
    assert span is not None
    return Edit(span, opcode)


def _without(around: Surroundings, step: Step) -> Edit:
    """A statement taken out, with its line where it is the only one there."""
    text = around.source.text
    span = statement_spans(around.source, step.start).statement
    begin, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    alone = end >= 0 and not text[begin : span.start].strip() and not text[span.end : end].strip()
    return Edit(Span(begin, end + 1) if alone else span, "")


_BY_CODE: Mapping[str, Correction] = {
    "PTX201": _generic_in_space,
    "PTX202": _offset_as_generic,
    "PTX205": _misaligned,
    "PTX207": _out_of_bounds,
    "PTX208": _other_space,
    "PTX315": _parted,
    "PTX501": _wrong_object,
    "PTX502": _made_twice,
    "PTX503": _wrong_object,
    "PTX504": _wrong_object,
    "PTX505": _too_many,
    "PTX506": _narrow_scope,
    "PTX601": _unmet,
    "PTX603": _parted,
    "PTX605": _parted,
    "PTX613": _parted,
    "PTX701": _parted,
    "PTX704": _wrong_object,
    "PTX901": _needless,
    "PTX902": _needless,
    "PTX903": _needless,
    "PTX904": _needless,
    "PTX905": _worded,
}
