"""Every code has a page, and every page's examples are correct."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import ptxkit
from ptxkit.rules import RULES
from ptxkit.rules.code_docs import PAGES, DocPage
from ptxkit.rules.docs_index import all_pages, as_markdown, as_text
from tests.validate.modules import diagnostics

HEAD = """\
.version 8.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[256];
.func (.reg .b32 r) helper(.reg .b32 x);
"""
REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;"
SHOWN = [page for page in PAGES if page.example_context]


def whole(page: DocPage, text: str) -> str:
    if page.example_context == "file":
        return text
    return (
        f"{HEAD}{text}\n"
        if page.example_context == "module"
        else f"{HEAD}.entry k() {{\n{REGISTERS}\n{text}\nret;\n}}\n"
    )


def test_every_code_of_the_program_has_one_page() -> None:
    package = Path(ptxkit.__file__).parent
    sources = [path.read_text("utf-8") for path in package.rglob("*.py") if path.name != "pages.py"]
    used = {code for text in sources for code in re.findall(r'"(PTX\d{3})"', text)}
    pages = [page.code for page in PAGES] + [rule.code for rule in RULES]
    assert sorted(pages) == sorted(used)
    assert [page.code for page in PAGES] == sorted(page.code for page in PAGES)


def test_names_are_used_once() -> None:
    names = [page.code.name for page in PAGES] + [rule.code.name for rule in RULES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.code)
def test_the_example_fails_with_its_code_and_the_other_one_passes(page: DocPage) -> None:
    assert {found.code for found in diagnostics(whole(page, page.example))} == {page.code}
    assert [found.message for found in diagnostics(whole(page, page.replacement))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_a_page_has_its_parts_and_fits_a_terminal(page: DocPage) -> None:
    [shown] = [each for each in all_pages() if each.code == page.code]
    text = as_text(shown)
    assert text.startswith(f"{page.code.name}\n\n{page.code}: {page.headline}\n\nWhat it does\n    ")
    assert [part in text for part in ("Why it matters", "Use instead", "ISA section")] == [True] * 3
    assert ("Example" in text) == bool(page.example_context)
    assert max(map(len, text.split("\n"))) <= 100


def test_the_book_has_the_same_parts_of_rules_and_of_other_codes() -> None:
    pages = all_pages()
    assert [page.code for page in pages] == sorted({rule.code for rule in RULES} | {page.code for page in PAGES})
    for page in pages:
        titles = [title for title, _ in page.parts]
        assert [title for title in titles if title != "Example"] == [
            "What it does",
            "Why it matters",
            "Use instead",
            "ISA section",
        ], page.code
        assert all(text and text == text.strip() for _, text in page.parts), page.code
        assert page.headline.endswith("."), page.code


def test_a_rule_is_printed_as_its_file_states_it() -> None:
    for rule in RULES:
        [page] = [each for each in all_pages() if each.code == rule.code]
        written = (sys.modules[rule.check.__module__].__doc__ or "").split()
        assert as_text(page).split() == [rule.code.name, *written], rule.code


def test_a_page_in_markdown_shows_its_example_as_code() -> None:
    [page] = [each for each in all_pages() if each.code == "PTX303"]
    text = as_markdown(page)
    assert text.startswith("## PTX303: ")
    assert "### Why it matters\n\nA bulk copy reads" in text
    assert "### Example\n\n```ptx\n@%p1 cp.async.bulk.global" in text
    [words] = [each for each in all_pages() if each.code == "PTX100"]
    assert "```" not in as_markdown(words)
