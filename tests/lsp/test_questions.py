"""Hover, definitions, references and the outline of a text."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.session import CONFIG, KERNEL, Editor, begin

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client)
    yield
    await lsp_client.shutdown_session()


async def hover(editor: Editor, word: str, *, number: int = 0) -> str:
    params = types.HoverParams(editor.document, editor.position(word, number=number))
    found = await editor.client.text_document_hover_async(params)
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def definition(editor: Editor, word: str, *, number: int = 0) -> types.Location | None:
    params = types.DefinitionParams(editor.document, editor.position(word, number=number))
    found = await editor.client.text_document_definition_async(params)
    assert found is None or isinstance(found, types.Location)
    return found


async def test_hover_over_an_opcode_shows_its_form_gates_effects_and_section(client: LanguageClient) -> None:
    words = await hover(Editor(client, "untitled:a", KERNEL), "shared::cta.bulk_group")
    assert "cp.reduce.async.bulk" in words
    assert "needs PTX 8.0 and sm_90" in words
    assert "Access(kind=read, space=shared::cta" in words
    assert words.startswith("**Data Movement and Conversion Instructions")


async def test_hover_over_a_name_shows_its_declaration(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:b", KERNEL)
    assert ".shared .align 128 .b8 tile[4096];" in await hover(editor, "tile;")
    assert "a .b32 register" in await hover(editor, "%r3")
    assert "a kernel parameter" in await hover(editor, "in]")
    assert "ret;" in await hover(editor, "DONE;")
    assert "a special register of type .u32" in await hover(editor, "%tid.x")
    assert ".reqntid: a directive" in await hover(editor, ".reqntid")
    assert await hover(editor, "4096") == ""


async def test_a_definition_is_found_from_every_kind_of_name(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:c", KERNEL)
    for word, declared in (
        ("DONE;", "DONE:"),
        ("tile;", "tile[4096]"),
        ("%r4]", "%r<8>"),
        ("%p1 bra", "%p<3>"),
        ("in]", "in, .param"),
    ):
        found = await definition(editor, word)
        assert found is not None, word
        assert found.uri == editor.uri
        assert found.range.start == editor.position(declared), word
    assert await definition(editor, "%tid.x") is None
    assert await definition(editor, "bar.sync") is None
