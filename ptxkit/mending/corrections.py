"""What may settle a finding about something that is there and wrong: an address of another kind, a number, a guard.

As additions are, these are guesses, the likeliest first; a mend is offered only where the check of the changed text
shows that it holds. None is safe: the author may have meant something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, get_args

from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierExpect, MbarrierWait
from ptxkit.mending.addresses import (
    converted_twice,
    generic_in_space,
    misaligned,
    offset_as_generic,
    other_space,
    out_of_bounds,
)
from ptxkit.mending.changes import others_of, place_of, spelled, text_of, with_opcode, with_operand, without
from ptxkit.mending.pieces import OnMbarrier, by_one, guarded, mbarrier_of, on_mbarrier, stands_twice, threads
from ptxkit.mending.places import Surroundings
from ptxkit.mending.refusals import after_refusal
from ptxkit.mending.tensors import committed, other_ctas, own_lanes
from ptxkit.records import replace
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Integer, Name

Correction: TypeAlias = Callable[[Diagnostic, Surroundings, Step], Iterator[Fix]]

_SEMANTICS = ("relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys")
_WORDED = re.compile(r"write `([^`]*;)`")
MBARRIER_BYTES = 8
COUNTED = 3
"""Operands of an arrival that says how often it counts: the state, the mbarrier, the count."""


def corrections(item: Diagnostic) -> Iterator[Fix]:
    """Changes of what is there, for findings that say what is wrong with it."""
    found = _BY_CODE.get(item.code)
    here = place_of(item) if found is not None else None
    if found is not None and here is not None:
        yield from found(item, *here)


def _other_object(around: Surroundings, step: Step, others: Iterable[Step]) -> Iterator[Fix]:
    """The mbarrier beside the one that an operand names, where it names one at an offset."""
    for each in dict.fromkeys((step, *others)):
        for place, operand in enumerate(each.instruction.operands):
            if isinstance(operand, Address) and operand.offset and any(operand == of for of in _mbarriers(each)):
                for offset in (operand.offset - MBARRIER_BYTES, operand.offset + MBARRIER_BYTES):
                    new = print_operand(replace(operand, offset=offset))
                    yield Fix(f"use the mbarrier at {new}", (with_operand(around, each, place, new),))


def _mbarriers(step: Step) -> Iterator[Address]:
    for kind in get_args(OnMbarrier):
        address = mbarrier_of(step, kind)
        if address is not None:
            yield address


def _narrow_scope(item: Diagnostic, around: Surroundings, _: Step) -> Iterator[Fix]:
    """The arrival and the wait by which one CTA hands over to another, for the cluster."""
    edits, opcodes = [], []
    for each in others_of(item, around)[1:]:
        order = "acquire" if on_mbarrier(each, MbarrierWait) else "release"
        name, *words = each.instruction.opcode.split(".")
        kept = [word for word in words if word not in _SEMANTICS]
        tried = (".".join([name, *kept[:at], order, "cluster", *kept[at:]]) for at in range(len(kept) + 1))
        opcode = next((new for old in tried if (new := spelled(each, old)) is not None), None)
        if opcode is not None and opcode != each.instruction.opcode:
            edits.append(with_opcode(around, each, opcode))
            opcodes.append(f"`{opcode}`")
    if edits:
        yield Fix(f"write {' and '.join(opcodes)}", tuple(edits))


def _released(item: Diagnostic, around: Surroundings, _: Step) -> Iterator[Fix]:
    """A release in the place of a relaxed arrival that a finding points at."""
    for each in others_of(item, around):
        words = each.instruction.opcode.split(".")
        if "relaxed" in words and (on_mbarrier(each, MbarrierArrive) is not None or _meets_cluster(each)):
            opcode = spelled(each, ".".join("release" if word == "relaxed" else word for word in words))
            if opcode is not None:
                yield Fix(f"write `{opcode}`", (with_opcode(around, each, opcode),), safe=True)


def _wider_scope(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The scope of all CTAs that share a word; what is atomic to more threads is so to those of one CTA."""
    words = step.instruction.opcode.split(".")
    wanted = spelled(step, ".".join("gpu" if each == item.properties.get("scope") else each for each in words))
    if wanted is not None:
        yield Fix(f"write `{wanted}`", (with_opcode(around, step, wanted),), safe=True)


# -------------------------------------------------------------------------------------- threads


