"""The settings that count for an open text: those of the nearest file, as for `ptxkit lint`."""

from __future__ import annotations

from functools import cache

from ptxkit import baseline
from ptxkit.baseline import Baseline, BaselineError, read_baseline
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import replace
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.results import FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.files import OWN_FILE, SHARED_FILE, SettingsFiles
from ptxkit.settings.model import DEFAULT, CodeSelection, Settings

FILES = (OWN_FILE, SHARED_FILE)
"""Names of settings files."""


def settings_for(snapshot: TextSnapshot, root: str | None) -> Settings:
    """What counts for a text. root: the folder whose settings count for one that is in no file. Raises SettingsError.

    The files are read again each time: a person who edits them wants to see what that does.
    """
    folder = snapshot.folder or root
    if folder is None:
        return DEFAULT
    level = SettingsFiles().find_level(folder)
    return DEFAULT if level is None else Settings.of([level], snapshot.path)


@cache
def codes_of_analysis() -> frozenset[str]:
    """The codes that only an analysis gives."""
    from ptxkit.rules import RULES

    return frozenset(rule.code for rule in RULES) | {ptx3xx.NOT_REACHED}


def without_analysis_rules(settings: Settings) -> Settings:
    """The same settings without those codes: what is left takes no time."""
    return replace(settings, selections=(*settings.selections, CodeSelection(None, (), tuple(codes_of_analysis()))))


def read_known_findings(path: str) -> Baseline:
    """The baseline at a path. Raises SettingsError."""
    try:
        return read_baseline(path)
    except BaselineError as error:
        raise SettingsError(str(error)) from error


def remove_known(result: FileResult, settings: Settings) -> FileResult:
    """The result without the findings of its baseline. Raises SettingsError."""
    if settings.baseline is None:
        return result
    return baseline.remove_known(result, read_known_findings(settings.baseline), settings.baseline)
