"""Findings of the library as the protocol has them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from lsprotocol import types
from pygls.uris import from_fs_path

from ptxkit.diagnostic_groups import copies_note
from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.fast_dataclasses import dataclass
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.settings.model import ON_REQUEST
from ptxkit.source import SourceLine
from ptxkit.untrusted_text import escape_lines, escape_text

SOURCE = "ptxkit"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """What the client shows. related: other places in addition to a finding. tags: that something is redundant.
    markdown: of a hover."""

    related: bool = True
    tags: bool = True
    markdown: bool = True

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> ClientFeatures:
        document = capabilities.text_document
        shown = document.publish_diagnostics if document is not None else None
        formats = (document.hover.content_format if document is not None and document.hover is not None else None) or ()
        markdown = not formats or types.MarkupKind.Markdown in formats
        if shown is None:
            return cls(related=False, tags=False, markdown=markdown)
        tags = shown.tag_support.value_set if shown.tag_support is not None else ()
        return cls(bool(shown.related_information), types.DiagnosticTag.Unnecessary in tags, markdown)


def to_lsp_diagnostic(item: Diagnostic, snapshot: TextSnapshot, abilities: ClientFeatures) -> types.Diagnostic:
    """A finding in a text. Its places are offsets in that text."""
    related = list(_related_information(item, snapshot)) if abilities.related else None
    unnecessary = abilities.tags and item.code.startswith(ON_REQUEST)
    return types.Diagnostic(
        range=snapshot.lines.range(item.span),
        severity=_SEVERITIES[item.severity],
        code=item.code,
        source=SOURCE,
        message="\n".join(map(escape_lines, _message_lines(item, snapshot, labels=not abilities.related))),
        tags=[types.DiagnosticTag.Unnecessary] if unnecessary else None,
        related_information=related or None,
    )


def _message_lines(item: Diagnostic, snapshot: TextSnapshot, *, labels: bool) -> Iterator[str]:
    yield item.message
    if labels:
        for label in item.labels:
            yield f"line {snapshot.lines.position(label.span.start).line + 1}: {label.message}"
    for note in (*item.notes, *copies_note(item)):
        yield f"note: {note}"
    if item.help:
        yield f"help: {item.help}"
    if item.isa:
        yield f"isa: {'; '.join(item.isa)}"


def _related_information(item: Diagnostic, snapshot: TextSnapshot) -> Iterator[types.DiagnosticRelatedInformation]:
    """The other places, each with the line of the program that it was compiled from, where such a file is there."""
    yield from _origin_information(item.origin)
    for label in item.labels:
        where = types.Location(snapshot.uri, snapshot.lines.range(label.span))
        yield types.DiagnosticRelatedInformation(where, escape_text(label.message))
        yield from _origin_information(label.origin, label)


def _origin_information(
    origin: tuple[SourceLine, ...], label: Label | None = None
) -> Iterator[types.DiagnosticRelatedInformation]:
    for number, place in enumerate(origin):
        if _is_local_file(place.file):
            start = types.Position(max(place.line - 1, 0), 0)
            where = types.Location(from_fs_path(place.file) or "", types.Range(start, start))
            words = "inlined here" if number else "compiled from here"
            message = words if label is None else f"{escape_text(label.message)}: {words}"
            yield types.DiagnosticRelatedInformation(where, message)


def _is_local_file(path: str) -> bool:
    """Whether a file that a text names is there. Another machine is not asked for it, as a path with its name would."""
    return os.path.isabs(path) and not path.startswith(("//", "\\\\")) and os.path.isfile(path)
