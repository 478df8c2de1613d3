"""Parses headers of functions part by part, because few kernels have the same list of parameters, but all have similar
parameters.

According to the grammar, a list of parameters is parameters joined by commas, and directives follow each other. So each
of these is looked up separately, and the header is parsed with one placeholder for each list, and without directives.
"""

from __future__ import annotations

import re
from typing import Any

from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.errors import UnexpectedTokenError
from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.statement_splitter import BLANK, COMMENT
from ptxkit.syntax.tree import Declaration, Directive

_COMMENT = re.compile(COMMENT)
_LIST = re.compile(rf"\((?={BLANK}*+\.(?:param|reg)\b)([^(){{}}=]*+)\)")
"""A list of parameters without anything that may contain a comma."""

_DIRECTIVES = re.compile(rf"(?<=\))([^();]++)(;?{BLANK}*+)\Z")
_NEXT_DIRECTIVE = re.compile(rf"{BLANK}++(?=\.)")

_PLACEHOLDER = "__ptxkit_list_"


class HeaderMemo:
    """Parses headers and declarations of functions, and caches parameters and directives by text."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._known: dict[str, Any] = {}

    def node(self, text: str, start: str) -> Any:
        """Returns the node of a text that may be a function's. Raises `RefusedError` or `MalformedConstructError`."""
        if "(" not in text or '"' in text or _PLACEHOLDER in text:
            return self._grammar.node(text, start)
        plain = _COMMENT.sub(" ", text) if "/" in text else text
        lists: list[tuple[Declaration, ...]] = []
        directives: tuple[Directive, ...] = ()
        try:
            short = _LIST.sub(lambda found: self._replace_list(found[1], lists), plain)
            tail = _DIRECTIVES.search(short) if lists else None
            if tail and not tail[1].isspace():
                parts = _NEXT_DIRECTIVE.split(tail[1].strip())
                directives = tuple([self._part(part, "function_directive") for part in parts])
                short = short[: tail.start()] + tail[2]
        except UnexpectedTokenError:
            return self._grammar.node(text, start)
        if not lists:
            return self._grammar.node(text, start)
        made = self._grammar.node(short, start)
        return replace(
            made,
            parameters=_fill_placeholders(made.parameters, lists),
            results=_fill_placeholders(made.results, lists),
            directives=directives or made.directives,
        )

    def _replace_list(self, parameters: str, lists: list[tuple[Declaration, ...]]) -> str:
        lists.append(tuple([self._part(part, "parameter") for part in parameters.split(",")]))
        return f"(.param .b32 {_PLACEHOLDER}{len(lists) - 1})"

    def _part(self, text: str, start: str) -> Any:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._grammar.node(text, start)
        return known


def _fill_placeholders(
    declared: tuple[Declaration, ...], lists: list[tuple[Declaration, ...]]
) -> tuple[Declaration, ...]:
    """Returns the list whose placeholder a declaration is."""
    return lists[int(declared[0].declarators[0].name.removeprefix(_PLACEHOLDER))] if declared else ()
