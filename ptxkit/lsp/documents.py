"""The texts that the client has open, with the changes that it has told of."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from lsprotocol import types
from pygls.uris import to_fs_path

from ptxkit.diagnostics import Diagnostic
from ptxkit.lsp.jobs import Finding
from ptxkit.lsp.positions import Lines
from ptxkit.lsp.reading import Reading
from ptxkit.records import replace
from ptxkit.results import FileResult
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile, Span


class Snapshot:
    """A text at one version: it does not change, so that any thread may read it."""

    def __init__(self, uri: str, version: int | None, text: str, encoding: str) -> None:
        self.uri, self.version, self.text, self.encoding = uri, version, text, encoding

    @cached_property
    def path(self) -> str:
        """The path in the file system; of a text that is in no file, what the client calls it."""
        return to_fs_path(self.uri) or self.uri

    @property
    def folder(self) -> str | None:
        """The folder of the file; None where there is none."""
        path = to_fs_path(self.uri)
        return os.path.dirname(path) if path else None

    @cached_property
    def source(self) -> SourceFile:
        """The text as the library takes it."""
        return SourceFile(self.path, self.text)

    @cached_property
    def lines(self) -> Lines:
        """Its places as the client counts them."""
        return Lines(self.text, self.encoding)

    @cached_property
    def reading(self) -> Reading:
        """Its tree, as far as there is one. It takes time: not to be asked for by the thread that hears the client."""
        return Reading(self.source)


class Document:
    """An open text. found: what the analysis said of an earlier version, moved along with the text since.

    checked: what a whole check of this very version gave, under `settings`; None as long as there is none. offers:
    mends that are being looked for, by finding.
    """

    def __init__(self, uri: str, version: int | None, text: str, encoding: str) -> None:
        self.now = Snapshot(uri, version, text, encoding)
        self.found: tuple[Diagnostic, ...] = ()
        self.checked: FileResult | None = None
        self.settings: Settings = DEFAULT
        self.offers: dict[Finding, asyncio.Task[object]] = {}

    def change(self, version: int | None, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        """Takes changes over, one after the other."""
        text, now = self.now.text, self.now
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = (
                    Lines(text, now.encoding).span(change.range)
                    if text is not now.text
                    else now.lines.span(change.range)
                )
                text = text[: span.start] + change.text + text[span.end :]
                self.found = tuple(_moved(self.found, span, len(change.text)))
            else:
                text, self.found = change.text, ()
        self.now = Snapshot(now.uri, version, text, now.encoding)
        self.checked = None


def _moved(found: Sequence[Diagnostic], span: Span, length: int) -> Iterator[Diagnostic]:
    """Findings after the text of a span was replaced by another one of that length; those inside of it are gone."""
    by = length - (span.end - span.start)

    def move(place: Span) -> Span | None:
        if place.start >= span.end:
            return Span(place.start + by, place.end + by)
        if place.end <= span.start:
            return place
        return None

    for item in found:
        yield from _moved_one(item, move)


def _moved_one(item: Diagnostic, move: Callable[[Span], Span | None]) -> Iterator[Diagnostic]:
    place = move(item.span)
    if place is not None:
        labels = ((label, move(label.span)) for label in item.labels)
        kept = tuple(replace(label, span=span) for label, span in labels if span is not None)
        yield replace(item, span=place, labels=kept, proposals=(), fix=None)


class Documents:
    """The open texts by the names that the client gives them."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self.encoding = "utf-16"

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """The text of that name; None where none is open."""
        return self._open.get(uri)

    def open(self, item: types.TextDocumentItem) -> Document:
        """A text that is open from now on."""
        document = self._open[item.uri] = Document(item.uri, item.version, item.text, self.encoding)
        return document

    def close(self, uri: str) -> Document | None:
        """A text that is open no longer."""
        return self._open.pop(uri, None)
