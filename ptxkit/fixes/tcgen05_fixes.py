"""Proposes fixes of findings about Tensor Memory: one CTA group, the warp's own lanes, a moved commit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.diagnostics.catalogue import fix_titles
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.limits import MAX_SHIFT_DISTANCE
from ptxkit.fixes.snippets import mbarrier_operand_text, with_guard_of
from ptxkit.fixes.statement_edits import (
    delete_statement,
    labeled_steps,
    replace_base,
    replace_opcode,
    replace_operand,
    respell_opcode,
    statement_text,
)
from ptxkit.isa.effects import Access, CtaGroup, MbarrierArrive, Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Integer, Name

LANE_SHIFT = 21
"""The shift of a warp's number in an address: by 5 to its first lane, and by 16 to the position of the lane."""
_COMMITTED_COMPLETION = "tcgen05"


def fix_cta_group(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields one CTA group in all of the kernel's instructions: that of the first one, else that of a later one."""
    for usual in labeled_steps(item, around):
        for kept, changed in ((usual, step), (step, usual)):
            new, old = _cta_count(kept), _cta_count(changed)
            others = [each for each in around.program.steps if _cta_count(each) == old]
            edits = [edit for each in others for edit in _with_cta_count(around, each, new)]
            if new is not None and edits:
                yield Fix(fix_titles.WRITE_CTA_GROUP(ctas=new), tuple(edits))


def _cta_count(step: Step) -> int | None:
    return next((effect.ctas for effect in step.effects if isinstance(effect, CtaGroup)), None)


def _with_cta_count(around: FunctionContext, step: Step, ctas: int | None) -> Iterator[Edit]:
    words = step.instruction.opcode.split(".")
    wanted = respell_opcode(
        step, ".".join(f"cta_group::{ctas}" if each.startswith("cta_group::") else each for each in words)
    )
    if wanted is not None:
        yield replace_opcode(around, step, wanted)


def fix_lane_ownership(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the warp's own lanes: added to an address without lanes, else by another shift of the warp's number."""
    found = [(at, each) for at, each in enumerate(step.instruction.operands) if isinstance(each, Address)]
    if "lane" not in item.properties or len(found) != 1 or not isinstance(found[0][1].base, Name):
        return
    place, address = found[0]
    base = print_operand(address.base)
    span = statement_spans(around.source, step.start).statement
    head = (
        "{\n\t.reg .b32 %lanes;\n\tmov.u32 %lanes, %tid.x;\n\tshr.u32 %lanes, %lanes, 5;\n"
        f"\tand.b32 %lanes, %lanes, 3;\n\tshl.b32 %lanes, %lanes, {LANE_SHIFT};\n\tadd.u32 %lanes, %lanes, {base};\n\t"
    )
    edits = (
        Edit(Span(span.start, span.start), around.indent_lines(span.start, head)),
        replace_base(around, step, place, address, "%lanes"),
        Edit(Span(span.end, span.end), around.indent_lines(span.start, "\n}")),
    )
    for writer, at in _lane_shifts(around, step, base):
        yield Fix(
            fix_titles.SHIFT_WARP_NUMBER(shift=LANE_SHIFT), (replace_operand(around, writer, at, str(LANE_SHIFT)),)
        )
    yield Fix(fix_titles.ADD_LANES(), edits)


def _lane_shifts(around: FunctionContext, step: Step, name: str) -> Iterator[tuple[Step, int]]:
    """Yields the left shifts by another constant that may compute an address, with the position of the constant."""
    waiting = [(step, name, 0)]
    while waiting:
        reader, register, far = waiting.pop(0)
        for writer in around.reaching_writers(reader, register) if far < MAX_SHIFT_DISTANCE else ():
            operands = list(enumerate(writer.instruction.operands))[1:]
            if any(isinstance(each, Value) and _is_shift(each) for each in writer.effects):
                yield from (
                    (writer, at) for at, each in operands if isinstance(each, Integer) and each.value != LANE_SHIFT
                )
            waiting += [(writer, each.text, far + 1) for _, each in operands if isinstance(each, Name)]


def _is_shift(effect: Value) -> bool:
    return isinstance(effect.value, CallExpr) and effect.value.function == "shl"


def fix_missing_commit(item: Diagnostic, around: FunctionContext) -> Iterator[Fix]:
    """Yields a missing commit by the thread that issues an operation; a commit at another place is moved."""
    others = labeled_steps(item, around)
    if any(_is_commit(each) for each in others):
        return
    operations = [each for each in others if _needs_commit(each)]
    commits = [each for each in around.program.steps if _is_commit(each)]
    for operation in operations:
        for commit in sorted(commits, key=lambda each: abs(each.index - operation.index)):
            text = statement_text(around, commit)[len(with_guard_of(commit, "")) :]
            for place in islice(around.points_after(operation), 2):
                edits = (delete_statement(around, commit), around.insert_line(place, with_guard_of(operation, text)))
                yield Fix(fix_titles.MOVE_AFTER_OPERATION(text=text), edits)


def _needs_commit(step: Step) -> bool:
    return any(isinstance(effect, Access) and effect.completion == _COMMITTED_COMPLETION for effect in step.effects)


def _is_commit(step: Step) -> bool:
    """Returns whether an instruction makes an mbarrier track the completion of operations on Tensor Memory."""
    return _cta_count(step) is not None and mbarrier_operand_text(step, MbarrierArrive) is not None
