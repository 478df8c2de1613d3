"""The server: the handlers of the requests of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
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
from ptxkit.lsp.check_scheduler import CheckScheduler
from ptxkit.lsp.code_actions import (
    FIX_ALL,
    KINDS,
    findings_in,
    fix_action,
    fix_all_action,
    is_requested,
    suppress_action,
)
from ptxkit.lsp.completion import TRIGGERS, completions_at
from ptxkit.lsp.configuration import FILES
from ptxkit.lsp.definitions import definition_at, highlights_at, references_at
from ptxkit.lsp.diagnostics import ClientFeatures, to_lsp_diagnostic
from ptxkit.lsp.document_symbols import document_symbols
from ptxkit.lsp.documents import OpenDocument, OpenDocuments, TextSnapshot
from ptxkit.lsp.folding import folding_ranges
from ptxkit.lsp.formatting import format_edits
from ptxkit.lsp.hover import hover_at
from ptxkit.lsp.inlay_hints import inlay_hints
from ptxkit.lsp.limits import MAX_FIXED_FINDINGS, REQUEST_TIMEOUT_SECONDS, SERVER_THREADS
from ptxkit.lsp.program_diagnostics import ProgramDiagnostics, find_in_programs
from ptxkit.lsp.protocol import TextlessProtocol
from ptxkit.lsp.renaming import renamable_range, rename_edits
from ptxkit.lsp.semantic_tokens import encoded_tokens, legend
from ptxkit.lsp.signature_help import SIGNATURE_TRIGGERS, signature_help
from ptxkit.results import FileResult

_Value = TypeVar("_Value")


class PtxLanguageServer(LanguageServer):
    """The server of one client. status: the exit status of its process."""

    def __init__(self) -> None:
        super().__init__("ptxkit", __version__, protocol_cls=TextlessProtocol)
        self.documents = OpenDocuments()
        self.client_features = ClientFeatures()
        self.pool = ThreadPoolExecutor(SERVER_THREADS, thread_name_prefix="ptxkit")
        self.programs = ProgramDiagnostics()
        self.checker = CheckScheduler(self.pool, self.publish, self.publish_programs, self.show_error, self.log)
        self.status = 1
        _register_handlers(self)

    def serve(self, stdin: BinaryIO, stdout: BinaryIO) -> int:
        """Serves the client until it exits. Returns 0 if the client has requested a shutdown as the protocol
        requires.
        """
        pygls = logging.getLogger("pygls")
        pygls.addHandler(logging.NullHandler())
        pygls.propagate = False  # errors are reported to the client
        self.start_io(stdin, stdout)
        self.checker.cancel_all()
        self.pool.shutdown(wait=False, cancel_futures=True)
        return self.status

    # ------------------------------------------------------------------------------------------ messages to the client

    def publish(self, snapshot: TextSnapshot, found: Sequence[Diagnostic]) -> None:
        """Publishes the findings in a version of a text, if it is still the present one."""
        document = self.documents.get(snapshot.uri)
        if document is None or document.snapshot is not snapshot:
            return
        items = [to_lsp_diagnostic(item, snapshot, self.client_features) for item in found]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(snapshot.uri, items, version=snapshot.version)
        )

    async def publish_programs(self, snapshot: TextSnapshot, found: Sequence[Diagnostic]) -> None:
        """Publishes what a whole check found at the lines of the programs that a text was compiled from."""
        folders = [path for each in self.workspace.folders.values() if (path := to_fs_path(each.uri))]
        folders = folders or [path for path in (self.checker.root,) if path]
        abilities = self.client_features
        in_programs = await self.checker.run_in_thread(find_in_programs, snapshot, found, folders, abilities)
        document = self.documents.get(snapshot.uri)
        if document is not None and document.snapshot is snapshot:
            self.update_programs(snapshot.uri, in_programs)

    def update_programs(self, uri: str, in_programs: Mapping[str, list[types.Diagnostic]]) -> None:
        """Replaces what is published for the programs of a text."""
        for program, items in self.programs.update(uri, in_programs):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(program, items))

    def show_error(self, words: str) -> None:
        """Shows the user an error that only a person can fix."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, words))

    def log(self, words: str) -> None:
        """Logs an internal error of the server."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, words))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Logs the exception of a handler. The server continues, and no window is opened."""
        if isinstance(error, JsonRpcInternalError):
            self.log("\n".join([str(error), *(error.data or {}).get("traceback", ())]))
        elif isinstance(error, JsonRpcException | JSONDecodeError):
            if source is not FeatureRequestError:  # the requesting client has the response
                self.log(f"{type(error).__name__}: {error}")
        else:
            self.log("".join(format_exception(error)))

    # ------------------------------------------------------------------------------------------ handlers

    async def run_on_text(self, uri: str, function: Callable[[TextSnapshot], _Value]) -> _Value | None:
        """Calls a function with the present version of a text, in a thread. Returns None if the text is not open."""
        document = self.documents.get(uri)
        if document is None:
            return None
        return await self.checker.run_in_thread(function, document.snapshot)


def _register_handlers(server: PtxLanguageServer) -> None:
    _register_lifecycle(server)
    _register_text_sync(server)
    _register_queries(server)
    _register_decorations(server)
    _register_edits(server)


