"""Findings in a PTX file, at the lines of the program from which it was compiled."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient

from ptxkit.linter import lint_source
from ptxkit.lsp.diagnostics import ClientFeatures
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.program_diagnostics import ProgramDiagnostics, find_in_programs
from tests.lsp.session import CONFIG, Editor, begin, eventually

KERNELS = Path(__file__).parent.parent / "report" / "lineinfo"
PTX = (KERNELS / "bulk_scale.3.ptx").read_text("utf-8")
CU = (KERNELS / "bulk_scale.cu").read_text("utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    await begin(lsp_client, workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "kernels")])
    yield
    await lsp_client.shutdown_session()


async def await_diagnostics(client: LanguageClient, path: Path, count: int) -> Sequence[types.Diagnostic]:
    """Returns the published diagnostics for a file, when they have that number."""

    async def there() -> bool:
        return len(client.diagnostics.get(path.as_uri(), ())) == count

    await eventually(there)
    return client.diagnostics.get(path.as_uri(), ())


def compile_files(folder: Path, name: str) -> Path:
    """Writes a program of that name, and opens its PTX."""
    path = folder / f"{name}.cu"
    path.write_text(CU, "utf-8")
    return path


@pytest.mark.asyncio(loop_scope="module")
async def test_a_finding_is_shown_in_the_program_until_it_is_fixed(client: LanguageClient, folder: Path) -> None:
    program = compile_files(folder, "shown")
    editor = Editor(client, (folder / "shown.ptx").as_uri(), PTX.replace("bulk_scale.cu", "shown.cu"))
    [found] = await await_diagnostics(client, program, 1)
    assert (found.code, found.severity) == ("PTX401", types.DiagnosticSeverity.Error)
    assert found.message.startswith("reads `tile` through the async proxy, but the write at line 33 went through")
    assert "help: add `cuda::ptx::fence_proxy_async" in found.message
    line = CU.splitlines()[found.range.start.line]
    assert found.range.start.line == found.range.end.line == 38
    assert line[found.range.start.character : found.range.end.character] == "ptx::cp_async_bulk"
    related = [(each.location.uri, each.location.range.start.line, each.message) for each in found.related_information]
    assert related == [
        (editor.uri, 136, "in the PTX"),
        (program.as_uri(), 32, "generic write"),
        (program.as_uri(), 36, "orders the threads, not the proxies"),
    ]
    editor.replace("bar.sync \t0;\n\t.loc\t1 38", "fence.proxy.async.shared::cta;\n\tbar.sync \t0;\n\t.loc\t1 38")
    assert not await await_diagnostics(client, program, 0)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_finding_is_removed_with_the_text_that_shows_it(client: LanguageClient, folder: Path) -> None:
    program = compile_files(folder, "closed")
    editors = [
        Editor(client, (folder / f"{name}.ptx").as_uri(), PTX.replace("bulk_scale.cu", "closed.cu")) for name in "ab"
    ]
    for editor in editors:
        await editor.codes("PTX401")
    await await_diagnostics(client, program, 1)
    editors[0].close()
    await editors[1].client.text_document_hover_async(types.HoverParams(editors[1].document, types.Position(0, 0)))
    await await_diagnostics(client, program, 1)
    editors[1].close()
    assert not await await_diagnostics(client, program, 0)


@pytest.mark.parametrize("name", ["../outside.cu", "link.cu", "key.txt", "large.cu", "none.cu"])
def test_only_source_code_in_the_workspace_gets_findings(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (tmp_path / "outside.cu").write_text(CU)
    (folder / "key.txt").write_text(CU)
    (folder / "link.cu").symlink_to("../outside.cu")
    (folder / "large.cu").write_text(CU + " " * (1 << 20))
    (folder / "right.cu").write_text(CU)

    def find_all(program: str) -> dict[str, list[types.Diagnostic]]:
        text = PTX.replace("bulk_scale.cu", program)
        snapshot = TextSnapshot((folder / "k.ptx").as_uri(), 1, text, "utf-16")
        result = lint_source(snapshot.source)
        assert result.diagnostics
        return find_in_programs(snapshot, result.diagnostics, [str(folder)], ClientFeatures())

    assert list(find_all("right.cu")) == [(folder / "right.cu").as_uri()]
    assert find_all(name) == {}


def test_only_programs_whose_findings_change_are_published() -> None:
    def item(message: str) -> types.Diagnostic:
        start = types.Position(0, 0)
        return types.Diagnostic(types.Range(start, start), message)

    programs = ProgramDiagnostics()
    assert list(programs.update("a.ptx", {"k.cu": [item("a")], "m.cu": [item("b")]})) == [
        ("k.cu", [item("a")]),
        ("m.cu", [item("b")]),
    ]
    assert list(programs.update("a.ptx", {"k.cu": [item("a")], "m.cu": []})) == [("m.cu", [])]
    assert list(programs.update("b.ptx", {"k.cu": [item("a"), item("c")]})) == [("k.cu", [item("a"), item("c")])]
    assert list(programs.update("a.ptx", {})) == [("k.cu", [item("a"), item("c")]), ("m.cu", [])]
    assert list(programs.update("b.ptx", {})) == [("k.cu", [])]
