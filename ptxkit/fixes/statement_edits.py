"""One change of a statement: another operand or opcode in it, or the statement left out."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit
from ptxkit.fast_dataclasses import replace
from ptxkit.fixes.insertion_points import FunctionContext, context_at
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Instruction, Name


def statement_text(around: FunctionContext, step: Step) -> str:
    """A statement as it is written, on one line."""
    span = statement_spans(around.source, step.start).statement
    return " ".join(around.source.text[span.start : span.end].split())


def replace_operand(around: FunctionContext, step: Step, place: int, text: str) -> Edit:
    """Another text for the operand at a place."""
    return Edit(statement_spans(around.source, step.start).operands[place], text)


def replace_base(around: FunctionContext, step: Step, place: int, operand: Address, name: str) -> Edit:
    """An address operand with another register or variable."""
    return replace_operand(around, step, place, print_operand(replace(operand, base=Name(name))))


def replace_opcode(around: FunctionContext, step: Step, opcode: str) -> Edit:
    """Another opcode."""
    span = statement_spans(around.source, step.start).opcode
    assert span is not None
    return Edit(span, opcode)


def delete_statement(around: FunctionContext, step: Step) -> Edit:
    """A statement taken out, with its line where it is the only one there."""
    text = around.source.text
    span = statement_spans(around.source, step.start).statement
    begin, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    alone = end >= 0 and not text[begin : span.start].strip() and not text[span.end : end].strip()
    return Edit(Span(begin, end + 1) if alone else span, "")


def respell_opcode(step: Step, opcode: str) -> str | None:
    """Another opcode for an instruction in the manual's order, if it does the same kinds of things; else None."""
    found = table().match(Instruction(opcode, step.instruction.operands)) if table().candidates(opcode) else None
    if not isinstance(found, Match) or found.tolerated or found.form.tolerated:
        return None
    return found.canonical if [type(each) for each in found.effects] == [type(each) for each in step.effects] else None


def locate_finding(item: Diagnostic) -> tuple[FunctionContext, Step] | None:
    """The function around a finding, and the instruction that it begins at; None where it begins at none."""
    around = context_at(item.source, item.span.start)
    step = around.step_at(item.span.start) if around is not None else None
    return None if around is None or step is None else (around, step)


def labelled_steps(item: Diagnostic, around: FunctionContext) -> list[Step]:
    """The statements that the labels of a finding are at."""
    return [other for label in item.labels if (other := around.step_at(label.span.start)) is not None]
