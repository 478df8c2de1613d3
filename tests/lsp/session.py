"""Shared by the tests of the server: a client of a separate process over pipes, and texts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from ptxkit.lsp.positions import TextLines


class Client(LanguageClient):
    """A client that lets the server register for notifications. registered: the methods."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.registered: list[str] = []
        register_lsp_features(self)

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += [each.method for each in params.registrations]


PATIENCE = 900.0
"""Seconds until a test gives up, and until the server answers without the analysis; a loaded machine is slow."""

LIMITS = (
    "server.REQUEST_TIMEOUT_SECONDS",
    "inlay_hints.MAX_HINT_SECONDS",
    "tolerant_parse.MAX_PARSE_SECONDS",
    "worker_client.MAX_JOB_SECONDS",
)
"""What limits the time of an answer, in the modules that use it."""

_PROGRAM = f"""
from importlib import import_module
from ptxkit.cli.main import main
for limit in {LIMITS}:
    module, name = limit.split(".")
    vars(import_module(f"ptxkit.lsp.{{module}}"))[name]  # it exists
    setattr(import_module(f"ptxkit.lsp.{{module}}"), name, {PATIENCE})
main(["lsp"])
"""
CONFIG = ClientServerConfig(server_command=[sys.executable, "-c", _PROGRAM], client_factory=Client)

KERNEL = """\
.version 8.0
.target sm_90
.address_size 64

.visible .entry kernel(.param .u64 .ptr .global in, .param .u32 count)
.reqntid 128, 1, 1
{
\t.shared .align 128 .b8 tile[4096];
\t.reg .pred %p<3>;
\t.reg .b32 %r<8>;
\t.reg .b64 %rd<8>;

\tld.param.u64 %rd1, [in];
\tcvta.to.global.u64 %rd2, %rd1;
\tmov.u32 %r1, %tid.x;
\tsetp.ne.u32 %p1, %r1, 0;
\tmov.u32 %r2, tile;
\tshl.b32 %r3, %r1, 2;
\tadd.u32 %r4, %r2, %r3;
\tst.shared.u32 [%r4], %r1;
\tbar.sync 0;
\t@%p1 bra DONE;
\tcp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r2], 512;
\tcp.async.bulk.commit_group;
\tcp.async.bulk.wait_group.read 0;
DONE:
\tret;
}
"""
"""A kernel without the proxy fence that it needs (PTX401)."""

FIXED = KERNEL.replace("\tbar.sync 0;", "\tfence.proxy.async.shared::cta;\n\tbar.sync 0;")


class Editor:
    """One text that is open in an editor."""

    def __init__(self, client: LanguageClient, uri: str, text: str) -> None:
        self.client, self.uri, self.text, self.version = client, uri, text, 1
        self.open()

    def open(self) -> None:
        self.client.diagnostics.pop(self.uri, None)
        item = types.TextDocumentItem(self.uri, "ptx", self.version, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def close(self) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document))

    @property
    def document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    def position(self, word: str, *, after: bool = False, number: int = 0) -> types.Position:
        """Returns the position of the first character of a word (its occurrence of that number), or after the last;
        columns in UTF-16."""
        offset = -1
        for _ in range(number + 1):
            offset = self.text.index(word, offset + 1)
        return self.at(offset + len(word) * after)

    def at(self, offset: int) -> types.Position:
        before = self.text[:offset]
        line = before.count("\n")
        column = before.rpartition("\n")[2]
        return types.Position(line, len(column.encode("utf-16-le")) // 2)

    def replace(self, old: str, new: str) -> None:
        """Changes the first occurrence of a text, and sends the server only that change."""
        start = self.text.index(old)
        self.edit(start, start + len(old), new)

    def edit(self, start: int, end: int, new: str) -> None:
        changed = types.TextDocumentContentChangePartial(types.Range(self.at(start), self.at(end)), new)
        self.text = self.text[:start] + new + self.text[end:]
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [changed]))

    async def until(self, wanted: Callable[[list[str]], bool]) -> Sequence[types.Diagnostic]:
        """Returns the findings of the text, as soon as their codes are as wanted."""

        async def holds() -> bool:
            found = self.client.diagnostics.get(self.uri)
            return found is not None and wanted([str(item.code) for item in found])

        await eventually(holds)
        return self.client.diagnostics[self.uri]

    async def codes(self, *wanted: str) -> Sequence[types.Diagnostic]:
        """Returns the findings, as soon as these are their codes."""
        return await self.until(lambda codes: codes == list(wanted))


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Waits until something holds, and fails where it never does."""
    loop = asyncio.get_running_loop()
    last = loop.time() + PATIENCE
    while not await holds():
        assert loop.time() < last, "it never came to hold"
        await asyncio.sleep(0.01)


async def begin(client: LanguageClient, editor: str = "visual_studio_code", **given: object) -> types.InitializeResult:
    """Returns a session as that editor starts one."""
    params = types.InitializeParams(capabilities=client_capabilities(editor), **given)  # type: ignore[arg-type]
    return await client.initialize_session(params)


def apply_edits(text: str, edits: Sequence[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]) -> str:
    """Returns a text after edits from the server, as a client applies them."""
    lines = TextLines(text)
    for edit in sorted(edits, key=lambda edit: edit.range.start, reverse=True):
        assert isinstance(edit, types.TextEdit)
        span = lines.span(edit.range)
        text = text[: span.start] + edit.new_text + text[span.end :]
    return text


def edits_in(change: types.WorkspaceEdit | None, editor: Editor) -> Sequence[types.TextEdit]:
    """Returns the edits of a change, which must be of the editor's version of the text."""
    assert change is not None
    [found] = change.document_changes or []
    assert isinstance(found, types.TextDocumentEdit)
    assert (found.text_document.uri, found.text_document.version) == (editor.uri, editor.version)
    return [each for each in found.edits if isinstance(each, types.TextEdit)]
