"""What can be done about a finding: mends that hold, and a comment that hides it; all safe mends of a text at once.

A mend is offered only where it has been tried, as by `ptxkit lint --fix`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.lsp.diagnostics import Abilities, converted
from ptxkit.lsp.documents import Snapshot
from ptxkit.lsp.edits import edits_of, of_document, rewritten
from ptxkit.results import NOT_CHECKED
from ptxkit.source import Span
from ptxkit.suppressions import UNHIDEABLE, with_ignores

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.ptxkit"
KINDS = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll, FIX_ALL]


def wants(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a client asks for actions of a kind: it names kinds, or the beginnings of some."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in map(_word, only))


def found_in(found: Sequence[Diagnostic], span: Span) -> list[Diagnostic]:
    """The findings that a selection touches."""
    return [
        item
        for item in found
        if item.code != NOT_CHECKED and item.span.start <= span.end and span.start <= item.span.end
    ]


def fix_action(text: Snapshot, item: Diagnostic, fix: Fix, abilities: Abilities) -> types.CodeAction:
    """A mend that holds, as an action."""
    words = fix.message if fix.safe else f"{fix.message} (unsafe: it may change what a correct program does)"
    return types.CodeAction(
        f"{item.code}: {words}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[converted(item, text, abilities)],
        is_preferred=fix.safe,
        edit=of_document(text, edits_of(text, fix.edits)),
    )


def hiding_action(text: Snapshot, item: Diagnostic, abilities: Abilities) -> types.CodeAction | None:
    """A comment that hides a finding; None where nothing hides it."""
    if item.code in UNHIDEABLE:
        return None
    return types.CodeAction(
        f"{item.code}: hide it on this line with a comment",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[converted(item, text, abilities)],
        is_preferred=False,
        edit=of_document(text, rewritten(text, with_ignores(text.source, [item], ""))),
    )


def fix_all_action(text: Snapshot, new: str) -> types.CodeAction | None:
    """All safe mends at once; None where there is nothing to mend."""
    edits = rewritten(text, new)
    if not edits:
        return None
    return types.CodeAction("Mend all that can be mended safely (ptxkit)", kind=FIX_ALL, edit=of_document(text, edits))


def _word(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
