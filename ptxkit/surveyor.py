"""One text through the house for its transfers: parse, validate, explore, and one table."""

from __future__ import annotations

from ptxkit.diagnostics import Severity
from ptxkit.linter import broken
from ptxkit.source import SourceFile
from ptxkit.transfers import FileTransfers


def survey(source: SourceFile) -> FileTransfers:
    """The transfers of a file, or the diagnostics that say why there are none.

    Errors of a file that parses are told beside its table: what an instruction without a form does, nobody knows.
    """
    from ptxkit.analysis.transfers import transfers
    from ptxkit.syntax import PTXSyntaxError, parse
    from ptxkit.validate import validate

    try:
        module = parse(source.text, source.path)
        errors = [item for item in validate(module).diagnostics if item.severity == Severity.ERROR]
        return FileTransfers(source.path, transfers(module), tuple(errors))
    except PTXSyntaxError as error:
        return FileTransfers(source.path, None, error.diagnostics)
    except Exception as error:
        return FileTransfers(source.path, None, broken(source.path, error).diagnostics)
