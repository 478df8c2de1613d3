"""What may settle a finding about a request for the work of a cluster that may have been refused."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.isa.effects import Cancellation, Value
from ptxkit.mending.changes import others_of, text_of
from ptxkit.mending.places import Surroundings
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Name


def after_refusal(item: Diagnostic, around: Surroundings, step: Step) -> Iterator[Fix]:
    """The end of a thread that was refused, in front of its next request; a CTA taken of what was granted alone."""
    if _action(step) == "request":
        for query in others_of(item, around):
            answer = _answer(query)
            if answer is not None and query.instruction.guard is None:
                text = f"@!{answer} ret;"
                yield Fix(f"add `{text}`", (around.added(around.end(query), text),))
    elif _action(step) == "decode" and step.instruction.guard is None:
        for query in others_of(item, around):
            answer = _answer(query)
            if answer is not None:
                start = statement_spans(around.source, step.start).statement.start
                yield Fix(f"take it only where {answer} is true", (Edit(Span(start, start), f"@{answer} "),))
        yield from _asked(around, step)


def _asked(around: Surroundings, step: Step) -> Iterator[Fix]:
    """The question whether the request was granted, asked of the same response."""
    response = print_operand(step.instruction.operands[-1])
    head = (
        "{\n\t.reg .pred %granted;\n"
        f"\tclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %granted, {response};\n\t@%granted "
    )
    span = statement_spans(around.source, step.start).statement
    text = around.indented(span.start, f"{head}{text_of(around, step)}\n}}")
    yield Fix("ask whether the request was granted", (Edit(span, text),))


def _action(step: Step) -> str | None:
    return next((effect.action for effect in step.effects if isinstance(effect, Cancellation)), None)


def _answer(query: Step) -> str | None:
    """The predicate that says whether a request was granted."""
    for effect in query.effects:
        if isinstance(effect, Value) and _action(query) == "query" and query.match is not None:
            operand = query.match.operand(effect.result, query.instruction)
            return operand.text if isinstance(operand, Name) else None
    return None
