"""Links between the pages of codes and what mentions them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import relpath

from ptxkit.rules.docs_index import all_pages

CONCEPTS = Path(__file__).resolve().parents[2] / "docs" / "concepts"
_FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
_LINKED = re.compile(r"(\[[^\]]*\]\([^)]*\)|^#.*$)", re.MULTILINE)
_MENTION = re.compile(r"`(PTX\d{3})`")


@cache
def _codes() -> frozenset[str]:
    return frozenset(str(page.code) for page in all_pages())


def link_codes(markdown: str, path: str) -> str:
    """The text of a page whose codes, such as `PTX401`, are links; not in code blocks, headings and other links.

    path: of the page, below `docs/`.
    """
    parts, start = [], 0
    for block in _FENCED.finditer(markdown):
        parts += [_link_text(markdown[start : block.start()], path), block[0]]
        start = block.end()
    return "".join([*parts, _link_text(markdown[start:], path)])


def _link_text(text: str, path: str) -> str:
    def link(match: re.Match[str]) -> str:
        target = f"reference/codes/{match[1]}.md"
        if match[1] not in _codes() or target == path:
            return match[0]
        return f"[`{match[1]}`]({relpath(target, path.rpartition('/')[0] or '.')})"

    pieces = _LINKED.split(text)
    return "".join(piece if number % 2 else _MENTION.sub(link, piece) for number, piece in enumerate(pieces))


def concepts_of(code: str) -> Iterator[tuple[str, str]]:
    """(title, file) of each page of concepts whose table of codes has the code."""
    for page in sorted(CONCEPTS.glob("*.md")):
        text = page.read_text("utf-8")
        if re.search(rf"^\| *\[?`?{code}\b", text, re.MULTILINE):
            title = re.search(r"^# (.*)", text, re.MULTILINE)
            yield (title[1] if title is not None else page.stem), page.name
