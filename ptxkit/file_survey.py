"""Lists what one text contains: parses, validates, and collects from each kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptxkit.diagnostics import Severity
from ptxkit.linter import apply_overrides, failure_result
from ptxkit.model.survey import Found, Survey
from ptxkit.model.transfer import KernelTransfers
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import SourceFile
from ptxkit.syntax.tree import Module


def survey_file(source: SourceFile, settings: Settings, collect: Callable[[Module], Iterable[Found]]) -> Survey[Found]:
    """Returns what is collected from the kernels of a file, or the diagnostics that state why nothing is.

    Errors of a file that can be parsed are reported with it, because the effects of an instruction without a form are
    unknown. Of the settings, the launches and the heading are used.
    """
    from ptxkit.syntax import PTXSyntaxError, parse
    from ptxkit.validate import validate

    try:
        module, launched = apply_overrides(parse(source.text, source.path), settings)
        errors = [item for item in validate(module).diagnostics if item.severity == Severity.ERROR]
        return Survey(source.path, " ".join(module.targets), tuple(collect(launched)), tuple(errors))
    except PTXSyntaxError as error:
        return Survey(source.path, diagnostics=error.diagnostics)
    except Exception as error:
        return Survey(source.path, diagnostics=failure_result(source.path, error).diagnostics)


def survey_transfers(source: SourceFile, settings: Settings = DEFAULT) -> Survey[KernelTransfers]:
    """Returns the transfers of the kernels of a file."""
    from ptxkit.analysis.inventory.transfer_table import collect_transfers

    return survey_file(source, settings, lambda module: collect_transfers(module).kernels)
