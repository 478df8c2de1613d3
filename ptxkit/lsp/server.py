"""The server: which request of the protocol is answered by what."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from traceback import format_exception
from typing import BinaryIO, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ptxkit import __version__
from ptxkit.diagnostics import Diagnostic
from ptxkit.lsp.checking import Checker
from ptxkit.lsp.configuration import FILES
from ptxkit.lsp.definitions import definition_at, references_at
from ptxkit.lsp.diagnostics import Abilities, converted
from ptxkit.lsp.documents import Documents, Snapshot
from ptxkit.lsp.hover import hover_at
from ptxkit.lsp.protocol import Protocol
from ptxkit.lsp.symbols import symbols_of

THREADS = 2
"""Threads for what takes a moment: while one reads a large text, another answers for a small one."""

_Value = TypeVar("_Value")


class Server(LanguageServer):
    """One client's server. status: what its process ends with."""

    def __init__(self) -> None:
        super().__init__("ptxkit", __version__, protocol_cls=Protocol)
        self.documents = Documents()
        self.abilities = Abilities()
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ptxkit")
        self.checker = Checker(self.pool, self.publish, self.complain, self.log)
        self.status = 1
        _register(self)

    def serve(self, stdin: BinaryIO, stdout: BinaryIO) -> int:
        """Answers until the client says that it is enough; 0 where it took its leave as the protocol has it."""
        self.start_io(stdin, stdout)
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # a process that ends now has no loop to tell of it
        self.checker.end()
        self.pool.shutdown(wait=False, cancel_futures=True)
        return self.status

    # ------------------------------------------------------------------------------------------ to the client

    def publish(self, snapshot: Snapshot, found: Sequence[Diagnostic]) -> None:
        """Tells what is found in a version of a text, if it is still the present one."""
        document = self.documents.get(snapshot.uri)
        if document is None or document.now is not snapshot:
            return
        items = [converted(item, snapshot, self.abilities) for item in found]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(snapshot.uri, items, version=snapshot.version)
        )

    def complain(self, words: str) -> None:
        """Tells the user of something that only a person can mend."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, words))

    def log(self, words: str) -> None:
        """Tells of what went wrong in here."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, words))

    def report_server_error(self, error: Exception, source: object) -> None:
        """What a handler raised is no reason to stop, and none to open a window."""
        self.log("".join(format_exception(error)) or repr(source))

    # ------------------------------------------------------------------------------------------ for handlers

    async def of(self, uri: str, function: Callable[[Snapshot], _Value]) -> _Value | None:
        """What a function makes of the present version of a text, in a thread; None where no such text is open."""
        document = self.documents.get(uri)
        if document is None:
            return None
        return await self.checker.in_thread(function, document.now)


def _register(server: Server) -> None:
    _lifecycle(server)
    _texts(server)
    _questions(server)


def _lifecycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.abilities = Abilities.of(params.capabilities)
        server.documents.encoding = str(
            types.PositionEncodingKind(server.workspace.position_encoding or "utf-16").value
        )
        folders = [each.uri for each in params.workspace_folders or ()] or [params.root_uri or ""]
        server.checker.root = to_fs_path(folders[0]) or params.root_path

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        await server.checker.analyst.begin()

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: None) -> None:
        server.status = 0
        await server.checker.close()


def _texts(server: Server) -> None:
    documents, checker = server.documents, server.checker

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        checker.changed(documents.open(params.text_document), at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = documents.get(params.text_document.uri)
        if document is not None:
            document.change(params.text_document.version, params.content_changes)
            checker.changed(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        if params.text_document.uri.rpartition("/")[2] in FILES:
            _check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = documents.close(params.text_document.uri)
        if document is not None:
            checker.forget(document)
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.now.uri, []))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        if any(change.uri.rpartition("/")[2] in FILES for change in params.changes):
            _check_all()

    def _check_all() -> None:
        for document in documents:
            checker.changed(document, at_once=True)


def _questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await server.of(params.text_document.uri, lambda text: hover_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        return await server.of(params.text_document.uri, lambda text: definition_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        declared = params.context.include_declaration
        return await server.of(
            params.text_document.uri, lambda text: references_at(text, params.position, declared=declared)
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await server.of(params.text_document.uri, symbols_of)
