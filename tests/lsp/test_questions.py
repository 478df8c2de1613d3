"""Hover, definitions, references and the outline of a text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.session import CONFIG, KERNEL, Editor, begin

SCOPES = """\
.version 8.0
.target sm_90
.address_size 64
.file 1 "source.cu"
.global .align 4 .u32 counter;
.func (.param .b32 back) twice(.param .b32 given)
{
\t.reg .b32 %r<2>;
\tld.param.b32 %r0, [given];
\tadd.u32 %r1, %r0, %r0;
\tst.param.b32 [back], %r1;
\tret;
}
.visible .entry kernel(.param .u64 out)
{
\t.reg .b32 %r<4>, %x;
\t.reg .b64 %rd<2>;
\t.loc 1 2 3
\tmov.u32 %x, 1;
\tbra OUTER;
\t{
\t.reg .b32 %x;
\t.param .b32 given;
\t.param .b32 taken;
\tmov.u32 %x, 2;
OUTER:
\tst.param.b32 [given], %x;
\tcall (taken), twice, (given);
\tbra OUTER;
\t}
OUTER:
\tmov.u32 %r3, %x;
\tst.global.u32 [counter], %r3;
\tret;
}
"""
"""Names with different meanings in different blocks."""

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
    assert "Effects:\n- Reads `n` bytes of shared::cta memory at `s` through the async proxy." in words
    assert "Where" not in words
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


async def places(editor: Editor, word: str, *, number: int = 0, declared: bool = True) -> list[types.Position]:
    params = types.ReferenceParams(
        types.ReferenceContext(declared), editor.document, editor.position(word, number=number)
    )
    found = await editor.client.text_document_references_async(params)
    return [each.range.start for each in found or ()]


async def test_a_name_refers_to_the_declaration_of_its_block(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:d", SCOPES)
    for word, number, declared, count in (
        ("%x, 2", 0, "%x;", 1),
        ("%x, 1", 0, "%x;", 0),
        ("%r3, %x", 0, "%r<4>", 0),
        ("%r1, %r0", 0, "%r<2>", 0),
        ("OUTER;", 0, "OUTER:", 1),
        ("OUTER;", 1, "OUTER:", 0),
        ("given]", 0, "given)", 0),
        ("given]", 1, "given;", 0),
        ("twice, (", 0, "twice(", 0),
        ("counter]", 0, "counter;", 0),
        ("back]", 0, "back)", 0),
    ):
        found = await definition(editor, word, number=number)
        assert found is not None, word
        assert found.range.start == editor.position(declared, number=count), word
    assert await definition(editor, ".loc") is None


async def test_references_are_those_of_the_same_declaration(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:e", SCOPES.replace("\tret;", "\tret; // %x %r3", 1))
    outer = [editor.position(word) for word in ("%x;", "%x, 1")] + [editor.position("%x;", number=3)]
    assert await places(editor, "%x, 1") == outer
    assert await places(editor, "%x, 1", declared=False) == outer[1:]
    assert await places(editor, "%r3, %x") == [editor.position(each) for each in ("%r<4>", "%r3, %x", "%r3;")]
    inner = [editor.position("OUTER:"), editor.position("OUTER;", number=1)]
    assert await places(editor, "OUTER;", number=1) == inner
    params = types.DocumentHighlightParams(editor.document, editor.position("twice("))
    assert len(await client.text_document_document_highlight_async(params) or ()) == 2


async def test_the_outline_has_functions_with_their_labels_and_variables(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:f", SCOPES)
    found = await client.text_document_document_symbol_async(types.DocumentSymbolParams(editor.document))
    symbols = [each for each in found or () if isinstance(each, types.DocumentSymbol)]
    assert [each.name for each in symbols] == ["counter", "twice", "kernel"]
    assert [each.name for each in symbols[2].children or ()] == ["given", "taken", "OUTER", "OUTER"]
    assert symbols[1].range.end == types.Position(12, 1)
    assert symbols[2].selection_range.start == editor.position("kernel(")


async def test_a_loc_leads_to_the_line_of_the_program(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "source.cu").write_text("int x;\nint y;\n")
    editor = Editor(client, (tmp_path / "k.ptx").as_uri(), SCOPES)
    found = await definition(editor, ".loc")
    assert found is not None
    assert found.uri == (tmp_path / "source.cu").as_uri()
    assert found.range.start == types.Position(1, 2)


async def test_a_broken_line_does_not_hide_the_others(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:g", KERNEL.replace("\tbar.sync 0;", "\tbar.sync 0 0;\n\tadd."))
    found = await definition(editor, "%r4]")
    assert found is not None
    assert found.range.start == editor.position("%r<8>")
    assert "`tile + 4*%tid.x`" in await hover(editor, "%r4]")
    assert await definition(editor, "0 0") is None


async def test_hover_over_a_register_shows_its_value_and_address_space_there(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:h", KERNEL)
    words = await hover(editor, "%r4]")
    assert "Holds `tile + 4*%tid.x` here." in words
    assert "An address in `.shared`." in words
    assert "Holds `4*%tid.x` after this instruction." in await hover(editor, "%r3, %r1")
    assert "A generic address of `.global` memory." in await hover(editor, "%rd1, [in")
    assert "Holds `%tid.x != 0` here." in await hover(editor, "%p1 bra")
    loaded = Editor(client, "untitled:i", KERNEL.replace("mov.u32 %r2, tile;", "ld.global.u32 %r2, [%rd2];"))
    words = await hover(loaded, "%r2], 512")
    assert "Holds" not in words
    assert "Used as an address in `.shared::cta`" in words


async def test_constants_are_shown_in_decimal_digits(client: LanguageClient) -> None:
    text = KERNEL.replace("\tret;", "\t.reg .f32 %f;\n\tmov.f32 %f, 0f3FC00000;\n\tmov.u32 %r7, 0xff;\n\tret;")
    editor = Editor(client, "untitled:j", text)
    assert await hover(editor, "0f3FC") == "`0f3FC00000` = 1.5"
    assert await hover(editor, "0xff") == "`0xff` = 255"
