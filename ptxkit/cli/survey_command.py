"""What the commands that list something about the kernels of files have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import read_sources
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_options import COMMAND_LINE, LintOptions
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.refusals import write_error
from ptxkit.cli.settings_options import launch_option
from ptxkit.cli.value_types import format_option
from ptxkit.exit_status import ExitStatus
from ptxkit.model.survey import Found, Survey
from ptxkit.report.style import Line
from ptxkit.results import FileResult, Status
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.model import ConfigLayer, KernelLaunch, Settings
from ptxkit.source import SourceFile

SurveyParts: TypeAlias = tuple[
    Callable[[SourceFile, Settings], Survey[Found]],
    Callable[[Iterable[Survey[Found]]], Iterator[Line]],
    Callable[[Sequence[Survey[Found]]], str],
]
"""The functions that survey a file, and that write the surveys as lines and as JSON."""


def survey_command(
    *examples: tuple[str, str], listed: str
) -> Callable[[Callable[[], SurveyParts[Any]]], click.Command]:
    """Returns the decorator of a function without parameters, whose name and text are those of the command.

    listed: what is listed, for the help on its exit statuses.
    """

    def decorate(load: Callable[[], SurveyParts[Any]]) -> click.Command:
        def run(ctx: click.Context, paths: tuple[str, ...], form: str, launch: tuple[KernelLaunch, ...]) -> None:
            configured = InputSettings(LintOptions(level=ConfigLayer(COMMAND_LINE, launch=launch), isolated=True))
            ctx.exit(_run(load(), paths, form, configured))

        run.__doc__ = load.__doc__
        take_paths = click.argument(
            "paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths
        )
        return click.command(
            load.__name__,
            cls=GroupedOptionsCommand,
            option_groups={"Module": ("--launch",), "Output": ("--format",)},
            examples=examples,
            exit_statuses={
                0: f"The {listed} are listed.",
                1: "A file has errors.",
                2: "The command line cannot be used, or a file cannot be read or analyzed.",
            },
        )(take_paths(format_option(("full", "json"))(launch_option(click.pass_context(run)))))

    return decorate


def _run(parts: SurveyParts[Any], paths: tuple[str, ...], form: str, configured: InputSettings) -> int:
    survey, report, as_json = parts
    statuses: set[Status] = set()

    def survey_inputs() -> Iterator[Survey[Any]]:
        """Yields what each input contains as soon as it is known."""
        settings = configured.settings_for("")
        for found in read_sources(paths):
            if isinstance(found, FileResult):
                result = Survey[Any](found.path, diagnostics=found.diagnostics)
            else:
                configured.note_kernels(found)
                result = survey(found, settings)
            statuses.add(result.status)
            yield result

    try:
        if form == "json":
            sys.stdout.write(as_json(list(survey_inputs())))
        else:
            write_lines(report(survey_inputs()))
        configured.check_launches()
    except SettingsError as error:
        return write_error(error)
    if Status.FAILED in statuses:
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.FINDINGS if Status.FINDINGS in statuses else ExitStatus.CLEAN
