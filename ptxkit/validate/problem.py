"""An error in an instruction, a declaration or another part of a module.

A problem states its location by the offset of the statement, and an operand or a word in it: its position in the text
is computed only when the problem is reported.
"""

from __future__ import annotations

from functools import lru_cache

from ptxkit.diagnostics import DiagnosticCode, Message, Severity
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.forms import Form
from ptxkit.semantics.symbols import NameBinding
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_tokens


@dataclass(frozen=True, slots=True)
class WordLocation:
    """A word of the statement or item at the offset `start`: the first one of that spelling, or the one numbered `nth`;
    the whole statement if `word` is None.
    """

    start: int
    word: str | None = None
    nth: int = 0

    def span(self, source: SourceFile) -> Span:
        """Returns the text of the word, or of the whole statement; it is empty in a tree that has no text."""
        if not source.text:
            return Span(self.start, self.start)
        whole, places = _word_spans(source, self.start)
        same = places.get(self.word) if self.word is not None else None
        return same[min(self.nth, len(same) - 1)] if same else whole


@dataclass(frozen=True, slots=True)
class Problem:
    """An error. location: the index of an operand, or a word; None for the opcode, or the whole statement.

    severity: if it is not the default of the code; what an assembler tolerates is a warning. has_known_form: the form
    is known, and a register or constant in it has the wrong type. related: the declaration that is shown with it, and
    its description. section: the title of the manual's section, if it is not that of the form. payload: as that of a
    diagnostic.
    """

    message: Message
    location: int | WordLocation | None = None
    form: Form | None = None
    help: Message | None = None
    severity: Severity | None = None
    has_known_form: bool = False
    related: tuple[NameBinding, Message] | None = None
    section: str | None = None
    payload: object = None

    @property
    def code(self) -> DiagnosticCode:
        """The code of its message."""
        return self.message.code

    @property
    def is_error(self) -> bool:
        """Whether an assembler rejects it."""
        return (self.severity or self.code.severity) is Severity.ERROR


@lru_cache(maxsize=2)
def _word_spans(source: SourceFile, start: int) -> tuple[Span, dict[str, list[Span]]]:
    """Returns the location of a statement, and of each of its words. The result is cached, since a header may be long
    and have many errors.
    """
    found: dict[str, list[Span]] = {}
    words = statement_tokens(source, start)
    for text, span in words:
        found.setdefault(text, []).append(span)
    return (Span(words[0][1].start, words[-1][1].end) if words else Span(start, start)), found
