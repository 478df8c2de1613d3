"""The progress bar of a command, where one can be seen."""

from __future__ import annotations

import sys

from ptxkit.report.formats import STYLED
from ptxkit.report.progress import ProgressBar, shows_progress


def progress_bar(label: str, total: float, form: str = STYLED[0]) -> ProgressBar:
    """A bar on standard error; one that is never drawn if that is no terminal, or if a report for machines is written
    to the same terminal. form: the format of the report."""
    is_shown = shows_progress(sys.stderr) and (form in STYLED or not sys.stdout.isatty())
    return ProgressBar(sys.stderr if is_shown else None, label, total)
