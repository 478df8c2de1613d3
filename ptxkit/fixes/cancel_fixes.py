"""What may settle a finding about a request for the work of a cluster that may have been refused."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.statement_edits import labelled_steps, statement_text
from ptxkit.isa.effects import Cancellation, Value
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Name


def fix_after_refusal(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """The end of a thread that was refused, before its next request; a CTA taken of what was granted alone."""
    if _cancellation_action(step) == "request":
        for query in labelled_steps(item, around):
            answer = _granted_predicate(query)
            if answer is not None and query.instruction.guard is None:
                text = f"@!{answer} ret;"
                yield Fix(f"add `{text}`", (around.insert_line(around.end_of(query), text),))
    elif _cancellation_action(step) == "decode" and step.instruction.guard is None:
        for query in labelled_steps(item, around):
            answer = _granted_predicate(query)
            if answer is not None:
                start = statement_spans(around.source, step.start).statement.start
                yield Fix(f"take it only where {answer} is true", (Edit(Span(start, start), f"@{answer} "),))
        yield from _insert_cancel_query(around, step)


def _insert_cancel_query(around: FunctionContext, step: Step) -> Iterator[Fix]:
    """The question whether the request was granted, asked of the same response."""
    response = print_operand(step.instruction.operands[-1])
    head = (
        "{\n\t.reg .pred %granted;\n"
        f"\tclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %granted, {response};\n\t@%granted "
    )
    span = statement_spans(around.source, step.start).statement
    text = around.indent_lines(span.start, f"{head}{statement_text(around, step)}\n}}")
    yield Fix("ask whether the request was granted", (Edit(span, text),))


def _cancellation_action(step: Step) -> str | None:
    return next((effect.action for effect in step.effects if isinstance(effect, Cancellation)), None)


def _granted_predicate(query: Step) -> str | None:
    """The predicate that says whether a request was granted."""
    for effect in query.effects:
        if isinstance(effect, Value) and _cancellation_action(query) == "query":
            operand = query.operand(effect.result)
            return operand.text if isinstance(operand, Name) else None
    return None
