"""Parses a text with syntax errors: the parts that cannot be parsed are removed, and the rest keeps its positions.

A line with a syntax error is replaced by blanks, until the rest is a module; a missing brace replaces a blank. Names
and completions are looked up in that tree; it causes no findings.
"""

from __future__ import annotations

import re
from functools import cached_property
from time import thread_time

from ptxkit.diagnostics import Diagnostic
from ptxkit.diagnostics.catalogue.ptx1xx import MissingBrace
from ptxkit.lsp.limits import MAX_PARSE_ATTEMPTS, MAX_PARSE_SECONDS
from ptxkit.lsp.name_index import NameIndex
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Module

_UNFINISHED = re.compile(r"\s*(@!?[\w%$]+\s+)?[a-z][^;{}]*")
"""A line with the beginning of an instruction, without a comment."""

_PRESERVED = re.compile(r"[^\S \t]|[{}]")
"""Characters that remain if a line is blanked: its end, and braces."""


class TolerantParse:
    """The result for one text. `module` is None if nothing could be parsed; `errors` are those of the unchanged
    text.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.errors: tuple[Diagnostic, ...] = ()
        self.blanked: list[Span] = []
        self.module: Module | None = self._parse()

    @property
    def is_complete(self) -> bool:
        """Whether the text has no syntax error."""
        return not self.errors

    @cached_property
    def names(self) -> NameIndex | None:
        """The meanings of its names."""
        return NameIndex(self.module) if self.module is not None else None

    def _parse(self) -> Module | None:
        text = self.source.text
        last = thread_time() + MAX_PARSE_SECONDS
        for _ in range(MAX_PARSE_ATTEMPTS):
            try:
                return parse(text, self.source.path)
            except PTXSyntaxError as error:
                if not self.errors:
                    self.errors = error.diagnostics
                shorter = _insert_brace(text, error.diagnostics) or self._blank_errors(text, error.diagnostics)
                if shorter == text or thread_time() > last:
                    return None
                text = shorter
        return None

    def _blank_errors(self, text: str, errors: tuple[Diagnostic, ...]) -> str:
        """Returns the text without the lines of these errors. If such a line is blank already, the one before it is
        removed.
        """
        pieces: list[str] = []
        place = 0
        for error in errors:
            start, end = _unfinished_line(text, error.span) or _line_bounds(text, error.span)
            while start > 0 and not text[start:end].strip("{} \t\r\n"):
                start = text.rfind("\n", 0, start - 1) + 1
            start = max(start, place)
            if start < end:
                pieces += [text[place:start], _blank(text[start:end])]
                self.blanked.append(Span(start, end))
                place = end
        return "".join((*pieces, text[place:]))


def _insert_brace(text: str, errors: tuple[Diagnostic, ...]) -> str | None:
    """Returns the text with a brace where the first of these errors lacks one, or None for another error."""
    place = errors[0].span.start
    if not isinstance(errors[0].payload, MissingBrace):
        return None
    if not text[place:].strip():
        return f"{text}\n}}"
    return f"{text[: place - 1]}}}{text[place:]}" if text[place - 1].isspace() else None


def _unfinished_line(text: str, span: Span) -> tuple[int, int] | None:
    """Returns the bounds of the line with the instruction that lacks its end, if an error is at the first word of a
    later line; else None.

    Lines that are empty, or have only a comment, may be between.
    """
    end = text.rfind("\n", 0, span.start)
    if end < 0 or text[end : span.start].strip():
        return None
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        content = text[start:end].partition("//")[0].strip()
        if content:
            return (start, end) if _UNFINISHED.fullmatch(content) else None
        end = start - 1
    return None


def _line_bounds(text: str, span: Span) -> tuple[int, int]:
    """Returns the bounds of the whole lines that a span touches."""
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", max(span.start, span.end - 1))
    return start, len(text) if end < 0 else end


def _blank(text: str) -> str:
    return "".join(character if _PRESERVED.match(character) else " " for character in text)
