"""Findings appear while a user types: letter by letter, in large texts, with settings files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from ptxkit import lint
from tests.lsp.session import CONFIG, FIXED, KERNEL, Editor, begin, eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await begin(lsp_client)
    yield
    await lsp_client.shutdown_session()


async def test_a_finding_of_the_analysis_has_its_location_and_related_locations(client: LanguageClient) -> None:
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


async def test_a_correct_text_has_no_finding(client: LanguageClient) -> None:
    assert list(await Editor(client, "untitled:b", FIXED).codes()) == []


async def test_findings_follow_the_text(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:c", FIXED)
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

    async def is_gone() -> bool:
        return not client.diagnostics.get(editor.uri, KERNEL)

    await eventually(is_gone)


async def test_an_instruction_is_written_letter_by_letter(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:a", KERNEL)
    await editor.codes("PTX401")
    for letter in "\tfence.proxy.async.shared::cta;\n":
        place = editor.text.index("\tbar.sync")
        editor.edit(place, place, letter)
        await asyncio.sleep(0.01)  # as a person does; with any other pause the findings at the end are the same
    assert editor.text == FIXED
    await editor.codes()
    while editor.text != KERNEL:
        place = editor.text.index("\tbar.sync") - 1
        editor.edit(place, place + 1, "")
    [found] = await editor.codes("PTX401")
    assert found.range.start == editor.position("cp.reduce.async")


async def test_a_finding_remains_at_its_line_while_lines_above_it_change(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:b", KERNEL.replace("\n", "\r\n"))
    await editor.codes("PTX401")
    editor.edit(0, 0, "// 😀\r\n\r\n")
    wanted = editor.position("cp.reduce.async")

    async def has_moved() -> bool:
        found = client.diagnostics[editor.uri]
        return [(item.code, item.range.start) for item in found] == [("PTX401", wanted)]

    await eventually(has_moved)
    editor.replace("\tld.param.u64 %rd1, [in];\r\n", "")
    editor.replace("\r\n\r\n", "\r\n")
    wanted = editor.position("cp.reduce.async")
    await eventually(has_moved)


async def test_the_last_of_several_versions_is_checked(client: LanguageClient) -> None:
    editor = Editor(client, "untitled:c", KERNEL)
    await editor.codes("PTX401")  # which stays until a whole check of a later version ends
    for number in range(40):
        old, new = ("512;", "256;") if number % 2 == 0 else ("256;", "512;")
        editor.replace(old, new)
    editor.replace("\tbar.sync 0;", "\tfence.proxy.async.shared::cta;\n\tbar.sync 0;")
    await editor.codes()
    assert not lint(editor.text).diagnostics


async def test_the_nearest_settings_apply_and_are_read_again(client: LanguageClient, tmp_path: Path) -> None:
    settings = tmp_path / "ptxkit.toml"
    settings.write_text('severity = { PTX401 = "note" }\n')
    uri = (tmp_path / "k.ptx").as_uri()
    [found] = await Editor(client, uri, KERNEL).codes("PTX401")
    assert found.severity is types.DiagnosticSeverity.Information
    settings.write_text('ignore = ["PTX4"]\n')
    event = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
    editor = Editor(client, (tmp_path / "l.ptx").as_uri(), KERNEL)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def empty() -> bool:
        return [client.diagnostics.get(each, [None]) for each in (uri, editor.uri)] == [(), ()]

    await eventually(empty)


async def test_settings_apply_again_when_a_text_is_saved(client: LanguageClient, tmp_path: Path) -> None:
    editor = Editor(client, (tmp_path / "k.ptx").as_uri(), KERNEL)
    await editor.codes("PTX401")
    (tmp_path / "pyproject.toml").write_text('[tool.ptxkit]\nper-file-ignores = { "k.ptx" = ["PTX401"] }\n')
    client.text_document_did_save(types.DidSaveTextDocumentParams(editor.document))
    await editor.codes()


async def test_unusable_settings_are_reported_once_and_do_not_apply(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "ptxkit.toml").write_text('ignroe = ["PTX4"]\n')
    client.messages.clear()
    editor = Editor(client, (tmp_path / "k.ptx").as_uri(), KERNEL)
    await editor.codes("PTX401")
    editor.replace("\tbar.sync 0;", "\tfence.proxy.async.shared::cta;\n\tbar.sync 0;")
    await editor.codes()
    reported = [each.message for each in client.messages]
    assert len(reported) == 1
    assert "there is no setting `ignroe`; did you mean `ignore`?" in reported[0]
    assert "ptxkit.toml:1" in reported[0]


async def test_comments_hide_and_notes_are_faded(client: LanguageClient, tmp_path: Path) -> None:
    hidden = KERNEL.replace("512;", "512; // ptxkit: ignore[PTX401] meant")
    await Editor(client, "untitled:h", hidden).codes()
    (tmp_path / "ptxkit.toml").write_text("notes = true\n")
    twice = FIXED.replace("\tbar.sync 0;", "\tbar.sync 0;\n\tbar.sync 0;")
    [found] = await Editor(client, (tmp_path / "k.ptx").as_uri(), twice).codes("PTX903")
    assert found.tags is not None
    assert list(found.tags) == [types.DiagnosticTag.Unnecessary]
    assert found.severity is types.DiagnosticSeverity.Information


async def test_the_server_registers_for_changes_of_settings_files(client: LanguageClient) -> None:
    async def request_check() -> bool:
        return getattr(client, "registered", []) == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]

    await eventually(request_check)
