"""The reference of the commands: their help and all options, as click has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from docs_lib.markdown_text import mark_code, table
from ptxkit.cli.commands import cli
from ptxkit.cli.option_groups import GroupedOptionsCommand


def command_pages() -> Iterator[tuple[str, str]]:
    """(path below `reference/`, Markdown) of the list of commands and of each command."""
    root = click.Context(cli, info_name="ptxkit")
    rows = []
    for name, command in sorted(cli.commands.items()):
        context = click.Context(command, info_name=name, parent=root)
        rows.append((f"[`ptxkit {name}`]({name}.md)", mark_code(command.get_short_help_str(200))))
        yield f"commands/{name}.md", "\n".join(_command_lines(command, context))
    lines = ["# Commands", "", "Exit statuses are the same for all commands that check: 0 no error or warning,"]
    lines += ["1 errors or warnings, 2 an input that could not be read or checked.", ""]
    lines += table(("command", "what it does"), rows)
    lines += ["## Options of every command", "", *_options(cli, root)]
    yield "commands/index.md", "\n".join(lines)


def _command_lines(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from (f"# ptxkit {command.name}", "")
    yield from ("```text", " ".join([context.command_path, *command.collect_usage_pieces(context)]), "```", "")
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_paragraph(paragraph), "")
    if isinstance(command, GroupedOptionsCommand):
        shown: set[str] = set()
        for heading, names in command.option_groups.items():
            shown |= set(names)
            yield from (f"## {heading}", "", *_options(command, context, set(names)))
        left = [name for param in command.params for name in _option_names(param) if name not in shown]
        aliases = {name for param in command.params if shown & {*_option_names(param)} for name in param.opts}
        assert set(left) <= aliases | {"--help", "-h"}, f"options without a group: {left}"
        if command.examples:
            yield from ("## Examples", "")
            yield from table(("command", "what it does"), [(f"`{line}`", text) for line, text in command.examples])
        yield from ("## Exit status", "")
        yield from table(("status", "meaning"), [(str(each), text) for each, text in command.exit_statuses.items()])
    else:
        yield from ("## Options", "", *_options(command, context))


def _paragraph(text: str) -> str:
    """A paragraph of a help text; after a line of backspace its lines stay as they are."""
    if text.lstrip().startswith("\b"):
        return "\n".join(["```text", text.replace("\b", "").strip("\n"), "```"])
    return mark_code(" ".join(text.split()))


def _option_names(param: click.Parameter) -> list[str]:
    return [*param.opts, *param.secondary_opts] if isinstance(param, click.Option) and not param.hidden else []


def _options(command: click.Command, context: click.Context, names: set[str] | None = None) -> Iterator[str]:
    """A table of the options, in their order; names: only these."""
    rows = []
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None or not isinstance(param, click.Option) or (names is not None and not names & {*param.opts}):
            continue
        written, text = record
        text, _, default = text.partition("  [")
        default = "; ".join(part for part in default.rstrip("]").split("; ") if part)
        note = f" *{mark_code(default)}*" if default else ""
        rows.append((", ".join(f"`{each}`" for each in re.split(", ", written)), mark_code(text) + note))
    return iter(table(("option", "meaning"), rows))
