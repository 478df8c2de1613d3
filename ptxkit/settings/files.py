"""The settings file that counts for an input: the nearest `ptxkit.toml`, or `pyproject.toml` with `[tool.ptxkit]`.

The folder of the input is looked at first, then those above it; the first file counts alone. Of two in one folder
`ptxkit.toml` counts. A lint of one small file pays for a few questions to the file system, and no more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ptxkit.settings.mistakes import SettingsError
from ptxkit.settings.model import Level
from ptxkit.small_files import UnfitFileError, read_small

OWN = "ptxkit.toml"
SHARED = "pyproject.toml"
TABLE = "ptxkit"
"""The name of the table under `[tool]`."""


class SettingsFiles:
    """The settings files that a run has come across, each read once."""

    def __init__(self) -> None:
        self._of_folder: dict[str, Level | None] = {}

    def level_for(self, folder: str) -> Level | None:
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


def read_level(path: str) -> Level:
    """What one settings file says, whatever its name. Raises SettingsError."""
    try:
        data = read_small(path)
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror or error}", path) from error
    except UnfitFileError as error:
        raise SettingsError(str(error), path) from error
    level = _level(path, data)
    if level is None:
        raise SettingsError(f"has no table [tool.{TABLE}]", path)
    return level


def _level_in(folder: str) -> Level | None:
    for name in (OWN, SHARED):
        path = os.path.join(folder, name)
        try:
            data = read_small(path)
        except UnfitFileError as error:
            raise SettingsError(str(error), _shown(path)) from error
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            if name == OWN and os.path.isfile(path):
                raise SettingsError("cannot be read", _shown(path)) from None
            continue
        except OSError as error:
            raise SettingsError(f"cannot be read: {error.strerror or error}", _shown(path)) from error
        if name == OWN or TABLE.encode() in data:
            level = _level(_shown(path), data)
            if level is not None:
                return level
    return None


def _shown(path: str) -> str:
    """The path as a reader would write it: relative, where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return min(path, relative, key=len)


def _level(path: str, data: bytes) -> Level | None:
    """What the text of a settings file says; None for a shared file without our table."""
    # The reader of TOML is loaded only where there is a settings file.
    from ptxkit.settings.keys import SettingError, level_of
    from ptxkit.settings.places import line_of
    from ptxkit.settings.toml import parsed

    try:
        text = data.decode("utf-8")
        document = parsed(text)
    except UnicodeDecodeError as error:
        raise SettingsError("is no text in UTF-8", path) from error
    except ValueError as error:
        if os.path.basename(path) == SHARED and TABLE not in text:
            return None
        raise SettingsError(f"is no TOML: {error}", path) from error
    shared = os.path.basename(path) == SHARED
    prefix = ("tool", TABLE) if shared else ()
    table = _within(document, prefix)
    if table is None:
        return None
    if not shared and "tool" in document:
        what = f"has `tool`, which is for {SHARED}: in a file of its own the settings stand at the top"
        raise SettingsError(what, path, line_of(text, ("tool",)))
    if not isinstance(table, dict):
        raise SettingsError(f"`tool.{TABLE}` must be a table", path, line_of(text, prefix))
    try:
        return level_of(table, path, os.path.dirname(os.path.abspath(path)))
    except SettingError as mistake:
        raise SettingsError(str(mistake), path, line_of(text, (*prefix, *mistake.path))) from mistake


def _within(document: object, keys: Sequence[str]) -> object:
    """What stands under the keys; None where nothing does."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document
