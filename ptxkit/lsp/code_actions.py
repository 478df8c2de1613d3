"""Code actions for a finding: fixes, and a comment that suppresses it; all safe fixes of a text at once.

A fix is offered only after its result has been checked, as by `ptxkit lint --fix`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.lsp.diagnostics import ClientFeatures, to_lsp_diagnostic
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.edits import minimal_edits, to_text_edits, workspace_edit
from ptxkit.source import Span
from ptxkit.suppressions import UNSUPPRESSIBLE, add_ignore_comments

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.ptxkit"
KINDS = [types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll, FIX_ALL]


def is_requested(kind: str, only: Sequence[str] | None) -> bool:
    """Returns whether a client requests actions of a kind: the client names kinds, or their prefixes."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in map(_kind_text, only))


def findings_in(found: Sequence[Diagnostic], span: Span) -> list[Diagnostic]:
    """Returns the findings that a selection touches."""
    return [
        item
        for item in found
        if item.code != ptx1xx.NO_VERDICT and item.span.start <= span.end and span.start <= item.span.end
    ]


def fix_action(text: TextSnapshot, item: Diagnostic, fix: Fix, abilities: ClientFeatures) -> types.CodeAction:
    """Returns the action for a fix."""
    words = fix.message if fix.safe else f"{fix.message} (unsafe: it may change the behavior of a correct program)"
    return types.CodeAction(
        f"{item.code}: {words}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[to_lsp_diagnostic(item, text, abilities)],
        is_preferred=fix.safe,
        edit=workspace_edit(text, to_text_edits(text, fix.edits)),
    )


def suppress_action(text: TextSnapshot, item: Diagnostic, abilities: ClientFeatures) -> types.CodeAction | None:
    """Returns the action that inserts a comment to suppress a finding, or None if it cannot be suppressed."""
    if item.code in UNSUPPRESSIBLE:
        return None
    return types.CodeAction(
        f"{item.code}: suppress it on this line with a comment",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[to_lsp_diagnostic(item, text, abilities)],
        is_preferred=False,
        edit=workspace_edit(text, minimal_edits(text, add_ignore_comments(text.source, [item], ""))),
    )


def fix_all_action(text: TextSnapshot, new: str) -> types.CodeAction | None:
    """Returns the action for all safe fixes, or None if there is nothing to fix."""
    edits = minimal_edits(text, new)
    if not edits:
        return None
    return types.CodeAction("Apply all safe fixes (ptxkit)", kind=FIX_ALL, edit=workspace_edit(text, edits))


def _kind_text(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
