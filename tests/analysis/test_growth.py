"""The cost of a check is proportional to its text and does not grow with its square.

Generated code repeats itself, thousands of times at worst, and so does one statement of a fixture here. The number of
function calls measures the cost better than a clock does.
"""

from __future__ import annotations

from cProfile import Profile
from pathlib import Path

import pytest

from ptxkit import lint

CORPUS = Path(__file__).resolve().parents[2] / "corpus"

FEW, MANY = 30, 120
"""The number of copies of a statement."""
MOST = 5.5
"""The highest ratio of costs: four is proportional, and sixteen is the square."""


@pytest.mark.parametrize(
    ("fixture", "statement"),
    [
        ("PTX206_bad_generic_address_beyond_the_cluster", "st.u64"),
        ("PTX302_bad_other_parity_of_a_store", "st.async"),
        ("PTX304_bad_two_sources", "cp.async.cg"),
        ("PTX403_bad_acquired_too_early", "tensormap.cp_fenceproxy"),
    ],
)
def test_a_repeated_statement_costs_in_proportion(fixture: str, statement: str) -> None:
    lines = (CORPUS / "rules" / f"{fixture}.ptx").read_text().split("\n")
    place = next(number for number, line in enumerate(lines) if line.lstrip().startswith(statement))
    lint("\n".join(lines))  # results that are computed once are computed here
    texts = ["\n".join([*lines[:place], *[lines[place]] * count, *lines[place + 1 :]]) for count in (FEW, MANY)]
    few, many = map(calls, texts)
    assert many < MOST * few


def calls(text: str) -> int:
    """Returns the number of functions that a check of a text calls."""
    profile = Profile()
    profile.runcall(lint, text)
    return sum(each.callcount for each in profile.getstats())
