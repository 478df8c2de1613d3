"""What is found in a text appears as it is written, and goes when it is mended."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.lsp.session import CONFIG, KERNEL, MENDED, Editor, begin, eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client)
    yield
    await lsp_client.shutdown_session()


async def test_a_finding_of_the_analysis_stands_where_it_is_with_its_other_places(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:a", KERNEL)
    [found] = await editor.codes("PTX401")
    assert found.severity is types.DiagnosticSeverity.Error
    assert found.source == "ptxkit"
    assert found.range.start == editor.position("cp.reduce.async")
    assert "help: add `fence.proxy.async" in found.message
    related = found.related_information or []
    assert [each.location.range.start for each in related] == [
        editor.position("st.shared.u32"),
        editor.position("bar.sync"),
    ]
    assert related[0].message == "generic write"


async def test_a_text_that_is_right_has_no_finding(client: LanguageClient) -> None:
    assert list(await Editor(client, "untitled:b", MENDED).codes()) == []


async def test_findings_follow_the_text(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:c", MENDED)
    await editor.codes()
    editor.replace("\tfence.proxy.async.shared::cta;\n", "")
    await editor.codes("PTX401")
    editor.replace("\tret;", "\tret")
    [found] = await editor.codes("PTX101")
    assert found.severity is types.DiagnosticSeverity.Error
    editor.replace("\tret", "\tret;")
    await editor.codes("PTX401")
    editor.replace("\tbar.sync 0;", "\tfence.proxy.async.shared::cta;\n\tbar.sync 0;")
    await editor.codes()
    editor.close()

    async def gone() -> bool:
        return not client.diagnostics.get(editor.uri, KERNEL)

    await eventually(gone)
