"""`ptxkit lint --fix`, `--diff`: what becomes of a text that was mended."""

from __future__ import annotations

import sys

from ptxkit.cli.options import Options
from ptxkit.linter import lint_source
from ptxkit.many.question import Answer, Question, Wish, without_mends
from ptxkit.results import FileResult


def wish_of(options: Options) -> Wish:
    """What is wanted of each text."""
    if options.fixes is None:
        return "find"
    if options.fixes == "show":
        return "offer"
    return "mend unsafely" if options.unsafe_fixes else "mend"


def written(question: Question, answer: Answer, options: Options) -> FileResult:
    """The result of one text, after its mends are written or their difference is printed.

    A text inside another file is told of, and left as it is.
    """
    if answer.mended is None:
        return answer.result
    from ptxkit.cli.rewriting import difference, encode, rewrite
    from ptxkit.foreign_text import visible_path

    source = question.source
    if options.fixes == "diff":
        sys.stdout.buffer.write(encode(difference(source, answer.mended, "mended")))
        return answer.result
    failure = rewrite(source.origin, answer.mended)
    if failure is None:
        return answer.result
    sys.stderr.write(f"{visible_path(source.path)}: cannot be rewritten: {failure}\n")
    return without_mends(lint_source(source, question.settings))
