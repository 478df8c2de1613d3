"""Findings with the names that their author wrote, instead of mangled ones."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic, DiagnosticTexts, OpenLinesText, Undecided
from ptxkit.fast_dataclasses import replace
from ptxkit.mangled_names import short_names, with_short_names


def with_readable_names(item: Diagnostic) -> Diagnostic:
    """The diagnostic with short names in all its texts, the same ones in each."""
    fix = [item.fix.message] if item.fix is not None else []
    texts = [item.message, *(label.message for label in item.labels), *item.notes, item.help or "", *fix]
    names = short_names(texts)
    related = tuple(map(with_readable_names, item.related))
    if not names:
        return replace(item, related=related) if related else item

    def shorten(text: str) -> str:
        return with_short_names(text, names)

    return replace(
        item,
        message=shorten(item.message),
        labels=tuple(replace(label, message=shorten(label.message)) for label in item.labels),
        notes=tuple(map(shorten, item.notes)),
        help=item.help and shorten(item.help),
        fix=item.fix and replace(item.fix, message=shorten(item.fix.message)),
        texts=item.texts and _shorten(item.texts, names),
        related=related,
    )


def question_with_readable_names(item: Undecided) -> Undecided:
    """The open question with short names."""
    names = short_names([item.reason])
    return replace(
        item, reason=with_short_names(item.reason, names), text=item.text and _shorten_text(item.text, names)
    )


def _shorten(texts: DiagnosticTexts, names: dict[str, str]) -> DiagnosticTexts:
    return DiagnosticTexts(
        _shorten_text(texts.message, names),
        tuple(_shorten_text(each, names) for each in texts.labels),
        None if texts.help is None else _shorten_text(texts.help, names),
    )


def _shorten_text(text: OpenLinesText, names: dict[str, str]) -> OpenLinesText:
    pieces = (each if isinstance(each, int) else with_short_names(each, names) for each in text.pieces)
    return OpenLinesText(tuple(pieces))
