"""A NUL after a text, or in a comment of it, which the grammar takes and ptxas does not.

Source: what ptxas does: to it the file ends there, and unexpectedly so. NVRTC counts the NUL after the text that it
returns, and who writes as many bytes writes it too. The driver, which takes a text up to its NUL, does not see it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import ptx1xx, syntax_errors
from ptxkit.source import SourceFile, Span


def nul_diagnostics(source: SourceFile) -> Iterator[Diagnostic]:
    """The error of the first NUL of a text without syntax errors; its fix removes them all."""
    runs = [Span(*found.span()) for found in re.finditer(r"\0+", source.text)] if "\0" in source.text else []
    if not runs:
        return
    yield Diagnostic(
        ptx1xx.SYNTAX_ERROR,
        Severity.ERROR,
        str(syntax_errors.NUL_IN_FILE()),
        source,
        runs[0],
        help=str(syntax_errors.REMOVE_NUL()),
        isa=("Syntax",),
        fix=Fix(str(syntax_errors.REMOVE_EVERY_NUL()), tuple(Edit(run, "") for run in runs), safe=True),
    )
