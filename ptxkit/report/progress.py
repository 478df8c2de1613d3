"""How far a long run is: a bar on a terminal, drawn only while nothing else is written there.

It appears after some seconds, and is erased before each line of the report and at the end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from rich.progress import Progress, TaskID

FIRST_SHOWN_AFTER = 2.0
"""Seconds that a run takes at least before it is shown how far it is."""
SHOWN_AGAIN_AFTER = 0.2
"""Seconds between two drawings."""


class ProgressBar:
    """stream: the terminal. total: how many inputs there are."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream = stream
        self._total = total
        self._done = 0
        self._next = time.monotonic() + FIRST_SHOWN_AFTER
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, count: int) -> None:
        """So many inputs have their results; the bar is erased, so that these can be written."""
        self._done = count
        self.hide()

    def refresh(self) -> None:
        """Draw the bar, where it is time to."""
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
        """Take the bar away, until it is time to draw it again."""
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
