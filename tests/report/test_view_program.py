"""The program next to the PTX: the files that are shown, and the links between lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.fast_dataclasses import replace
from ptxkit.report.limits import MAX_PROGRAM_FILES
from ptxkit.report.program_source import ProgramSources
from ptxkit.report.view_page import view_page
from ptxkit.report.view_program import ProgramLinks, link_program
from ptxkit.source import SourceFile, SourceLine
from ptxkit.view_builder import build_file_view
from tests.cli.support import CLEAN
from tests.report.browser import Browser
from tests.report.test_view_browser import Reader, tag_of

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "broken.ptx"


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Reader:
    return Reader(browser, tmp_path)


def page_of(path: Path) -> str:
    return view_page(build_file_view(SourceFile(str(path), path.read_text("utf-8"))))


def link_pieces(folder: Path, *files: str, text: str | None = "a\nb\n<b>&\n") -> ProgramLinks:
    """Returns the links of a kernel whose first instructions come from line 3 of each of the files in turn."""
    for file in files:
        if text is not None:
            (folder / file).write_text(text, "utf-8")
    view = build_file_view(SourceFile(str(folder / "k.ptx"), CLEAN))
    first = view.functions[0].line + 2
    places = {first + number: (SourceLine(file, 3),) for number, file in enumerate(files)}
    return link_program(replace(view, source_lines=places), ProgramSources())


def test_each_line_of_the_ptx_links_to_the_line_of_its_author_and_back() -> None:
    page = page_of(TUTORIAL)
    lines = TUTORIAL.read_text("utf-8").split("\n")
    copy = 1 + next(
        at for at, line in enumerate(lines) if line.startswith("cp.async.bulk.global") or "bulk_group [" in line
    )
    assert f"<li id=L{copy} class=issue data-src=1-30>" in page
    assert '<a class="loc"' in page
    row = re.search(r'<li id="S1-30" data-ptx="([^"]*)"', page)
    assert row is not None
    ranges = [[int(end) for end in part.split("-")] for part in row[1].split()]
    assert any(part[0] <= copy <= part[-1] for part in ranges)
    assert not re.search(r'<li id="S1-11" data-ptx', page)


def test_a_finding_is_below_the_line_of_the_program_with_the_names_of_its_author() -> None:
    page = page_of(TUTORIAL)
    found = re.search(r'id="S1-30"[^>]*>[^<]*<a href="#d1" class="found error">([^<]*)</a>', page)
    assert found is not None
    assert found[1].startswith("PTX401 error: reads `tile` through the async proxy, but the write at line 25 ")
    assert "reads `tile` through the async proxy, but the write at line 114 " in page


def test_a_line_extends_to_the_next_one_and_to_the_end_of_the_function(tmp_path: Path) -> None:
    links = link_pieces(tmp_path, "a.cu", "b.cu")
    first, last = min(links.places), max(links.places)
    assert [source.path.rpartition("/")[2] for source in links.files] == ["b.cu", "a.cu"]
    assert links.places[first] == (2, 3)
    assert {links.places[line] for line in range(first + 1, last + 1)} == {(1, 3)}
    assert last == build_file_view(SourceFile("k.ptx", CLEAN)).functions[0].last


@pytest.mark.parametrize("name", ["secret.pem", "passwd", "absent.cu"])
def test_a_file_that_is_missing_or_not_source_code_is_not_shown(tmp_path: Path, name: str) -> None:
    assert link_pieces(tmp_path, name, text=None if name.startswith("absent") else "a\nb\nc\n") == ProgramLinks()


def test_a_location_after_the_end_of_its_file_has_no_link(tmp_path: Path) -> None:
    links = link_pieces(tmp_path, "a.cu", text="one")
    assert len(links.files) == 1
    assert not links.places


def test_files_over_the_limit_are_omitted(tmp_path: Path) -> None:
    names = [f"{number}.cu" for number in range(MAX_PROGRAM_FILES + 1)]
    assert len(link_pieces(tmp_path, *names).files) == MAX_PROGRAM_FILES


def test_program_text_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("x\n<script>alert(1)</script>\x1b[2J\u202e\n", "utf-8")
    text = CLEAN.replace("\tmov.u32", "\t.loc 1 2 3\n\tmov.u32")
    (tmp_path / "k.ptx").write_text(text.replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"'), "utf-8")
    page = page_of(tmp_path / "k.ptx")
    assert 'id="S1-2"' in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_page_opens_at_the_first_finding_in_all_panes(reader: Reader) -> None:
    done = reader.open_page("", page=page_of(TUTORIAL), size=(1400, 900))
    assert not done.logged
    assert "here" in tag_of(done.document, 'id="L141"')
    assert "tied" in tag_of(done.document, 'id="S1-30"')
    assert 'class="issue here"' in tag_of(done.document, 'data-from="141"')


def test_a_click_on_the_program_goes_to_the_ptx_and_back(reader: Reader) -> None:
    then = "document.getElementById('S1-15').click();"
    document = reader.open_page("", page=page_of(TUTORIAL), then=then).document
    assert "tied" in tag_of(document, 'id="S1-15"')
    assert re.search(r'<li id="L\d+"[^>]*data-src="1-15"[^>]*here', document) or "here" in tag_of(
        document, 'data-src="1-15"'
    )
    document = reader.open_page("", page=page_of(TUTORIAL), then="document.getElementById('L53').click();").document
    assert "tied" in tag_of(document, 'id="S1-15"')


def test_a_narrow_window_has_one_pane_and_links_choose_it(reader: Reader) -> None:
    then = """
    var seen = function () { return ['program', 'listing', 'panel'].filter(function (name) {
      return document.getElementById(name).getBoundingClientRect().height > 0; }).join('+'); };
    var said = [seen()];
    document.querySelector('#panes [value="panel"]').click(); said.push(seen());
    location.hash = 'S1-30'; window.dispatchEvent(new Event('hashchange')); said.push(seen());
    location.hash = 'L141'; window.dispatchEvent(new Event('hashchange')); said.push(seen());
    document.title = said.join(' ') + ' ' + (document.documentElement.scrollWidth - innerWidth);
    """
    done = reader.open_page("", page=page_of(TUTORIAL), then=then, size=(500, 900))
    assert "<title>listing panel program listing 0</title>" in done.document
