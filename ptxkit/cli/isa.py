"""`ptxkit isa`: the entry of an opcode in the instruction table."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import format_option


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Output": ("--format", "--json")},
    examples=(
        ("ptxkit isa mbarrier.init", "Describe an instruction."),
        ("ptxkit isa cp.async.bulk.tensor", "Describe only the forms with these modifiers."),
        ("ptxkit isa sm_103a", "Describe a target."),
    ),
    exit_statuses={0: "The entry is printed.", 2: "The command line cannot be used, or there is no such entry."},
)
@click.argument("opcode", required=False)
@format_option(("full", "json"))
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
def isa(opcode: str | None, form: str, as_json: bool) -> None:
    """Describe the instruction OPCODE, e.g. mbarrier.init: its forms, operands, requirements and effects.

    Modifiers restrict the output to the forms that have them. OPCODE may also be a directive such as .maxntid, a
    modifier such as .L2::cache_hint, a target such as sm_103a or a special register such as %clusterid. Without OPCODE,
    prints the names of all instructions, or with --format json the whole table.
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
        raise CommandLineError(f"the table has no instruction `{opcode}`", _hint(opcode or "")) from error


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
    return f"did you mean `{near[0]}`?" if near else "`ptxkit isa` lists the instructions"
