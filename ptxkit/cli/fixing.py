"""`ptxkit lint --fix`, `--diff`, `--show-fixes`: mends of one text, applied or told."""

from __future__ import annotations

import os
import sys

from ptxkit.cli.options import Options
from ptxkit.cli.rewriting import difference, encode, rewrite
from ptxkit.linter import lint_source
from ptxkit.mending import mend, offered
from ptxkit.records import replace
from ptxkit.report.style import visible
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile


def checked(source: SourceFile, settings: Settings, options: Options) -> FileResult:
    """The result of one text: after its mends where they are written, with them where they are to be shown.

    A text inside another file is told of, and left as it is.
    """
    if options.fixes == "show":
        return offered(source, lint_source(source, settings), settings)
    mended = mend(source, settings, unsafe=options.unsafe_fixes)
    result = replace(mended.result, fixed=len(mended.applied))
    if not mended.applied:
        return result
    if options.fixes == "diff":
        sys.stdout.buffer.write(encode(difference(source, mended.source.text, "mended")))
        return result
    if not os.path.isfile(source.path):
        failure: str | None = "it stands inside another file; take it out first: ptxkit extract"
    else:
        failure = rewrite(source.path, mended.source.text)
    if failure is not None:
        sys.stderr.write(f"{visible(source.path)}: cannot be rewritten: {failure}\n")
        return lint_source(source, settings)
    return result
