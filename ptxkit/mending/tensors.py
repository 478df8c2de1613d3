"""What may settle a finding about Tensor Memory: one number of CTAs in all, the own lanes, a commit in its place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.isa.effects import Access, CtaGroup, MbarrierArrive, Value
from ptxkit.isa.expressions import Call
from ptxkit.mending.changes import others_of, spelled, text_of, with_base, with_opcode, with_operand, without
from ptxkit.mending.pieces import guarded, on_mbarrier
from ptxkit.mending.places import Surroundings
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Integer, Name

LANES = 21
"""How far a warp's number is shifted: by 5 to its first lane, by 16 to where the lane stands in an address."""
_FAR = 3
"""Instructions from an address back to the shift that its lane comes from."""
_COMMITTED = "tcgen05"


def other_ctas(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """One CTA in all of the kernel's instructions, or a pair of them: as it is said first, else as it is said later."""
    for usual in others_of(item, around):
        for kept, changed in ((usual, step), (step, usual)):
            new, old = _ctas(kept), _ctas(changed)
            others = [each for each in around.program.steps if _ctas(each) == old]
            edits = [edit for each in others for edit in _of_ctas(around, each, new)]
            if new is not None and edits:
                yield Fix(f"write `.cta_group::{new}` in all instructions of the kernel", tuple(edits))


def _ctas(step: Step) -> int | None:
    return next((effect.ctas for effect in step.effects if isinstance(effect, CtaGroup)), None)


def _of_ctas(around: Surroundings, step: Step, ctas: int | None) -> Iterator[Edit]:
    words = step.instruction.opcode.split(".")
    wanted = spelled(step, ".".join(f"cta_group::{ctas}" if each.startswith("cta_group::") else each for each in words))
    if wanted is not None:
        yield with_opcode(around, step, wanted)


def own_lanes(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The lanes of the own warp: added to an address that has none, else by another shift of the warp's number."""
    found = [(at, each) for at, each in enumerate(step.instruction.operands) if isinstance(each, Address)]
    if "lane" not in item.properties or len(found) != 1 or not isinstance(found[0][1].base, Name):
        return
    place, address = found[0]
    base = print_operand(address.base)
    span = statement_spans(around.source, step.start).statement
    head = (
        "{\n\t.reg .b32 %lanes;\n\tmov.u32 %lanes, %tid.x;\n\tshr.u32 %lanes, %lanes, 5;\n"
        f"\tand.b32 %lanes, %lanes, 3;\n\tshl.b32 %lanes, %lanes, {LANES};\n\tadd.u32 %lanes, %lanes, {base};\n\t"
    )
    edits = (
        Edit(Span(span.start, span.start), around.indented(span.start, head)),
        with_base(around, step, place, address, "%lanes"),
        Edit(Span(span.end, span.end), around.indented(span.start, "\n}")),
    )
    for writer, at in _shifts(around, step, base):
        yield Fix(f"shift the warp's number by {LANES}", (with_operand(around, writer, at, str(LANES)),))
    yield Fix("add the lanes of the warp to the address", edits)


def _shifts(around: Surroundings, step: Step, name: str) -> Iterator[tuple[Step, int]]:
    """The shifts to the left by another constant from which an address may come, and where that constant stands."""
    waiting = [(step, name, 0)]
    while waiting:
        reader, register, far = waiting.pop(0)
        for writer in around.writers(reader, register) if far < _FAR else ():
            operands = list(enumerate(writer.instruction.operands))[1:]
            if any(isinstance(each, Value) and _is_shift(each) for each in writer.effects):
                yield from ((writer, at) for at, each in operands if isinstance(each, Integer) and each.value != LANES)
            waiting += [(writer, each.text, far + 1) for _, each in operands if isinstance(each, Name)]


def _is_shift(effect: Value) -> bool:
    return isinstance(effect.value, Call) and effect.value.function == "shl"


def committed(item: Diagnostic, around: Surroundings) -> Iterator[Fix]:
    """A commit by the thread that issues an operation, where there is none: one that stands elsewhere, moved there."""
    others = others_of(item, around)
    if any(_is_commit(each) for each in others):
        return
    operations = [each for each in others if _is_committed(each)]
    commits = [each for each in around.program.steps if _is_commit(each)]
    for operation in operations:
        for commit in sorted(commits, key=lambda each: abs(each.index - operation.index)):
            text = text_of(around, commit)[len(guarded(commit, "")) :]
            for place in islice(around.behind(operation), 2):
                edits = (without(around, commit), around.added(place, guarded(operation, text)))
                yield Fix(f"move `{text}` behind the operation", edits)


def _is_committed(step: Step) -> bool:
    return any(isinstance(effect, Access) and effect.completion == _COMMITTED for effect in step.effects)


def _is_commit(step: Step) -> bool:
    """Whether an instruction lets an mbarrier know when operations on Tensor Memory are complete."""
    return _ctas(step) is not None and on_mbarrier(step, MbarrierArrive) is not None