def _register_lifecycle(server: PtxLanguageServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.client_features = ClientFeatures.of(params.capabilities, params.initialization_options)
        server.documents.encoding = str(
            types.PositionEncodingKind(server.workspace.position_encoding or "utf-16").value
        )
        folders = [each.uri for each in params.workspace_folders or ()] or [params.root_uri or ""]
        server.checker.root = to_fs_path(folders[0]) or params.root_path

    @server.feature(types.INITIALIZED)
    async def on_initialized(_: types.InitializedParams) -> None:
        await server.checker.workers.start()
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


def _register_text_sync(server: PtxLanguageServer) -> None:
    documents, checker = server.documents, server.checker

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def on_open(params: types.DidOpenTextDocumentParams) -> None:
        checker.schedule(documents.open(params.text_document), at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def on_change(params: types.DidChangeTextDocumentParams) -> None:
        document = documents.get(params.text_document.uri)
        if document is not None:
            document.change(params.text_document.version, params.content_changes)
            checker.schedule(document)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def on_save(params: types.DidSaveTextDocumentParams) -> None:
        document = documents.get(params.text_document.uri)
        if params.text_document.uri.rpartition("/")[2] in FILES:
            _check_all()
        elif document is not None:  # its settings may have changed
            checker.schedule(document, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def on_close(params: types.DidCloseTextDocumentParams) -> None:
        document = documents.close(params.text_document.uri)
        if document is not None:
            checker.close_document(document)
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.snapshot.uri, []))
            server.update_programs(document.snapshot.uri, {})

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        if any(change.uri.rpartition("/")[2] in FILES for change in params.changes):
            _check_all()

    def _check_all() -> None:
        for document in documents:
            checker.schedule(document, at_once=True)


def _register_queries(server: PtxLanguageServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        markdown = server.client_features.markdown
        uri = params.text_document.uri
        return await server.run_on_text(uri, lambda text: hover_at(text, params.position, markdown=markdown))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        return await server.run_on_text(params.text_document.uri, lambda text: definition_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        declared = params.context.include_declaration
        return await server.run_on_text(
            params.text_document.uri, lambda text: references_at(text, params.position, declared=declared)
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        return await server.run_on_text(params.text_document.uri, lambda text: highlights_at(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await server.run_on_text(params.text_document.uri, document_symbols)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS))
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        return await server.run_on_text(params.text_document.uri, lambda text: completions_at(text, params.position))

    signature_options = types.SignatureHelpOptions(trigger_characters=SIGNATURE_TRIGGERS)

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, signature_options)
    async def signature(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return await server.run_on_text(params.text_document.uri, lambda text: signature_help(text, params.position))


def _register_decorations(server: PtxLanguageServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        most = server.client_features.folding_ranges
        return await server.run_on_text(params.text_document.uri, lambda text: folding_ranges(text, most))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend())
    async def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await server.run_on_text(params.text_document.uri, encoded_tokens)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, legend())
    async def tokens_in_range(params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        return await server.run_on_text(params.text_document.uri, lambda text: encoded_tokens(text, params.range))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        return await server.run_on_text(params.text_document.uri, lambda text: inlay_hints(text, params.range))


def _register_edits(server: PtxLanguageServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        found = await server.run_on_text(params.text_document.uri, format_edits)
        if isinstance(found, str):
            server.show_error(found)
            return None
        return found

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        return await server.run_on_text(params.text_document.uri, lambda text: renamable_range(text, params.position))

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        found = await server.run_on_text(
            params.text_document.uri, lambda text: rename_edits(text, params.position, params.new_name)
        )
        if isinstance(found, str):
            raise JsonRpcInvalidParams(found)
        return found

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        result = await server.checker.result(document, REQUEST_TIMEOUT_SECONDS)
        return None if result is None else await _code_actions(server, document, result, params)


async def _code_actions(
    server: PtxLanguageServer, document: OpenDocument, result: FileResult, params: types.CodeActionParams
) -> list[types.CodeAction] | None:
    """Returns the actions for a selection, or None if the text changes before they are found."""
    text, only = document.snapshot, params.context.only
    span = text.lines.span(params.range)
    found: list[types.CodeAction | None] = []
    has_safe_fix = is_requested(FIX_ALL, only) and bool(only)
    if is_requested(types.CodeActionKind.QuickFix.value, only):
        for item in findings_in(result.diagnostics, span)[:MAX_FIXED_FINDINGS]:
            fix = (
                await server.checker.find_fix(document, item, REQUEST_TIMEOUT_SECONDS)
                if document.snapshot is text
                else None
            )
            if fix is not None:
                has_safe_fix = has_safe_fix or fix.safe
                found.append(fix_action(text, item, fix, server.client_features))
            found.append(suppress_action(text, item, server.client_features))
    if has_safe_fix and is_requested(FIX_ALL, only) and document.snapshot is text:
        new = await server.checker.fixed_text(document, REQUEST_TIMEOUT_SECONDS)
        found.append(fix_all_action(text, new) if new is not None else None)
    return [each for each in found if each is not None] if document.snapshot is text else None
