"""Converts findings to diagnostics of the protocol."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from lsprotocol import types
from pygls.uris import from_fs_path

from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.fast_dataclasses import dataclass
from ptxkit.lsp.documentation import page_link, pages_address
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.report.readable_names import with_readable_names
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
    """The features of the client. related: other locations of a finding. tags: marks redundant code. markdown: in a
    hover. links: from a code to its page. pages: the address of the documentation, or "" if none is known.
    folding_ranges: the largest number of them, or None.
    """

    related: bool = True
    tags: bool = True
    markdown: bool = True
    links: bool = True
    pages: str = ""
    folding_ranges: int | None = None

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities, options: object = None) -> ClientFeatures:
        """Returns the features that a client states. options: those of its user (`initializationOptions`)."""
        document = capabilities.text_document
        shown = document.publish_diagnostics if document is not None else None
        formats = (document.hover.content_format if document is not None and document.hover is not None else None) or ()
        markdown = not formats or types.MarkupKind.Markdown in formats
        folding = document.folding_range.range_limit if document is not None and document.folding_range else None
        if shown is None:
            return cls(related=False, tags=False, markdown=markdown, links=False, folding_ranges=folding)
        tags = shown.tag_support.value_set if shown.tag_support is not None else ()
        return cls(
            bool(shown.related_information),
            types.DiagnosticTag.Unnecessary in tags,
            markdown,
            bool(shown.code_description_support),
            pages_address(options),
            folding,
        )


def to_lsp_diagnostic(item: Diagnostic, snapshot: TextSnapshot, abilities: ClientFeatures) -> types.Diagnostic:
    """Converts a finding in a text, whose locations are offsets in that text, with names as their author wrote them."""
    item = with_readable_names(item)
    related = _related_information(item, snapshot) if abilities.related else ()
    lines = _message_lines(item, snapshot, labels=not abilities.related)
    return make_lsp_diagnostic(item, snapshot.lines.range(item.span), lines, related, abilities)


def make_lsp_diagnostic(
    item: Diagnostic,
    place: types.Range,
    lines: Iterable[str],
    related: Iterable[types.DiagnosticRelatedInformation],
    abilities: ClientFeatures,
) -> types.Diagnostic:
    """Returns a finding at a place of any text, with the lines of its message but for the manual's sections."""
    unnecessary = abilities.tags and item.code.startswith(ON_REQUEST)
    sections = [f"isa: {'; '.join(item.isa)}"] if item.isa else []
    return types.Diagnostic(
        range=place,
        severity=_SEVERITIES[item.severity],
        code=item.code,
        code_description=page_link(item.code, abilities.pages) if abilities.links else None,
        source=SOURCE,
        message="\n".join(map(escape_lines, (*lines, *sections))),
        tags=[types.DiagnosticTag.Unnecessary] if unnecessary else None,
        related_information=(list(related) or None) if abilities.related else None,
    )


def _message_lines(item: Diagnostic, snapshot: TextSnapshot, *, labels: bool) -> Iterator[str]:
    yield item.message
    if labels:
        for label in item.labels:
            yield f"line {snapshot.lines.position(label.span.start).line + 1}: {label.message}"
    for note in (*item.notes, *fault_notes(item)):
        yield f"note: {note}"
    if item.help:
        yield f"help: {item.help}"


def _related_information(item: Diagnostic, snapshot: TextSnapshot) -> Iterator[types.DiagnosticRelatedInformation]:
    """Yields the other locations, each with the line of the program that it was compiled from, if there is such a
    file.
    """
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
    """Returns whether a file that a text names exists. A path with the name of another machine is not accessed."""
    return os.path.isabs(path) and not path.startswith(("//", "\\\\")) and os.path.isfile(path)
