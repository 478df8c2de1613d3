"""The accesses of single threads to shared memory that the search for races compares."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AccessInstance:
    """An access of a thread to bytes of shared memory.

    position: the index of `group_event` in the events of its path's group. completion_wait: the position of the wait
    that completes the access for its thread, where the access is asynchronous and completes by a wait for a group.
    """

    path: WarpPath
    tid: int
    position: int
    group_event: TraceEvent | GroupEvent
    lane_index: int
    completion_wait: int | None = None

    @property
    def end_position(self) -> int:
        """The first position from which the thread may release the completed access to others."""
        return self.position if self.completion_wait is None else self.completion_wait

    @property
    def event(self) -> TraceEvent:
        """The event of the access for this thread."""
        own = (
            self.group_event.for_thread(self.lane_index)
            if isinstance(self.group_event, GroupEvent)
            else self.group_event
        )
        assert own is not None, "only a thread that takes part in an access has a footprint"
        return own

    @property
    def barrier(self) -> GroupValue | None:
        """The mbarrier that signals the completion of the access, if there is one."""
        held = self.group_event.barrier if isinstance(self.group_event, TraceEvent) else self.group_event.fields[3]
        return held.at(self.lane_index) if isinstance(held, LaneValues) else held

    @property
    def execution(self) -> tuple[Step, int]:
        """The instruction, and how often its path has executed it before."""
        return self.group_event.step, self.group_event.visit

    def count_executions(self, steps: Collection[Step]) -> int:
        """Returns how often the path of the access executes the given instructions up to the access."""
        events = self.path.group.events[: self.position + 1]
        return len({(event.step, event.visit) for event in events if event.step in steps})

    @property
    def is_certain(self) -> bool:
        """Whether some input certainly reaches the access."""
        guessed = self.path.group.first_guess
        return guessed is None or self.position < guessed


#: An access with the range of bytes that it uses, or may use.
LocatedInstance: TypeAlias = tuple[tuple[int, int], AccessInstance]
