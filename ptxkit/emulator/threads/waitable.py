"""What threads can wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class Waitable:
    """An object on which groups of threads wait; they execute their instruction again when it changes."""

    __slots__ = ("waiters",)

    def __init__(self) -> None:
        self.waiters: list[ThreadGroup] = []

    def describe(self, group: ThreadGroup) -> str:
        """What a group waits for, in words: for a report when nobody can go on."""
        raise NotImplementedError

    def wake(self) -> None:
        """Let all that wait go on."""
        waiters, self.waiters = self.waiters, []
        for group in waiters:
            group.wait_token = self
            group.cta.resume(group)
