"""One text and what is wanted of it; and the answer, which no setting of the machinery around it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol, TypeAlias

from ptxkit.linter import broken, lint_source
from ptxkit.records import dataclass, replace
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

Wish: TypeAlias = Literal["find", "offer", "mend", "mend unsafely"]
"""`find`: what is wrong. `offer`: that, with a mend beside each finding that has one. `mend`: the text after mends."""


@dataclass(frozen=True, slots=True)
class Question:
    """One text. key: what the answer is kept under; empty where it is not."""

    source: SourceFile
    settings: Settings
    wish: Wish = "find"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one text. mended: the text after its mends, which the result is then about; None without any."""

    result: FileResult
    mended: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """What stands at one place of the order. answer: where it is known without asking. mistake: to be raised there.

    number: of the input that it belongs to.
    """

    number: int
    question: Question | None = None
    answer: Answer | None = None
    mistake: Exception | None = None


class Runner(Protocol):
    """Whoever has questions answered."""

    def answers(self, items: Iterable[Item]) -> Iterator[tuple[Item, Answer]]:
        """An answer to each, in their order; raises a mistake when its turn comes."""

    def end(self) -> None:
        """Ends what was begun."""


def answered(question: Question) -> Answer:
    """The answer, made here and now. Raises NotationError where the instruction table is wrong, and MemoryError."""
    source, settings = question.source, question.settings
    try:
        if question.wish == "find":
            return Answer(without_mends(lint_source(source, settings)))
        from ptxkit.mending import mend, offered

        if question.wish == "offer":
            return Answer(offered(source, lint_source(source, settings), settings))
        mended = mend(source, settings, unsafe=question.wish == "mend unsafely")
    except MemoryError:
        raise
    except Exception as error:  # a fault of ours: the other files are checked all the same
        return Answer(broken(source.path, error))
    result = replace(mended.result, fixed=len(mended.applied))
    return Answer(result, mended.source.text if mended.applied else None)


def without_mends(result: FileResult) -> FileResult:
    """The result without mends that nobody has tried: those are not offered."""
    if all(item.fix is None for item in result.diagnostics):
        return result
    return replace(result, diagnostics=tuple(replace(item, fix=None) for item in result.diagnostics))
