"""`ptxkit isa`: what the instruction table knows of an opcode."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.errors import UnknownNameError


@click.command(short_help="Print the forms, operands, gates and effects of an instruction.")
@click.argument("opcode", required=False)
@click.option(
    "--format", "form", type=click.Choice(["full", "json"]), default="full", show_default=True, help="How to print."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def isa(opcode: str | None, form: str, as_json: bool) -> None:
    """Print what the instruction table knows of OPCODE, e.g. mbarrier.init or cp.async.bulk.

    Modifiers that are given choose among the forms. OPCODE may also be a directive such as .maxntid, a modifier such
    as .L2::cache_hint, a target such as sm_103a or a special register such as %clusterid. Without OPCODE: the
    names of all instructions; as JSON the whole table. Exit status: 2 where the table has no such thing.
    """
    from ptxkit.isa import table
    from ptxkit.isa.describe import describe
    from ptxkit.isa.table_json import describe_json

    try:
        if as_json or form == "json":
            sys.stdout.write(describe_json(opcode))
        elif opcode is None:
            sys.stdout.write("".join(f"{name}\n" for name in table().names))
        else:
            sys.stdout.write(describe(opcode))
    except LookupError as error:
        raise UnknownNameError(f"the table has no instruction {opcode!r}{_hint(opcode or '')}") from error


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
