"""The settings file of an input: the nearest `ptxkit.toml`, or `pyproject.toml` with `[tool.ptxkit]`.

The folder of the input is searched first, then its parents; only the first file is used. Of two in one folder
`ptxkit.toml` is used. The search for one small file takes only a few queries to the file system.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ptxkit.settings.errors import SettingsError
from ptxkit.settings.file_state import OWN_FILE, SHARED_FILE
from ptxkit.settings.model import ConfigLayer
from ptxkit.small_files import UnsuitableFileError, read_small_file

TABLE = "ptxkit"
"""The name of the table under `[tool]`."""


_NAME_ANOTHER = "name another file with `--config FILE`"
_ISOLATE = "make the file readable, or ignore settings files with `--isolated`"


class SettingsFiles:
    """The settings files of a run, each of which is read once."""

    def __init__(self) -> None:
        self._of_folder: dict[str, ConfigLayer | None] = {}

    def find_level(self, folder: str) -> ConfigLayer | None:
        """Returns the level of the nearest settings file of a folder, or None if none exists. Raises
        SettingsError.
        """
        passed = []
        here = os.path.abspath(folder)
        while here not in self._of_folder:
            passed.append(here)
            found = _level_in(here)
            above = os.path.dirname(here)
            if found is not None or above == here:
                self._of_folder[here] = found
                break
            here = above
        for each in passed:
            self._of_folder[each] = self._of_folder[here]
        return self._of_folder[here]


def read_level(path: str) -> ConfigLayer:
    """Returns the level of one settings file of any name. Raises SettingsError."""
    try:
        data = read_small_file(path)
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror or error}", path, remedy=_NAME_ANOTHER) from error
    except UnsuitableFileError as error:
        raise SettingsError(str(error), path, remedy=_NAME_ANOTHER) from error
    level = _parse_level(path, data)
    if level is None:
        raise SettingsError(f"has no table [tool.{TABLE}]", path, remedy=f"write the settings below `[tool.{TABLE}]`")
    return level


def _level_in(folder: str) -> ConfigLayer | None:
    for name in (OWN_FILE, SHARED_FILE):
        path = os.path.join(folder, name)
        try:
            data = read_small_file(path)
        except UnsuitableFileError as error:
            raise SettingsError(str(error), _display_path(path), remedy=_ISOLATE) from error
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            if name == OWN_FILE and os.path.isfile(path):
                raise SettingsError("cannot be read", _display_path(path), remedy=_ISOLATE) from None
            continue
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            raise SettingsError(what, _display_path(path), remedy=_ISOLATE) from error
        if name == OWN_FILE or TABLE.encode() in data:
            level = _parse_level(_display_path(path), data)
            if level is not None:
                return level
    return None


def _display_path(path: str) -> str:
    """Returns the path for messages: relative, if that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return min(path, relative, key=len)


def _parse_level(path: str, data: bytes) -> ConfigLayer | None:
    """Returns the level in the text of a settings file, or None for a shared file without ptxkit's table."""
    # The parser of TOML is imported only if there is a settings file.
    from ptxkit.settings.bounded_toml import parse_toml
    from ptxkit.settings.schema import KeyValueError, parse_level
    from ptxkit.settings.toml_locations import line_of

    try:
        text = data.decode("utf-8")
        document = parse_toml(text)
    except UnicodeDecodeError as error:
        raise SettingsError("is not UTF-8 text", path, remedy="convert it to UTF-8") from error
    except ValueError as error:
        if os.path.basename(path) == SHARED_FILE and TABLE not in text:
            return None
        raise SettingsError(f"is not TOML: {error}", path, remedy="correct the syntax of the file") from error
    shared = os.path.basename(path) == SHARED_FILE
    prefix = ("tool", TABLE) if shared else ()
    table = _lookup(document, prefix)
    if table is None:
        return None
    if not shared and "tool" in document:
        what = f"has `tool`, which is for {SHARED_FILE}: in a settings file of ptxkit, the keys are at the top level"
        remedy = f"remove the line `[tool.{TABLE}]`"
        raise SettingsError(what, path, line_of(text, ("tool",)), remedy=remedy)
    if not isinstance(table, dict):
        what = f"`tool.{TABLE}` must be a table"
        raise SettingsError(what, path, line_of(text, prefix), remedy=f"write the settings below `[tool.{TABLE}]`")
    try:
        return parse_level(table, path, os.path.dirname(os.path.abspath(path)))
    except KeyValueError as mistake:
        line = line_of(text, (*prefix, *mistake.path))
        raise SettingsError(mistake.message, path, line, remedy=mistake.remedy) from mistake


def _lookup(document: object, keys: Sequence[str]) -> object:
    """Returns the value under the keys, or None."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document
