"""The pages of all codes, in parts, for the command line, other tools and the website."""

from __future__ import annotations

import sys
from importlib.abc import InspectLoader
from textwrap import dedent
from types import ModuleType

from ptxkit.results import CodePage
from ptxkit.rules import RULES
from ptxkit.rules.code_docs import PAGES, DocPage
from ptxkit.rules.model import Rule

EXAMPLES = ("Example", "Use instead")
"""The titles of the parts that contain PTX.

On pages without an example, the second one contains text like all others.
"""


def all_pages() -> tuple[CodePage, ...]:
    """Returns all pages, by code."""
    return tuple(sorted([*map(_page_of_rule, RULES), *map(_page_of, PAGES)], key=lambda page: page.code))


def as_text(page: CodePage) -> str:
    """Returns the page as text for a terminal: its name, and its parts with their titles."""
    parts = [f"{title}\n{_indent(text)}" for title, text in page.parts]
    return "\n\n".join([page.name, f"{page.code}: {page.headline}", *parts]) + "\n"


def as_markdown(page: CodePage, level: int = 2) -> str:
    """Returns the page as Markdown with a heading of the given level."""
    lines = [f"{'#' * level} {page.code}: {page.name} {{#{page.code}}}", "", _capitalize(page.headline), ""]
    shows = any(title == EXAMPLES[0] for title, _ in page.parts)
    for title, text in page.parts:
        lines += [f"{'#' * (level + 1)} {title}", ""]
        lines += ["```ptx", text, "```"] if shows and title in EXAMPLES else [text]
        lines.append("")
    return "\n".join(lines)


def _page_of_rule(rule: Rule) -> CodePage:
    text = _documentation(sys.modules[rule.check.__module__]).strip("\n")
    head, *rest = [part for part in text.split("\n\n") if part.strip()]
    parts: list[tuple[str, str]] = []
    for part in rest:
        title, _, body = part.partition("\n")
        if title.startswith(" "):  # a further paragraph of the same part
            parts[-1] = parts[-1][0], f"{parts[-1][1]}\n\n{dedent(part).strip()}"
        else:
            parts.append((title.strip(), dedent(body).strip("\n")))
    return CodePage(rule.code, rule.code.name, _strip_code(head), tuple(parts))


def _documentation(module: ModuleType) -> str:
    """Returns the docstring of a module from its source text, because `python -OO` removes it from the code."""
    if module.__doc__ is not None:
        return module.__doc__
    from ast import get_docstring, parse
    from importlib.util import find_spec

    spec = find_spec(module.__name__)
    loader = spec.loader if spec is not None else None
    text = loader.get_source(module.__name__) if isinstance(loader, InspectLoader) else None
    return (get_docstring(parse(text), clean=False) if text is not None else None) or f"{module.__name__}: no text"


def _page_of(page: DocPage) -> CodePage:
    return CodePage(page.code, page.code.name, page.headline, tuple(page.parts()))


def _strip_code(text: str) -> str:
    """Returns the headline without the code."""
    return " ".join(text.split()).partition(": ")[2]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
