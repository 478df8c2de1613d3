"""Name resolution in a module by position: declarations, labels, functions, parameters."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.symbols import NameBinding, scoped_statements
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_spans, statement_tokens
from ptxkit.syntax.tree import Function, Item, Module, Statement
from ptxkit.validate.typed_scope import TypedScope

if TYPE_CHECKING:
    from ptxkit.lsp.register_values import RegisterValues

_WORD = re.compile(r"\.?[%$\w][%$\w.:]*")


@dataclass(frozen=True, slots=True)
class StatementContext:
    """A statement, item or function header, with the names that can be used there.

    function: the function that contains it, or whose header it is, or None outside of functions. start: its first
    character.
    """

    start: int
    node: Statement | Item
    scope: TypedScope
    function: Function | None


@dataclass(frozen=True, slots=True)
class SourceWord:
    """A word of the text. opcode: whether it is the opcode of an instruction, or a modifier of it."""

    text: str
    span: Span
    statement: StatementContext
    opcode: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The meaning of a name. name: without the component of a vector. span: of the name in its declaration."""

    name: str
    named: NameBinding
    span: Span


class NameIndex:
    """The names of one module that has a text."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.source = module.source or SourceFile("<built>", "")
        self.outer = TypedScope()
        self.statements: list[StatementContext] = []
        self._values: dict[int, RegisterValues] = {}
        for item, start in module.with_offsets():
            self._index_item(item, start)
        self._starts = [place.start for place in self.statements]

    # ------------------------------------------------------------------------------------------ positions

    def statement_before(self, offset: int) -> StatementContext | None:
        """Returns the last statement that begins at or before an offset."""
        index = bisect_right(self._starts, offset) - 1
        return self.statements[index] if index >= 0 else None

    def statements_in(self, span: Span) -> list[StatementContext]:
        """Returns the statements that begin in a span, and the one before them, which may end in it."""
        first = max(0, bisect_right(self._starts, span.start) - 1)
        return self.statements[first : bisect_right(self._starts, span.end)]

    def scope_at(self, offset: int) -> TypedScope:
        """Returns the names that can be used at an offset, also between two statements."""
        place = self.statement_before(offset)
        if place is None:
            return self.outer
        scope = place.scope
        end = statement_spans(self.source, place.start).statement.end
        for _ in range(self.source.text.count("}", end, max(end, offset))):
            scope = scope.outer or scope
        return scope

    def word_at(self, offset: int) -> SourceWord | None:
        """Returns the word at an offset, or the one that ends there, or None in blanks and comments."""
        place = self.statement_before(offset)
        if place is None:
            return None
        spans = statement_spans(self.source, place.start)
        if not spans.statement.start <= offset <= spans.statement.end:
            return None
        if spans.opcode is not None and spans.opcode.start <= offset <= spans.opcode.end:
            return SourceWord(self.source.text[spans.opcode.start : spans.opcode.end], spans.opcode, place, opcode=True)
        for text, span in reversed(statement_tokens(self.source, place.start)):
            if span.start <= offset <= span.end and _WORD.fullmatch(text):
                return SourceWord(text, span, place)
        return None

    # ------------------------------------------------------------------------------------------ name resolution

    def resolve(self, name: str, place: StatementContext) -> ResolvedName | None:
        """Returns the meaning of a name in a statement, or None for names that the machine defines and for undeclared
        ones.
        """
        for known in dict.fromkeys((name, name.rpartition(".")[0])):
            named = place.scope.find(known) if known else None
            if named is not None:
                return ResolvedName(known, named, self.declaration_span(known, named))
        return None

    def declaration_span(self, name: str, named: NameBinding) -> Span:
        """Returns the span of a name in its declaration."""
        words = statement_tokens(self.source, named.start)
        prefix = name.rstrip("0123456789")
        for index, (text, span) in enumerate(words):
            counted = text == prefix and words[index + 1 : index + 2] and words[index + 1][0] == "<"
            if text == name or counted:
                return span
        return statement_spans(self.source, named.start).statement

    def find_uses(self, meaning: ResolvedName) -> Iterator[Span]:
        """Yields all uses of a name, with its declaration."""
        name = re.escape(meaning.name)
        for found in re.finditer(rf"(?<![%$\w]){name}(?![%$\w])", self.source.text):
            place = self.statement_before(found.start())
            if place is None or place.scope.find(meaning.name) is not meaning.named:
                continue
            if self.is_token(place, found.start()):
                yield Span(found.start(), found.end())

    def is_token(self, place: StatementContext, offset: int) -> bool:
        """Returns whether a token of a statement begins at an offset, which is neither in a comment nor a string."""
        return any(span.start == offset for _, span in statement_tokens(self.source, place.start))

    # ------------------------------------------------------------------------------------------ internals

    def _index_item(self, item: Item, start: int) -> None:
        self.outer.enter(item, start)
        scope, function = self.outer, None
        if isinstance(item, Function):
            scope, function = self.outer.make_nested(), item
            scope.enter_parameters(item, start)
        self.statements.append(StatementContext(start, item, scope, function))
        if function is not None and function.body is not None:
            self.statements += [
                StatementContext(place, statement, inner, function)
                for statement, place, inner in scoped_statements(function.body, scope)
            ]

    def values(self, function: Function) -> RegisterValues:
        """Returns the values of the registers of a function, which are computed on first use."""
        from ptxkit.lsp.register_values import values_of

        found = self._values.get(id(function))
        if found is None:
            found = self._values[id(function)] = values_of(self.module, function)
        return found

    @cached_property
    def function_ends(self) -> dict[int, int]:
        """The end of the closing brace of each function with a body, by its start."""
        located = list(self.module.with_offsets())
        stops = [start for _, start in located[1:]] + [len(self.source.text)]
        return {
            start: self.source.text.rfind("}", start, stop) + 1 or stop
            for (item, start), stop in zip(located, stops, strict=True)
            if isinstance(item, Function) and item.body is not None
        }
