"""Fixes, comments that hide, formatting and renaming: the server's changes of a text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from ptxkit import lint
from ptxkit.source import SourceFile
from ptxkit.syntax import format_source
from tests.lsp.session import CONFIG, FIXED, KERNEL, Editor, apply_edits, begin, edits_in, eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client)
    yield
    await lsp_client.shutdown_session()


async def actions(
    editor: Editor, word: str, *, only: Sequence[types.CodeActionKind | str] | None = None, wanted: str | None = None
) -> list[types.CodeAction]:
    """Returns the offers at a word; waits for one whose title contains `wanted`."""
    place = editor.position(word)
    params = types.CodeActionParams(editor.document, types.Range(place, place), types.CodeActionContext([], only=only))
    found: list[types.CodeAction] = []

    async def there() -> bool:
        answer = await editor.client.text_document_code_action_async(params)
        found[:] = [each for each in answer or () if isinstance(each, types.CodeAction)]
        return wanted is None or any(wanted in each.title for each in found)

    await eventually(there)
    return found


async def test_a_fix_that_holds_is_offered_and_settles_the_finding(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:a", KERNEL)
    fix, hide, everything = await actions(editor, "cp.reduce.async", wanted="Apply all")
    assert fix.kind == types.CodeActionKind.QuickFix.value
    assert fix.is_preferred
    assert fix.title == "PTX401: add `fence.proxy.async.shared::cta;`"
    assert [each.code for each in fix.diagnostics or ()] == ["PTX401"]
    fixed = apply_edits(editor.text, edits_in(fix.edit, editor))
    assert "fence.proxy.async" in fixed
    assert not lint(fixed).diagnostics
    assert "comment" in hide.title
    assert everything.kind == "source.fixAll.ptxkit"
    assert apply_edits(editor.text, edits_in(everything.edit, editor)) == fixed


async def test_a_comment_hides_a_finding_on_its_line(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:b", KERNEL.replace("\n", "\r\n"))
    hide = next(each for each in await actions(editor, "cp.reduce.async", wanted="comment") if "comment" in each.title)
    hidden = apply_edits(editor.text, edits_in(hide.edit, editor))
    assert "512;  // ptxkit: ignore[PTX401]\r\n" in hidden
    assert hidden.count("\n") == hidden.count("\r\n")
    assert not lint(hidden).diagnostics


async def test_an_unsafe_fix_is_marked_and_is_not_among_all_safe_ones(client: LanguageClient) -> None:
    old = KERNEL.replace(".version 8.0", ".version 7.8").replace("\tbar.sync 0;", "\tbarrier.cluster.arrive.aligned;")
    text = old.replace("\tcp.reduce", "\tfence.proxy.async.shared::cta;\n\tcp.reduce").replace(
        ".version 7.8", ".version 7.0"
    )
    editor = Editor(client, "untitled:c", text)
    found = await actions(editor, "barrier.cluster", wanted="unsafe")
    unsafe = [each for each in found if "unsafe" in each.title]
    assert unsafe, [each.title for each in found]
    assert not any(each.is_preferred for each in unsafe)


async def test_all_safe_fixes_are_applied_when_a_client_requests_only_them(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:d", KERNEL)
    [everything] = await actions(editor, ".version", only=["source.fixAll"], wanted="Apply")
    assert not lint(apply_edits(editor.text, edits_in(everything.edit, editor))).diagnostics
    clean = Editor(client, "untitled:e", FIXED)
    assert await actions(clean, ".version", only=["source.fixAll"]) == []


async def format_text(editor: Editor) -> Sequence[types.TextEdit] | None:
    params = types.DocumentFormattingParams(editor.document, types.FormattingOptions(8, insert_spaces=False))
    return await editor.client.text_document_formatting_async(params)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_formatting_is_that_of_the_command(client: LanguageClient, end: str) -> None:
    text = KERNEL.replace("\tbar.sync 0;", "  bar.sync    0;   // meet").replace("\n", end)
    editor = Editor(client, f"untitled:f{len(end)}", text)
    edits = await format_text(editor)
    assert edits is not None
    assert apply_edits(text, edits) == format_source(
        SourceFile("f", KERNEL.replace("sync 0;", "sync 0; // meet"))
    ).replace("\n", end)
    once = Editor(client, f"untitled:g{len(end)}", apply_edits(text, edits))
    assert not await format_text(once)


async def test_a_text_with_a_syntax_error_is_not_formatted_and_a_message_states_why(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:h", KERNEL.replace("bar.sync 0;", "bar.sync 0"))
    client.messages.clear()
    assert await format_text(editor) is None

    async def report_all() -> bool:
        return any("line 21 has a syntax error" in each.message for each in client.messages)

    await eventually(report_all)


async def rename(editor: Editor, word: str, new: str) -> types.WorkspaceEdit | None:
    return await editor.client.text_document_rename_async(
        types.RenameParams(editor.document, editor.position(word), new)
    )


async def test_a_name_is_changed_wherever_it_has_the_same_meaning(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:i", KERNEL.replace("tile;", "tile; // tile"))
    changed = apply_edits(editor.text, edits_in(await rename(editor, "tile[", "buffer"), editor))
    assert changed == editor.text.replace("tile[", "buffer[").replace("%r2, tile;", "%r2, buffer;")
    changed = apply_edits(editor.text, edits_in(await rename(editor, "DONE;", "END"), editor))
    assert changed == editor.text.replace("DONE", "END")


async def test_a_name_that_cannot_be_renamed_is_not_changed(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:j", KERNEL)
    assert await rename(editor, "%tid.x", "%x") is None
    with pytest.raises(JsonRpcException, match="`tile` is already declared"):
        await rename(editor, "DONE;", "tile")
    with pytest.raises(JsonRpcException, match="not a valid PTX name"):
        await rename(editor, "DONE;", "a b")
