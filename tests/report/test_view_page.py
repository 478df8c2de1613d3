"""The page of `ptxkit view`: its contents, that markup in a file is text, and that the page loads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.view import FileView
from ptxkit.report.view_listing import LINES_PER_PORTION
from ptxkit.report.view_page import view_page
from ptxkit.rules.docs_index import all_pages
from ptxkit.source import SourceFile
from ptxkit.view_builder import build_file_view

KERNELS = Path(__file__).resolve().parents[2] / "corpus/kernels"
PAGES = {page.code: page for page in all_pages()}
BULK = (KERNELS / "bulk_add_one.sm_90.ptx").read_text("utf-8")
UNFENCED = "".join(line for line in BULK.splitlines(keepends=True) if "fence.proxy.async" not in line)
ODD = "<script>alert('\"&\x01\u202e')</script>"
VOID = frozenset({"meta", "input", "br"})


@dataclass(eq=False)
class Element:
    """An element of a page."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, tag: str = "", **attributes: str) -> list[Element]:
        """Returns the elements of a tag with these words among those of attributes; `_` in a name is `-`."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            each
            for each in self.walk()
            if (not tag or each.tag == tag)
            and all(value in each.attributes.get(name, "").split() for name, value in wanted.items())
        ]

    def one(self, tag: str = "", **attributes: str) -> Element:
        (found,) = self.all(tag, **attributes)
        return found


class Reader(HTMLParser):
    """Builds the elements of a page; an unclosed or twice closed element is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.stack[-1].children.append(element)
        if tag not in VOID:
            self.stack.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.stack[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack[-1].tag == tag, f"</{tag}> closes <{self.stack[-1].tag}>"
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        self.stack[-1].children.append(data)


def parse_page(page: str) -> Element:
    reader = Reader()
    reader.feed(page)
    assert len(reader.stack) == 1, f"<{reader.stack[-1].tag}> is not closed"
    return reader.stack[0]


@cache
def draw_text(text: str, path: str = "k.ptx") -> FileView:
    return build_file_view(SourceFile(path, text))


def show_text(text: str, path: str = "k.ptx") -> Element:
    return parse_page(view_page(draw_text(text, path), PAGES))


def lines(page: Element) -> list[Element]:
    return [line for line in page.one(id="listing").all("li") if "id" in line.attributes]


def words(element: Element) -> str:
    return " ".join(element.text.split())


def kernel(name: str) -> Element:
    return show_text((KERNELS / name).read_text("utf-8"))


# -------------------------------------------------------------------------------------------------------- listing


def test_every_line_is_shown_with_its_number_and_its_text() -> None:
    page = show_text(BULK)
    found = lines(page)
    assert [line.attributes["id"] for line in found] == [f"L{at}" for at in range(1, len(found) + 1)]
    assert [line.text for line in found] == BULK.split("\n")
    starts = [int(portion.attributes["start"]) for portion in page.one(id="listing").all("ol")]
    assert starts == list(range(1, len(found) + 1, LINES_PER_PORTION))


def test_the_colors_are_those_of_the_parse() -> None:
    line = next(line for line in lines(show_text(BULK)) if "setp" in line.text)
    opcode, *registers = [each for each in line.walk() if each.tag in ("b", "i", "u")]
    assert opcode.text.startswith("setp.")
    assert all(each.text.startswith("%") for each in registers)


def test_an_opcode_is_a_register_where_one_is_declared_with_this_name() -> None:
    text = BULK.replace("{\n", "{\n\t.reg .b32 mov;\n\tmov.u32 mov, 7;\n", 1)
    line = next(line for line in lines(show_text(text)) if "mov.u32 mov" in line.text)
    colored = {each.text: each.tag for each in line.walk() if each.tag in ("b", "i")}
    assert colored == {"mov.u32": "b", "mov": "i"}


def test_a_label_leads_to_its_block() -> None:
    page = show_text(BULK)
    link = next(link for line in lines(page) for link in line.all("a") if link.text.startswith("$L"))
    line = page.one(id=link.attributes["href"][1:])
    before = next(each for each in lines(page) if each.text.startswith(f"{link.text}:"))
    assert int(line.attributes["id"][1:]) > int(before.attributes["id"][1:])


def test_a_long_line_is_truncated_with_a_note() -> None:
    text = BULK.replace("// Based on", f"// {'x' * 9000} Based on", 1)
    page = show_text(text)
    assert re.search(r"… 7,0\d\d more characters", words(page))


def test_a_finding_is_below_its_line_in_the_words_of_lint() -> None:
    page = show_text(UNFENCED)
    box = page.one("aside", class_="finding")
    line = next(line for line in lines(page) if box in line.walk())
    assert "cp.async.bulk.global" in line.text
    printed = words(box)
    assert printed.startswith("PTX401 error: reads `tile` through the async proxy")
    assert "help: add `fence.proxy.async.shared::cta;`" in printed
    assert "isa: Async Proxy; membar / fence" in printed
    links = [link.attributes["href"] for link in box.all("a")]
    assert [words(page.one(id=link[1:])).split()[0] for link in links] == ["st.shared.u32", "bar.sync"]
    assert "missing-proxy-fence" in words(box.one("summary"))
    assert not show_text(BULK).all("aside")


def test_the_source_line_is_next_to_a_line() -> None:
    text = BULK.replace("\tld.param", "\t.loc 1 22 3\n\tld.param", 1) + '\n.file 1 "/src/k.cu"\n'
    place = show_text(text).one(class_="loc")
    assert (place.text, place.attributes["title"]) == ("k.cu:22", "/src/k.cu:22")


# ---------------------------------------------------------------------------------------------------------- header


def test_the_header_names_the_file_its_version_and_target_and_counts_findings() -> None:
    header = words(show_text(UNFENCED).one("header"))
    assert "k.ptx" in header
    assert ".version 9.0 · .target sm_90" in header
    assert "1 error" in header
    assert "0 warnings" in header


def test_a_kernel_has_its_launch_and_requirements() -> None:
    facts = kernel("wgmma_ring.sm_90a.ptx").one(class_="facts")
    printed = dict(zip(map(words, facts.all("dt")), map(words, facts.all("dd")), strict=True))
    assert printed[".maxntid"] == "threads of a block, at most: 160 x 1 x 1"
    assert printed["shared"] == "27,696 bytes"
    assert printed["registers used"] == "67 .b32, 26 .b64, 4 .f32, 17 .pred"


def test_one_of_several_functions_can_be_selected() -> None:
    text = BULK + "\n.visible .func f()\n{\n\tret;\n}\n"
    page = show_text(text)
    assert [words(each) for each in page.one("select", id="function").all("option")] == ["1. bulk_add_one", "2. f"]
    assert len(page.all(class_="facts")) == 2
    assert not show_text(BULK).all("select", id="function")


# ------------------------------------------------------------------------------------------------- graph, transfers


def test_blocks_link_to_their_lines_and_list_their_synchronization() -> None:
    page = kernel("wgmma_ring.sm_90a.ptx")
    blocks = page.one(id="g1-all").all("a", class_="block")
    assert len(blocks) == 19
    assert all(page.all(id=block.attributes["href"][1:]) for block in blocks)
    product = next(block for block in blocks if "lines 193–219" in words(block))
    marks = [mark.attributes["href"] for mark in product.all("use")]
    assert marks == ["#m-issue", "#m-commit", "#m-wait", "#m-fence"]


def test_edges_are_distinguished_without_colors() -> None:
    page = kernel("wgmma_ring.sm_90a.ptx")
    graph = page.one(id="graph")
    sorts = {edge.attributes["class"] for edge in graph.all("path", class_="way")}
    assert {"way next", "way taken", "way jump", "way taken back"} <= sorts
    style = page.one("style").text
    assert re.search(r"\.way\.taken \{[^}]*stroke-dasharray", style)
    assert "@%p1" in [words(each) for each in graph.all("text", class_="guard")]


def chart(page: Element) -> dict[str, Element]:
    """Returns the rows of transfers by their lines."""
    (table,) = page.one(id="transfers").all("tbody")
    return {words(row.one(class_="at")): row for row in table.all("tr")}


def test_a_transfer_is_a_bar_from_its_issue_to_its_wait() -> None:
    rows = chart(show_text(BULK))
    assert "global → shared tile, 4096 bytes, mbarrier bar, waited for at 78" in words(rows["67"])
    name = rows["67"].attributes["data-bar"]
    on = [line for line, row in rows.items() if row.all("g", data_bar=name)]
    assert on == ["67", "78"]
    assert rows["78"].one("g", data_bar=name).all(class_="wait")


def test_fences_and_commits_are_ticks_on_their_bars() -> None:
    rows = chart(show_text(BULK))
    name = rows["158"].attributes["data-bar"]
    assert rows["145"].one("g", data_bar=name).all(class_="fence")
    assert rows["161"].one("g", data_bar=name).all(class_="commit")
    assert rows["164"].one("g", data_bar=name).all(class_="read")


def test_a_transfer_without_a_wait_is_open_and_labeled() -> None:
    text = "".join(line for line in BULK.splitlines(keepends=True) if "wait_group" not in line)
    rows = chart(show_text(text))
    assert "no wait seen" in words(rows["158"])
    assert rows["158"].all("rect", class_="open")
    assert "1 for which the analysis found no wait" in words(show_text(text).one(id="transfers"))
    assert not chart(show_text(BULK))["158"].all("rect", class_="open")


def test_unreached_code_is_undecided() -> None:
    func = "\n.func f(.reg .b32 a, .reg .b64 b)\n{\n\tcp.async.ca.shared.global [a], [b], 16;\n\tret;\n}\n"
    page = show_text(BULK + func)
    row = next(row for row in page.one(id="transfers").all("tr") if "cp.async.ca" in row.text)
    assert "undecided: not reached by the analysis" in words(row)
    assert row.all("rect", class_="unknown")


def test_a_multiplication_is_a_bar_too_and_equal_neighbors_are_one_row() -> None:
    rows = chart(kernel("wgmma_ring.sm_90a.ptx"))
    assert "×2" in words(rows["212–213"])
    assert "product of shared into registers, wgmma group (214), waited for at 215 (1)" in words(rows["212–213"])
    assert "product of shared into tensor" in words(chart(kernel("tcgen05_product.sm_100a.ptx"))["132"])


def test_an_earlier_wait_in_a_loop_is_reached_over_its_beginning() -> None:
    rows = chart(kernel("cp_async_two_stages.sm_80.ptx"))
    name = rows["130"].attributes["data-bar"]
    on = [line for line, row in rows.items() if row.all("g", data_bar=name)]
    assert on[:3] == ["80", "83", "86"]
    assert on[-1] == "170"
    assert rows["86"].one("g", data_bar=name).all(class_="wait")


def test_the_rows_of_findings_name_them() -> None:
    rows = chart(show_text(UNFENCED))
    link = rows["157"].one("a", class_="found")
    assert (words(link), link.attributes["href"]) == ("PTX401 error", "#d1")


# --------------------------------------------------------------------------------------------------- special cases


def test_a_file_with_syntax_errors_has_its_text_and_findings_and_no_graph() -> None:
    page = show_text(BULK.replace("bar.sync", "bar.sync (", 1))
    assert "PTX101" in words(page.one(id="findings"))
    assert "The file has syntax errors: fix them to see its graph." in words(page.one(id="graph"))
    assert next(line for line in lines(page) if "mbarrier.init" in line.text).all("b")


def test_a_finding_after_the_last_line_has_a_location() -> None:
    page = show_text(BULK.rstrip().removesuffix("}"))
    link = page.one(id="findings").all("a", class_="at")[-1].attributes["href"]
    assert page.one(id=link[1:]).tag == "aside"


@pytest.mark.parametrize("text", ["", "\n", ".version 9.0\n.target sm_90\n", "\0", "// nothing", "/* open"])
def test_a_file_without_a_function_is_a_page(text: str) -> None:
    page = show_text(text)
    assert page.one(id="listing")
    assert page.one(id="findings")


def test_a_single_function_and_one_without_instructions_are_pages() -> None:
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    page = show_text(f"{head}.func f()\n{{\n\tret;\n}}\n.visible .entry e()\n{{\n}}\n")
    assert "This function has no asynchronous operation" in words(page.one(id="transfers"))
    assert "The function has no instruction." in words(page.one(id="graph"))
    assert len(page.one(id="graph").all("a", class_="block")) == 1


def test_markup_in_the_input_is_text() -> None:
    text = BULK.replace("// Based on", f"// {ODD} Based on", 1).replace("bulk_add_one(", "bulk_add_one (", 1)
    page = show_text(text, f"{ODD}.ptx")
    assert len(page.all("script")) == 1
    assert "<script>alert('\"&\\x01\\u202e')</script>" in words(page)
    assert "<script>" in words(page.one("h1"))
    assert "script>.ptx" in page.one("head").one("title").text


def test_invalid_utf_8_and_lone_surrogates_can_be_written() -> None:
    text = b"// \xff\xfe\n".decode("utf-8", "surrogateescape") + BULK
    page = view_page(draw_text(text, "\udcff.ptx"), PAGES)
    assert "\\xff" in page
    assert page.encode("utf-8")


def test_the_page_needs_no_network_and_runs_only_its_own_script() -> None:
    page = view_page(draw_text(UNFENCED), PAGES)
    tree = parse_page(page)
    policy = next(each.attributes["content"] for each in tree.all("meta") if "http-equiv" in each.attributes)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert set(re.findall(r"\w+://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\ssrc=|@import|url\((?!#)", page)
    links = [each.attributes["href"] for each in tree.walk() if "href" in each.attributes]
    names = {each.attributes["id"] for each in tree.walk() if "id" in each.attributes}
    assert {link for link in links if link[0] != "#" or link[1:] not in names} == set()
    assert not [
        each for each in tree.walk() if "style" in each.attributes or set(each.attributes) & {"onclick", "onload"}
    ]


def test_no_id_is_repeated() -> None:
    names = [each.attributes["id"] for each in show_text(UNFENCED).walk() if "id" in each.attributes]
    assert len(names) == len(set(names))


def test_a_large_file_makes_a_page_of_less_than_eight_times_its_size() -> None:
    """One of 40,000 lines, from what its first 6,000 add: after 4,000 lines each line adds the same."""

    def text_of(lines: int) -> str:
        body = "".join(f"\tadd.s32 \t%r{at % 97}, %r{at % 89}, {at};\n" for at in range(lines))
        return BULK.replace("\tret;", f"{body}\tret;", 1)

    small, large = (len(view_page(draw_text(text_of(lines)), PAGES).encode()) for lines in (4_000, 6_000))
    assert large + (large - small) / 2_000 * 34_000 < 8 * len(text_of(40_000))


# -------------------------------------------------------------------------------------------------------- contrast


def palettes() -> dict[str, dict[str, str]]:
    """Returns the colors by name, of the light page and of the dark one."""
    style = show_text(BULK).one("style").text
    found: dict[str, dict[str, str]] = {"light": {}, "dark": {}}
    for rule in re.finditer(r"(:root[^{}]*)\{([^{}]*)\}", style):
        is_dark = "data-theme" in rule[1]
        for name, color in re.findall(r"--(\w+): (#[0-9a-f]{6})", rule[2]):
            found["dark" if is_dark else "light"][name] = color
    return found


def luminance(color: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


GROUNDS = ("page", "card", "grid", "mark")
ON = [(words, ground) for words in ("ink", "soft", "copy", "join", "other", "product") for ground in GROUNDS]
ON += [
    ("ink", "faultmark"),
    ("ink", "othermark"),
    ("fault", "faultmark"),
    ("other", "othermark"),
    ("soft", "faultmark"),
]
ON += [
    ("soft", "othermark"),
    ("fault", "card"),
    ("fault", "page"),
    ("ink", "hit"),
    ("ink", "hitnow"),
    ("onfill", "copy"),
]
ON += [("onfill", "product")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_words_are_readable_on_all_backgrounds(theme: str) -> None:
    """WCAG AA: 4.5 to 1."""
    palette = palettes()[theme]
    low = {f"{words} on {ground}": round(contrast(palette[words], palette[ground]), 2) for words, ground in ON}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}
