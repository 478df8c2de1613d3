"""`ptxkit lsp`: the language server, for editors."""

from __future__ import annotations

import os

import click

from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.usage_errors import CommandLineError


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Connection": ("--stdio",)},
    exit_statuses={0: "The editor shut the server down.", 2: "The command line cannot be used, or pygls is missing."},
)
@click.option("--stdio", is_flag=True, help="Use standard input and output, which is the default.")
@click.pass_context
def lsp(ctx: click.Context, stdio: bool) -> None:  # noqa: ARG001 (editors pass it)
    """Run the language server over standard input and output, until the editor shuts it down.

    It reports diagnostics, and provides hover texts, definitions, fixes and completion. A finding is shown in the PTX
    file, and also in the program's source file (.cu, .py) if the PTX names its lines (nvcc -lineinfo) and the file is
    in a workspace folder.

    It requires pygls: pip install 'ptxkit[lsp]'.
    """
    try:
        from ptxkit.lsp.server import PtxLanguageServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        what = "the language server requires the package `pygls`"
        raise CommandLineError(what, "run `pip install 'ptxkit[lsp]'`") from error
    if os.isatty(0):
        click.echo(
            "The language server is started by an editor, and reads its requests from standard input. Ctrl-D ends it.",
            err=True,
        )
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output of this process is not a message to the editor
    ctx.exit(PtxLanguageServer().serve(stdin, stdout))
