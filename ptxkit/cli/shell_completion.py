"""Shell completion of parameters that click cannot complete itself: paths, rule codes and targets."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def complete_paths(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves completion to the shell, which completes file names."""
    return [CompletionItem(incomplete, type="file")]


def complete_codes(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes rule codes and rule names, also after a comma."""
    from ptxkit.settings.parsers import known_codes

    before, comma, begun = incomplete.rpartition(",")
    known = known_codes()
    found = [(code, name) for code, name in known.items() if code.startswith(begun.upper())]
    if begun and not found:
        found = [(name, code) for code, name in known.items() if name.startswith(begun)]
    return [CompletionItem(f"{before}{comma}{word}", help=other) for word, other in found]


def complete_targets(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes the names of targets."""
    from ptxkit.isa import table

    return [CompletionItem(each.name) for each in table().module.targets if each.name.startswith(incomplete)]
