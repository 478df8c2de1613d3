"""`ptxkit transfers`: what a kernel copies, by which unit, and what waits for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

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
from ptxkit.model.transfer import FileTransfers
from ptxkit.results import FileResult, Status
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.model import ConfigLayer, KernelLaunch


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Module": ("--launch",), "Output": ("--format",)},
    examples=(
        ("ptxkit transfers k.ptx", "List what each kernel copies, and what waits for it."),
        ("ptxkit transfers --launch k:block=128 k.ptx", "Give the number of threads, which determines the bytes."),
    ),
    exit_statuses={
        0: "The transfers are listed.",
        1: "A file has errors.",
        2: "The command line cannot be used, or a file cannot be read or analyzed.",
    },
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@format_option(("full", "json"))
@launch_option
@click.pass_context
def transfers(ctx: click.Context, paths: tuple[str, ...], form: str, launch: tuple[KernelLaunch, ...]) -> None:
    """List the data transfers of the kernels in PTX files and in every *.ptx file of folders; - reads standard input.

    Each row shows the line of the transfer, its source and destination, the unit that performs it (LDGSTS: cp.async;
    TMA: bulk copy; TMA map: bulk copy with a tensor map; plain: loads and stores), the bytes per executing thread, the
    completion mechanism, the lines that wait for it (with the number of groups that may still be pending) and the proxy
    fence that covers it. Where another unit could have been used, the row gives the reason for the choice.
    """
    from ptxkit.report.transfer_table import transfer_report
    from ptxkit.report.transfers_json import transfers_json

    results: list[FileTransfers] = []
    configured = InputSettings(LintOptions(level=ConfigLayer(COMMAND_LINE, launch=launch), isolated=True))
    arriving = _survey_inputs(paths, configured, results)
    try:
        if form == "json":
            sys.stdout.write(transfers_json(list(arriving)))
        else:
            write_lines(transfer_report(arriving))
        configured.check_launches()
    except SettingsError as error:
        ctx.exit(write_error(error))
    ctx.exit(_exit_status(results))


def _survey_inputs(
    paths: tuple[str, ...], configured: InputSettings, results: list[FileTransfers]
) -> Iterator[FileTransfers]:
    """Yields the table of each input as soon as it is known, and appends it to `results`."""
    from ptxkit.transfer_survey import survey_transfers

    settings = configured.settings_for("")
    for found in read_sources(paths):
        if isinstance(found, FileResult):
            result = FileTransfers(found.path, None, found.diagnostics)
        else:
            configured.note_kernels(found)
            result = survey_transfers(found, settings)
        results.append(result)
        yield result


def _exit_status(results: list[FileTransfers]) -> ExitStatus:
    statuses = {result.status for result in results}
    if Status.FAILED in statuses:
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.FINDINGS if Status.FINDINGS in statuses else ExitStatus.CLEAN
