"""The interface of objects that threads can wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.diagnostics import Message
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class Waitable:
    """An object on which groups of threads wait; they execute their instruction again when it changes."""

    __slots__ = ("waiters",)

    def __init__(self) -> None:
        self.waiters: list[ThreadGroup] = []

    def describe(self, group: ThreadGroup) -> Message:
        """Returns what a group waits for, with the code of the rule that is violated if it never happens."""
        raise NotImplementedError

    def wake(self) -> None:
        """Wakes all waiting threads."""
        waiters, self.waiters = self.waiters, []
        for group in waiters:
            group.wait_token = self
            group.cta.resume(group)
