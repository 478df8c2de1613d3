"""`ptxkit extract`: the PTX inside fat binaries, objects, libraries, programs and wheels."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.file_replacement import encode, replace_content
from ptxkit.cli.input_files import expand_paths, read_texts
from ptxkit.cli.limits import MAX_FILE_NAME_CHARS
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.refusals import write_refusal
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.exit_status import ExitStatus
from ptxkit.report import diagnostic_lines
from ptxkit.results import FileResult
from ptxkit.source import SourceFile, TextOrigin
from ptxkit.untrusted_text import escape_path


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Selection": ("--target",), "Output": ("--output", "--list", "--force")},
    examples=(
        ("ptxkit extract --list libfoo.so", "List the PTX in a library."),
        ("ptxkit extract --target sm_90a -o ptx/ libfoo.so", "Write the texts for one target to a folder."),
    ),
    exit_statuses={0: "The PTX is extracted.", 2: "A file cannot be read or written, or there is no PTX."},
)
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", shell_complete=shell_completion.complete_paths)
@click.option(
    "--output",
    "-o",
    metavar="DIR",
    help="Output folder; - prints a single PTX text to standard output.  [default: the working directory]",
)
@click.option("--list", "listed", is_flag=True, help="List the embedded PTX without writing files.")
@click.option("--target", metavar="SM", help="Extract only the PTX for this target, e.g. sm_90a.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.pass_context
def extract(
    ctx: click.Context, paths: tuple[str, ...], output: str | None, listed: bool, target: str | None, force: bool
) -> None:
    """Write each PTX text embedded in FILE to a separate file: libfoo.1.sm_90a.ptx is the first one of libfoo.so.

    FILE is a .fatbin, a .cubin compiled with -G, an object, a library (.a, .so), a program, or a zip archive of these,
    e.g. a wheel. Folders are searched for such files. `ptxkit lint` reads all of these formats directly.
    """
    status = ExitStatus.CLEAN
    written = 0
    printed = ""
    for source in _embedded_texts(paths):
        if isinstance(source, FileResult):
            write_lines(diagnostic_lines(source.diagnostics), error=True)
            status = ExitStatus.COULD_NOT_RUN
        elif target is not None and f".{target}." not in source.path:
            continue
        elif listed:
            click.echo(escape_path(source.path))
            written += 1
        elif output == "-":
            if written:
                what = "several PTX texts cannot be printed as one"
                raise CommandLineError(what, "choose one by `--target SM`, or name a folder by `--output DIR`")
            printed = source.text
            written += 1
        else:
            path = os.path.join(output or ".", file_name(source.path))
            failure = _write(path, encode(source.text), force=force)
            if failure is None:
                click.echo(escape_path(path))
                written += 1
            else:
                status = ExitStatus(write_refusal(*failure, path))
    sys.stdout.buffer.write(encode(printed))
    if not written and not status:
        wanted = f" for `{target}`" if target else ""
        what = f"there is no PTX{wanted} in {', '.join(f'`{path}`' for path in paths)}"
        remedy = "`--list` without `--target` lists all" if target else "name a file into which a compiler put PTX"
        status = ExitStatus(write_refusal(what, remedy))
    ctx.exit(status)


def _embedded_texts(paths: tuple[str, ...]) -> Iterator[SourceFile | FileResult]:
    """Returns the texts inside the given files; plain PTX files are skipped."""
    for given in expand_paths(paths, binaries=True):
        if isinstance(given, FileResult):
            yield given
        else:
            found = read_texts(given)
            yield from (each for each in found if isinstance(each, FileResult) or each.origin.container is not None)


def file_name(title: str) -> str:
    """Returns a safe file name for a text, such as `libfoo.1.sm_90a.ptx` for `dir/libfoo.so!1.sm_90a.ptx`."""
    outer, *inner = title.split("!")
    stem = os.path.splitext(os.path.basename(outer))[0]
    parts = [re.sub(r"[^\w.+-]+", "_", part.replace("/", ".")).strip("._") for part in (stem, *inner)]
    name = ".".join(filter(None, parts))
    return name if len(name) <= MAX_FILE_NAME_CHARS else name[-MAX_FILE_NAME_CHARS:].lstrip(".")


def _write(path: str, content: bytes, *, force: bool) -> tuple[str, str] | None:
    """Writes a file; with `force`, over an existing one, but never through a link that leaves its folder. Returns the
    reason for a failure, and the remedy."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if force and os.path.lexists(path):
            failure = replace_content(TextOrigin(path), content)
            return None if failure is None else (f"cannot be written: {failure.reason}", failure.remedy)
        with open(path, "xb") as stream:
            stream.write(content)
    except FileExistsError:
        if not os.path.isdir(os.path.dirname(path) or "."):
            return "cannot be written: `--output` is a file, not a folder", "name a folder"
        return "already exists", "`--force` overwrites it"
    except OSError as error:
        return f"cannot be written: {error.strerror}", "name another folder by `--output DIR`"
    return None
