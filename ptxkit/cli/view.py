"""`ptxkit view`: an HTML page with the text, diagnostics, control flow and transfers of a file."""

from __future__ import annotations

import sys

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import read_text
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.output import write_lines
from ptxkit.cli.page_files import write_atomically
from ptxkit.cli.settings_options import layer_of, settings_options
from ptxkit.results import ExitStatus, FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.source import SourceFile


@click.command(short_help="Write an HTML page of a file: control flow, transfers and diagnostics.")
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

    Exit status: 0 the page was written, even if FILE has errors; 2 FILE could not be read or the page not written.
    """
    if output != "-" and not output.endswith((".html", ".htm")):
        raise click.UsageError(f"--output {output}: the file name must end in .html, so that no input is overwritten")
    source = read_text(path, stdin_filename)
    if isinstance(source, FileResult):
        from ptxkit.report import diagnostic_lines

        write_lines(diagnostic_lines(source.diagnostics), error=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    options = LintOptions(level=layer_of(given), config=config, isolated=isolated, stdin_name=stdin_filename)
    page = _render_page(source, path, options)
    if output == "-":
        sys.stdout.buffer.write(page)
        return
    failure = write_atomically(output, page)
    if failure is not None:
        raise click.UsageError(f"--output {output} cannot be written: {failure}")


def _render_page(source: SourceFile, path: str, options: LintOptions) -> bytes:
    from ptxkit.fast_dataclasses import replace
    from ptxkit.report.view_page import view_page
    from ptxkit.rules.docs_index import all_pages
    from ptxkit.view_builder import build_file_view as picture

    configured = InputSettings(options)
    try:
        settings = configured.settings_for(path)
        configured.note_kernels(source)
        configured.check_launches()
        seen = picture(source, settings)
        seen = replace(seen, result=configured.remove_known(seen.result, settings))
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    return view_page(seen, {page.code: page for page in all_pages()}).encode("utf-8")
