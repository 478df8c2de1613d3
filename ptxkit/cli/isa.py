"""`ptxkit isa`: what the instruction table knows of an opcode."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.output import UnknownError


@click.command(short_help="Print the forms, operands, gates and effects of an instruction.")
@click.argument("opcode")
def isa(opcode: str) -> None:
    """Print what the instruction table knows of OPCODE, e.g. mbarrier.init or cp.async.bulk.

    Modifiers that are given choose among the forms. Exit status: 2 where the table has no such instruction.
    """
    from ptxkit.isa.describe import describe

    try:
        text = describe(opcode)
    except LookupError as error:
        raise UnknownError(f"the table has no instruction {opcode!r}{_hint(opcode)}") from error
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def _hint(opcode: str) -> str:
    from ptxkit.isa import table

    near = get_close_matches(opcode, table().names, n=1)
    return f". Did you mean {near[0]!r}?" if near else ""
