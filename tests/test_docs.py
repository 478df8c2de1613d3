"""`scripts/docs`: the pages of all codes as a site."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

from ptxkit.rules.docs_index import all_pages

ROOT = Path(__file__).resolve().parent.parent


def test_the_site_has_a_page_for_each_code_and_links_that_lead_somewhere(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    script = [sys.executable, str(ROOT / "scripts" / "docs"), str(folder)]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    pages = all_pages()
    assert done.stdout == f"{len(pages) + 2} files in {folder}\n"
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.html", "style.css", *(f"{page.code}.html" for page in pages)}
    for path in folder.glob("*.html"):
        text = path.read_text("utf-8")
        assert set(re.findall(r'(?:href|src)="([^"]*)"', text)) <= names, path.name
    index = (folder / "index.html").read_text("utf-8")
    for page in pages:
        text = unescape((folder / f"{page.code}.html").read_text("utf-8"))
        assert f"<h1>{page.code}: {page.name}</h1>" in text
        assert all(f"<h2>{title}</h2>" in text for title, _ in page.parts), page.code
        assert f'<a href="{page.code}.html">{page.code}</a>' in index
