"""A command whose help has one layout: description, options under headings, examples, exit status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ptxkit.cli.limits import EXAMPLE_COLUMNS
from ptxkit.cli.usage_errors import CommandLineError

HELP_HEADING = "Help"
"""The heading of `--help`, which every command has last."""


class GroupedOptionsCommand(click.Command):
    """A command whose `--help` groups the options; click itself prints one list.

    option_groups: the options by heading, in the order of the help, as they are written: `--select`. An option without
    a group is missing from the help, except `--help`. examples: command lines, each with what it does. exit_statuses:
    the meaning of each exit status.
    """

    def __init__(
        self,
        *args: Any,
        option_groups: Mapping[str, Sequence[str]],
        examples: Sequence[tuple[str, str]] = (),
        exit_statuses: Mapping[int, str],
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.option_groups = {**option_groups, HELP_HEADING: ("--help",)}
        self.examples = examples
        self.exit_statuses = exit_statuses

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments. Raises CommandLineError for one too many."""
        ctx.allow_extra_args = True
        try:
            left = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click does not set it where an option lacks its value
            raise
        if left and not ctx.resilient_parsing:
            usage = " ".join(self.collect_usage_pieces(ctx))
            message = f"`{ctx.command_path}` takes no argument `{left[0]}`"
            raise CommandLineError(message, f"write `{ctx.command_path} {usage}`")
        return left

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options under their headings."""
        records = {name: each.get_help_record(ctx) for each in self.get_params(ctx) for name in each.opts}
        for heading, names in self.option_groups.items():
            with formatter.section(heading):
                formatter.write_dl([record for name in names if (record := records.get(name)) is not None])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the examples and the exit statuses."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl(self.examples, col_max=EXAMPLE_COLUMNS)
        with formatter.section("Exit status"):
            formatter.write_dl([(str(number), meaning) for number, meaning in self.exit_statuses.items()])
