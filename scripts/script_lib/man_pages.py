"""The manual pages of the commands, in the macros of man(7), made from the commands as click knows them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc

import click

from ptxkit.cli.commands import SECTIONS, cli
from ptxkit.cli.option_groups import GroupedOptionsCommand

_COLUMNS = 76
"""Columns of a line of text; mandoc warns of more than 80, which an escape makes of it."""

_ENVIRONMENT = {
    "NO_COLOR": "Any value that is not empty disables colors.",
    "PTXKIT_CACHE_DIR": "The folder of the result cache, unless --cache-dir names one.",
    "PTXKIT_NO_CACHE": "Any value that is not empty disables the result cache.",
    "XDG_CACHE_HOME": "The folder that has the folder of the result cache, unless one is named.",
}
_FILES = {
    "ptxkit.toml": "The settings of the files in its folder and in the folders below it.",
    "pyproject.toml": "The same, in the table [tool.ptxkit].",
}


def man_pages(version: str, date: str = "") -> dict[str, str]:
    """The text of each page by its file name, such as `ptxkit-lint.1`. version: of ptxkit. date: such as 2026-11-23."""
    summaries = {name: text.removesuffix(".") for several in SECTIONS.values() for name, text in several.items()}
    footer = f'1 "{date}" "ptxkit {version}" "ptxkit manual"'
    with cli.make_context("ptxkit", [], resilient_parsing=True) as context:
        pages = {"ptxkit.1": "".join(f"{line}\n" for line in _main_page(context, summaries, footer))}
        for name, summary in summaries.items():
            command = cli.commands[name]
            assert isinstance(command, GroupedOptionsCommand)
            with click.Context(command, parent=context, info_name=name) as inner:
                pages[f"ptxkit-{name}.1"] = "".join(
                    f"{line}\n" for line in _command_page(inner, command, summary, footer)
                )
    return pages


def _main_page(context: click.Context, summaries: Mapping[str, str], footer: str) -> Iterator[str]:
    yield from _head("ptxkit", footer)
    yield "ptxkit \\- check, format, run and inspect PTX"
    yield from (".SH SYNOPSIS", ".B ptxkit", "COMMAND [OPTIONS] [ARGUMENTS]")
    yield from _description(cli)
    yield ".SH OPTIONS"
    for option in cli.get_params(context):
        yield from _option(context, option)
    yield ".SH COMMANDS"
    for name, summary in summaries.items():
        yield from _entry(f"\\fBptxkit\\-{name}\\fR(1)", f"{summary}.")
    yield ".SH EXIT STATUS"
    yield from _entry("0", "Nothing was found.")
    yield from _entry("1", "There are errors or warnings, or what the command reports as such.")
    yield from _entry("2", "The command could not be run.")
    for heading, entries in (("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        yield f".SH {heading}"
        for name, text in entries.items():
            yield from _entry(f"\\fB{_escape(name)}\\fR", text)
    yield from _see_also([f"ptxkit-{name}" for name in summaries])


def _command_page(context: click.Context, command: GroupedOptionsCommand, summary: str, footer: str) -> Iterator[str]:
    title = context.command_path.replace(" ", "-")
    yield from _head(title, footer)
    yield f"{_escape(title)} \\- {_escape(summary)}"
    yield from (
        ".SH SYNOPSIS",
        f".B {_escape(context.command_path)}",
        _escape(" ".join(command.collect_usage_pieces(context))),
    )
    yield from _description(command)
    yield ".SH OPTIONS"
    options = {name: each for each in command.get_params(context) for name in each.opts}
    for heading, names in command.option_groups.items():
        yield f".SS {_escape(heading)}"
        for name in names:
            yield from _option(context, options[name])
    if command.examples:
        yield ".SH EXAMPLES"
    for line, text in command.examples:
        yield from _entry(f"\\fB{_escape(line)}\\fR", text)
    yield ".SH EXIT STATUS"
    for number, text in command.exit_statuses.items():
        yield from _entry(str(number), text)
    yield from _see_also(["ptxkit"])


def _head(title: str, footer: str) -> Iterator[str]:
    yield f".TH {_escape(title.upper())} {footer}"
    yield ".SH NAME"


def _description(command: click.Command) -> Iterator[str]:
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(cleandoc(command.help or "").split("\n\n")):
        if number:
            yield ".PP"
        yield from _lines(paragraph)


def _option(context: click.Context, option: click.Parameter) -> Iterator[str]:
    record = option.get_help_record(context)
    assert record is not None
    yield from _entry(re.sub(r"(?<!\S)(-[-\w]+)", lambda name: f"\\fB{name[0]}\\fR", _escape(record[0])), record[1])


def _entry(tag: str, text: str) -> Iterator[str]:
    yield from (".TP", tag)
    yield from _lines(text)


def _see_also(titles: Sequence[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    for title in titles[:-1]:
        yield f".BR {_escape(title)} (1),"
    yield f".BR {_escape(titles[-1])} (1)"


def _lines(text: str) -> Iterator[str]:
    """The text, each sentence on separate lines, so that the formatter knows where sentences end."""
    for sentence in re.split(r"(?<=[.:;]) (?=[A-Z-])", " ".join(text.split())):
        for line in textwrap.wrap(sentence, _COLUMNS, break_long_words=False, break_on_hyphens=False):
            yield _escape(line)


def _escape(text: str) -> str:
    """Text that roff prints as it is: hyphens stay hyphens that can be copied, and no line is a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
