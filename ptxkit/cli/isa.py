"""`ptxkit isa`: what the instruction table knows of an opcode."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.errors import UnknownError


@click.command(short_help="Print the forms, operands, gates and effects of an instruction.")
@click.argument("opcode")
@click.option(
    "--format", "form", type=click.Choice(["full", "json"]), default="full", show_default=True, help="How to print."
)
def isa(opcode: str, form: str) -> None:
    """Print what the instruction table knows of OPCODE, e.g. mbarrier.init or cp.async.bulk.

    Modifiers that are given choose among the forms. Exit status: 2 where the table has no such instruction.
    """
    from ptxkit.isa.describe import describe, describe_json

    try:
        text = describe_json(opcode) if form == "json" else describe(opcode)
    except LookupError as error:
        raise UnknownError(f"the table has no instruction {opcode!r}{_hint(opcode)}") from error
    sys.stdout.write(text)


def _hint(opcode: str) -> str:
    """The nearest opcode, compared with as many words of it as were given."""
    from ptxkit.isa import table

    known = table()
    begun = {
        ".".join([name, *(slot.name for slot in each.modifiers if slot.stem)])
        for name in known.names
        for each in known.forms(name)
    }
    near = get_close_matches(opcode, {*known.names, *begun}, n=1)
    if not near and "." in opcode:
        near = get_close_matches(opcode.partition(".")[0], known.names, n=1)
    return f". Did you mean {near[0]!r}?" if near else ""
