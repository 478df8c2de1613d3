"""Shrinking examples."""

from __future__ import annotations

from ptxkit.fast_dataclasses import replace
from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz.minimize import minimize

LINES = [f"line {number}" for number in range(100)]
EXAMPLE = Example("nobody", ("\n".join(LINES) + "\n", "second"), cause="both")


def both(example: Example) -> str:
    """Fails for one cause with two lines, for another with one of them."""
    found = sum(f"line {number}\n" in example.texts[0] for number in (7, 81))
    return ("", "one", "both")[found]


HOUR = 3600.0


def test_lines_are_removed_while_the_cause_is_the_same() -> None:
    assert minimize(EXAMPLE, both, HOUR).texts == ("line 7\nline 81\n", "second")


def test_without_time_the_example_is_unchanged() -> None:
    assert minimize(EXAMPLE, both, seconds=0) == EXAMPLE


def test_an_example_that_does_not_fail_again_is_unchanged() -> None:
    other = replace(EXAMPLE, cause="another")
    assert minimize(other, both, HOUR) == other


def test_an_example_without_a_text_has_nothing_to_remove() -> None:
    nothing = Example("nobody", (), cause="both")
    assert minimize(nothing, both) == nothing
