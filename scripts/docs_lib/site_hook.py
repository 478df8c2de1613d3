"""The hook of MkDocs (`.mkdocs.yml`): adds the pages that are made from the code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where MkDocs is run without scripts/docs

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs_lib.code_links import link_codes
from docs_lib.code_pages import code_pages
from docs_lib.command_pages import command_pages
from docs_lib.instruction_pages import CHAPTERS, SPECIAL, instruction_pages
from docs_lib.json_page import json_page
from docs_lib.ptx_lexer import register
from docs_lib.python_pages import MODULES, python_pages
from docs_lib.settings_page import settings_page

INDEX = """\
# Reference

Everything here is made from the code when the site is built.

* [Commands](commands/index.md): each command with all its options.
* [Settings](settings.md): the keys of `ptxkit.toml`, comments, baselines.
* [Codes](codes/index.md): what each code finds, with examples and its fixes.
* [JSON](json.md): the document that `--format json` prints.
* [Builder](builder.md): the methods of a kernel under construction.
* Python: [ptxkit](python/ptxkit.md), [ptxkit.build](python/ptxkit.build.md),
  [ptxkit.emulator](python/ptxkit.emulator.md), [ptxkit.testing](python/ptxkit.testing.md),
  [its strategies](python/ptxkit.testing.strategies.md), [ptxkit.device](python/ptxkit.device.md).
* [Instructions](instructions/index.md): every form of the instruction table.
"""


def reference_pages() -> Iterator[tuple[str, str]]:
    """(path below `reference/`, Markdown) of each page."""
    yield "index.md", INDEX
    yield from command_pages()
    yield settings_page()
    yield from code_pages()
    yield json_page()
    yield from python_pages()
    yield from instruction_pages()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference, and their places in the navigation."""
    pages = dict(reference_pages())
    for path, text in pages.items():
        files.append(File.generated(config, f"reference/{path}", content=text))
    assert config.nav is not None
    place = next(number for number, entry in enumerate(config.nav) if "Design" in entry)
    config.nav.insert(place, {"Reference": _navigation(pages)})
    return files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Color PTX by the lexer of this package."""
    register()
    return config


def on_post_build(config: MkDocsConfig) -> None:
    """Remove what only a server uses: its page for missing addresses, and lists of addresses for search engines."""
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):
        Path(config.site_dir, name).unlink(missing_ok=True)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Link codes to their pages, and hide the empty navigation of pages that are the only ones of their part."""
    if page.parent is None:
        page.meta.setdefault("hide", []).append("navigation")
    return link_codes(markdown, page.file.src_uri)


def _navigation(pages: dict[str, str]) -> list[object]:
    codes = sorted(path for path in pages if path.startswith("codes/") and path != "codes/index.md")
    commands = sorted(path for path in pages if path.startswith("commands/") and path != "commands/index.md")
    chapters = [f"reference/instructions/{name}.md" for name in (*CHAPTERS, SPECIAL)]
    return [
        "reference/index.md",
        {"Commands": ["reference/commands/index.md", *(f"reference/{path}" for path in commands)]},
        {"Settings": "reference/settings.md"},
        {"Codes": ["reference/codes/index.md", *(f"reference/{path}" for path in codes)]},
        {"JSON": "reference/json.md"},
        {"Builder": "reference/builder.md"},
        {"Python": [{name: f"reference/python/{name}.md"} for name in MODULES]},
        {"Instructions": ["reference/instructions/index.md", *chapters]},
    ]
