"""What a check costs grows with a text as the text does, and not as its square.

Generated code repeats itself, thousands of times at worst. A statement of a fixture stands there as often; how many
functions are called says more of the cost than a clock does.
"""

from __future__ import annotations

from cProfile import Profile
from pathlib import Path

import pytest

from ptxkit import lint

CORPUS = Path(__file__).resolve().parents[2] / "corpus"

FEW, MANY = 30, 120
"""How often a statement is repeated."""
MOST = 5.0
"""How many times as much the many may cost: four times would be in proportion, and sixteen the square."""


@pytest.mark.parametrize(
    ("fixture", "statement"),
    [
        ("PTX206_bad_generic_address_beyond_the_cluster", "st.u64"),
        ("PTX302_bad_other_parity_of_a_store", "st.async"),
        ("PTX304_bad_two_sources", "cp.async.cg"),
        ("PTX403_bad_acquired_too_early", "tensormap.cp_fenceproxy"),
    ],
)
def test_a_statement_that_is_repeated_costs_as_often(fixture: str, statement: str) -> None:
    lines = (CORPUS / "rules" / f"{fixture}.ptx").read_text().split("\n")
    place = next(number for number, line in enumerate(lines) if line.lstrip().startswith(statement))
    lint("\n".join(lines))  # what is read once is read here
    texts = ["\n".join([*lines[:place], *[lines[place]] * count, *lines[place + 1 :]]) for count in (FEW, MANY)]
    few, many = map(calls, texts)
    assert many < MOST * few


def calls(text: str) -> int:
    """How many functions a check of a text calls."""
    profile = Profile()
    profile.runcall(lint, text)
    return sum(each.callcount for each in profile.getstats())
