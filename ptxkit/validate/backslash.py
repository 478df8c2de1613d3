"""A backslash before an opcode, which the grammar accepts and the manual does not have.

Source: the behavior of ptxas. It ignores one, with or without blanks and comments before the opcode, except for `call`,
which it parses differently.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import ptx1xx, syntax_errors
from ptxkit.isa import table
from ptxkit.source import SourceFile, Span
from ptxkit.syntax import statement_tokens
from ptxkit.syntax.tree import Body, Instruction

_MARK = "\\"


def find_backslashes(source: SourceFile) -> list[int]:
    """Returns the offsets of all backslashes of a text, also those in comments and strings; few texts have any."""
    return [found.start() for found in re.finditer(r"\\", source.text)] if _MARK in source.text else []


def backslashed_instructions(body: Body, source: SourceFile, offsets: list[int]) -> Iterator[tuple[Instruction, Span]]:
    """Yields the instructions of a body, without those in blocks, that a backslash precedes, with its location."""
    starts = body.starts
    if not starts:
        return
    for offset in offsets[bisect_right(offsets, starts[0] - 1) :]:
        place = bisect_right(starts, offset) - 1
        statement = body.statements[place]
        words = statement_tokens(source, starts[place]) if isinstance(statement, Instruction) else []
        if isinstance(statement, Instruction) and (_MARK, Span(offset, offset + 1)) in words:
            yield statement, Span(offset, offset + 1)
        elif place == len(starts) - 1 and (not words or words[-1][1].end <= offset):
            return  # the rest is after this body


def backslash_diagnostic(instruction: Instruction, place: Span, source: SourceFile, *, is_call: bool) -> Diagnostic:
    """Returns a warning, or the error that it precedes a call."""
    message = syntax_errors.BACKSLASH_BEFORE_CALL()
    if not is_call:
        reason = table().tolerance("skipped_backslash")
        message = syntax_errors.BACKSLASH_TOLERATED(name=instruction.name, reason=reason)
    return Diagnostic(
        ptx1xx.SYNTAX_ERROR,
        Severity.ERROR if is_call else Severity.WARNING,
        str(message),
        source,
        place,
        help=str(syntax_errors.REMOVE_IT()),
        isa=("Syntax",),
        fix=Fix(str(syntax_errors.REMOVE_BACKSLASH()), (Edit(place, ""),), safe=True),
    )
