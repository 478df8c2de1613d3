"""The build hook of the wheel, which adds the data that ptxkit compiles from its grammars on first use.

An editable installation does not contain this data: its grammars change, and a copy is kept in the user's cache folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent


class Prebuild(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]  # hatchling is not always typed
    """Compiles the instruction table and the grammar to a folder of the package, and writes the manual pages."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Hatchling calls it before the wheel is built; `version` is `standard` or `editable`."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="ptxkit-")  # removed with the hook
        sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
        from script_lib.man_pages import man_pages

        from ptxkit.compile_cache import PREBUILT
        from ptxkit.prebuild_cache import write_all

        for name, text in man_pages(self.metadata.version, _date()).items():
            page = Path(self._folder.name) / name
            page.write_text(text, "utf-8")
            build_data["shared_data"][str(page)] = f"share/man/man1/{name}"
        for path in write_all(self._folder.name):
            build_data["force_include"][path] = f"ptxkit/{PREBUILT}/{Path(path).name}"


def _date() -> str:
    """Returns the date of the sources as packagers state it, since a build must not depend on the current date."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    return "" if seconds is None else f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d}"
