"""The settings of an open text: those of the nearest file, as for `ptxkit lint`."""

from __future__ import annotations

from functools import cache

from ptxkit import baseline
from ptxkit.baseline import Baseline, BaselineError, read_baseline
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import replace
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.results import FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.file_state import OWN_FILE, SHARED_FILE
from ptxkit.settings.files import SettingsFiles
from ptxkit.settings.model import DEFAULT, CodeSelection, Settings

FILES = (OWN_FILE, SHARED_FILE)
"""The names of settings files."""


def settings_for(snapshot: TextSnapshot, root: str | None) -> Settings:
    """Returns the settings of a text. root: the folder whose settings apply to a text that is in no file. Raises
    SettingsError.

    The files are read each time, so that edits of them take effect.
    """
    folder = snapshot.folder or root
    if folder is None:
        return DEFAULT
    level = SettingsFiles().find_level(folder)
    return DEFAULT if level is None else Settings.of([level], snapshot.path)


@cache
def codes_of_analysis() -> frozenset[str]:
    """Returns the codes that only an analysis reports."""
    from ptxkit.rules import RULES

    return frozenset(rule.code for rule in RULES) | {ptx3xx.NOT_REACHED}


def without_analysis_rules(settings: Settings) -> Settings:
    """Returns the settings without those codes; the remaining checks take no time."""
    return replace(settings, selections=(*settings.selections, CodeSelection(None, (), tuple(codes_of_analysis()))))


def read_known_findings(path: str) -> Baseline:
    """Returns the baseline at a path. Raises SettingsError."""
    try:
        return read_baseline(path)
    except BaselineError as error:
        raise SettingsError(error.message, path, remedy=error.remedy) from error


def remove_known(result: FileResult, settings: Settings) -> FileResult:
    """Returns the result without the findings of its baseline. Raises SettingsError."""
    if settings.baseline is None:
        return result
    return baseline.remove_known(result, read_known_findings(settings.baseline), settings.baseline)
