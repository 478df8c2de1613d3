"""The grammar `ptx.lark` as recipes: trees that can be constructed again without Lark.

The lexer is context-free, so the tree of a text depends only on its token types. A `Recipe` is that tree with
placeholders for the tokens' texts. Lark is called once for each new sequence of types; its results for those that are
common in modules (`grammars/shapes.txt`) are stored for later processes, which need not load Lark for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.machinery import PathFinder
from typing import Any

from ptxkit.compile_cache import load_or_compile
from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.installation import grammar_files, python_files
from ptxkit.syntax.builder import RULES
from ptxkit.syntax.constants import MalformedConstructError
from ptxkit.syntax.limits import MAX_NESTING, MAX_RECIPES, MAX_STATEMENT_TOKENS
from ptxkit.syntax.tokenizer import Terminals, Tokenizer

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_OPERATORS = frozenset({"+", "-", "*", "/", "%", "!", "~", "|", "^", "&", "?", "<<", ">>", "&&", "||", "==", "!="})

TreeRecipe = Callable[[Sequence[str]], Any]
"""Builds a node from the texts of a statement's tokens, in order, without comments and blanks."""

RecipePlan = Any
"""A recipe as data: the index of a token, or a rule's name and the plans of its children."""

RecipeKey = tuple[str, tuple[int, ...]]
"""A start symbol and the types of a sentence's tokens."""


_RECIPE_TOKENS = 512
"""The number of tokens above which a sequence (a table of constants) is unlikely to be repeated, and is not cached."""


class NulError(MalformedConstructError):
    """A NUL inside a text, which Lark would treat as the one at the end if a piece ends with it."""


class TooLongError(MalformedConstructError):
    """A statement has more tokens than MAX_STATEMENT_TOKENS."""


class TooDeepError(MalformedConstructError):
    """Brackets nest deeper than MAX_NESTING."""


class Grammar:
    """The tokenizer, and the known recipes: `plans` from the start, and at most MAX_RECIPES new ones."""

    def __init__(self, terminals: Terminals, plans: Mapping[RecipeKey, RecipePlan] | None = None) -> None:
        self.terminals = terminals
        self.tokenizer = Tokenizer(terminals)
        self.calls = 0
        self._plans = plans or {}
        self._recipes: dict[RecipeKey, TreeRecipe] = {}

    def terminal(self, name: str) -> str:
        """Returns the expression of a terminal."""
        return self.terminals.expressions[name]

    def is_word(self, text: str) -> bool:
        """Returns whether a text is one `.word`, and not a keyword."""
        tokens, _ = self.tokenizer.scan(text)
        return len(tokens) == 1 and self.tokenizer.names[tokens[0][0]] == "DOT"

    def tree(self, text: str, start: str) -> Any:
        """Returns Lark's own tree. Raises `RefusedError`."""
        from ptxkit.syntax.lark_tables import tree_of

        self.calls += 1
        return tree_of(text, start)

    def node(self, text: str, start: str) -> Any:
        """Returns the node of one piece of text. Raises `RefusedError` or `MalformedConstructError`."""
        known = self.tokenizer.tokenize_fast(text)
        words, kinds = known if known is not None else self._scan(text, start)
        if len(words) > MAX_NESTING:
            _check_nesting(words)
        recipe = self._recipes.get((start, kinds)) or self._recipe((start, kinds), text)
        return recipe(words)

    def plan(self, text: str, start: str) -> tuple[RecipeKey, RecipePlan]:
        """Returns the key and the plan of a piece of text."""
        tokens, _ = self.tokenizer.scan(text)
        places = {offset: place for place, (_, _, offset) in enumerate(tokens)}
        tree = self.tree(text, start)
        if depth(tree) > MAX_NESTING:
            raise TooDeepError(syntax_errors.NESTS_TOO_DEEP(limit=MAX_NESTING))
        return (start, tuple([kind for kind, _, _ in tokens])), _make_plan(tree, places)

    def _scan(self, text: str, start: str) -> tuple[list[str], tuple[int, ...]]:
        if "\0" in text:
            raise NulError(syntax_errors.NUL_INSIDE())
        tokens, reached = self.tokenizer.scan(text)
        if reached < len(text):
            if len(tokens) >= MAX_STATEMENT_TOKENS:
                raise TooLongError(syntax_errors.STATEMENT_TOO_LONG(limit=MAX_STATEMENT_TOKENS))
            self.tree(text, start)  # raises an error, because no token begins there
            raise MalformedConstructError(syntax_errors.CHARACTER_BEGINS_NO_WORD())
        return [word for _, word, _ in tokens], tuple([kind for kind, _, _ in tokens])

    def _recipe(self, key: RecipeKey, text: str) -> TreeRecipe:
        plan = self._plans.get(key)
        if plan is None:
            plan = self.plan(text, key[0])[1]
        recipe = _recipe(plan)
        if len(key[1]) <= _RECIPE_TOKENS:
            if len(self._recipes) >= MAX_RECIPES:
                self._recipes.clear()
            self._recipes[key] = recipe
        return recipe


