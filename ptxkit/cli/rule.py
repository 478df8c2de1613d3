"""`ptxkit rule`: the documentation of a rule, or of all rules."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.errors import UnknownNameError
from ptxkit.results import CodePage


@click.command(short_help="Print the documentation of a rule.")
@click.argument("code", required=False, shell_complete=shell_completion.complete_codes)
@click.option("--all", "every", is_flag=True, help="Print the documentation of all rules.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)
def rule(code: str | None, every: bool, form: str) -> None:
    """Print the documentation of the rule CODE, e.g. PTX401 or missing-proxy-fence.

    Without CODE, lists the codes and names of all rules.
    """
    from ptxkit.rules.docs_index import all_pages

    if code is not None and every:
        raise click.UsageError("--all and CODE exclude each other")
    pages = all_pages()
    if code is None and not every and form == "text":
        sys.stdout.write("".join(f"{page.code}  {page.name}\n" for page in pages))
        return
    chosen = pages if code is None else (_find_page(code, pages),)
    sys.stdout.write(_render_pages(chosen, form))


def _render_pages(pages: tuple[CodePage, ...], form: str) -> str:
    from ptxkit.rules.docs_index import as_markdown, as_text

    if form == "markdown":
        return "\n".join(as_markdown(page) for page in pages)
    if form == "json":
        import json

        documents = [
            {"code": page.code, "name": page.name, "headline": page.headline, "parts": dict(page.parts)}
            for page in pages
        ]
        return json.dumps({"version": 1, "rules": documents}, indent=2) + "\n"
    return f"\n{'-' * 80}\n\n".join(map(as_text, pages))


def _find_page(code: str, pages: tuple[CodePage, ...]) -> CodePage:
    found = next((each for each in pages if code.upper() == each.code or code.lower() == each.name), None)
    if found is None:
        known = [word for each in pages for word in (each.code, each.name)]
        near = get_close_matches(code, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "`ptxkit rule` lists them."
        raise UnknownNameError(f"there is no rule {code!r}. {hint}")
    return found
