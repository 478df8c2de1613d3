"""A command whose help lists its options under headings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click


class GroupedOptionsCommand(click.Command):
    """A command whose `--help` groups the options; click itself prints one list.

    option_groups: the options by heading, in the order of the help, as they are written: `--select`. An option without
    a group is missing from the help.
    """

    def __init__(self, *args: Any, option_groups: Mapping[str, tuple[str, ...]], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.option_groups = option_groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {name: each.get_help_record(ctx) for each in self.get_params(ctx) for name in each.opts}
        for heading, names in self.option_groups.items():
            with formatter.section(heading):
                formatter.write_dl([record for name in names if (record := records.get(name)) is not None])
