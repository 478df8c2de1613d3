"""`scripts/docs`: the site builds without a warning, needs no network, and its links are valid."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.docs.markdown_blocks import ROOT


class PageReader(HTMLParser):
    """Returns the links, the resources and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in {"script", "img", "iframe", "source", "object", "embed"}:
            self.resources += [values[name] for name in ("src", "data") if name in values]
        if tag == "link" and values.get("rel") != "canonical":
            self.resources.append(values["href"])


@cache
def read_page(path: Path) -> PageReader:
    reader = PageReader()
    reader.feed(path.read_text("utf-8"))
    return reader


def broken_links(folder: Path) -> list[str]:
    """Yields each link and resource of the pages that names no file of the folder, or no anchor of its page."""
    broken = []
    for path in sorted(folder.rglob("*.html")):
        reader = read_page(path)
        for link in {*reader.links, *reader.resources}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in reader.resources:
                    broken.append(f"{path.relative_to(folder)} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            wanted = unquote(parts.fragment)
            if not target.is_file():
                broken.append(f"{path.relative_to(folder)}: {link}")
            elif wanted and target.suffix == ".html" and wanted not in read_page(target).anchors:
                broken.append(f"{path.relative_to(folder)}: {link} has no such anchor")
    return broken


def test_the_site_builds_without_a_warning_and_its_links_are_valid(tmp_path: Path) -> None:
    """One test, since each process that got one of several would build the site for itself."""
    folder = tmp_path / "site"
    script = [sys.executable, str(ROOT / "scripts" / "docs"), str(folder)]
    before = os.times()
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    after = os.times()
    assert done.returncode == 0, done.stderr
    pages = list(folder.rglob("*.html"))
    assert done.stdout == f"{len(pages)} pages in {folder}: open {folder / 'index.html'}\n"
    assert after.children_user + after.children_system - before.children_user - before.children_system < 60
    assert sum(len(read_page(path).links) for path in pages) > 100
    assert broken_links(folder) == []
    assert [path.name for path in pages if "|---|" in path.read_text("utf-8")] == [], "tables that are none"
    assert (folder / "search" / "search_index.js").is_file()
