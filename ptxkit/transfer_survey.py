"""Collects the transfers of one text: parses, validates, explores, and returns one table."""

from __future__ import annotations

from ptxkit.diagnostics import Severity
from ptxkit.linter import apply_overrides, failure_result
from ptxkit.model.transfer import FileTransfers
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile


def survey_transfers(source: SourceFile, settings: Settings = DEFAULT) -> FileTransfers:
    """Returns the transfers of a file, or the diagnostics that state why none exist.

    Errors of a file that can be parsed are reported with its table, because the effects of an instruction without a
    form are unknown. Of the settings, the launches and the heading are used.
    """
    from ptxkit.analysis.inventory.transfer_table import collect_transfers
    from ptxkit.syntax import PTXSyntaxError, parse
    from ptxkit.validate import validate

    try:
        module, launched = apply_overrides(parse(source.text, source.path), settings)
        errors = [item for item in validate(module).diagnostics if item.severity == Severity.ERROR]
        return FileTransfers(source.path, collect_transfers(launched), tuple(errors))
    except PTXSyntaxError as error:
        return FileTransfers(source.path, None, error.diagnostics)
    except Exception as error:
        return FileTransfers(source.path, None, failure_result(source.path, error).diagnostics)
