"""The types of option values that several commands share. Each refuses a value with what to write instead."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import click

from ptxkit.cli.limits import MAX_SECONDS
from ptxkit.cli.usage_errors import BadValueError

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def join_choices(words: Iterable[str]) -> str:
    """`a, b or c`, for the help of an option."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


class WordChoice(click.Choice):  # type: ignore[type-arg, unused-ignore]  # generic in newer releases only
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word. Raises BadValueError."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            near = get_close_matches(str(value), list(self.choices), n=1)
            remedy = (
                f"did you mean `{near[0]}`?" if near else f"write {join_choices(f'`{each}`' for each in self.choices)}"
            )
            raise BadValueError(f"`{value}` is not one of its values", remedy) from None


def format_option(words: Sequence[str]) -> Callable[[Any], Any]:
    """`--format`, which every command with more than one output format has. The first word is the default."""
    return click.option(
        "--format",
        "form",
        type=WordChoice(words),
        metavar="FORMAT",
        default=words[0],
        show_default=True,
        help=f"Output format: {join_choices(words)}.",
    )


class WholeNumber(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """An integer that is not less than a minimum."""

    name = "number"

    def __init__(self, minimum: int) -> None:
        self.minimum = minimum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ARG002
        """The number. Raises BadValueError."""
        try:
            number = int(value)
        except ValueError:
            raise BadValueError(f"`{value}` is not an integer", f"write {self.minimum} or more") from None
        if number < self.minimum:
            raise BadValueError(f"`{value}` is too small", f"write {self.minimum} or more")
        return number


seed_option = click.option(
    "--seed", type=WholeNumber(0), metavar="N", default=0, show_default=True, help="Random seed."
)


class Seconds(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A finite time that is more than nothing, in seconds: `90`, `10m` or `2h`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ARG002
        """The number of seconds. Raises BadValueError."""
        found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smh]?)", str(value), re.ASCII)
        seconds = float(found[1]) * _SECONDS[found[2]] if found is not None else math.nan
        if not 0 < seconds <= MAX_SECONDS:
            raise BadValueError(f"`{value}` is not a time", "write seconds, such as `60`, or `10m`, or `2h`")
        return seconds


class ExistingFolder(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A folder that exists."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The folder. Raises BadValueError."""
        if not os.path.isdir(value):
            raise BadValueError(f"there is no folder `{value}`", "check the spelling")
        return str(value)
