"""The exceptions of the parser."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic


class PTXSyntaxError(ValueError):
    """The text is not PTX; `diagnostics` holds every error (at most MAX_SYNTAX_ERRORS), in the order of the text.

    `str()` returns the first one as `path:line:column: message`.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        first = diagnostics[0]
        line, column = first.source.position(first.span.start)
        more = f" (and {len(diagnostics) - 1} more)" if len(diagnostics) > 1 else ""
        super().__init__(f"{first.source.path}:{line}:{column}: {first.message}{more}")


class UnexpectedTokenError(ValueError):
    """The grammar does not accept a token; `offset` is its location."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset
