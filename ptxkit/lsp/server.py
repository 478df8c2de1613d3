"""The server: which request of the protocol is answered by what."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from json import JSONDecodeError
from traceback import format_exception
from typing import BinaryIO, TypeVar

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ptxkit import __version__
from ptxkit.diagnostics import Diagnostic
from ptxkit.lsp.actions import FIX_ALL, KINDS, fix_action, fix_all_action, found_in, hiding_action, wants
from ptxkit.lsp.checking import Checker
from ptxkit.lsp.completion import TRIGGERS, completions_at
from ptxkit.lsp.configuration import FILES
from ptxkit.lsp.definitions import definition_at, highlights_at, references_at
from ptxkit.lsp.diagnostics import Abilities, converted
from ptxkit.lsp.documents import Document, Documents, Snapshot
from ptxkit.lsp.formatting import formatted
from ptxkit.lsp.hover import hover_at
from ptxkit.lsp.protocol import Protocol
from ptxkit.lsp.renaming import renamable_at, renamed
from ptxkit.lsp.symbols import symbols_of
from ptxkit.results import FileResult

PATIENCE = 10.0
"""Seconds for which a request waits for the analysis; then it is answered with what there is."""
MOST_FINDINGS = 10
"""Findings of one selection whose mends are looked for."""
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
        pygls = logging.getLogger("pygls")
        pygls.addHandler(logging.NullHandler())
        pygls.propagate = False  # the client is told
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
        if isinstance(error, JsonRpcInternalError):
            self.log("\n".join([str(error), *(error.data or {}).get("traceback", ())]))
        elif isinstance(error, JsonRpcException | JSONDecodeError):
            if source is not FeatureRequestError:  # who asked has the answer
                self.log(f"{type(error).__name__}: {error}")
        else:
            self.log("".join(format_exception(error)))

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
    _changes(server)


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
        await server.checker.analysts.begin()
        watched = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
        if watched and watched.dynamic_registration:
            watchers = [types.FileSystemWatcher(f"**/{name}") for name in FILES]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            asked = types.Registration("settings", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await server.client_register_capability_async(types.RegistrationParams([asked]))

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
        document = documents.get(params.text_document.uri)
        if params.text_document.uri.rpartition("/")[2] in FILES:
            _check_all()
        elif document is not None:  # its settings may be other ones by now
            checker.changed(document, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = documents.close(params.text_document.uri)
        if document is not None:
            checker.closed(document)
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
        markdown = server.abilities.markdown
        uri = params.text_document.uri
        return await server.of(uri, lambda text: hover_at(text, params.position, markdown=markdown))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        return await server.of(params.text_document.uri, lambda text: definition_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        declared = params.context.include_declaration
        return await server.of(
            params.text_document.uri, lambda text: references_at(text, params.position, declared=declared)
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        return await server.of(params.text_document.uri, lambda text: highlights_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await server.of(params.text_document.uri, symbols_of)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS))
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        return await server.of(params.text_document.uri, lambda text: completions_at(text, params.position))


def _changes(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        found = await server.of(params.text_document.uri, formatted)
        if isinstance(found, str):
            server.complain(found)
            return None
        return found

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        return await server.of(params.text_document.uri, lambda text: renamable_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        found = await server.of(params.text_document.uri, lambda text: renamed(text, params.position, params.new_name))
        if isinstance(found, str):
            raise JsonRpcInvalidParams(found)
        return found

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        result = await server.checker.result(document, PATIENCE)
        return None if result is None else await _actions(server, document, result, params)


async def _actions(
    server: Server, document: Document, result: FileResult, params: types.CodeActionParams
) -> list[types.CodeAction] | None:
    """The actions for a selection; None where the text changes before they are found."""
    text, only = document.now, params.context.only
    span = text.lines.span(params.range)
    found: list[types.CodeAction | None] = []
    mendable = wants(FIX_ALL, only) and bool(only)
    if wants(types.CodeActionKind.QuickFix.value, only):
        for item in found_in(result.diagnostics, span)[:MOST_FINDINGS]:
            fix = await server.checker.offer(document, item, PATIENCE) if document.now is text else None
            if fix is not None:
                mendable = mendable or fix.safe
                found.append(fix_action(text, item, fix, server.abilities))
            found.append(hiding_action(text, item, server.abilities))
    if mendable and wants(FIX_ALL, only) and document.now is text:
        new = await server.checker.mended(document, PATIENCE)
        found.append(fix_all_action(text, new) if new is not None else None)
    return [each for each in found if each is not None] if document.now is text else None
