"""The page of `ptxkit view` in a browser: its script runs without errors, and its buttons work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.report.view_page import view_page
from tests.report.browser import Browser, Shown
from tests.report.test_view_page import BULK, KERNELS, PAGES, UNFENCED, draw_text

WGMMA = (KERNELS / "wgmma_ring.sm_90a.ptx").read_text("utf-8")
TWO = BULK + "\n.visible .func f()\n{\n\tret;\n}\n"


class Reader:
    """Opens pages from a folder."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder

    def open_page(
        self,
        text: str,
        *,
        at: str = "",
        then: str = "",
        page: str | None = None,
        size: tuple[int, int] = (800, 600),
        scheme: str = "",
    ) -> Shown:
        """Returns the page of a text after its script ran; with a color scheme also its picture.

        then: a script that is executed in the page before that, which the policy of a test's page permits.
        """
        content = page if page is not None else view_page(draw_text(text), PAGES)
        if then:
            content = re.sub(r"script-src [^;]*;[^;]*;", "script-src 'unsafe-inline';", content, count=1)
            content = content.replace("</body>", f"<script>{then}</script></body>")
        path = self._folder / "out.html"
        path.write_text(content, "utf-8")
        url = f"{path.as_uri()}{at}"
        return self._browser.render(url, size=size, scheme=scheme or "light", is_pictured=bool(scheme))

    def dump_page(self, text: str, *, at: str = "", then: str = "") -> str:
        """Returns the document, and asserts that the console has no errors."""
        done = self.open_page(text, at=at, then=then)
        assert not done.logged
        return done.document


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Reader:
    return Reader(browser, tmp_path)


def tag_of(document: str, pattern: str) -> str:
    found = re.search(rf"<[^<>]*{pattern}[^<>]*>", document)
    assert found is not None, pattern
    return found[0]


@pytest.mark.parametrize(
    ("at", "chosen"), [("", "transfers"), ("#graph", "graph"), ("#findings", "findings"), ("#nowhere", "transfers")]
)
def test_one_tab_is_shown_and_the_console_has_no_errors(reader: Reader, at: str, chosen: str) -> None:
    document = reader.dump_page(WGMMA, at=at)
    for name in ("transfers", "graph", "findings"):
        assert ("hidden" not in tag_of(document, f'id="{name}"')) == (name == chosen)
        assert f'aria-selected="{str(name == chosen).lower()}"' in tag_of(document, f'id="tab-{name}"')


@pytest.mark.parametrize("text", ["", BULK.replace("bar.sync", "bar.sync (", 1), ".version 9.0\n.target sm_90\n"])
def test_pages_without_a_graph_have_no_errors_either(reader: Reader, text: str) -> None:
    assert "hidden" not in tag_of(reader.dump_page(text), 'id="findings"')


def test_a_link_to_a_finding_marks_its_line_and_selects_its_function(reader: Reader) -> None:
    assert 'class="issue here"' in tag_of(reader.dump_page(UNFENCED, at="#d1"), 'id="L157"')
    line = TWO.count("\n") - 1
    document = reader.dump_page(TWO, at=f"#L{line}")
    assert "hidden" in tag_of(document, 'id="f-1"')
    assert "hidden" not in tag_of(document, 'id="f-2"')


SEARCH = """
var query = document.getElementById('query');
query.value = '%s';
document.getElementById('search').requestSubmit();
document.getElementById('search').requestSubmit();
"""


@pytest.mark.parametrize(
    ("words", "printed"),
    [("mbarrier", r"2 of \d+"), ("%rd1", r"2 of \d+"), ("nosuchword", "no match"), ("%RD1", r"2 of \d+")],
)
def test_search_counts_matches_and_steps_through_them(reader: Reader, words: str, printed: str) -> None:
    document = reader.dump_page(BULK, then=SEARCH % words)
    found = re.search(r'<output id="matches">([^<]*)<', document)
    assert found is not None
    assert re.fullmatch(printed, found[1])
    if words == "%rd1":
        whole = len(re.findall(r"%rd1(?!\d)", BULK))
        assert found[1] == f"2 of {whole}"


def test_search_for_a_number_goes_to_its_line(reader: Reader) -> None:
    then = (
        "var q = document.getElementById('query'); q.value = '61'; document.getElementById('search').requestSubmit();"
    )
    assert "here" in tag_of(reader.dump_page(BULK, then=then), 'id="L61"')


def test_keys_focus_search_and_functions(reader: Reader) -> None:
    then = """
    function press(key) { document.body.dispatchEvent(new KeyboardEvent('keydown', { key: key, bubbles: true })); }
    press(']');
    press('/');
    document.title = document.activeElement.id;
    """
    document = reader.dump_page(TWO, then=then)
    assert "<title>query</title>" in document
    assert "hidden" not in tag_of(document, 'id="f-2"')


