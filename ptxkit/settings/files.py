"""The settings file that counts for an input: the nearest `ptxkit.toml`, or `pyproject.toml` with `[tool.ptxkit]`.

The folder of the input is looked at first, then those above it; the first file counts alone. Of two in one folder
`ptxkit.toml` counts. A lint of one small file costs only a few queries to the file system.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ptxkit.settings.errors import SettingsError
from ptxkit.settings.model import ConfigLayer
from ptxkit.small_files import UnsuitableFileError, read_small_file

OWN_FILE = "ptxkit.toml"
SHARED_FILE = "pyproject.toml"
TABLE = "ptxkit"
"""The name of the table under `[tool]`."""


class SettingsFiles:
    """The settings files that a run has come across, each read once."""

    def __init__(self) -> None:
        self._of_folder: dict[str, ConfigLayer | None] = {}

    def find_level(self, folder: str) -> ConfigLayer | None:
        """What the nearest settings file of a folder says; None where there is none. Raises SettingsError."""
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
    """What one settings file says, whatever its name. Raises SettingsError."""
    try:
        data = read_small_file(path)
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror or error}", path) from error
    except UnsuitableFileError as error:
        raise SettingsError(str(error), path) from error
    level = _parse_level(path, data)
    if level is None:
        raise SettingsError(f"has no table [tool.{TABLE}]", path)
    return level


def _level_in(folder: str) -> ConfigLayer | None:
    for name in (OWN_FILE, SHARED_FILE):
        path = os.path.join(folder, name)
        try:
            data = read_small_file(path)
        except UnsuitableFileError as error:
            raise SettingsError(str(error), _display_path(path)) from error
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            if name == OWN_FILE and os.path.isfile(path):
                raise SettingsError("cannot be read", _display_path(path)) from None
            continue
        except OSError as error:
            raise SettingsError(f"cannot be read: {error.strerror or error}", _display_path(path)) from error
        if name == OWN_FILE or TABLE.encode() in data:
            level = _parse_level(_display_path(path), data)
            if level is not None:
                return level
    return None


def _display_path(path: str) -> str:
    """The path as a reader would write it: relative, where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return min(path, relative, key=len)


def _parse_level(path: str, data: bytes) -> ConfigLayer | None:
    """What the text of a settings file says; None for a shared file without our table."""
    # The reader of TOML is loaded only where there is a settings file.
    from ptxkit.settings.bounded_toml import parse_toml
    from ptxkit.settings.schema import KeyValueError, parse_level
    from ptxkit.settings.toml_locations import line_of

    try:
        text = data.decode("utf-8")
        document = parse_toml(text)
    except UnicodeDecodeError as error:
        raise SettingsError("is not UTF-8 text", path) from error
    except ValueError as error:
        if os.path.basename(path) == SHARED_FILE and TABLE not in text:
            return None
        raise SettingsError(f"is not TOML: {error}", path) from error
    shared = os.path.basename(path) == SHARED_FILE
    prefix = ("tool", TABLE) if shared else ()
    table = _lookup(document, prefix)
    if table is None:
        return None
    if not shared and "tool" in document:
        what = f"has `tool`, which is for {SHARED_FILE}: in a settings file of ptxkit, the keys are at the top level"
        raise SettingsError(what, path, line_of(text, ("tool",)))
    if not isinstance(table, dict):
        raise SettingsError(f"`tool.{TABLE}` must be a table", path, line_of(text, prefix))
    try:
        return parse_level(table, path, os.path.dirname(os.path.abspath(path)))
    except KeyValueError as mistake:
        raise SettingsError(str(mistake), path, line_of(text, (*prefix, *mistake.path))) from mistake


def _lookup(document: object, keys: Sequence[str]) -> object:
    """The value under the keys; None where there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document
