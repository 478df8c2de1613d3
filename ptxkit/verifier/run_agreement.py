"""Determines which findings all runs have that lead to their instruction, whatever numbers are passed.

A kernel may compute with a number on the path to a fault, so that one run proves nothing: the host may never pass that
number. If runs with several numbers lead to the instruction, and each of those with a multiple of usual tile sizes
shows the fault, the number only decides whether the instruction is executed.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from ptxkit.verifier.limits import MIN_AGREEING_NUMBERS

FindingKey: TypeAlias = tuple[str, int]
"""The code of a finding, and the offset of its instruction."""

_TILE = 64
"""A number of which kernels for whole tiles support the multiples."""


class RunAgreement:
    """The numbers of the runs that show each finding, and those with which each instruction is executed."""

    def __init__(self) -> None:
        self._showing: dict[FindingKey, set[int]] = defaultdict(set)
        self._executing: dict[int, set[int]] = defaultdict(set)

    def note_run(self, number: int, executed: frozenset[int]) -> None:
        """Notes the offsets of the instructions that a run with a number executes."""
        for offset in executed:
            self._executing[offset].add(number)

    def note_finding(self, number: int, key: FindingKey) -> None:
        """Notes that a run with a number shows a finding."""
        self._showing[key].add(number)

    def is_shown_whatever_number(self, key: FindingKey) -> bool:
        """Returns whether runs with several numbers show a finding, and all with whole tiles that execute it.

        Two numbers suffice if both are whole tiles.
        """
        shown = self._showing[key]
        whole = {number for number in self._executing[key[1]] | shown if number and not number % _TILE}
        return whole <= shown and bool(whole) and (len(shown) >= MIN_AGREEING_NUMBERS or len(whole) > 1)
