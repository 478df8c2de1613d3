"""`ptxkit contract`: what a kernel needs from the code that launches it."""

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
from ptxkit.model.launch_contract import FileContracts
from ptxkit.results import FileResult, Status
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.model import ConfigLayer, KernelLaunch


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Module": ("--launch",), "Output": ("--format",)},
    examples=(
        ("ptxkit contract k.ptx", "List the conditions that launches of each kernel must satisfy."),
        ("ptxkit contract --launch k:block=128 k.ptx", "Give the number of threads, on which sizes may depend."),
    ),
    exit_statuses={
        0: "The conditions are listed.",
        1: "A file has errors.",
        2: "The command line cannot be used, or a file cannot be read or analyzed.",
    },
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@format_option(("full", "json"))
@launch_option
@click.pass_context
def contract(ctx: click.Context, paths: tuple[str, ...], form: str, launch: tuple[KernelLaunch, ...]) -> None:
    """List the conditions that launches of the kernels in PTX files, and in every *.ptx file of folders, must satisfy;
    - reads standard input.

    Without a necessary condition, some instruction that the launch executes faults, deadlocks or is undefined.
    The conditions are about the threads of a block, the CTAs of a cluster, dynamic shared memory, the alignment of
    pointers, sizes, tensor maps and CTAs that wait for each other. Each has the line from which it follows. Others
    suffice for what lint cannot decide without the launch.
    """
    from ptxkit.report.contract_list import contract_report
    from ptxkit.report.contracts_json import contracts_json

    results: list[FileContracts] = []
    configured = InputSettings(LintOptions(level=ConfigLayer(COMMAND_LINE, launch=launch), isolated=True))
    arriving = _survey_inputs(paths, configured, results)
    try:
        if form == "json":
            sys.stdout.write(contracts_json(list(arriving)))
        else:
            write_lines(contract_report(arriving))
        configured.check_launches()
    except SettingsError as error:
        ctx.exit(write_error(error))
    statuses = {result.status for result in results}
    if Status.FAILED in statuses:
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    ctx.exit(ExitStatus.FINDINGS if Status.FINDINGS in statuses else ExitStatus.CLEAN)


def _survey_inputs(
    paths: tuple[str, ...], configured: InputSettings, results: list[FileContracts]
) -> Iterator[FileContracts]:
    """Yields the contracts of each input as soon as they are known, and appends them to `results`."""
    from ptxkit.contract_survey import survey_contracts

    settings = configured.settings_for("")
    for found in read_sources(paths):
        if isinstance(found, FileResult):
            result = FileContracts(found.path, diagnostics=found.diagnostics)
        else:
            configured.note_kernels(found)
            result = survey_contracts(found, settings)
        results.append(result)
        yield result
