"""The page of benchmarks is generated from the recorded figures, and each figure has its origin."""

from __future__ import annotations

import datetime
import re
import tomllib

from docs_lib.benchmarks_page import DATA, PAGE, benchmarks_page, measurements


def test_the_page_has_the_recorded_figures() -> None:
    assert PAGE.read_text("utf-8") == benchmarks_page(), "run scripts/bench report"


def test_each_figure_has_a_date_a_machine_a_commit_and_a_command() -> None:
    data = tomllib.loads(DATA.read_text("utf-8"))
    rows = [row for section in data["section"] for row in measurements(section)]
    assert len(rows) > 60
    for row in rows:
        assert datetime.date.fromisoformat(row.date) >= datetime.date(2026, 11, 21)
        assert row.machine in data["machines"]
        assert re.fullmatch("[0-9a-f]{7,8}", row.commit), row.cells
        assert row.command
        assert all(row.cells[1:])


def test_the_tools_of_the_comparison_are_all_present() -> None:
    [section] = [each for each in tomllib.loads(DATA.read_text("utf-8"))["section"] if "other tools" in each["title"]]
    assert {"ptxkit lint", "ptxas 13", "sentryward 0.1.1"} < {*section["columns"]}
