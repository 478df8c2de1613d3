"""`ptxkit rule`: the page of a rule."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.errors import UnknownError


@click.command(short_help="Print what a rule finds, why it matters and what to write instead.")
@click.argument("code", required=False)
def rule(code: str | None) -> None:
    """Print the page of the rule CODE, e.g. PTX401; without CODE, the list of rules."""
    from ptxkit.rules import RULES

    if code is None:
        sys.stdout.write("".join(f"{each.code}  {each.name}\n" for each in RULES))
        return
    found = next((each for each in RULES if code.upper() == each.code or code.lower() == each.name), None)
    if found is None:
        known = [word for each in RULES for word in (each.code, each.name)]
        near = get_close_matches(code, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "`ptxkit rule` lists them."
        raise UnknownError(f"there is no rule {code!r}. {hint}")
    page = sys.modules[found.check.__module__].__doc__ or ""
    sys.stdout.write(f"{found.name}\n\n{page.strip()}\n")
