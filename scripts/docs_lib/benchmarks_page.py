"""The page of benchmarks, from `docs/benchmarks.toml`: `scripts/bench report` writes it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs_lib.markdown_text import code, table

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = DOCS / "benchmarks.toml"
PAGE = DOCS / "benchmarks.md"

_ORIGIN = ("date", "machine", "commit", "command")
_HEAD = """\
# Benchmarks

<!-- Written by `scripts/bench report` from docs/benchmarks.toml. -->

What was measured, when, where and how. Figures that are below an aim are here too. The commit is the one that was
measured or, before `e060d7c`, the one that recorded the figure.
"""


@dataclass(frozen=True)
class Measurement:
    """A row of a table, and where its figures are from."""

    cells: tuple[str, ...]
    date: str
    machine: str
    commit: str
    command: str


def benchmarks_page() -> str:
    """The whole page. KeyError where a figure has no date, machine, commit or command; ValueError for a cell amiss."""
    data = tomllib.loads(DATA.read_text("utf-8"))
    lines = _HEAD.splitlines()
    for section in data["section"]:
        lines += ["", f"## {section['title']}", "", *_section_lines(section, data["machines"])]
    return "\n".join(lines).rstrip("\n") + "\n"


def write_page() -> int:
    """Write the page, and print where it is."""
    PAGE.write_text(benchmarks_page(), "utf-8")
    print(f"wrote {PAGE}")
    return 0


def measurements(section: dict[str, Any]) -> list[Measurement]:
    """The rows of a section; what the section states counts for all its rows."""
    rows = []
    for row in section["rows"]:
        origin = {key: row[key] if key in row else section[key] for key in _ORIGIN}
        if len(row["cells"]) != len(section["columns"]):
            raise ValueError(f"{section['title']}: {row['cells']} are not {len(section['columns'])} cells")
        rows.append(Measurement(tuple(row["cells"]), **origin))
    return rows


def _section_lines(section: dict[str, Any], machines: dict[str, str]) -> Iterator[str]:
    if "text" in section:
        yield from (section["text"].strip(), "")
    rows = measurements(section)
    several_commands = len({row.command for row in rows}) > 1
    several_origins = len({(row.date, row.machine, row.commit) for row in rows}) > 1
    head = [*section["columns"], *(["measured"] if several_origins else []), *(["command"] if several_commands else [])]
    yield from table(head, [_cells(row, several_origins, several_commands) for row in rows])
    first = rows[0]
    places = list(dict.fromkeys(machines[row.machine] for row in rows))
    origin = [f"on {' and on '.join(places)}"]
    if not several_origins:
        origin = [f"{first.date} at commit {code(first.commit)}", *origin]
    if not several_commands:
        origin.append(f"by {', '.join(code(each.strip()) for each in first.command.split(';'))}")
    yield f"Measured {', '.join(origin)}."


def _cells(row: Measurement, with_origin: bool, with_command: bool) -> list[str]:
    cells = list(row.cells)
    if with_origin:
        cells.append(f"{row.date}, {code(row.commit)}")
    if with_command:
        cells.append(code(row.command))
    return cells