def test_findings_are_filtered_by_severity_and_code(reader: Reader) -> None:
    then = "var box = document.querySelector('#filter input'); box.click();"
    assert "hidden" in tag_of(reader.dump_page(UNFENCED, then=then), "<aside"[1:])
    assert "hidden" not in tag_of(reader.dump_page(UNFENCED), "<aside"[1:])


def test_light_and_dark_are_switched_and_remembered(reader: Reader) -> None:
    then = "document.getElementById('theme').click(); document.title = String(localStorage.getItem('ptxkit-theme'));"
    document = reader.dump_page(BULK, then=then)
    assert 'data-theme="dark"' in tag_of(document, "html lang")
    assert "<title>dark</title>" in document


def test_an_injected_script_does_not_run(reader: Reader) -> None:
    page = view_page(draw_text(BULK), PAGES).replace("</main>", "</main><script>document.title = 'run';</script>")
    done = reader.open_page("", page=page)
    assert "<title>run</title>" not in done.document
    assert "Content Security Policy" in " ".join(done.logged)


OVERPRINTS = """
var wrong = [], count = 0;
document.querySelectorAll('%s').forEach(function (drawing) {
  var labels = Array.from(drawing.querySelectorAll('text')).filter(function (each) { return each.textContent; });
  var boxes = labels.map(function (each) { return each.getBoundingClientRect(); });
  boxes.forEach(function (one, at) {
    boxes.slice(0, at).forEach(function (other, place) {
      count += 1;
      if (one.left < other.right - 0.5 && other.left < one.right - 0.5
          && one.top < other.bottom - 2 && other.top < one.bottom - 2) {
        wrong.push(labels[at].textContent + ' over ' + labels[place].textContent);
      }
    });
  });
  drawing.querySelectorAll('a.block').forEach(function (block) {
    var box = block.querySelector('rect').getBoundingClientRect();
    block.querySelectorAll('text').forEach(function (words) {
      var own = words.getBoundingClientRect();
      if (own.left < box.left || own.right > box.right) { wrong.push(words.textContent + ' out of its block'); }
    });
  });
});
document.title = (count > %d) + ': ' + wrong.join('; ');
"""
"""Returns overlapping labels of each drawing, with the browser's own letter widths; a line of text has a small
margin."""


@pytest.mark.parametrize("level", ["all", "top"])
@pytest.mark.parametrize("name", ["wgmma_ring.sm_90a", "ring_two_producers.sm_90a", "tcgen05_ring.sm_100a"])
def test_labels_of_the_graph_do_not_overlap(reader: Reader, name: str, level: str) -> None:
    text = (KERNELS / f"{name}.ptx").read_text("utf-8")
    document = reader.dump_page(text, at=f"#g1-{level}", then=OVERPRINTS % (f"#g1-{level} svg", 10))
    assert "<title>true: </title>" in document


def test_labels_of_the_chart_do_not_overlap(reader: Reader) -> None:
    document = reader.dump_page(WGMMA, at="#transfers", then=OVERPRINTS % ("table.lanes", 2))
    assert "<title>true: </title>" in document


@pytest.mark.parametrize("size", [(1500, 950), (700, 1000)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_visible(reader: Reader, size: tuple[int, int], scheme: str) -> None:
    done = reader.open_page(UNFENCED, at="#d1", size=size, scheme=scheme)
    assert not done.logged
    assert len(done.picture) > 20_000


def test_the_page_is_as_wide_as_its_window(reader: Reader) -> None:
    then = "document.title = [document.documentElement.scrollWidth - innerWidth, scrollY].join(' ');"
    done = reader.open_page(UNFENCED, at="#d1", then=then, size=(700, 900))
    found = re.search(r"<title>(-?\d+) (\d+)</title>", done.document)
    assert found is not None
    assert int(found[1]) <= 0
    assert found[2] == "0"


def test_a_line_that_is_clicked_is_found_in_the_chart(reader: Reader) -> None:
    document = reader.dump_page(BULK, then="document.getElementById('L67').click();")
    assert 'class="issue here"' in tag_of(document, 'id="L67"')
    assert 'class="issue here"' in tag_of(document, 'data-from="67"')


def test_the_printed_page_contains_all_tabs(reader: Reader) -> None:
    """The print rules, applied to the screen."""
    page = view_page(draw_text(UNFENCED), PAGES).replace("@media print", "@media screen")
    page = re.sub(r"style-src [^;]*;", "style-src 'unsafe-inline';", page, count=1)
    page = re.sub(r"script-src [^;]*;", "script-src 'unsafe-inline';", page, count=1)
    then = """
    var shown = ['transfers', 'graph', 'findings'].filter(function (name) {
      return document.getElementById(name).getBoundingClientRect().height > 20; });
    document.title = shown.join(' ') + (document.documentElement.scrollHeight > innerHeight);
    """
    done = reader.open_page("", page=page, then=then)
    assert "<title>transfers graph findingstrue</title>" in done.document
