"""`ptxkit isa`: the entry of an opcode in the instruction table."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.errors import UnknownNameError


@click.command(short_help="Print the forms, operands, requirements and effects of an instruction.")
@click.argument("opcode", required=False)
@click.option(
    "--format", "form", type=click.Choice(["full", "json"]), default="full", show_default=True, help="Output format."
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
def isa(opcode: str | None, form: str, as_json: bool) -> None:
    """Print the entry of OPCODE in the instruction table, e.g. mbarrier.init or cp.async.bulk.

    Modifiers restrict the output to the forms that have them. OPCODE may also be a directive such as .maxntid, a
    modifier such as .L2::cache_hint, a target such as sm_103a or a special register such as %clusterid. Without OPCODE,
    prints the names of all instructions, or with --format json the whole table.

    Exit status: 0 success, 2 the table has no entry for OPCODE.
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
    """A suggestion: the most similar opcode, compared with the same number of words."""
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
