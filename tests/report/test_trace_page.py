"""The page of pictures: one file that is HTML and XML, describes its contents, and loads nothing."""

from __future__ import annotations

import itertools
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from ptxkit.model.trace import FindingRole, FindingTrace, StepKind, ThreadColumn, TraceAccess, TraceBar, TraceStep
from ptxkit.report.graph_labels import is_over
from ptxkit.report.limits import MAX_TRACE_FINDINGS, MAX_TRACE_LINES
from ptxkit.report.trace_drawing import SIZE, SMALL_SIZE, draw_trace
from ptxkit.report.trace_page import trace_page
from ptxkit.report.trace_style import SCRIPT, STYLE
from ptxkit.source import SourceFile, SourceLine
from tests.report.browser import Browser, Shown
from tests.report.test_graph_labels import labels

TRACE_SIZES = {"soft": SMALL_SIZE, "": SIZE}
ZERO = (0, 0, 0)
SOURCE = SourceFile("k.ptx", "".join(f"\tmov.u32 %r{number}, 0;\n" for number in range(1, 301)))
COLUMNS = (
    ThreadColumn("thread 0", ZERO, 1, FindingRole.FAULT),
    ThreadColumn("threads 1-31", ZERO, 31),
    ThreadColumn("thread 32", ZERO, 1, FindingRole.OTHER),
)
STEPS = (
    TraceStep(1, StepKind.ISSUE, 10, "cp.async.ca.shared.global", "begins", (0, 1, 2), (2,), FindingRole.OTHER),
    TraceStep(2, StepKind.COMMIT, 11, "cp.async.commit_group", "close their cp.async group", (0, 1, 2)),
    TraceStep(7, StepKind.JOIN, 12, "bar.sync", "barrier 0 joins 33 threads", (0, 1, 2), omitted_before=3),
    TraceStep(
        8, StepKind.READ, 14, "ld.shared.u32", "thread 0 reads 4 bytes: 00000000", (0, 1, 2), (0,), FindingRole.FAULT
    ),
    TraceStep(9, StepKind.PHASE, 0, "", "phase 0 of the mbarrier is complete", ()),
    TraceStep(10, StepKind.COMPLETE, 10, "cp.async.ca.shared.global", "is complete", (0, 1, 2)),
)
TRACE = FindingTrace(
    "PTX302",
    "error",
    "`ld.shared.u32` reads bytes that a copy may still write",
    "k",
    14,
    SOURCE,
    ("grid 2, block 33", "policy late", "seed 0"),
    "a wait that tells the thread that the copy is complete",
    (
        TraceAccess(FindingRole.FAULT, "ld.shared.u32", 14, ZERO, ZERO, "shared", 0x480, 4, "00000000"),
        TraceAccess(
            FindingRole.OTHER, "cp.async.ca.shared.global", 10, (32, 0, 0), ZERO, "shared", 0x480, 4, "00000000", "2a"
        ),
    ),
    COLUMNS,
    STEPS,
    (TraceBar("cp.async.ca.shared.global", 10, 2, 0, 5, FindingRole.OTHER),),
    ("3 steps in between",),
)
RACE = replace(TRACE, code="PTX621", severity="warning", message="nothing orders the two", bars=(), steps=STEPS[1:4])


def test_the_page_runs_its_own_script_and_no_other() -> None:
    page = trace_page([TRACE, RACE])
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "unsafe" not in policy
    for name, content in (("style", STYLE), ("script", SCRIPT)):
        assert f"<{name}>{content}</{name}>" in page
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{name}-src &#x27;sha256-{digest}&#x27;;" in policy
    assert not re.search(r"<[^>]*\s(style|on\w+)=", page.replace(SCRIPT, ""))
    assert "default-src &#x27;none&#x27;" in policy


def parse_page(*traces: FindingTrace) -> Element:
    """Returns the page as a tree."""
    page = trace_page(traces)
    head, _, rest = page.partition("\n")
    assert head == "<!DOCTYPE html>"
    return ElementTree.fromstring(rest)


