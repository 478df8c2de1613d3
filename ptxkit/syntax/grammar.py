"""The Lark parser of `grammars/ptx.lark`, its terminals as one expression, and recipes: trees that can be made again.

The lexer is context-free, so the tree of a text depends on its token types alone. A `Recipe` is that tree with the
places of the tokens' texts left open; `Grammar.recipe` asks Lark once for each new sequence of types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

from lark import Lark, Token, Tree
from lark.lexer import PatternStr, TerminalDef

from ptxkit.limits import MAX_NESTING, MAX_STATEMENT_TOKENS
from ptxkit.resources import grammars
from ptxkit.syntax.builder import RULES
from ptxkit.syntax.constants import MalformedError

STARTS = ("module", "version", "target", "item", "header", "section_line", "statement", "operand")

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_OPERATORS = frozenset({"+", "-", "*", "/", "%", "!", "~", "|", "^", "&", "?", "<<", ">>", "&&", "||", "==", "!="})

Recipe = Callable[[Sequence[str]], Any]
"""Builds a node from the texts of a statement's tokens, in order, comments and blanks left out."""

MAX_WORDS = 65536
"""Words whose types are remembered; over that, they are forgotten."""

_LONG = 65536
"""Characters of a statement from which on its tokens are counted while they are read."""

MAX_RECIPES = 4096
"""Sequences of token types that are remembered; real modules have some hundred."""

_RECIPE_TOKENS = 512
"""A longer sequence (a table of constants) hardly comes twice, and is not remembered."""


class NulError(MalformedError):
    """A NUL inside of a text; Lark would take it for the one at the end, where a piece ends with it."""


class TooLongError(MalformedError):
    """A statement has more tokens than MAX_STATEMENT_TOKENS."""


class TooDeepError(MalformedError):
    """Brackets nest deeper than MAX_NESTING."""


Scanned = tuple[int, str, int]
"""A token: type (an index into the tokenizer's `names`), text, offset."""


class Tokenizer:
    """Cuts text into tokens exactly as Lark's basic lexer does, some ten times as fast.

    `kinds` gives each token a type: an index into `names`.
    """

    def __init__(self, terminals: Collection[TerminalDef], ignored: Collection[str]) -> None:
        ordered = sorted(
            terminals, key=lambda term: (-term.priority, -term.pattern.max_width, -len(term.pattern.value), term.name)
        )
        self.names: list[str] = [term.name for term in ordered]
        strings = [term for term in ordered if isinstance(term.pattern, PatternStr)]
        expressions = [term for term in ordered if not isinstance(term.pattern, PatternStr)]
        self.keywords = {
            term.pattern.value: self.names.index(term.name)
            for term in strings
            if any(re.fullmatch(other.pattern.to_regexp(), term.pattern.value) for other in expressions)
        }
        scanned = [term for term in ordered if term.pattern.value not in self.keywords]
        self._types = [0, *(self.names.index(term.name) for term in scanned)]
        self._ignored = frozenset(self.names.index(name) for name in ignored)
        self._match = re.compile("|".join(f"({term.pattern.to_regexp()})" for term in scanned)).match
        skipped = "|".join(term.pattern.to_regexp() for term in scanned if term.name in ignored)
        words = "|".join(term.pattern.to_regexp() for term in scanned if term.name not in ignored)
        self._words = re.compile(rf"(?>(?:{skipped})*)({words}|\S|\Z)").findall
        self._kinds: dict[str, int] = {}

    def words(self, text: str) -> tuple[list[str], tuple[int, ...]] | None:
        """The tokens' texts and types, quickly; None where one is no token, or the text is long."""
        if len(text) > _LONG:
            return None
        words: list[str] = self._words(text)
        while words and not words[-1]:
            words.pop()  # the end, behind a comment
        kinds = self._kinds
        try:
            return words, tuple([kinds[word] for word in words])
        except KeyError:
            pass
        if len(kinds) > MAX_WORDS:
            kinds.clear()
        for word in words:
            if word not in kinds:
                kind = self._kind(word)
                if kind is None:
                    return None
                kinds[word] = kind
        return words, tuple([kinds[word] for word in words])

    def _kind(self, word: str) -> int | None:
        """A token's type depends on its text alone: that is what a context-free lexer means."""
        found = self._match(word)
        if found is None or found.end() != len(word) or self._types[found.lastindex or 0] in self._ignored:
            return None
        return self.keywords.get(word, self._types[found.lastindex or 0])

    def scan(self, text: str, start: int = 0, limit: int = MAX_STATEMENT_TOKENS) -> tuple[list[Scanned], int]:
        """The tokens from `start` on, at most `limit`, and the offset reached: not the end where no token begins."""
        found: list[Scanned] = []
        match, types, ignored, keywords = self._match, self._types, self._ignored, self.keywords
        end = len(text)
        while start < end and len(found) < limit:
            token = match(text, start)
            if token is None:
                break
            kind = types[token.lastindex or 0]
            if kind not in ignored:
                value = token.group()
                found.append((keywords.get(value, kind), value, start))
            start = token.end()
        return found, start


