"""Pauses before accesses to global memory, at which a random schedule chooses who goes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class AccessPause(Exception):  # noqa: N818 (not an error: the group continues later)
    """The executing group is about to access global memory. `place` is the offset of its first thread's access, and
    `writes` states whether the access may change memory.
    """

    def __init__(self, place: int, *, writes: bool) -> None:
        super().__init__()
        self.place, self.writes = place, writes


def pause_before_access(group: ThreadGroup, pool: ByteBuffer, places: Any, *, writes: bool) -> None:
    """Pauses a group that has not paused at this instruction yet, if the schedule is random and others could go first.

    Raises AccessPause. Nothing has changed by then, so that the group can execute the instruction again.
    """
    if group.cta.machine.pauses_before_access and not group.may_access and pool.name == "global":
        raise AccessPause(int(places[0]), writes=writes)