def text_of(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def drawn_elements(element: Element, name: str, sort: str) -> list[Element]:
    """Yields the elements of a drawing, by name and class, without those of the legend."""
    (picture,) = [each for each in element.iter("{http://www.w3.org/2000/svg}svg") if each.get("role") == "img"]
    return [
        each
        for each in picture.iter(f"{{http://www.w3.org/2000/svg}}{name}")
        if (each.get("class") or "").split()[:1] == [sort]
    ]


def test_each_finding_is_an_article_that_can_be_selected() -> None:
    page = parse_page(TRACE, RACE)
    assert [each.get("id") for each in page.iter("article")] == ["finding-1", "finding-2"]
    buttons = [each for each in page.iter("button") if each.get("role") == "tab"]
    assert [each.get("aria-controls") for each in buttons] == ["finding-1", "finding-2"]
    assert [text_of(each) for each in buttons] == ["PTX302 k, line 14", "PTX621 k, line 14"]
    assert not list(parse_page(TRACE).iter("nav"))


def test_an_article_has_the_finding_its_command_and_the_missing_step() -> None:
    (article,) = parse_page(TRACE).iter("article")
    words = text_of(article)
    assert "PTX302 error: `ld.shared.u32` reads bytes that a copy may still write" in words
    assert "run of k: grid 2, block 33, policy late, seed 0" in words
    assert "Missing: a wait that tells the thread that the copy is complete" in words
    assert "Left out: 3 steps in between." in words


def test_the_accesses_are_a_table_with_line_thread_bytes_and_values() -> None:
    (table,) = parse_page(TRACE).iter("table")
    rows = [[text_of(cell) for cell in row] for row in table]
    assert rows[0][1:] == ["instruction", "PTX line", "thread", "CTA", "place", "old value", "new value"]
    assert rows[1][:3] == ["at fault", "ld.shared.u32", "14"]
    assert rows[2] == [
        "conflicts with",
        "cp.async.ca.shared.global",
        "10",
        "(32, 0, 0)",
        "(0, 0, 0)",
        "shared 0x480 to 0x483",
        "00000000",
        "2a",
    ]


def test_values_have_a_type_locations_a_name_and_lines_those_of_the_program() -> None:
    place = SourceLine("src/k.cu", 7)
    first = replace(TRACE.accesses[0], place="tile[32]", type="f32", old_value="0.5", origin=place)
    steps = (replace(STEPS[0], origin=place), *STEPS[1:])
    page = parse_page(replace(TRACE, accesses=(first, TRACE.accesses[1]), steps=steps))
    (table,) = page.iter("table")
    cells = list(list(table)[1])
    assert [text_of(cell) for cell in cells[2:]] == ["14", "k.cu:7", "(0, 0, 0)", "(0, 0, 0)", "tile[32]", "0.5", ""]
    assert (cells[6].get("title"), cells[7].get("title")) == ("shared 0x480 to 0x483", "00000000")
    assert "k.cu:7" in text_of(drawn_elements(page, "g", "row")[0])


def test_every_mark_of_the_drawing_has_a_legend() -> None:
    page = parse_page(TRACE)
    (legend,) = [each for each in page.iter("ul") if each.get("class") == "legend"]
    reported = {word for each in legend.iter() for word in (each.get("class") or "").split()}
    (picture,) = [each for each in page.iter() if each.get("role") == "img"]
    marks = {"mark", "join", "arrive", "phase", "chip", "copy", "wire", "lack", "fault", "other", "touch"}
    used = {word for each in picture.iter() for word in (each.get("class") or "").split()}
    assert used & marks
    assert marks <= reported


def test_no_label_of_a_drawing_overlaps_another() -> None:
    """Also where numbers of steps, lines and names are long."""
    steps = tuple(
        replace(each, number=number, line=99_990 + number, origin=SourceLine("a_long_name.cu", 99_999))
        for number, each in enumerate(STEPS, 123_456)
    )
    columns = (replace(COLUMNS[0], label="w", count=1000, cta=(100, 100, 100)), *COLUMNS[1:])
    shapes = labels(draw_trace(replace(TRACE, steps=steps, columns=columns)), TRACE_SIZES)
    assert len(shapes) > 20
    for (one, box), (other, place) in itertools.combinations(shapes, 2):
        assert not is_over(box, place), f"{one} over {other}"


def test_threads_are_columns_and_time_is_vertical() -> None:
    page = parse_page(TRACE)
    lives = drawn_elements(page, "line", "life")
    places = [float(each.get("x1", "")) for each in lives]
    assert len(places) == len(COLUMNS)
    assert places == sorted(places)
    rows = drawn_elements(page, "g", "row")
    assert [each.get("data-line") for each in rows] == ["10", "11", "12", "14", None, "10"]
    downs = [float(each.get("y", "")) for each in drawn_elements(page, "rect", "band")]
    assert downs == sorted(downs)
    (picture,) = [each for each in page.iter() if each.get("role") == "img"]
    assert "3 steps are left out here" in text_of(picture)


def test_a_barrier_is_a_line_across_its_threads() -> None:
    page = parse_page(TRACE)
    (line,) = drawn_elements(page, "line", "join")
    places = [each.get("x1") for each in drawn_elements(page, "line", "life")]
    assert (line.get("x1"), line.get("x2")) == (places[0], places[-1])
    assert len(drawn_elements(page, "circle", "joint")) == len(COLUMNS)


def test_a_copy_is_a_bar_from_its_issue_to_its_completion() -> None:
    page = parse_page(TRACE)
    (bar,) = drawn_elements(page, "rect", "copy")
    bands = [float(each.get("y", "")) for each in drawn_elements(page, "rect", "band")]
    top, height = float(bar.get("y", "")), float(bar.get("height", ""))
    assert bands[0] < top < bands[1]
    assert bands[5] < top + height
    endless = parse_page(replace(TRACE, bars=(replace(TRACE.bars[0], last=None, is_complete=False),)))
    (longer,) = drawn_elements(endless, "rect", "copy")
    assert float(longer.get("height", "")) > height
    assert "its completion is not observed" in text_of(endless)


def test_the_two_accesses_are_marked_and_the_missing_step_is_between_them() -> None:
    page = parse_page(TRACE)
    marks = [each for name in ("circle", "polygon") for each in drawn_elements(page, name, "mark")]
    assert sorted(each.get("class", "") for each in marks if len(each.get("class", "").split()) > 1) == [
        "mark fault",
        "mark other",
    ]
    assert len(drawn_elements(page, "path", "lack")) == 1
    (box,) = drawn_elements(page, "rect", "lackbox")
    bands = [float(each.get("y", "")) for each in drawn_elements(page, "rect", "band")]
    assert bands[2] < float(box.get("y", "")) < bands[3]


def test_the_ptx_excerpt_is_short_and_marks_the_lines() -> None:
    (pre,) = parse_page(replace(TRACE, steps=tuple(replace(STEPS[1], line=5 * at) for at in range(1, 60)))).iter("pre")
    lines = [each for each in pre if each.get("data-line")]
    assert len(lines) == MAX_TRACE_LINES
    marked = {each.get("data-line"): each.get("class") for each in lines if each.get("class")}
    assert marked == {"14": "fault", "10": "other"}
    assert text_of(next(each for each in lines if each.get("data-line") == "14")) == "14 mov.u32 %r14, 0;"


def test_names_with_markup_are_text() -> None:
    odd = "<script>alert('\"&\x00\ud800')</script>"
    trace = replace(
        TRACE,
        message=odd,
        kernel=odd,
        missing_ordering=odd,
        source=SourceFile(f"{odd}.ptx", f"{odd}\n" * 20),
        launch=(odd,),
        columns=tuple(replace(each, label=odd) for each in COLUMNS),
        steps=tuple(replace(each, text=odd, instruction=odd) for each in STEPS),
        accesses=tuple(replace(each, instruction=odd, space=odd) for each in TRACE.accesses),
        omissions=(odd,),
    )
    page = parse_page(trace, trace)
    assert len(list(page.iter("script"))) == 1
    assert "alert('\"&\ufffd\ufffd')</script>" in text_of(page)
    assert trace_page([trace]).encode("utf-8")


def test_the_page_needs_no_network() -> None:
    page = trace_page([TRACE, RACE])
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert set(re.findall(r"\w+://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"(?:src|href)=|url\(|@import", page)
    assert "prefers-color-scheme: dark" in page
    assert len(page) < 60_000


def test_a_finding_that_was_not_reproduced_has_a_text_and_no_drawing() -> None:
    bare = replace(TRACE, columns=(), steps=(), bars=(), accesses=(), omissions=("all: a second run did not show it",))
    page = parse_page(bare)
    assert not [each for each in page.iter() if each.get("role") == "img"]
    assert "Left out: all: a second run did not show it." in text_of(page)


def test_truncated_and_missing_findings_are_stated() -> None:
    page = parse_page(*[TRACE] * (MAX_TRACE_FINDINGS + 2))
    assert len(list(page.iter("article"))) == MAX_TRACE_FINDINGS
    assert "Left out: 2 more findings." in text_of(page)
    assert "found nothing" in text_of(parse_page())


# ---------------------------------------------------------------------------------------------------- a browser


class TestInABrowser:
    def open_page(self, browser: Browser, path: Path, at: str = "", *, is_pictured: bool = False) -> Shown:
        path.write_text(trace_page([TRACE, RACE]), "utf-8")
        return browser.render(f"{path.as_uri()}{at}", size=(1400, 900), is_pictured=is_pictured)

    @pytest.mark.parametrize(("at", "shown"), [("", 1), ("#show-finding-2", 2), ("#show-finding-9", 1)])
    def test_one_finding_is_shown_and_the_console_has_no_errors(
        self, browser: Browser, tmp_path: Path, at: str, shown: int
    ) -> None:
        done = self.open_page(browser, tmp_path / "out.html", at)
        assert not done.logged
        hidden = re.findall(r"<article([^>]*)>", done.document)
        assert [number for number, each in enumerate(hidden, 1) if "hidden" not in each] == [shown]
        chosen = re.findall(r"<button[^>]* aria-selected=\"(\w+)\"", done.document)
        assert [number for number, each in enumerate(chosen, 1) if each == "true"] == [shown]

    def test_it_is_visible(self, browser: Browser, tmp_path: Path) -> None:
        assert len(self.open_page(browser, tmp_path / "out.html", is_pictured=True).picture) > 20_000
