"""What is wrong with a part of a module, and whether its `.version` and `.target` allow it.

A finding names its statement by the offset where it begins, and a word in it to point at: the place of the word is
looked for only when the finding is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ptxkit.diagnostics import Severity
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Gate
from ptxkit.isa.module_forms import ModuleForms
from ptxkit.isa.targets import Target, suggest_target, target_words, unmet_gates
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_tokens


@dataclass(frozen=True, slots=True)
class StatementProblem:
    """What is wrong. start: the offset of the statement or item. word: the word in it to point at, None for all of it;
    the first one of that spelling, or the one numbered `nth`. section: the manual's title."""

    code: str
    message: str
    start: int
    word: str | None = None
    nth: int = 0
    help: str | None = None
    severity: Severity = Severity.ERROR
    section: str | None = None

    def span(self, source: SourceFile) -> Span:
        """Where the word stands, or the whole statement, and an empty span in a tree that has no text."""
        if not source.text:
            return Span(self.start, self.start)
        whole, places = _word_spans(source, self.start)
        same = places.get(self.word) if self.word is not None else None
        return same[min(self.nth, len(same) - 1)] if same else whole


@lru_cache(maxsize=2)
def _word_spans(source: SourceFile, start: int) -> tuple[Span, dict[str, list[Span]]]:
    """Where a statement stands, and each of its words. Kept, since a header may be long and have much wrong with it."""
    found: dict[str, list[Span]] = {}
    words = statement_tokens(source, start)
    for text, span in words:
        found.setdefault(text, []).append(span)
    return (Span(words[0][1].start, words[-1][1].end) if words else Span(start, start)), found


@dataclass(frozen=True, slots=True)
class GateChecker:
    """The module's version and target, of None what it does not say."""

    version: tuple[int, int] | None
    target: Target | None

    def check(
        self, gates: Iterable[Gate], what: str, start: int, word: str | None = None, section: str | None = None
    ) -> Iterator[StatementProblem]:
        """The finding of something that the module's version or target lacks."""
        closed = unmet_gates(tuple(gates), self.version, self.target)
        if closed:
            needed = suggest_target(closed, self.version, self.target)
            message = f"{what} needs {needed}, and the module has {target_words(self.version, self.target)}"
            yield StatementProblem(
                "PTX801", message, start, word, help=f"change the module to {needed}", section=section
            )

    def has_feature(self, name: str) -> bool:
        """Whether the module's version and target have a feature of the table."""
        return next(self.check_feature(name, 0), None) is None

    def check_feature(self, name: str, start: int, word: str | None = None) -> Iterator[StatementProblem]:
        """The finding of a feature of the table that the module's version or target lacks."""
        found = next(each for each in module_forms().features if each.name == name)
        yield from self.check(found.gates, found.description, start, word, found.section)


def module_forms() -> ModuleForms:
    """What the table says of modules."""
    return table().module
