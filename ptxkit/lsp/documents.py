"""The texts that the client has open, with the changes that it has reported."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from lsprotocol import types
from pygls.uris import to_fs_path

from ptxkit.diagnostics import Diagnostic
from ptxkit.fast_dataclasses import replace
from ptxkit.lsp.positions import TextLines
from ptxkit.lsp.tolerant_parse import TolerantParse
from ptxkit.lsp.worker_messages import FindingKey
from ptxkit.results import FileResult
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile, Span


class TextSnapshot:
    """A text at one version, which does not change, so that any thread may read it."""

    def __init__(self, uri: str, version: int | None, text: str, encoding: str) -> None:
        self.uri, self.version, self.text, self.encoding = uri, version, text, encoding

    @cached_property
    def path(self) -> str:
        """The path in the file system, or the client's name for a text that is in no file."""
        return to_fs_path(self.uri) or self.uri

    @property
    def folder(self) -> str | None:
        """The folder of the file, or None."""
        path = to_fs_path(self.uri)
        return os.path.dirname(path) if path else None

    @cached_property
    def source(self) -> SourceFile:
        """The text as a source file of the library."""
        return SourceFile(self.path, self.text)

    @cached_property
    def lines(self) -> TextLines:
        """The positions of the text in the encoding of the client."""
        return TextLines(self.text, self.encoding)

    @cached_property
    def tolerant_parse(self) -> TolerantParse:
        """The tree, as far as the text can be parsed. This takes time, and the thread that serves the client must not
        call it.
        """
        return TolerantParse(self.source)


class OpenDocument:
    """An open text. found: the findings of the analysis in an earlier version, moved with the text since then.

    checked: the result of a whole check of this version, under `settings`, or None. offers: fixes that are being
    computed, by finding.
    """

    def __init__(self, uri: str, version: int | None, text: str, encoding: str) -> None:
        self.snapshot = TextSnapshot(uri, version, text, encoding)
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.result: FileResult | None = None
        self.settings: Settings = DEFAULT
        self.pending_fixes: dict[FindingKey, asyncio.Task[object]] = {}

    def change(self, version: int | None, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        """Applies changes, one after the other."""
        text, now = self.snapshot.text, self.snapshot
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = (
                    TextLines(text, now.encoding).span(change.range)
                    if text is not now.text
                    else now.lines.span(change.range)
                )
                text = text[: span.start] + change.text + text[span.end :]
                self.diagnostics = tuple(_shift_findings(self.diagnostics, span, len(change.text)))
            else:
                text, self.diagnostics = change.text, ()
        self.snapshot = TextSnapshot(now.uri, version, text, now.encoding)
        self.result = None


def _shift_findings(found: Sequence[Diagnostic], span: Span, length: int) -> Iterator[Diagnostic]:
    """Yields findings after the text of a span was replaced by another one of that length; those inside the span are
    removed.
    """
    by = length - (span.end - span.start)

    def move(place: Span) -> Span | None:
        if place.start >= span.end:
            return Span(place.start + by, place.end + by)
        if place.end <= span.start:
            return place
        return None

    for item in found:
        yield from _shift_finding(item, move)


def _shift_finding(item: Diagnostic, move: Callable[[Span], Span | None]) -> Iterator[Diagnostic]:
    place = move(item.span)
    if place is not None:
        labels = ((label, move(label.span)) for label in item.labels)
        kept = tuple(replace(label, span=span) for label, span in labels if span is not None)
        moved = ((copy, move(copy.span)) for copy in item.copies)
        copies = tuple(replace(copy, span=span) for copy, span in moved if span is not None)
        yield replace(item, span=place, labels=kept, copies=copies, proposals=(), fix=None)


class OpenDocuments:
    """The open texts by the names that the client gives them."""

    def __init__(self) -> None:
        self._open: dict[str, OpenDocument] = {}
        self.encoding = "utf-16"

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> OpenDocument | None:
        """Returns the open text of that name, or None."""
        return self._open.get(uri)

    def open(self, item: types.TextDocumentItem) -> OpenDocument:
        """Opens a text and returns it."""
        document = self._open[item.uri] = OpenDocument(item.uri, item.version, item.text, self.encoding)
        return document

    def close(self, uri: str) -> OpenDocument | None:
        """Closes a text and returns it, or None."""
        return self._open.pop(uri, None)
