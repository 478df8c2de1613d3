"""The progress of a long run: a bar on a terminal, drawn only while nothing else is written there.

It appears after some seconds, and is erased before each line of the report and at the end. Pipes, files and logs of
continuous integration get none.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from rich.progress import Progress, TaskID

FIRST_SHOWN_AFTER = 2.0
"""The minimum seconds of a run before its progress is shown."""
SHOWN_AGAIN_AFTER = 0.2
"""Seconds between two updates."""


def shows_progress(stream: TextIO) -> bool:
    """Returns whether a bar can be drawn on a stream: it is a terminal that moves its cursor, and not that of a log."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")


class ProgressBar:
    """stream: the terminal; None for a bar that is never drawn. label: what is done. total: the number of inputs, or of
    other parts of the run."""

    def __init__(self, stream: TextIO | None, label: str, total: float) -> None:
        self._stream = stream
        self._label = label
        self._total = total
        self._done = 0.0
        self._note = ""
        self._next = time.monotonic() + FIRST_SHOWN_AFTER
        self._shown: tuple[Progress, TaskID] | None = None

    def advance(self, done: float) -> None:
        """Records how much of the total is complete, and erases the bar, so that results can be written."""
        self._done = done
        self.hide()

    def update(self, done: float, note: str = "") -> None:
        """Records how much of the total is complete, with what is being done now, and draws the bar if that is due."""
        self._done, self._note = min(done, self._total), note
        self.refresh()

    def refresh(self) -> None:
        """Draws the bar if an update is due."""
        now = time.monotonic()
        if self._stream is None or now < self._next:
            return
        self._next = now + SHOWN_AGAIN_AFTER
        if self._shown is None:
            self._shown = self._start(self._stream)
        progress, task = self._shown
        progress.update(task, completed=self._done, note=self._note)
        progress.start()
        progress.refresh()

    def hide(self) -> None:
        """Erases the bar until the next update."""
        if self._shown is not None:
            self._shown[0].stop()

    def _start(self, stream: TextIO) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(file=stream),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        return progress, progress.add_task(self._label, total=self._total, note="")
