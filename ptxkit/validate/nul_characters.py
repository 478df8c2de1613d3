"""A NUL after a text, or in a comment of it, which the grammar accepts and ptxas does not.

Source: the behavior of ptxas. For ptxas the file ends there, unexpectedly. NVRTC counts the NUL after the text that it
returns, so a program that writes that many bytes writes it, too. The driver, which reads a text up to its NUL, ignores
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import ptx1xx, syntax_errors
from ptxkit.source import SourceFile, Span


def nul_diagnostics(source: SourceFile) -> Iterator[Diagnostic]:
    """Yields the error of the first NUL of a text without syntax errors; its fix removes all of them."""
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
