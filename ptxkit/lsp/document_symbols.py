"""The outline of a text: functions with their labels and variables, and the variables of the module."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from ptxkit.isa.wording import clip_text
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.name_index import NameIndex, StatementContext
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Declaration, Function, LabelStatement


def document_symbols(text: TextSnapshot) -> list[types.DocumentSymbol]:
    """Returns the outline, in the order of the text, or an empty list if nothing can be parsed."""
    names = text.tolerant_parse.names
    return list(_outline(text, names)) if names is not None else []


def _outline(text: TextSnapshot, names: NameIndex) -> Iterator[types.DocumentSymbol]:
    inside: dict[int, list[types.DocumentSymbol]] = {}
    for place in names.statements:
        if isinstance(place.node, Function):
            symbol = _function_symbol(text, names, place, place.node)
            if place.node.body is not None:
                symbol.children = inside[id(place.node)] = []
            yield symbol
        elif place.function is None:
            yield from _declared_symbols(text, names, place)
        elif id(place.function) in inside:
            inside[id(place.function)].extend(_declared_symbols(text, names, place))


def _function_symbol(
    text: TextSnapshot, names: NameIndex, place: StatementContext, function: Function
) -> types.DocumentSymbol:
    head = statement_spans(names.source, place.start).statement
    named = names.outer.names.get(function.name)
    name = names.declaration_span(function.name, named) if named is not None and named.start == place.start else head
    return types.DocumentSymbol(
        clip_text(function.name),
        types.SymbolKind.Function,
        text.lines.range(Span(place.start, names.function_ends.get(place.start, head.end))),
        text.lines.range(name),
        detail=f".{function.kind}",
    )


def _declared_symbols(text: TextSnapshot, names: NameIndex, place: StatementContext) -> Iterator[types.DocumentSymbol]:
    """Yields the labels and variables that a statement declares. Registers are omitted, because there are too many."""
    match place.node:
        case LabelStatement(name=name):
            kind, declared, detail = types.SymbolKind.Key, [name], "label"
        case Declaration(space=space, type=type_, declarators=declarators) if space != "reg":
            kind, declared = types.SymbolKind.Variable, [each.name for each in declarators]
            detail = " ".join(f".{word}" for word in (space, type_) if word)
        case _:
            return
    whole = statement_spans(names.source, place.start).statement
    for name in declared:
        named = place.scope.find(name)
        span = names.declaration_span(name, named) if named is not None and named.start == place.start else whole
        yield types.DocumentSymbol(
            clip_text(name), kind, text.lines.range(whole), text.lines.range(span), detail=detail
        )