def depth(tree: Any) -> int:
    """Returns the number of levels of a tree of Lark. It is not recursive, because the tree may be too deep for
    that.
    """
    depths: dict[int, int] = {}
    for subtree in tree.iter_subtrees():  # children first
        inner = [depths[id(child)] for child in subtree.children if not isinstance(child, str)]
        depths[id(subtree)] = 1 + max(inner, default=0)
    return depths[id(tree)]


def _make_plan(node: Any, places: Mapping[int, int]) -> RecipePlan:
    if isinstance(node, str):  # a token
        return places[getattr(node, "start_pos", 0)]
    return (str(node.data), *[_make_plan(child, places) for child in node.children])


def _recipe(plan: RecipePlan) -> TreeRecipe:
    if isinstance(plan, int):
        return lambda texts: texts[plan]
    rule = RULES[plan[0]]
    parts = [_recipe(child) for child in plan[1:]]
    if len(parts) == 1:
        part = parts[0]
        return lambda texts: rule((part(texts),))
    return lambda texts: rule([part(texts) for part in parts])


def _check_nesting(words: Sequence[str]) -> None:
    """Checks the nesting before Lark parses it: a tree as deep as the text is long would take minutes to build and to
    delete.
    """
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
            raise TooDeepError(syntax_errors.BRACKETS_TOO_DEEP(limit=MAX_NESTING))
        if operators > MAX_NESTING:
            raise TooDeepError(syntax_errors.TOO_MANY_OPERATORS(limit=MAX_NESTING))


NAME = "syntax"


@cache
def grammar() -> Grammar:
    """Returns the grammar of the installed `ptx.lark`, which is loaded once."""
    terminals, plans = load_or_compile(NAME, sources(), compile_grammar)
    return Grammar(Terminals(*terminals), plans)


def sources() -> list[str]:
    """Returns every file that the compiled grammar depends on; Lark's file identifies its release."""
    lark = PathFinder.find_spec("lark")
    release = [lark.origin] if lark is not None and lark.origin is not None else []
    return [*grammar_files("ptx.lark", "shapes.txt"), *python_files("syntax"), *release]


def compile_grammar() -> tuple[tuple[Any, ...], dict[RecipeKey, RecipePlan]]:
    """Returns the terminals, and the plans of `shapes.txt`. Raises `RefusedError` if one of its lines is not PTX."""
    from ptxkit.syntax.lark_tables import terminals

    found = terminals()
    learning = Grammar(found)
    (path,) = grammar_files("shapes.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
    plans = dict([learning.plan(text.rstrip("\n"), start) for start, text in lines])
    return tuple([getattr(found, name) for name in found.__match_args__]), plans
