"""Which findings all runs have that lead to their instruction."""

from __future__ import annotations

import pytest

from ptxkit.verifier.path_variation import vary_numbers
from ptxkit.verifier.run_agreement import Numbers, RunAgreement

_FINDING = ("PTX621", 40)
_SIZE, _COUNT = ("size", 0), ("count", 0)


def agreement(shown: list[Numbers], executed: list[Numbers]) -> RunAgreement:
    runs = RunAgreement()
    for numbers in (*shown, *executed):
        runs.note_run(numbers, frozenset({40, 44}))
    for numbers in shown:
        runs.note_finding(numbers, _FINDING)
    return runs


@pytest.mark.parametrize(
    ("shown", "executed", "agrees"),
    [
        ((9, 64, 19), (), True),
        ((64, 256), (), True),
        ((9, 64), (), False),
        ((9, 19, 3), (), False),
        ((9, 64, 19), (256,), False),
        ((9, 64, 19), (3,), True),
        ((256, 512), (64,), True),  # the loop has too few iterations
        ((256, 512), (640,), False),
        ((64, 1), (), False),
    ],
)
def test_runs_agree_if_all_with_whole_tiles_show_the_finding(
    shown: tuple[int, ...], executed: tuple[int, ...], agrees: bool
) -> None:
    runs = agreement([((_SIZE, each),) for each in shown], [((_SIZE, each),) for each in executed])
    assert runs.is_shown_whatever_number(_FINDING, [_SIZE]) is agrees


@pytest.mark.parametrize(
    ("shown", "executed", "agrees"),
    [([256, 512, 64], [], True), ([256, 512], [], False), ([256, 512, 128], [64], False)],
)
def test_all_whole_tiles_must_show_that_accesses_meet_in_global_memory(
    shown: list[int], executed: list[int], agrees: bool
) -> None:
    runs = agreement([((_SIZE, each),) for each in shown], [((_SIZE, each),) for each in executed])
    assert runs.is_shown_whatever_number(_FINDING, [_SIZE], in_global_memory=True) is agrees


def pairs(*numbers: tuple[int, int]) -> list[Numbers]:
    return [((_COUNT, count), (_SIZE, size)) for count, size in numbers]


@pytest.mark.parametrize(
    ("shown", "executed", "agrees"),
    [
        ([(2, 64), (3, 64), (4, 128)], [], True),
        ([(2, 64), (3, 64), (4, 128)], [(5, 64)], False),
        ([(2, 64), (3, 64), (4, 128)], [(5, 9)], True),  # nine is no whole tile
        ([(2, 9), (3, 9), (4, 9)], [], False),
        ([(2, 64), (2, 128), (2, 256)], [], False),  # always the same path
    ],
)
def test_counts_may_decide_the_path_if_all_other_numbers_are_whole_tiles(
    shown: list[tuple[int, int]], executed: list[tuple[int, int]], agrees: bool
) -> None:
    runs = agreement(pairs(*shown), pairs(*executed))
    assert runs.is_shown_whatever_number(_FINDING, [_COUNT]) is agrees
    assert not runs.is_shown_whatever_number(_FINDING, [_COUNT], in_global_memory=True)


def test_numbers_are_varied_near_those_that_led_to_the_finding() -> None:
    runs = agreement(pairs((2, 9), (2, 19)), [])
    assert runs.places == [_COUNT, _SIZE]
    assert list(vary_numbers(runs.numbers_showing(_FINDING), [_COUNT])) == [
        (64, ((_COUNT, 2),)),
        (64, ((_COUNT, 3),)),
        (64, ((_COUNT, 4),)),
        (128, ((_COUNT, 2),)),
    ]
