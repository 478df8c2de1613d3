"""Proposes fixes of findings about a request for the work of a cluster that may have been refused."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.diagnostics.catalogue import fix_titles
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.statement_edits import labeled_steps, statement_text
from ptxkit.isa.effects import Cancellation, Value
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Name


def fix_after_refusal(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields fixes that exit the thread after a refusal, or that guard the use of the response."""
    if _cancellation_action(step) == "request":
        for query in labeled_steps(item, around):
            answer = _granted_predicate(query)
            if answer is not None and query.instruction.guard is None:
                text = f"@!{answer} ret;"
                yield Fix(fix_titles.ADD(text=text), (around.insert_line(around.end_of(query), text),))
    elif _cancellation_action(step) == "decode" and step.instruction.guard is None:
        for query in labeled_steps(item, around):
            answer = _granted_predicate(query)
            if answer is not None:
                start = statement_spans(around.source, step.start).statement.start
                yield Fix(fix_titles.GUARD_BY_GRANT(predicate=answer), (Edit(Span(start, start), f"@{answer} "),))
        yield from _insert_cancel_query(around, step)


def _insert_cancel_query(around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields a query of the response that determines whether the request was granted."""
    response = print_operand(step.instruction.operands[-1])
    head = (
        "{\n\t.reg .pred %granted;\n"
        f"\tclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %granted, {response};\n\t@%granted "
    )
    span = statement_spans(around.source, step.start).statement
    text = around.indent_lines(span.start, f"{head}{statement_text(around, step)}\n}}")
    yield Fix(fix_titles.TEST_GRANT(), (Edit(span, text),))


def _cancellation_action(step: Step) -> str | None:
    return next((effect.action for effect in step.effects if isinstance(effect, Cancellation)), None)


def _granted_predicate(query: Step) -> str | None:
    """Returns the predicate that a query sets if a request was granted."""
    for effect in query.effects:
        if isinstance(effect, Value) and _cancellation_action(query) == "query":
            operand = query.operand(effect.result)
            return operand.text if isinstance(operand, Name) else None
    return None
