"""`ptxkit rule`: the page of a code."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli.errors import UnknownError


@click.command(short_help="Print what a rule finds, why it matters and what to write instead.")
@click.argument("code", required=False)
def rule(code: str | None) -> None:
    """Print the page of CODE, e.g. PTX401; without CODE, the list of codes."""
    from ptxkit.rules import RULES, Rule
    from ptxkit.rules.pages import PAGES, Page

    every: list[Rule | Page] = sorted([*RULES, *PAGES], key=lambda each: each.code)
    if code is None:
        sys.stdout.write("".join(f"{each.code}  {each.name}\n" for each in every))
        return
    found = next((each for each in every if code.upper() == each.code or code.lower() == each.name), None)
    if found is None:
        known = [word for each in every for word in (each.code, each.name)]
        near = get_close_matches(code, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "`ptxkit rule` lists them."
        raise UnknownError(f"there is no rule {code!r}. {hint}")
    page = found.text() if isinstance(found, Page) else sys.modules[found.check.__module__].__doc__ or ""
    sys.stdout.write(f"{found.name}\n\n{page.strip()}\n")
