"""Numbers as runs."""

from __future__ import annotations

from ptxkit.number_runs import consecutive_runs, format_runs


def test_consecutive_numbers_form_runs() -> None:
    assert consecutive_runs([]) == []
    assert consecutive_runs([4]) == [(4, 4)]
    assert consecutive_runs([0, 1, 2, 5, 7, 8]) == [(0, 2), (5, 5), (7, 8)]


def test_runs_are_formatted_with_the_signs_of_the_caller() -> None:
    assert format_runs([0, 1, 2, 5]) == "0-2, 5"
    assert format_runs([0, 1, 2, 5], dash="..", separator=" ") == "0..2 5"
    assert format_runs([]) == ""
