"""What the names of a module stand for, by the place where they are: declarations, labels, functions, parameters."""

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
    """A statement, item or head of a function, with the names that can be used there.

    function: the one that it is in, or the head of; None outside. start: its first character.
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
    """What a name stands for. name: without the component of a vector. span: of the name where it is declared."""

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
        for item, start in module.located():
            self._index_item(item, start)
        self._starts = [place.start for place in self.statements]

    # ------------------------------------------------------------------------------------------ where is what

    def statement_before(self, offset: int) -> StatementContext | None:
        """The last statement that begins at or before an offset."""
        index = bisect_right(self._starts, offset) - 1
        return self.statements[index] if index >= 0 else None

    def scope_at(self, offset: int) -> TypedScope:
        """The names that can be used at an offset, also between two statements."""
        place = self.statement_before(offset)
        if place is None:
            return self.outer
        scope = place.scope
        end = statement_spans(self.source, place.start).statement.end
        for _ in range(self.source.text.count("}", end, max(end, offset))):
            scope = scope.outer or scope
        return scope

    def word_at(self, offset: int) -> SourceWord | None:
        """The word at an offset, or the one that ends there; None in blanks and comments."""
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

    # ------------------------------------------------------------------------------------------ what it means

    def resolve(self, name: str, place: StatementContext) -> ResolvedName | None:
        """What a name stands for in a statement; None for what the machine has, and for what nothing declares."""
        for known in dict.fromkeys((name, name.rpartition(".")[0])):
            named = place.scope.find(known) if known else None
            if named is not None:
                return ResolvedName(known, named, self.declaration_span(known, named))
        return None

    def declaration_span(self, name: str, named: NameBinding) -> Span:
        """Where a name is in what declares it."""
        words = statement_tokens(self.source, named.start)
        prefix = name.rstrip("0123456789")
        for index, (text, span) in enumerate(words):
            counted = text == prefix and words[index + 1 : index + 2] and words[index + 1][0] == "<"
            if text == name or counted:
                return span
        return statement_spans(self.source, named.start).statement

    def find_uses(self, meaning: ResolvedName) -> Iterator[Span]:
        """Every place where a name stands for the same, its declaration included."""
        name = re.escape(meaning.name)
        for found in re.finditer(rf"(?<![%$\w]){name}(?![%$\w])", self.source.text):
            place = self.statement_before(found.start())
            if place is None or place.scope.find(meaning.name) is not meaning.named:
                continue
            if self._is_word(place, found.start()):
                yield Span(found.start(), found.end())

    def _is_word(self, place: StatementContext, offset: int) -> bool:
        return any(span.start == offset for _, span in statement_tokens(self.source, place.start))

    # ------------------------------------------------------------------------------------------ entering

    def _index_item(self, item: Item, start: int) -> None:
        self.outer.enter(item, start)
        scope, function = self.outer, None
        if isinstance(item, Function):
            scope, function = self.outer.nested(), item
            scope.enter_parameters(item, start)
        self.statements.append(StatementContext(start, item, scope, function))
        if function is not None and function.body is not None:
            self.statements += [
                StatementContext(place, statement, inner, function)
                for statement, place, inner in scoped_statements(function.body, scope)
            ]

    def values(self, function: Function) -> RegisterValues:
        """What the registers of a function hold; made when it is first asked for."""
        from ptxkit.lsp.register_values import values_of

        found = self._values.get(id(function))
        if found is None:
            found = self._values[id(function)] = values_of(self.module, function)
        return found

    @cached_property
    def function_ends(self) -> dict[int, int]:
        """The end of the closing brace of each function with a body, by where it begins."""
        located = list(self.module.located())
        stops = [start for _, start in located[1:]] + [len(self.source.text)]
        return {
            start: self.source.text.rfind("}", start, stop) + 1 or stop
            for (item, start), stop in zip(located, stops, strict=True)
            if isinstance(item, Function) and item.body is not None
        }
