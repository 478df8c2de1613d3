"""Which findings all runs have that lead to their instruction."""

from __future__ import annotations

import pytest

from ptxkit.verifier.run_agreement import RunAgreement

_FINDING = ("PTX621", 40)


@pytest.mark.parametrize(
    ("shown", "executed", "agrees"),
    [
        ((9, 64, 19), (), True),
        ((64, 256), (), True),
        ((9, 64), (), False),
        ((9, 19, 3), (), False),
        ((9, 64, 19), (256,), False),
        ((9, 64, 19), (3,), True),
    ],
)
def test_runs_agree_if_all_with_whole_tiles_show_the_finding(
    shown: tuple[int, ...], executed: tuple[int, ...], agrees: bool
) -> None:
    runs = RunAgreement()
    for number in executed:
        runs.note_run(number, frozenset({40, 44}))
    for number in shown:
        runs.note_finding(number, _FINDING)
    assert runs.is_shown_whatever_number(_FINDING) is agrees