def _made_twice(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """An initialisation by one thread; and without the one that comes second."""
    others = others_of(item, around)
    if not others:
        yield from _by_first(around, step)
    for each in (step, *others) if others else ():
        yield Fix(f"leave out `{text_of(around, each)}`", (without(around, each),))


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
        warp = (count + WARP,) if count % WARP == 0 else ()
        for new in dict.fromkeys((count + 1, *(each for each in all_threads if each > count), *warp)):
            yield from _with_count(around, made, count, new)
    operands = step.instruction.operands
    if step.match is not None and on_mbarrier(step, MbarrierArrive) and len(operands) == COUNTED:
        yield Fix("arrive once", (with_operand(around, step, COUNTED - 1, "1"),))
    yield from _by_first(around, step)


def _twice(around: Surroundings, step: Step) -> Iterator[Fix]:
    """Without a statement that says what the one before, or behind, says too."""
    if stands_twice(around, step):
        yield Fix(f"leave out `{text_of(around, step)}`, which stands there twice", (without(around, step),))


def _wrong_object(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """What stands there twice, or too late, and the mbarrier beside the wrong one."""
    yield from _twice(around, step)
    yield from _sooner(around, step, others_of(item, around))
    yield from _other_object(around, step, others_of(item, around))


def _sooner(around: Surroundings, step: Step, others: Iterable[Step]) -> Iterator[Fix]:
    """What announces bytes alone, in front of the arrival that may end the phase."""
    if not on_mbarrier(step, MbarrierExpect) or on_mbarrier(step, MbarrierArrive):
        return
    for other in others:
        if on_mbarrier(other, MbarrierArrive) and other.index < step.index:
            text = text_of(around, step)
            edits = (around.added(other.start, text), without(around, step))
            yield Fix(f"move `{text}` in front of the arrival", edits)


def _with_count(around: Surroundings, made: Step, old: int, new: int) -> Iterator[Fix]:
    operands = made.instruction.operands
    last = operands[-1] if operands else None
    if isinstance(last, Name) or (isinstance(last, Integer) and last.value == old):
        yield Fix(f"make the count {new}", (with_operand(around, made, len(operands) - 1, str(new)),))


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
    for each in dict.fromkeys((step, *others_of(item, around), *halves)):
        spans = statement_spans(around.source, each.start)
        if spans.guard is not None and spans.opcode is not None:
            words = f"let all threads execute `{text_of(around, each)[len(guarded(each, '')) :]}`"
            yield Fix(words, (Edit(Span(spans.guard.start, spans.opcode.start), ""),))


def _uncommitted(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """Another mbarrier, or a commit by another thread."""
    yield from _wrong_object(item, around, step)
    yield from committed(item, around)


def _other_lanes(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The lanes of the own warp, and all threads of it."""
    yield from own_lanes(item, around, step)
    yield from _parted(item, around, step)


def _other_registers(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """More registers where they are said to become fewer, or fewer; and all threads of the warpgroup."""
    turned = {"dec": "inc", "inc": "dec"}
    if "wanted" in item.properties:
        wanted = spelled(step, ".".join(turned.get(word, word) for word in step.instruction.opcode.split(".")))
        if wanted is not None:
            yield Fix(f"write `{wanted}`", (with_opcode(around, step, wanted),))
    yield from _parted(item, around, step)


def _later(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """What must come first, in front of what must not; and all threads of a warp."""
    for other in others_of(item, around):
        if other.index < step.index:
            text = text_of(around, other)
            edits = (without(around, other), around.added(around.end(step), text))
            yield Fix(f"move `{text}` behind this", edits)
    yield from _parted(item, around, step)


def _meets_cluster(step: Step) -> bool:
    return any(isinstance(effect, Barrier) and effect.level == "cluster" for effect in step.effects)


def _unmet(_: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The number of another barrier."""
    own = _number(step)
    numbers = dict.fromkeys(number for each in around.program.steps if (number := _number(each)) is not None)
    for number in numbers if own is not None else ():
        if number != own:
            yield Fix(f"meet at barrier {number}", (with_operand(around, step, 0, str(number)),))


def _number(step: Step) -> int | None:
    """The number of the barrier of the CTA at which an instruction meets others, where it is a constant."""
    first = step.instruction.operands[:1]
    is_barrier = any(isinstance(effect, Barrier) and effect.level == "cta" for effect in step.effects)
    return first[0].value if is_barrier and first and isinstance(first[0], Integer) else None


# --------------------------------------------------------------------------------------- in vain


def _needless(_: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """Without what is there in vain."""
    yield Fix(f"leave out `{text_of(around, step)}`", (without(around, step),))


def _worded(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The statement that the help names, for the same threads."""
    found = _WORDED.search(item.help or "")
    if found is not None:
        span = statement_spans(around.source, step.start).statement
        yield Fix(f"write `{found[1]}`", (Edit(span, guarded(step, found[1])),))


_BY_CODE: Mapping[str, Correction] = {
    "PTX201": generic_in_space,
    "PTX202": offset_as_generic,
    "PTX205": misaligned,
    "PTX207": out_of_bounds,
    "PTX208": other_space,
    "PTX209": converted_twice,
    "PTX302": _released,
    "PTX315": _parted,
    "PTX501": _wrong_object,
    "PTX502": _made_twice,
    "PTX503": _wrong_object,
    "PTX504": _wrong_object,
    "PTX505": _too_many,
    "PTX506": _narrow_scope,
    "PTX601": _unmet,
    "PTX603": _parted,
    "PTX605": _other_registers,
    "PTX613": _parted,
    "PTX614": after_refusal,
    "PTX621": _released,
    "PTX622": _wider_scope,
    "PTX701": _later,
    "PTX702": other_ctas,
    "PTX704": _uncommitted,
    "PTX707": _other_lanes,
    "PTX901": _needless,
    "PTX902": _needless,
    "PTX903": _needless,
    "PTX904": _needless,
    "PTX905": _worded,
}
