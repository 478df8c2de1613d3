"""The progress of a long run: a bar on a terminal, drawn only while nothing else is written there.

It appears after some seconds, and is erased before each line of the report and at the end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from rich.progress import Progress, TaskID

FIRST_SHOWN_AFTER = 2.0
"""The minimum seconds of a run before its progress is shown."""
SHOWN_AGAIN_AFTER = 0.2
"""Seconds between two updates."""


class ProgressBar:
    """stream: the terminal. total: the number of inputs."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream = stream
        self._total = total
        self._done = 0
        self._next = time.monotonic() + FIRST_SHOWN_AFTER
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, count: int) -> None:
        """Records the number of complete inputs, and erases the bar, so that results can be written."""
        self._done = count
        self.hide()

    def refresh(self) -> None:
        """Draws the bar if an update is due."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + SHOWN_AGAIN_AFTER
        if self._shown is None:
            self._shown = self._start()
        progress, task = self._shown
        progress.update(task, completed=self._done)
        progress.start()
        progress.refresh()

    def hide(self) -> None:
        """Erases the bar until the next update."""
        if self._shown is not None:
            self._shown[0].stop()

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        progress = Progress(
            TextColumn("checked"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=self._stream),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        return progress, progress.add_task("", total=self._total)
