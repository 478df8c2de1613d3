"""Edits of a statement: another operand or opcode, or the removal of the statement."""

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
    """Returns a statement as it is written, on one line."""
    span = statement_spans(around.source, step.start).statement
    return " ".join(around.source.text[span.start : span.end].split())


def replace_operand(around: FunctionContext, step: Step, place: int, text: str) -> Edit:
    """Returns the edit that replaces the operand at a position."""
    return Edit(statement_spans(around.source, step.start).operands[place], text)


def replace_base(around: FunctionContext, step: Step, place: int, operand: Address, name: str) -> Edit:
    """Returns the edit that replaces the base register or variable of an address operand."""
    return replace_operand(around, step, place, print_operand(replace(operand, base=Name(name))))


def replace_opcode(around: FunctionContext, step: Step, opcode: str) -> Edit:
    """Returns the edit that replaces the opcode."""
    span = statement_spans(around.source, step.start).opcode
    assert span is not None
    return Edit(span, opcode)


def delete_statement(around: FunctionContext, step: Step) -> Edit:
    """Returns the edit that removes a statement, with its line if the line contains nothing else."""
    text = around.source.text
    span = statement_spans(around.source, step.start).statement
    begin, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    is_whole_line = end >= 0 and not text[begin : span.start].strip() and not text[span.end : end].strip()
    return Edit(Span(begin, end + 1) if is_whole_line else span, "")


def respell_opcode(step: Step, opcode: str) -> str | None:
    """Returns an opcode with its modifiers in the manual's order.

    The result is None if the instruction would not keep its kinds of effects.
    """
    found = table().match(Instruction(opcode, step.instruction.operands)) if table().candidates(opcode) else None
    if not isinstance(found, Match) or found.tolerated or found.form.tolerated:
        return None
    return found.canonical if [type(each) for each in found.effects] == [type(each) for each in step.effects] else None


def locate_finding(item: Diagnostic) -> tuple[FunctionContext, Step] | None:
    """Returns the function that contains a finding, and the instruction at its beginning; None if none exists."""
    around = context_at(item.source, item.span.start)
    step = around.step_at(item.span.start) if around is not None else None
    return None if around is None or step is None else (around, step)


def labeled_steps(item: Diagnostic, around: FunctionContext) -> list[Step]:
    """Returns the statements at the labels of a finding."""
    return [other for label in item.labels if (other := around.step_at(label.span.start)) is not None]
