"""Number types of options that several commands share."""

from __future__ import annotations

import math
from typing import Any

import click

from ptxkit.cli.limits import MAX_SECONDS

SEED = click.IntRange(min=0)
"""A random seed."""


class _Seconds(click.FloatRange):
    """A finite time: `nan` passes every range check."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a time: write a number of seconds, such as 60", param, ctx)
        return seconds


SECONDS = _Seconds(min=0, max=MAX_SECONDS, min_open=True)
"""A time limit."""
