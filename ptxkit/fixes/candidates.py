"""Collects the candidates for fixes: those of the rule, and changes of declarations and of the heading."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.diagnostics.catalogue import fix_titles, ptx2xx, ptx5xx, ptx8xx
from ptxkit.diagnostics.catalogue.ptx8xx import RequiredHeading
from ptxkit.fixes.async_group_fixes import propose_group_fixes
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.insertions import propose_insertions
from ptxkit.fixes.mbarrier_wait_fixes import propose_wait_fixes
from ptxkit.fixes.operand_fixes import propose_operand_fixes
from ptxkit.fixes.ring_fixes import propose_ring_fixes
from ptxkit.fixes.snippets import join_words
from ptxkit.fixes.statement_edits import locate_finding
from ptxkit.source import SourceFile, Span

_HEADING = re.compile(r"^[ \t]*\.(version|target)[ \t]+([\w.]+)", re.MULTILINE)


def propose_fixes(item: Diagnostic) -> Iterator[Fix]:
    """Yields the candidates, the most likely first."""
    if item.fix is not None:
        yield item.fix
    yield from item.proposals
    if item.code == ptx8xx.NEEDS_NEWER_VERSION:
        yield from _fix_heading(item)
    elif item.code == ptx2xx.MISALIGNED_ADDRESS:
        yield from _fix_alignment(item)
    here = locate_finding(item)
    if here is not None:
        yield from _propose_code_changes(item, *here)


def _propose_code_changes(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the candidates that change the code of the function that contains the finding."""
    yield from propose_ring_fixes(item, around, step)
    if "parity" in item.properties:
        yield from propose_wait_fixes(item, around, step)
    yield from propose_operand_fixes(item, around, step)
    yield from propose_group_fixes(item, around, step)
    if _is_future_phase_wait(item):
        yield from propose_wait_fixes(item, around, step)
    yield from propose_insertions(item, around, step)
    yield from propose_wait_fixes(item, around, step)


def _is_future_phase_wait(item: Diagnostic) -> bool:
    """Returns whether a wait is for a phase after a complete one, in which no thread arrives."""
    phase = item.properties.get("phase")
    return (
        item.code == ptx5xx.MBARRIER_MISSING_ARRIVALS
        and item.properties.get("arrived") == 0
        and isinstance(phase, int)
        and phase > 1
    )


def _fix_heading(item: Diagnostic) -> Iterator[Fix]:
    """Yields a heading with the version and target that the module needs."""
    if not isinstance(item.payload, RequiredHeading):
        return
    wanted = {"version": item.payload.version, "target": item.payload.target}
    found = [(match, wanted.pop(match[1], None)) for match in _HEADING.finditer(item.source.text)]
    edits = tuple(Edit(Span(*match.span(2)), word) for match, word in found if word)
    if edits:
        needed = (("version", item.payload.version), ("target", item.payload.target))
        directives = [f"`.{name} {word}`" for name, word in needed if word]
        yield Fix(fix_titles.CHANGE_HEADING(directives=join_words(directives)), edits)


def _fix_alignment(item: Diagnostic) -> Iterator[Fix]:
    """Yields a declaration of the variable with the alignment that the access needs."""
    name, needed = item.properties.get("variable"), item.properties.get("alignment")
    if not isinstance(name, str) or not isinstance(needed, int):
        return
    for place in _alignment_spans(item.source, name):
        yield Fix(
            fix_titles.DECLARE_ALIGNMENT(variable=name, alignment=needed),
            (Edit(place, f" .align {needed} "),),
            safe=True,
        )


def _alignment_spans(source: SourceFile, name: str) -> Iterator[Span]:
    """Yields where the alignment of a variable is, or may be written: after its state space."""
    spaces = r"\.(?:shared(?:::cta)?|global|const|local)\b"
    declared = re.compile(rf"{spaces}(\s*(?:\.align\s+\d+\s*)?)(?=\.\w+\s+{re.escape(name)}(?![\w$]))")
    for match in declared.finditer(source.text):
        yield Span(*match.span(1))
