"""Completion: opcodes, valid modifiers, names in operands, directives and types."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.session import CONFIG, FIXED, Editor, begin

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client)
    yield
    await lsp_client.shutdown_session()


async def offer_words(client: LanguageClient, written: str, *, text: str = FIXED) -> list[types.CompletionItem]:
    """Returns the offers after a text on a separate line before `ret`."""
    editor = Editor(client, f"untitled:{written}", text.replace("\tret;", f"\t{written}\n\tret;"))
    place = editor.position(f"\t{written}\n", after=True)
    place = types.Position(place.line - 1, len(written) + 1)
    found = await client.text_document_completion_async(types.CompletionParams(editor.document, place))
    editor.close()
    assert found is None or isinstance(found, types.CompletionList)
    return sorted(found.items, key=lambda item: item.sort_text or item.label) if found is not None else []


async def words(client: LanguageClient, written: str) -> list[str]:
    return [item.label for item in await offer_words(client, written)]


async def test_opcodes_are_offered_where_a_statement_begins(client: LanguageClient) -> None:
    assert {"mbarrier", "mov", "mul", "mad", "mma"} <= set(await words(client, "m"))
    assert await words(client, "wgm") == ["wgmma"]
    assert await words(client, "@%p1 wgm") == ["wgmma"]


async def test_modifiers_are_offered_in_their_order_and_only_those_of_a_form(client: LanguageClient) -> None:
    assert await words(client, "cp.async.bulk.shared::cluster.") == [".global", ".shared::cta"]
    assert await words(client, "cp.async.c") == [".ca", ".cg", ".commit_group"]
    assert ".f16" not in await words(client, "mul.hi.")
    assert ".u32" in await words(client, "mul.hi.")
    assert await words(client, "nonsense.") == []


async def test_modifiers_that_the_target_lacks_are_last_with_their_requirement(client: LanguageClient) -> None:
    found = await offer_words(client, "cp.async.bulk.")
    closed = [item for item in found if "the module has" in (item.detail or "")]
    assert ".shared::cta" in [item.label for item in closed]
    assert found[-len(closed) :] == closed
    edit = found[0].text_edit
    assert isinstance(edit, types.TextEdit)
    assert edit.new_text == found[0].label
    assert edit.range.end.character - edit.range.start.character == 1


async def test_names_are_offered_in_operands_those_of_the_right_type_first(client: LanguageClient) -> None:
    found = await words(client, "add.s32 ")
    assert found.index("%r0") < found.index("%rd0")
    assert {"%r7", "%rd7", "tile", "%tid.x", "in"} <= set(found)
    assert "%r8" not in found
    assert set(await words(client, "st.shared.u32 [ti")) == {"tile"}
    bases = await words(client, "ld.shared.u32 %r1, [")
    assert bases.index("tile") < bases.index("%r0") < bases.index("in")
    assert await words(client, "bra D") == ["DONE"]
    assert await words(client, "bra ") == ["DONE"]
    assert set(await words(client, "@")) == {"%p0", "%p1", "%p2"}
    assert "%ctaid.y" in await words(client, "mov.u32 %r1, %ctaid")


async def test_directives_and_types_are_offered(client: LanguageClient) -> None:
    assert {".reg", ".shared", ".pragma", ".loc"} <= set(await words(client, "."))
    assert ".pred" in await words(client, ".reg .")
    assert ".pred" not in await words(client, ".shared .")


async def test_versions_and_targets_are_offered_the_newest_first(client: LanguageClient) -> None:
    found = await words(client, ".version ")
    assert found.index("9.0") < found.index("8.0") < found.index("6.4")
    assert {"sm_90", "sm_90a"} == set(await words(client, ".target sm_90"))


async def test_nothing_is_offered_in_comments_and_numbers(client: LanguageClient) -> None:
    assert await words(client, "// cp.") == []
    assert await words(client, "/* cp.") == []
    assert await words(client, "add.s32 %r1, %r1, 1") == []
