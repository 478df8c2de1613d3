"""Whether one missing barrier explains two races: a read that comes too early, and a write of a later round.

A ring whose readers do not wait for the writers has both: the barrier before the read also orders the read of a round
before the write that follows the barrier of the next round. In a loop with one slot it does not, and two barriers are
missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from functools import cached_property

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.source_lines import DebugLocations
from ptxkit.user_code import user_frames


class EarlyReads:
    """The reads of a kernel that race with an earlier write, by the line of the program."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._kernel = kernel

    def order_later_writes(self, number: int, race: Race) -> bool:
        """Whether a barrier before these reads orders the read of a race before its write, too.

        number: of the scenario. The barrier is at one line of the program, and so in all copies of it that unrolling
        made; without lines, at one instruction.
        """
        if not race.is_write_after_read:
            return False
        reads = self._by_place[number, self._place_of(race.read.event.step)]
        return bool(reads) and race.write.count_executions(reads) > race.read.count_executions(reads)

    @cached_property
    def _by_place(self) -> dict[tuple[int, Hashable], set[Step]]:
        found: dict[tuple[int, Hashable], set[Step]] = defaultdict(set)
        for number, race in self._kernel.races:
            if not race.is_write_after_read:
                step = race.read.event.step
                found[number, self._place_of(step)].add(step)
        return found

    @cached_property
    def _locations(self) -> DebugLocations:
        return DebugLocations(self._kernel.program.module)

    def _place_of(self, step: Step) -> Hashable:
        return user_frames(self._locations.locations_at(step.start)) or step
