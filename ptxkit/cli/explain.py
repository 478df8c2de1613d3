"""`ptxkit explain`: the documentation of a code, or of all codes."""

from __future__ import annotations

import sys
from difflib import get_close_matches

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.usage_errors import CommandLineError, exclusive
from ptxkit.cli.value_types import format_option
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.results import CodePage

_EXAMPLE = ptx4xx.MISSING_PROXY_FENCE


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Output": ("--all", "--format")},
    examples=(
        (f"ptxkit explain {_EXAMPLE}", "Print what the code means, why it matters and what to write instead."),
        (f"ptxkit explain {_EXAMPLE.name}", "Do the same by the name of the rule."),
        ("ptxkit explain", "List all codes."),
    ),
    exit_statuses={0: "The documentation is printed.", 2: "The command line cannot be used, or there is no such code."},
)
@click.argument("code", required=False, shell_complete=shell_completion.complete_codes)
@click.option("--all", "every", is_flag=True, help="Print the documentation of all codes.")
@format_option(("text", "markdown", "json"))
def explain(code: str | None, every: bool, form: str) -> None:
    """Explain the diagnostic CODE, such as PTX401 or missing-proxy-fence: what it means, and what to write instead.

    Without CODE, lists all codes with their names.
    """
    from ptxkit.rules.docs_index import all_pages

    if code is not None and every:
        raise exclusive("--all", "CODE")
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
        codes, names = [page.code for page in pages], [page.name for page in pages]
        near = get_close_matches(code.upper(), codes, n=1) or get_close_matches(code.lower(), names, n=1)
        remedy = f"did you mean `{near[0]}`?" if near else "`ptxkit explain` lists them"
        raise CommandLineError(f"there is no code `{code}`", remedy)
    return found
