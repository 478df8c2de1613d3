"""The reference of the codes: a page for each, from `ptxkit.rules.docs_index`, and a list by group."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from docs_lib.code_links import concepts_of
from docs_lib.cuda_examples import example_lines
from docs_lib.markdown_text import code, escape, table
from ptxkit.diagnostics.code import DiagnosticCode, Severity
from ptxkit.resources import grammar_folder
from ptxkit.results import CodePage
from ptxkit.rules.docs_index import all_pages, as_markdown
from ptxkit.settings.model import ON_REQUEST
from ptxkit.spellings import spellings

GROUPS = {
    "PTX1": "Syntax, forms and declarations",
    "PTX2": "Addresses and state spaces",
    "PTX3": "Asynchronous groups",
    "PTX4": "Proxies and tensor maps",
    "PTX5": "mbarriers",
    "PTX6": "Barriers, clusters, races",
    "PTX7": "Tensor Memory",
    "PTX8": "Versions and targets",
    "PTX9": "Notes",
}
LANGUAGES = {"cuda": "CUDA C++", "cutlass": "CUTLASS, CuTe in C++", "cute-dsl": "CuTe DSL", "gluon": "Triton (Gluon)"}
"""The languages of `grammars/isa/spellings.toml`, in the order of the columns."""

FIX_WORDS = {
    "safe": "A safe fix is offered where it holds: `ptxkit lint --fix` applies it. It changes the meaning of no "
    "correct program.",
    "unsafe": "An unsafe fix is offered where it holds: `ptxkit lint --fix --unsafe-fixes` applies it. It may change "
    "the meaning of a program that is correct.",
    "both": "A fix is offered where it holds, a safe one (`ptxkit lint --fix`) or an unsafe one (`--unsafe-fixes`), as "
    "the fault requires.",
    "none": "No fix is offered: what is missing cannot be inferred.",
}
FIX_NOTE = (
    "A fix is validated before it is offered: the changed text is checked, the finding is fixed, and there is no "
    "new finding and no new open question."
)
_SHORT_FIX = {"safe": "safe", "unsafe": "unsafe", "both": "safe or unsafe", "none": "-"}


def code_pages() -> Iterator[tuple[str, str]]:
    """(path below `reference/`, Markdown) of the list and of each code."""
    pages = all_pages()
    yield "codes/index.md", "\n".join(_index(pages))
    for page in pages:
        yield f"codes/{page.code}.md", "\n".join(_page_lines(page))


def _index(pages: tuple[CodePage, ...]) -> Iterator[str]:
    yield from ("# Codes", "", "An `error` is a proof that the manual is violated on a path that the kernel can take.")
    yield "`ptxkit explain PTX401` prints the page of a code in a terminal, and `ptxkit lint --fix` applies safe"
    yield from ("[fixes](#fixes).", "")
    for group, members in groupby(pages, key=lambda page: page.code[:4]):
        yield from (f"## {GROUPS[group]}", "")
        rows = [
            (
                f"[{page.code}]({page.code}.md)",
                code(page.name),
                escape(page.headline),
                _SHORT_FIX[fix_safety(page.code)],
            )
            for page in members
        ]
        yield from table(("code", "name", "finds", "fix"), rows)
    yield from ("## Fixes", "", FIX_NOTE, "")


def _page_lines(page: CodePage) -> Iterator[str]:
    text = as_markdown(page, level=1)
    head, _, rest = text.partition("\n## ")
    yield head
    kind = _catalogue()[page.code]
    severity = "a note, on request (`--notes`)" if page.code.startswith(ON_REQUEST) else _SEVERITY[kind.severity]
    yield from (f"**Severity:** {severity}. **Group:** [{GROUPS[page.code[:4]]}](index.md#{_anchor(page.code)}).", "")
    concepts = [f"[{title}](../../concepts/{file})" for title, file in concepts_of(page.code)]
    if concepts:
        yield from (f"**Concepts:** {', '.join(concepts)}.", "")
    body, separator, isa = f"## {rest}".partition("\n## ISA section")
    yield body
    yield from example_lines(page.code)
    yield from _spelling_lines(page)
    yield from ("## Fix safety", "", FIX_WORDS[fix_safety(page.code)])
    if fix_safety(page.code) != "none":
        yield from ("", FIX_NOTE)
    yield ""
    if separator:
        yield separator.strip("\n") + isa


_SEVERITY = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


@cache
def _catalogue() -> dict[str, DiagnosticCode]:
    from ptxkit.diagnostics.catalogue import index

    return {str(each): each for each in index.CODES}


def _anchor(found: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", GROUPS[found[:4]].lower()).strip("-")


@cache
def _fix_table() -> dict[str, str]:
    with (Path(__file__).parent / "fix_safety.toml").open("rb") as file:
        return {name: str(value) for name, value in tomllib.load(file)["fixes"].items()}


def fix_safety(found: str) -> str:
    """Which fixes of a code are known: `safe`, `unsafe`, `both` or `none`."""
    return _fix_table().get(found, "none")


@cache
def _spelling_table() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    """(pattern of an instruction, its entry), of all entries of the table."""
    with open(f"{grammar_folder()}/isa/spellings.toml", "rb") as file:
        entries = tomllib.load(file)["spelling"]
    return [(each.pattern, entry) for each, entry in zip(spellings(), entries, strict=True)]


def _spelling_lines(page: CodePage) -> Iterator[str]:
    """How the instructions of the page are written in other languages."""
    written = [part for _, text in page.parts for part in [*re.findall(r"`([^`]+)`", text), *_statements(text)]]
    entries = [entry for pattern, entry in _spelling_table() if any(pattern.fullmatch(each) for each in written)]
    if not entries:
        return
    yield from ("## In other languages", "")
    rows = []
    for entry in entries:
        spelled = [(LANGUAGES[name], code(entry[name].replace("{{}}", "{}"))) for name in LANGUAGES if name in entry]
        rows += [(code(entry["ptx"]) if not number else "", *row) for number, row in enumerate(spelled)]
    yield from table(("PTX", "language", "spelling"), rows)


def _statements(text: str) -> Iterator[str]:
    """The statements of an example, without guards and comments."""
    for part in re.sub(r"//.*", "", text).split(";"):
        yield re.sub(r"^@!?%\w+\s+", "", part.strip())
