"""`ptxkit fuzz`: campaigns of generated and mutated PTX, and kept examples once more."""

from __future__ import annotations

from pathlib import Path
from unittest import SkipTest

import click

from ptxkit.results import ExitStatus


@click.command(short_help="Test ptxkit, ptxas and the GPU against each other with generated PTX.")
@click.option("--replay", type=click.Path(path_type=Path), metavar="FOLDER", help="Ask about a kept example again.")
@click.pass_context
def fuzz(ctx: click.Context, replay: Path | None) -> None:
    """Ask about a kept example again.

    Exit status: 0 nothing failed, 1 something did, 2 it could not be asked.
    """
    if replay is None:
        raise click.UsageError("say what to do: --replay FOLDER")
    ctx.exit(_replayed(replay))


def _replayed(folder: Path) -> int:
    from ptxkit.testing import examples, replaying

    try:
        example = examples.load(folder)
        replaying.ask(example)
    except examples.ExampleError as error:
        raise click.UsageError(str(error)) from error
    except SkipTest as error:
        click.echo(f"{folder}: could not be asked: {error}")
        return ExitStatus.COULD_NOT_RUN
    except Exception as error:  # what an oracle finds, or where ptxkit breaks
        click.echo(f"{folder}: {example.oracle} fails: {examples.cause_of(error)}\n{error}")
        return ExitStatus.FINDINGS
    click.echo(f"{folder}: {example.oracle} holds now")
    return ExitStatus.CLEAN
