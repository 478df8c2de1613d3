"""`ptxkit lsp`: the language server, for editors."""

from __future__ import annotations

import os

import click

from ptxkit.cli.errors import UnknownNameError


@click.command(short_help="Run the language server: diagnostics, hover, definitions, fixes, completion.")
@click.option("--stdio", is_flag=True, help="Use stdin/stdout (default).")
@click.pass_context
def lsp(ctx: click.Context, stdio: bool) -> None:  # noqa: ARG001 (editors pass it)
    """Run the language server over standard input and output, until the editor shuts it down.

    Requires pygls: pip install 'ptxkit[lsp]'.
    """
    try:
        from ptxkit.lsp.server import PtxLanguageServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UnknownNameError("the language server needs pygls: pip install 'ptxkit[lsp]'") from error
    if os.isatty(0):
        click.echo(
            "The language server is started by an editor, and reads its requests from standard input. Ctrl-D ends it.",
            err=True,
        )
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output of this process is not a message to the editor
    ctx.exit(PtxLanguageServer().serve(stdin, stdout))