def depth(tree: Tree[Any]) -> int:
    """How many levels a tree has; not recursive, as the tree may be too deep for that."""
    depths: dict[int, int] = {}
    for subtree in tree.iter_subtrees():  # children first
        depths[id(subtree)] = 1 + max(
            (depths[id(child)] for child in subtree.children if isinstance(child, Tree)), default=0
        )
    return depths[id(tree)]


def _compile(node: Any, places: dict[int, int]) -> Recipe:
    if isinstance(node, Token):
        place = places[node.start_pos or 0]
        return lambda texts: texts[place]
    rule = RULES[node.data]
    parts = [_compile(child, places) for child in node.children]
    if len(parts) == 1:
        part = parts[0]
        return lambda texts: rule((part(texts),))
    return lambda texts: rule([part(texts) for part in parts])


def _check_nesting(words: Sequence[str]) -> None:
    """Before Lark sees it: a tree as deep as a text is long would take minutes to build and to drop."""
    depth = operators = 0
    for word in words:
        if word in _OPENING:
            depth += 1
        elif word in _CLOSING:
            depth -= 1
        elif word in _OPERATORS:
            operators += 1
        elif word == ",":
            operators = 0
        if depth > MAX_NESTING:
            raise TooDeepError(f"brackets nest deeper than {MAX_NESTING} levels, the most that is read")
        if operators > MAX_NESTING:
            raise TooDeepError(f"an expression has more than {MAX_NESTING} operators, the most that is read")


class Grammar:
    """Lark, the tokenizer made from its terminals, and the recipes learnt so far (at most MAX_RECIPES)."""

    def __init__(self, text: str) -> None:
        self.lark = Lark(
            text, parser="lalr", lexer="basic", start=list(STARTS), maybe_placeholders=False, propagate_positions=True
        )
        self.tokenizer = Tokenizer(self.lark.terminals, self.lark.ignore_tokens)
        self.calls = 0
        self._recipes: dict[tuple[str, tuple[int, ...]], Recipe] = {}

    def terminal(self, name: str) -> str:
        """The expression of a terminal."""
        return next(term.pattern.to_regexp() for term in self.lark.terminals if term.name == name)

    def tree(self, text: str, start: str) -> Tree[Any]:
        """Lark's own tree; raises `lark.UnexpectedInput`."""
        self.calls += 1
        return self.lark.parse(text, start=start)

    def node(self, text: str, start: str) -> Any:
        """The node of one piece of text; raises `lark.UnexpectedInput` or `MalformedError`."""
        known = self.tokenizer.words(text)
        words, kinds = known if known is not None else self._scanned(text, start)
        if len(words) > MAX_NESTING:
            _check_nesting(words)
        recipe = self._recipes.get((start, kinds)) or self._learn((start, kinds), text)
        return recipe(words)

    def _scanned(self, text: str, start: str) -> tuple[list[str], tuple[int, ...]]:
        if "\0" in text:
            raise NulError("a NUL can stand at the very end of the text only")
        tokens, reached = self.tokenizer.scan(text)
        if reached < len(text):
            if len(tokens) >= MAX_STATEMENT_TOKENS:
                raise TooLongError(f"this statement has more than {MAX_STATEMENT_TOKENS} words")
            self.tree(text, start)  # raises: no token begins there
            raise MalformedError("a character that begins no word of PTX")
        return [word for _, word, _ in tokens], tuple([kind for kind, _, _ in tokens])

    def _learn(self, key: tuple[str, tuple[int, ...]], text: str) -> Recipe:
        tree = self.tree(text, key[0])
        if depth(tree) > MAX_NESTING:
            raise TooDeepError(f"this nests deeper than {MAX_NESTING} levels, the most that is read")
        tokens, _ = self.tokenizer.scan(text)
        recipe = _compile(tree, {offset: place for place, (_, _, offset) in enumerate(tokens)})
        if len(tokens) <= _RECIPE_TOKENS:
            if len(self._recipes) >= MAX_RECIPES:
                self._recipes.clear()
            self._recipes[key] = recipe
        return recipe


@cache
def grammar() -> Grammar:
    """The grammar of the installed `ptx.lark`, loaded once."""
    return Grammar((grammars() / "ptx.lark").read_text(encoding="utf-8"))
