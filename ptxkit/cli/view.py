"""`ptxkit view`: an HTML page with the text, diagnostics, control flow and transfers of a file."""

from __future__ import annotations

import sys

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import read_text
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.page_files import write_atomically
from ptxkit.cli.refusals import write_error
from ptxkit.cli.settings_options import CONFIGURATION_NAMES, MODULE_NAMES, RULE_NAMES, layer_of, settings_options
from ptxkit.cli.usage_errors import BadPageNameError, CommandLineError
from ptxkit.exit_status import ExitStatus
from ptxkit.results import FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.source import SourceFile


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={
        "Rule selection": RULE_NAMES,
        "Module": MODULE_NAMES,
        "Input and output": ("--output", "--stdin-filename"),
        "Configuration": CONFIGURATION_NAMES,
    },
    examples=(("ptxkit view k.ptx --output k.html", "Write a page to open in a browser."),),
    exit_statuses={
        0: "The page is written, even if FILE has errors.",
        2: "The command line, the settings or FILE cannot be used, or the page cannot be written.",
    },
)
@click.argument("path", metavar="FILE", shell_complete=shell_completion.complete_paths)
@click.option("--output", "-o", required=True, metavar="PAGE", help="Output file (.html); - writes to standard output.")
@settings_options
@click.option(
    "--stdin-filename", metavar="PATH", help="File name of standard input, for diagnostics and to find its settings."
)
@click.pass_context
def view(
    ctx: click.Context,
    /,
    path: str,
    *,
    output: str,
    config: str | None,
    isolated: bool,
    stdin_filename: str | None,
    **given: object,
) -> None:
    """Write an HTML page that shows FILE; - reads standard input.

    The page shows the text with the diagnostics of lint, the control-flow graph of each function, and the asynchronous
    transfers as bars from issue to wait, with commits, fences and barriers. It is self-contained and needs no network
    access. If FILE contains several PTX texts, as a library may, name one of them as lint does: libfoo.so!1.sm_90a.ptx.

    Settings apply as for lint.
    """
    if output != "-" and not output.endswith((".html", ".htm")):
        raise BadPageNameError("--output", output)
    source = read_text(path, stdin_filename)
    if isinstance(source, FileResult):
        from ptxkit.report import diagnostic_lines

        write_lines(diagnostic_lines(source.diagnostics), error=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    options = LintOptions(level=layer_of(given), config=config, isolated=isolated, stdin_name=stdin_filename)
    try:
        page = _render_page(source, path, options)
    except SettingsError as error:
        ctx.exit(write_error(error))
    if output == "-":
        sys.stdout.buffer.write(page)
        return
    failure = write_atomically(output, page)
    if failure is not None:
        raise CommandLineError(f"`--output {output}` cannot be written: {failure}", "name another file")


def _render_page(source: SourceFile, path: str, options: LintOptions) -> bytes:
    """The page. Raises SettingsError."""
    from ptxkit.fast_dataclasses import replace
    from ptxkit.report.view_page import view_page
    from ptxkit.rules.docs_index import all_pages
    from ptxkit.view_builder import build_file_view as picture

    configured = InputSettings(options)
    settings = configured.settings_for(path)
    configured.note_kernels(source)
    configured.check_launches()
    seen = picture(source, settings)
    seen = replace(seen, result=configured.remove_known(seen.result, settings))
    return view_page(seen, {page.code: page for page in all_pages()}).encode("utf-8")
